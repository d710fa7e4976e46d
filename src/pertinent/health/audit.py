"""What is stored, against itself: pure rules over everything that index and catalog hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

from ..identity import content_hash, embedding_key, point_id
from ..indexing.chunking import embedded_text
from ..ports import CatalogReader, Embedder, IndexReader, IndexWriter
from ..types import Chunk, DamagedPoint, Filters, Page, PointId, damaged_points, readable_chunks

REPAIR = "`pertinent doctor --repair`, then `pertinent index SOURCE` with the options it was indexed with"
SAME = 0.99
"""The cosine of two vectors of one text, but for what storing takes off."""
REINDEX = "`pertinent reindex`, which writes every point again from the texts in the catalog"
ELSEWHERE = "write the point again with the pipeline that filled the collection: it is not changed from here"
LISTED = 50
"""How many damaged points are named, each by itself."""
NAMED = 3
"""How many damaged things a finding names."""

_BATCH = 1000
# The two keep a time with another number of digits, and the text is the hashes' business.
_COMPARED = tuple(one.name for one in fields(Chunk) if one.name not in ("created_at", "text"))


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, what to run, and the pages that are to be written anew for it."""

    problem: str
    remedy: str
    pages: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that is stored, by id."""

    in_index: Mapping[str, Chunk]
    in_catalog: Mapping[str, Chunk]
    pages: Mapping[str, Page]
    damaged: tuple[DamagedPoint, ...] = ()
    """Points of the index that can't be read as chunks."""


def take_inventory(index: IndexReader, catalog: CatalogReader) -> Inventory:
    """Read all chunks of both stores, and the pages they were cut from."""
    records = catalog.pages()
    pages = {record.document_id: catalog.page(record.document_id) for record in records}
    rows = {chunk.chunk_id: chunk for record in records for chunk in catalog.chunks(record.document_id)}
    stored = list(index.scan())
    return Inventory(
        {chunk.chunk_id: chunk for chunk in readable_chunks(stored)},
        rows,
        {name: page for name, page in pages.items() if page is not None},
        tuple(damaged_points(stored)),
    )


def payloads(damaged: Sequence[DamagedPoint], rows: Mapping[str, Chunk], remedy: str) -> list[Finding]:
    """Each damaged point, with the page that it belongs to where the catalog knows it."""
    pages: dict[PointId, str] = {}
    if damaged:
        pages = {point_id(chunk.chunk_id): chunk.document_id for chunk in rows.values()}

    def page_of(points: Iterable[DamagedPoint]) -> frozenset[str]:
        return frozenset(pages[point.point_id] for point in points if point.point_id in pages)

    findings = [Finding(str(point), remedy, page_of([point])) for point in damaged[:LISTED]]
    if further := damaged[LISTED:]:
        problem = f"and {_count(len(further), 'more damaged point')}"
        findings.append(Finding(problem, remedy, page_of(further)))
    return findings


def drift(stored: Inventory) -> list[Finding]:
    """Where index and catalog don't hold the same chunks, or describe them differently."""
    points, rows = stored.in_index, stored.in_catalog
    both = points.keys() & rows.keys()
    unreadable = {point.point_id for point in stored.damaged}
    absent = [i for i in rows.keys() - points.keys() if point_id(i) not in unreadable]
    differing = {chunk_id: _differences(points[chunk_id], rows[chunk_id]) for chunk_id in both}
    return [
        *_finding("{} in the index but not in the catalog", (points[i] for i in points.keys() - rows.keys())),
        *_finding("{} in the catalog but not in the index", (rows[i] for i in absent)),
        *_finding(
            "{} described differently by index and catalog",
            (chunk for i in both if differing[i] for chunk in (points[i], rows[i])),
            detail=", ".join(sorted({name for names in differing.values() for name in names})),
        ),
    ]


def _differences(one: Chunk, other: Chunk) -> list[str]:
    return [name for name in _COMPARED if getattr(one, name) != getattr(other, name)]


