"""Switch between the builds of an index: rebuild it, return to the previous build, or delete that one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .._internal.disk import check_space_for_build
from .._internal.progress import Progress
from ..errors import FingerprintMismatch, NotFound, SyncRefused
from ..indexing.sync import Indexer, SpooledWrites
from ..ports import Embedder, Fingerprint, PageWrite, VectorIndex
from ..search.engine import Engine

if TYPE_CHECKING:
    from .workspace import Workspace

SPACE_FACTOR = 2
"""How much more space a build takes while its segments are merged: the old ones are deleted afterwards."""

Accept = Callable[[Engine, Iterable[tuple[str, PageWrite]], Fingerprint], None]
"""Judges a new build from its engine, its pages and the fingerprint of the build in use."""


def reindex(workspace: Workspace, progress: Progress, accept: Accept | None = None) -> int:
    """Build the index again with the current settings, from the catalog's texts, and activate it.

    The build in use answers until the new one is complete, and is then kept for `rollback`. An interrupted
    build is resumed by the next call with the same settings, unless the model was replaced under its name.

    Args:
        workspace: The index, whose write lock is held.
        progress: Receives the stages and steps of the work.
        accept: Judges the new build before it is activated; raises SyncRefused to discard it.

    Returns:
        The number of chunks.
    """
    workspace.require()
    catalog = workspace.writable_catalog()
    current, _ = workspace.open_current_build()
    settings, embedder = workspace.settings, workspace.create_embedder()
    check_space_for_build(settings.folder, _estimate_size(workspace, current, embedder.dimension))
    new, index, pages = _fill_build(workspace, embedder, progress)
    try:
        if accept is not None:
            accept(workspace.create_engine(embedder, index), pages, current)
        index.record_commits(catalog.announce_commit())
        catalog.activate_build(new, pages)
    except BaseException as error:
        index.close()
        if isinstance(error, SyncRefused):
            workspace.remove_build(new.build)
        raise
    workspace.activate(new, index, embedder)
    workspace.builds.remove_unused()
    return index.count()


def _fill_build(
    workspace: Workspace, embedder: Embedder, progress: Progress
) -> tuple[Fingerprint, VectorIndex, SpooledWrites]:
    """Fill a new build, or one that was interrupted while the same model filled it."""
    new, index = workspace.builds.begin(workspace.make_fingerprint(embedder))
    indexer = Indexer(
        lambda: embedder,
        index,
        workspace.writable_catalog(),
        workspace.settings.chunk_tokens,
        progress,
        spool_folder=workspace.spool_folder,
    )
    try:
        return new, index, indexer.rebuild()
    except BaseException as error:
        index.close()
        if not isinstance(error, FingerprintMismatch):
            raise
    workspace.remove_build(new.build)
    # Nothing is resumed this time, so there is no model to compare with.
    return _fill_build(workspace, embedder, progress)


def _estimate_size(workspace: Workspace, current: Fingerprint, dimension: int) -> int:
    """Estimate how many bytes a new build takes while it is filled."""
    size = workspace.builds.disk_use(current.build) * max(1.0, dimension / current.dimension)
    return round(size * SPACE_FACTOR)


def rollback(workspace: Workspace) -> Fingerprint:
    """Activate the previous build; the next sync writes what has changed since.

    The catalog records the chunks as that build has them. All pages are pending if anything was synced since,
    otherwise only those of which the build lacks chunks.

    Raises:
        NotFound: There is no previous build, or it has none of the indexed pages.
    """
    workspace.require()
    catalog = workspace.writable_catalog()
    current, previous = catalog.fingerprint(), catalog.previous()
    if previous is None or current is None or not workspace.builds.has_build(previous.build):
        raise NotFound("there is no previous build; `pertinent reindex` keeps the one that it replaces")
    _, current_index = workspace.open_current_build()
    index = workspace.builds.open(previous)
    pages = workspace.builds.read_pages(index)
    if not pages:
        index.close()
        raise NotFound("the previous build has none of the current pages, so there is nothing to return to")
    is_up_to_date = current_index is not None and _had_all_commits(index, current_index)
    catalog.begin(pages.find_incomplete(previous.embedder) if is_up_to_date else pages.document_ids)
    index.record_commits(catalog.announce_commit())
    catalog.activate_build(previous, pages)
    workspace.activate(previous, index)
    return previous


def _had_all_commits(previous: VectorIndex, current: VectorIndex) -> bool:
    """Whether nothing was synced since the previous build was replaced by the current one."""
    # Until the next sync, the current build's record begins with the last commit before its activation.
    last_of_previous, first_of_current = previous.commits()[-1:], current.commits()[:1]
    return bool(last_of_previous) and last_of_previous == first_of_current


def drop_previous(workspace: Workspace) -> int | None:
    """Delete the previous build; return its number, or None if there is none."""
    catalog = workspace.writable_catalog()
    previous = catalog.previous()
    if previous is None:
        return None
    workspace.remove_build(previous.build)
    catalog.forget_previous()
    return previous.build
