"""The settings with which the index in use opens."""

from __future__ import annotations

from .. import build
from .workspace import Workspace


def settings_matching_index(workspace: Workspace) -> list[str]:
    """Return the lines of pertinent.toml that must change so that the index in use opens."""
    index = workspace.catalog().fingerprint()
    if index is None:
        return []
    return build.settings_to_restore(index, build.expected_fingerprint(workspace.settings, index))
