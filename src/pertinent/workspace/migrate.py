"""Copy an embedded index to a server, without reading its sources or embedding anything again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Protocol

from .. import build
from .._internal.messages import format_count
from .._internal.progress import Progress
from .._internal.vector_checksum import find_mismatches
from ..errors import IndexFailure, InvalidInput, SyncRefused
from ..identity import embedding_key, point_id
from ..indexing.chunking import embedded_text
from ..ports import Catalog, Entry, Fingerprint, PageRecord, PageWrite, VectorIndex
from ..settings import Settings
from .outdated_index import has_last_commit
from .workspace import Workspace

COPY_BATCH = 512
"""How many chunks are copied at a time."""


class CopyTarget(Catalog, Protocol):
    """A catalog that another one can be copied to."""

    def begin_copy(self, source_id: str) -> None:
        """Empty the catalog, and record that it becomes a copy of the catalog with that id."""

    def is_copy_under_way(self, source_id: str) -> bool:
        """Whether a copy of that catalog was begun, and nothing else was committed since."""

    def finish_copy(self) -> None:
        """Record that the copy is complete."""


def migrate(workspace: Workspace, settings: Settings, progress: Progress) -> int:
    """Copy an embedded index to the server of the settings, and the catalog to their database.

    The embedded index stays. An interrupted copy is started again by the next call: until the copy is
    complete, no alias points at it. A complete copy is left as it is.

    Args:
        workspace: The embedded index.
        settings: The settings with the address of the server.
        progress: Receives the stages and steps of the work.

    Returns:
        The number of copied chunks; 0 if the copy was complete already.

    Raises:
        SyncRefused: The server has a copy that differs from the index.
    """
    workspace.require()
    catalog, source = workspace.writable_catalog(), workspace.writable_index()
    made_with = catalog.fingerprint()
    if workspace.settings.qdrant_url or made_with is None:
        raise InvalidInput("qdrant_url", "this index is already on a server")
    if settings.database_url == workspace.settings.database_url:
        return _migrate(catalog, source, None, settings, made_with, progress)
    with closing(build.open_catalog(settings)) as target_catalog:
        return _migrate(catalog, source, target_catalog, settings, made_with, progress)


def _migrate(
    catalog: Catalog,
    source: VectorIndex,
    target_catalog: CopyTarget | None,
    settings: Settings,
    made_with: Fingerprint,
    progress: Progress,
) -> int:
    target = build.server_builds(settings, (target_catalog or catalog).catalog_id)
    copied = target_catalog is not None and _is_copy(catalog, target_catalog, made_with)
    if target.in_use() == made_with.build and made_with.build in target.numbers():
        with closing(target.open(made_with)) as index:
            is_up_to_date = copied or (target_catalog is None and has_last_commit(index, catalog))
            if is_up_to_date and _has_every_chunk(catalog, index, made_with):
                if target_catalog is not None:
                    target_catalog.finish_copy()
                return 0
        database = "" if target_catalog is None else ", with a database of its own"
        raise SyncRefused(
            f"the collection {settings.qdrant_collection!r} differs from this index: one of them was synced "
            "after the migration. Nothing was changed. Set QDRANT_URL to work with the collection, or "
            f"QDRANT_COLLECTION_NAME to copy this index under another name{database}"
        )
    if target_catalog is not None and not copied:
        source_id = catalog.catalog_id()
        if not target_catalog.is_empty() and not target_catalog.is_copy_under_way(source_id):
            raise SyncRefused("the target catalog already has pages; give Pertinent a database of its own")
        # The source may have changed since an interrupted copy.
        target_catalog.begin_copy(source_id)
    if target_catalog is None and not source.commits():
        # An earlier version made the source. With a record, it differs from its copy after the next sync.
        source.record_commits([catalog.commits().last])
    # A build that exists and is not in use is an interrupted copy.
    target.remove(made_with.build)
    with closing(target.open(made_with)) as index:
        chunks = copy_index(catalog, source, index, made_with, progress)
        if target_catalog is not None and not copied:
            copy_catalog(catalog, target_catalog, made_with)
        index.record_commits([(target_catalog or catalog).commits().last])
    target.use(made_with.build)
    if target_catalog is not None:
        target_catalog.finish_copy()
    return chunks


def _is_copy(source: Catalog, target: Catalog, made_with: Fingerprint) -> bool:
    """Whether an interrupted migration had already copied the catalog."""
    source_pages, target_pages = (
        {(record.document_id, record.page_hash) for record in catalog.pages()} for catalog in (source, target)
    )
    return target.fingerprint() == made_with and source_pages == target_pages


def _has_every_chunk(catalog: Catalog, target: VectorIndex, made_with: Fingerprint) -> bool:
    """Whether the target has the chunks of the catalog and no others; interrupted syncs may lack some."""
    pending = set(catalog.pending())
    present = 0
    for group in _group_entries(_read_entries(catalog, catalog.pages(), made_with)):
        keys = target.embedding_keys([point_id(entry.chunk.chunk_id) for entry in group])
        present += len(keys)
        for entry in group:
            key = keys.get(point_id(entry.chunk.chunk_id))
            if key != entry.embedding_key and entry.chunk.document_id not in pending:
                return False
    return target.count() == present


def copy_index(
    catalog: Catalog, source: VectorIndex, target: VectorIndex, made_with: Fingerprint, progress: Progress
) -> int:
    """Copy every chunk of the catalog with its vector into an empty index; return how many.

    Chunks that the source lacks because a sync was interrupted are left out; the next sync adds them.

    Raises:
        SyncRefused: The target is not empty.
        IndexFailure: The source lacks a chunk, a vector is damaged, or the copy is incomplete.
    """
    if target.count():
        raise SyncRefused("the target already has points; choose another name for it, or delete it first")
    records, pending = catalog.pages(), set(catalog.pending())
    progress.stage("Copying chunks", sum(record.chunks for record in records))
    copied = 0
    for group in _group_entries(_read_entries(catalog, records, made_with)):
        points = [point_id(entry.chunk.chunk_id) for entry in group]
        vectors = source.vectors(points)
        if damaged := find_mismatches(vectors, source.vector_checksums(points)):
            raise IndexFailure(
                f"the index has {format_count(len(damaged), 'damaged vector')}: `pertinent doctor` names the "
                "chunks, and `pertinent reindex` repairs them"
            )
        present = [entry for entry in group if point_id(entry.chunk.chunk_id) in vectors]
        missing = [entry.chunk for entry in group if point_id(entry.chunk.chunk_id) not in vectors]
        lost = [chunk for chunk in missing if chunk.document_id not in pending]
        if lost:
            raise IndexFailure(
                f"{len(lost)} chunks are not in the index, such as {lost[0].chunk_id}: run `pertinent doctor`"
            )
        target.put(present, [vectors[point_id(entry.chunk.chunk_id)] for entry in present])
        copied += len(present)
        progress.advance(len(group))
    progress.stage("Optimising the index", None)
    target.finish()
    target.flush()
    if (count := target.count()) != copied:
        raise IndexFailure(f"{copied} chunks were copied, but the target has {count}: migrate again")
    return copied


def copy_catalog(source: Catalog, target: Catalog, made_with: Fingerprint) -> None:
    """Copy sources, pages, pending changes and the fingerprint into an empty catalog.

    The pages are written in one transaction.
    """
    for name, location in source.sources().items():
        target.register(name, location)
    target.begin(source.pending())
    pages = ((record.source, write) for record in source.pages() if (write := _page_write(source, record)))
    target.activate_build(made_with, pages)


def _page_write(catalog: Catalog, record: PageRecord) -> PageWrite | None:
    page = catalog.page(record.document_id)
    return None if page is None else PageWrite(page, record.page_hash, catalog.chunks(record.document_id))


def _read_entries(catalog: Catalog, records: Sequence[PageRecord], made_with: Fingerprint) -> Iterator[Entry]:
    for record in records:
        if page := catalog.page(record.document_id):
            for chunk in catalog.chunks(record.document_id):
                text = embedded_text(chunk, page.front_matter)
                yield Entry(chunk, record.source, text, embedding_key(made_with.embedder, text))


def _group_entries(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    group: list[Entry] = []
    for entry in entries:
        group.append(entry)
        if len(group) == COPY_BATCH:
            yield group
            group = []
    if group:
        yield group
