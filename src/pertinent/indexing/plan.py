"""The plan of a sync, and the checks that refuse one.

A plan holds names and numbers; the changed pages wait in a spool on disk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..errors import SyncRefused
from ..ports import PageRecord, Source
from ..types import Skipped, Unreadable
from .spool import PageSpool

SHRINK_LIMIT = 0.25
"""The share of a source's pages that a sync may remove without `allow_shrink`."""

LOST_TEXT_LIMIT = 0.5
"""The share of a source's pages that may lose most of their text without `allow_shrink`."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page to write: its id and counts. The page itself is in the spool of the plan."""

    document_id: str
    source: str
    source_path: str
    page_hash: str
    chunks: int
    chunks_to_embed: int
    """How many chunks have no vector yet."""
    exists: bool
    """Whether an earlier version of the page is indexed."""
    chunks_changed: int
    """How many chunks to embed are indexed already, under another title or heading."""
    chunks_removed: int
    """How many indexed chunks of the page are no longer on it."""
    lost_text: bool
    """Whether most words of the indexed page are no longer on it."""
    position: int
    """Where the page begins in the spool."""


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync will do."""

    source: str
    location: str
    changes: tuple[PageChange, ...]
    removed: tuple[PageRecord, ...]
    pages_unchanged: int
    chunks_unchanged: int
    """How many chunks the unchanged pages have."""
    unreadable: tuple[Unreadable, ...]
    skipped: tuple[Skipped, ...]
    indexed_pages: int
    """How many pages of the source are indexed now."""
    pages_replaced: int = 0
    """How many of the removed pages were read under another id: their slug has changed."""
    leftovers: tuple[str, ...] = ()
    """Documents that an interrupted run left in the index and that the source no longer has."""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    """What the user should know, such as another language than that of the index."""
    spool: PageSpool | None = field(default=None, compare=False, repr=False)
    """The changed pages; None in the plan of a dry run."""

    @property
    def chunks_to_embed(self) -> int:
        """How many chunks need a new vector."""
        return sum(change.chunks_to_embed for change in self.changes)

    @property
    def chunks_removed(self) -> int:
        """How many chunks are deleted."""
        of_pages = sum(record.chunks for record in self.removed)
        return of_pages + sum(change.chunks_removed for change in self.changes)

    @property
    def nothing_to_do(self) -> bool:
        """Whether the index matches the source already."""
        return not (self.changes or self.removed or self.leftovers)


def check_source_name(source: Source, indexed_location: str | None) -> None:
    """Refuse a folder with the name of another indexed folder that still exists.

    Its pages would replace those of the other folder.
    """
    if indexed_location in (None, source.location) or "://" in source.name:
        return
    if Path(indexed_location or "").exists():
        raise SyncRefused(
            f"{indexed_location} is already indexed under the name {source.name!r}, and {source.location} "
            "would replace it. Nothing was changed. Give this folder its own name with --name"
        )


def check_removals(plan: SyncPlan, *, allow_shrink: bool) -> None:
    """Refuse a plan that loses too much of a source, unless that is allowed.

    That is more than a quarter of its pages, or most of the text of more than half of them, as when a site
    answers every address with a "not found" page and status 200. A single rewritten page is an edit.
    """
    if allow_shrink:
        return
    removed = len(plan.removed) - plan.pages_replaced
    if removed > plan.indexed_pages * SHRINK_LIMIT:
        raise SyncRefused(
            f"{removed} of the {plan.indexed_pages} indexed pages of {plan.source} are missing, more than a "
            "quarter. Nothing was changed. If you want this, run again with --allow-shrink"
        )
    lost = removed + sum(change.lost_text for change in plan.changes)
    if lost > max(1, plan.indexed_pages * LOST_TEXT_LIMIT):
        raise SyncRefused(
            f"{lost} of the {plan.indexed_pages} indexed pages of {plan.source} have lost most of their "
            'text, as if each were a "not found" page. Nothing was changed. If you want this, run again with '
            "--allow-shrink"
        )
