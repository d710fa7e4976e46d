"""A workspace to plan a sync in, without creating files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .workspace import Workspace


@contextmanager
def open_for_planning(workspace: Workspace) -> Iterator[Workspace]:
    """Yield the workspace, or a temporary empty one if nothing is indexed: a plan creates no files."""
    if workspace.has_pages():
        yield workspace
        return
    with tempfile.TemporaryDirectory() as folder:
        changes = {"folder": Path(folder), "database_url": None, "qdrant_url": None}
        empty = Workspace(workspace.settings.model_copy(update=changes))
        try:
            yield empty
        finally:
            empty.close()
