"""Switch to a new build of the index if another process has deleted the one that is open here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..errors import IndexMissing
from .workspace import Workspace

Result = TypeVar("Result")


def run_on_current_build(workspace: Workspace, work: Callable[[], Result]) -> Result:
    """Run the work; if the open build is missing, run it again on the one that has replaced it.

    Raises:
        FingerprintMismatch: The index was rebuilt with other settings.
    """
    try:
        return work()
    except IndexMissing:
        workspace.close_replaced_build()
        return work()
