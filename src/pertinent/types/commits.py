"""The ids of a catalog's commits."""

from __future__ import annotations

from typing import NamedTuple


class CommitIds(NamedTuple):
    """The ids of a catalog's commits, by which an index that lacks some of them is recognised."""

    last: str
    """The id of the last commit; empty before the first one."""
    announced: tuple[str, ...]
    """Ids that were announced since, for commits that were interrupted or are running."""
