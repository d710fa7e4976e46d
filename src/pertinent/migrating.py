"""Take an index to other stores as it is: nothing is read from its sources, nothing is embedded again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from .chunking import embedded_text
from .errors import IndexFailure, SyncRefused
from .identity import embedding_key, point_id
from .ports import Catalog, Entry, Fingerprint, PageRecord, Vector, VectorIndex, Written
from .types import PointId

GROUP = 512


class Progress(Protocol):
    """Told how far it is."""

    def stage(self, name: str, total: int | None) -> None: ...

    def advance(self, steps: int = 1) -> None: ...


class Giving(VectorIndex, Protocol):
    """An index that gives its vectors away."""

    def vectors(self, point_ids: Sequence[PointId]) -> dict[PointId, Vector]: ...


def copy_index(
    catalog: Catalog, source: Giving, target: VectorIndex, made_with: Fingerprint, progress: Progress
) -> int:
    """Every chunk of the catalog with its vector into the target, which is empty; counts them."""
    if target.count():
        raise SyncRefused("the target already holds points; choose another name for it, or remove it first")
    records = catalog.pages()
    progress.stage("Copying chunks", sum(record.chunks for record in records))
    copied = 0
    for group in _groups(_entries(catalog, records, made_with)):
        points = [point_id(entry.chunk.chunk_id) for entry in group]
        vectors = source.vectors(points)
        missing = [
            entry.chunk.chunk_id for entry, point in zip(group, points, strict=True) if point not in vectors
        ]
        if missing:
            raise IndexFailure(
                f"{len(missing)} chunks are not in the index, such as {missing[0]}: see `pertinent doctor`"
            )
        target.put(group, [vectors[point] for point in points])
        copied += len(group)
        progress.advance(len(group))
    progress.stage("Optimising the index", None)
    target.finish()
    target.flush()
    return copied


def copy_catalog(source: Catalog, target: Catalog, made_with: Fingerprint) -> int:
    """Every page, source and the fingerprint into the target, which is empty; counts the pages."""
    if target.pages():
        raise SyncRefused("the target catalog already holds pages; give Pertinent a database of its own")
    for name, location in source.sources().items():
        target.register(name, location)
    pages = [(record.source, written) for record in source.pages() if (written := _written(source, record))]
    target.swap(made_with, pages)
    return len(pages)


def _written(catalog: Catalog, record: PageRecord) -> Written | None:
    page = catalog.page(record.document_id)
    return None if page is None else (page, record.page_hash, catalog.chunks(record.document_id))


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