def hashes(stored: Inventory) -> list[Finding]:
    """Where a text is not the one that its hash was made from."""
    return [
        *_finding("{} altered in the index: the text does not have its hash", _altered(stored.in_index)),
        *_finding("{} altered in the catalog: the text does not have its hash", _altered(stored.in_catalog)),
    ]


def _altered(chunks: Mapping[str, Chunk]) -> Iterator[Chunk]:
    return (chunk for chunk in chunks.values() if content_hash(chunk.text) != chunk.content_hash)


def slices(stored: Inventory) -> list[Finding]:
    """Where a chunk is not the slice of its page that it says it is."""
    wrong = []
    for chunk in stored.in_catalog.values():
        page = stored.pages.get(chunk.document_id)
        if page is None or page.text[chunk.start : chunk.end] != chunk.text:
            wrong.append(chunk)
    return _finding("{} not the slice of the page that the span names", wrong)


def positions(stored: Inventory) -> list[Finding]:
    """Where the positions of a page's chunks leave a gap or come twice."""
    by_page: dict[str, list[Chunk]] = {}
    for chunk in stored.in_catalog.values():
        by_page.setdefault(chunk.document_id, []).append(chunk)
    wrong = [
        chunks[0]
        for chunks in by_page.values()
        if sorted(chunk.position for chunk in chunks) != list(range(len(chunks)))
    ]
    if not wrong:
        return []
    names = _named(sorted(chunk.document_id for chunk in wrong))
    problem = f"the chunks of {_count(len(wrong), 'page')} don't run 0, 1, 2 …: {names}"
    return [Finding(problem, REPAIR, frozenset(chunk.document_id for chunk in wrong))]


def vectors(stored: Inventory, index: IndexWriter, embedder: str) -> list[Finding]:
    """Where a vector was made from another text, or by another model, than its chunk's."""
    stale = []
    # A text that was altered is the hashes' finding; it says nothing about its vector.
    altered = {chunk.chunk_id for chunk in _altered(stored.in_index)}
    shared = [chunk for name, chunk in stored.in_index.items() if name not in altered]
    for start in range(0, len(shared), _BATCH):
        batch = shared[start : start + _BATCH]
        keys = index.embedding_keys([point_id(chunk.chunk_id) for chunk in batch])
        stale += [
            chunk
            for chunk in batch
            if keys.get(point_id(chunk.chunk_id)) != embedding_key(embedder, embedded_text(chunk))
        ]
    return _finding("{} with a vector that was not made from it", stale)


def misplaced(stored: Inventory, index: IndexReader, embedder: Embedder, most: int = 100) -> list[Finding]:
    """Where a vector lies far from what its chunk's text gives: embeds some chunks again, spread evenly.

    A point keeps from what it was embedded; only this tells that the vector itself is another's.
    """
    chunks = [stored.in_index[name] for name in sorted(stored.in_index.keys() & stored.in_catalog.keys())]
    tried = chunks[:: max(1, len(chunks) // most)][:most]
    wrong = []
    for chunk, vector in zip(tried, embedder.embed_documents([*map(embedded_text, tried)]), strict=True):
        there = Filters(document_id=chunk.document_id)
        found = index.candidates(vector, None, by=("dense",), limit=len(chunks), filters=there)
        cosines = dict(zip(found.point_ids, found.cosine or (), strict=True))
        if cosines.get(point_id(chunk.chunk_id), 0.0) < SAME:
            wrong.append(chunk)
    return _finding(f"{{}} of {len(tried):,} tried with a vector that is not its text's", wrong)


def _finding(problem: str, chunks: Iterable[Chunk], detail: str = "") -> list[Finding]:
    """One finding for all chunks with one problem; none for none."""
    damaged = list(chunks)
    if not damaged:
        return []
    ids = sorted({chunk.chunk_id for chunk in damaged})
    said = problem.format(_count(len(ids), "chunk"))
    why = f" ({detail})" if detail else ""
    return [Finding(f"{said}{why}: {_named(ids)}", REPAIR, frozenset(chunk.document_id for chunk in damaged))]


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - NAMED:,} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
