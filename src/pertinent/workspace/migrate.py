"""Take an index to other stores as it is: nothing is read from its sources, nothing is embedded again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Protocol

from .. import build
from ..errors import IndexFailure, InvalidInput, SyncRefused
from ..identity import embedding_key, point_id
from ..indexing.chunking import embedded_text
from ..ports import Catalog, Entry, Fingerprint, PageRecord, PageWrite, VectorIndex, VectorSource
from ..settings import Settings
from .workspace import Workspace

GROUP = 512


class Progress(Protocol):
    """Told how far it is."""

    def stage(self, name: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


def migrate(here: Workspace, there: Settings, progress: Progress) -> int:
    """Take an embedded index to the server that the settings name, and the catalog to its database.

    Counts the chunks. What is here stays. Broken off anywhere, it is begun again by the next call: until
    the copy is complete no alias points at it, and the catalog there does not know of it.
    """
    here.require()
    catalog, source = here.writable_catalog(), here.writable_index()
    made_with = catalog.fingerprint()
    if not isinstance(source, VectorSource) or made_with is None:
        raise InvalidInput("qdrant_url", "this index is on a server already")
    if there.database_url == here.settings.database_url:
        return _migrate(catalog, source, None, there, made_with, progress)
    with closing(build.catalog(there)) as other:
        return _migrate(catalog, source, other, there, made_with, progress)


def _migrate(
    catalog: Catalog,
    source: VectorSource,
    other: Catalog | None,
    there: Settings,
    made_with: Fingerprint,
    progress: Progress,
) -> int:
    target = build.server_builds(there, (other or catalog).catalog_id)
    if target.in_use() == made_with.build and made_with.build in target.numbers():
        name = there.qdrant_collection
        raise InvalidInput("qdrant_collection", f"{name!r} is there already; choose another name")
    arrived = other is not None and _arrived(catalog, other, made_with)
    if other is not None and not other.is_empty() and not arrived:
        raise SyncRefused("the target catalog already holds pages; give Pertinent a database of its own")
    # What is there and not in use is a copy that broke off.
    target.remove(made_with.build)
    with closing(target.open(made_with)) as index:
        copied = copy_index(catalog, source, index, made_with, progress)
    if other is not None and not arrived:
        copy_catalog(catalog, other, made_with)
    target.use(made_with.build)
    return copied


def _arrived(source: Catalog, target: Catalog, made_with: Fingerprint) -> bool:
    """Whether a copy that broke off had come as far as the catalog."""
    here, there = ({(one.document_id, one.page_hash) for one in part.pages()} for part in (source, target))
    return target.fingerprint() == made_with and here == there


def copy_index(
    catalog: Catalog, source: VectorSource, target: VectorIndex, made_with: Fingerprint, progress: Progress
) -> int:
    """Every chunk of the catalog with its vector into the target, which is empty; counts them.

    Of a page whose change broke off, what the index no longer has is left out: the next sync mends it.
    """
    if target.count():
        raise SyncRefused("the target already holds points; choose another name for it, or remove it first")
    records, pending = catalog.pages(), set(catalog.pending())
    progress.stage("Copying chunks", sum(record.chunks for record in records))
    copied = 0
    for group in _groups(_entries(catalog, records, made_with)):
        vectors = source.vectors([point_id(entry.chunk.chunk_id) for entry in group])
        present = [entry for entry in group if point_id(entry.chunk.chunk_id) in vectors]
        gone = [entry.chunk for entry in group if point_id(entry.chunk.chunk_id) not in vectors]
        lost = [chunk for chunk in gone if chunk.document_id not in pending]
        if lost:
            raise IndexFailure(
                f"{len(lost)} chunks are not in the index, such as {lost[0].chunk_id}: see `pertinent doctor`"
            )
        target.put(present, [vectors[point_id(entry.chunk.chunk_id)] for entry in present])
        copied += len(present)
        progress.advance(len(group))
    progress.stage("Optimising the index", None)
    target.finish()
    target.flush()
    if (there := target.count()) != copied:
        raise IndexFailure(f"{copied} chunks were copied, and {there} are there: migrate again")
    return copied


def copy_catalog(source: Catalog, target: Catalog, made_with: Fingerprint) -> None:
    """Every source and page, what broke off, and the fingerprint into the target, an empty one.

    The pages are there all at once or not at all.
    """
    for name, location in source.sources().items():
        target.register(name, location)
    target.begin(source.pending())
    pages = [(record.source, write) for record in source.pages() if (write := _page_write(source, record))]
    target.activate_build(made_with, pages)


def _page_write(catalog: Catalog, record: PageRecord) -> PageWrite | None:
    page = catalog.page(record.document_id)
    return None if page is None else PageWrite(page, record.page_hash, catalog.chunks(record.document_id))


def _entries(catalog: Catalog, records: Sequence[PageRecord], made_with: Fingerprint) -> Iterator[Entry]:
    for record in records:
        for chunk in catalog.chunks(record.document_id):
            text = embedded_text(chunk)
            yield Entry(chunk, record.source, text, embedding_key(made_with.embedder, text))


def _groups(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    group: list[Entry] = []
    for entry in entries:
        group.append(entry)
        if len(group) == GROUP:
            yield group
            group = []
    if group:
        yield group
