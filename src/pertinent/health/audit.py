"""Checks of stored data: whether index and catalog agree, and each chunk fits its page, hash and vector."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import islice

from .._internal.messages import format_count, format_list
from .._internal.vector_checksum import find_mismatches
from ..errors import DamagedPage
from ..identity import TITLE_MAX, content_hash, embedding_key, page_key, point_id, shorten
from ..indexing.chunking import embedded_text
from ..indexing.model_check import SAME_VECTOR, compute_cosine
from ..indexing.page_hash import hash_page
from ..ports import CatalogReader, Embedder, IndexReader, IndexWriter, VectorIndex
from ..search.bm25 import Bm25, SparseWeights
from ..search.word_counts import count_words
from ..types import Chunk, DamagedPoint, Page, PointId, damaged_points, readable_chunks

REMEDY_INDEX = "`pertinent index SOURCE`, with the options it was indexed with"
REMEDY_REPAIR = f"`pertinent doctor --repair`, then {REMEDY_INDEX}"
SAME_WEIGHT = 1e-4
"""How far the stored weight of a word may be from the computed one."""
REMEDY_REINDEX = "`pertinent reindex`, which writes every point again from the texts in the catalog"
REMEDY_RECOUNT = "`pertinent doctor --repair`, which counts the words again"
REMEDY_EXTERNAL = (
    "write the point again with the pipeline that filled the collection: Pertinent does not change it"
)
REMEDY_REPEATED = f"{REMEDY_INDEX}; if two sources have the page, `pertinent remove` one of them"
MAX_LISTED = 50
"""How many damaged points get a finding of their own."""
MAX_NAMED = 3
"""How many chunks or pages a finding names."""
EMBEDDED_SAMPLE = 100
"""How many chunks are embedded again."""

_BATCH = 1000
# The stores keep times with different precision; the text is compared by its hash.
_COMPARED = tuple(field.name for field in fields(Chunk) if field.name not in ("created_at", "text"))


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, the command that fixes it, and the pages that must be written again."""

    problem: str
    remedy: str
    pages: frozenset[str] = frozenset()
    recounts: bool = False
    """Whether the words of all pages must be counted again."""
    lacks_commits: bool = False
    """Whether the index lacks commits of the catalog, so that any page may differ."""

    @property
    def is_repairable(self) -> bool:
        """Whether `--repair` handles it."""
        return bool(self.pages) or self.recounts or self.lacks_commits


@dataclass(frozen=True, slots=True)
class Inventory:
    """All stored chunks and pages, by id."""

    in_index: Mapping[str, Chunk]
    in_catalog: Mapping[str, Chunk]
    pages: Mapping[str, Page]
    damaged: tuple[DamagedPoint, ...] = ()
    """Points of the index that can't be read as chunks."""
    page_hashes: Mapping[str, str] = field(default_factory=dict)
    """The recorded hash of each page that was read from a folder; one of a site is made from its HTML."""
    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Why each page of the catalog that can't be read is damaged."""

    def embedded_text(self, chunk: Chunk) -> str:
        """Return what was embedded for a chunk."""
        page = self.pages.get(chunk.document_id)
        return embedded_text(chunk, page.front_matter) if page is not None else embedded_text(chunk)


def take_inventory(index: IndexReader, catalog: CatalogReader) -> Inventory:
    """Read all chunks of both stores, and their pages."""
    records = catalog.pages()
    pages: dict[str, Page] = {}
    rows: dict[str, Chunk] = {}
    unreadable: dict[str, str] = {}
    for record in records:
        try:
            page, chunks = catalog.page(record.document_id), catalog.chunks(record.document_id)
        except DamagedPage as error:
            unreadable[record.document_id] = str(error.__cause__)
            continue
        if page is not None:
            pages[record.document_id] = page
        rows |= {chunk.chunk_id: chunk for chunk in chunks}
    stored = list(index.scan())
    folders = {name for name, location in catalog.sources().items() if "://" not in location}
    return Inventory(
        {chunk.chunk_id: chunk for chunk in readable_chunks(stored)},
        rows,
        pages,
        tuple(damaged_points(stored)),
        {record.document_id: record.page_hash for record in records if record.source in folders},
        unreadable,
    )


def find_unreadable_pages(stored: Inventory) -> list[Finding]:
    """Find pages that can't be read from the catalog; their words are not counted."""
    if not stored.unreadable:
        return []
    document_ids = sorted(stored.unreadable)
    pages, names = format_count(len(document_ids), "page"), format_list(document_ids, MAX_NAMED)
    problem = f"{pages} can't be read from the catalog ({stored.unreadable[document_ids[0]]}): {names}"
    return [Finding(problem, REMEDY_REPAIR, frozenset(document_ids), recounts=True)]


def find_repeated_pages(stored: Inventory) -> list[Finding]:
    """Find pages that are indexed more than once, under several ids."""
    document_ids: dict[tuple[str, str], list[str]] = defaultdict(list)
    for document_id, page in stored.pages.items():
        document_ids[page_key(page.url, document_id)].append(document_id)
    repeated = sorted(url for (url, _), ids in document_ids.items() if len(ids) > 1)
    if not repeated:
        return []
    pages = format_count(len(repeated), "page is", "pages are")
    problem = f"{pages} indexed more than once: {format_list(repeated, MAX_NAMED)}"
    return [Finding(problem, REMEDY_REPEATED)]


def find_damaged_points(damaged: Sequence[DamagedPoint], rows: Mapping[str, Chunk]) -> list[Finding]:
    """Return a finding for each damaged point, with its page if that is known."""
    pages: dict[PointId, str] = {}
    if damaged:
        pages = {point_id(chunk.chunk_id): chunk.document_id for chunk in rows.values()}

    def make_finding(problem: str, points: Iterable[DamagedPoint]) -> Finding:
        document_ids = frozenset(pages.get(point.point_id, point.document_id) for point in points)
        if all(document_ids):
            return Finding(problem, REMEDY_REPAIR, document_ids)
        return Finding(problem, REMEDY_REINDEX)

    findings = [make_finding(str(point), [point]) for point in damaged[:MAX_LISTED]]
    if further := damaged[MAX_LISTED:]:
        findings.append(make_finding(f"and {format_count(len(further), 'more damaged point')}", further))
    return findings


def find_damaged_filters(stored: Inventory, index: IndexWriter) -> list[Finding]:
    """Find filters that miss chunks; a sync would also miss stale points, which it finds by a filter."""
    names = index.find_damaged_filters(list(stored.in_index.values()))
    if not names:
        return []
    return [Finding(f"filters by {', '.join(names)} miss chunks that the index has", REMEDY_REINDEX)]


def find_drift(stored: Inventory) -> list[Finding]:
    """Find chunks that only the index or only the catalog has, or that differ between them."""
    points, rows = stored.in_index, stored.in_catalog
    both = points.keys() & rows.keys()
    unreadable = {point.point_id for point in stored.damaged}
    absent = [i for i in rows.keys() - points.keys() if point_id(i) not in unreadable]
    differing = {chunk_id: _differing_fields(points[chunk_id], rows[chunk_id]) for chunk_id in both}
    return [
        *_make_finding(
            "{} in the index but not in the catalog", (points[i] for i in points.keys() - rows.keys())
        ),
        *_make_finding("{} in the catalog but not in the index", (rows[i] for i in absent)),
        *_make_finding(
            "{} described differently by index and catalog",
            (chunk for i in both if differing[i] for chunk in (points[i], rows[i])),
            detail=", ".join(sorted({name for names in differing.values() for name in names})),
        ),
    ]


def _differing_fields(point: Chunk, row: Chunk) -> list[str]:
    return [name for name in _COMPARED if getattr(point, name) != getattr(row, name)]


def find_altered_texts(stored: Inventory) -> list[Finding]:
    """Find chunks whose text does not match their hash."""
    return [
        *_make_finding(
            "{} altered in the index: the text does not match its hash", _find_altered(stored.in_index)
        ),
        *_make_finding(
            "{} altered in the catalog: the text does not match its hash", _find_altered(stored.in_catalog)
        ),
    ]


def _find_altered(chunks: Mapping[str, Chunk]) -> Iterator[Chunk]:
    return (chunk for chunk in chunks.values() if content_hash(chunk.text) != chunk.content_hash)


def find_wrong_slices(stored: Inventory) -> list[Finding]:
    """Find chunks whose text is not the slice of their page that their span names."""
    wrong = []
    for chunk in stored.in_catalog.values():
        page = stored.pages.get(chunk.document_id)
        if page is None or not chunk.is_slice_of(page.text):
            wrong.append(chunk)
    return _make_finding("{} with another text than the page has at that span", wrong)


def find_wrong_positions(stored: Inventory) -> list[Finding]:
    """Find pages whose chunks are not numbered from 0 without gaps."""
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
    document_ids = sorted(chunk.document_id for chunk in wrong)
    pages, names = format_count(len(wrong), "page"), format_list(document_ids, MAX_NAMED)
    return [
        Finding(
            f"the chunks of {pages} are not numbered 0, 1, 2 …: {names}",
            REMEDY_REPAIR,
            frozenset(document_ids),
        )
    ]


def find_stale_vectors(stored: Inventory, index: IndexWriter, embedder: str) -> list[Finding]:
    """Find vectors that are recorded as made from another text or by another model."""
    stale = []
    # An altered text has its own finding, and says nothing about the vector.
    altered = {chunk.chunk_id for chunk in _find_altered(stored.in_index)}
    # The front matter of a page that is not in the catalog is unknown, and so is what was embedded.
    cataloged = [chunk for chunk in stored.in_index.values() if chunk.document_id in stored.pages]
    for batch in _batches(chunk for chunk in cataloged if chunk.chunk_id not in altered):
        keys = index.embedding_keys([point_id(chunk.chunk_id) for chunk in batch])
        stale += [
            chunk
            for chunk in batch
            if keys.get(point_id(chunk.chunk_id)) != embedding_key(embedder, stored.embedded_text(chunk))
        ]
    return _make_finding("{} with a vector that was made from another text or model", stale)


def find_damaged_vectors(stored: Inventory, index: VectorIndex) -> list[Finding]:
    """Find vectors that are missing, or whose bytes are not those that were written.

    A sync keeps a vector whose text has not changed, so only a rebuild replaces a damaged one.
    """
    damaged: list[Chunk] = []
    missing: list[Chunk] = []
    for batch in _batches(stored.in_index.values()):
        by_point: dict[PointId, Chunk] = {point_id(chunk.chunk_id): chunk for chunk in batch}
        points = list(by_point)
        vectors = index.vectors(points)
        damaged += [by_point[point] for point in find_mismatches(vectors, index.vector_checksums(points))]
        missing += [by_point[point] for point in points if point not in vectors]
    findings = [
        *_make_finding("{} with a damaged vector: it does not match its checksum", damaged),
        *_make_finding("{} without a vector", missing),
    ]
    return [replace(finding, remedy=REMEDY_REINDEX, pages=frozenset()) for finding in findings]


def find_wrong_word_weights(stored: Inventory, index: VectorIndex, lexical: str) -> list[Finding]:
    """Find points whose words are not weighted as in their text; searches by words miss them.

    Args:
        stored: The chunks.
        index: The index.
        lexical: How the index weights words; weights of another version are not checked.
    """
    bm25 = Bm25.from_settings(lexical)
    if bm25.settings != lexical:
        return []
    wrong: list[Chunk] = []
    for batch in _batches(_find_intact(stored)):
        weights = index.word_weights([point_id(chunk.chunk_id) for chunk in batch])
        for chunk in batch:
            expected = bm25.document(stored.embedded_text(chunk))
            if not _are_equal(weights.get(point_id(chunk.chunk_id), {}), expected):
                wrong.append(chunk)
    findings = _make_finding("{} with the words of another text, or none, in the index", wrong)
    return [replace(finding, remedy=REMEDY_REINDEX, pages=frozenset()) for finding in findings]


def _find_intact(stored: Inventory) -> list[Chunk]:
    """Find the chunks that index and catalog have with the same fields and the text of their hash.

    Any other chunk has its own finding.
    """
    altered = {chunk.chunk_id for chunk in _find_altered(stored.in_index)}
    return [
        chunk
        for name, chunk in stored.in_index.items()
        if name not in altered
        and name in stored.in_catalog
        and not _differing_fields(chunk, stored.in_catalog[name])
    ]


def _are_equal(stored: Mapping[int, float], expected: SparseWeights) -> bool:
    """Whether stored weights are the expected ones; storing them costs some precision."""
    return len(stored) == len(expected.indices) and all(
        abs(stored.get(term, 0.0) - weight) < SAME_WEIGHT for term, weight in zip(*expected, strict=True)
    )


def find_wrong_vocabulary(stored: Inventory, catalog: CatalogReader) -> list[Finding]:
    """Find words with wrong counts in the catalog; queries are corrected by these counts."""
    titles = {name: page.title for name, page in stored.pages.items()}
    passages = (
        (chunk.document_id, chunk.section, _searched_text(stored, chunk))
        for chunk in stored.in_catalog.values()
    )
    expected, words = count_words(titles, passages), catalog.vocabulary().words
    wrong = sorted(word for word in expected.keys() | words.keys() if expected.get(word) != words.get(word))
    if not wrong:
        return []
    counts = format_count(len(wrong), "word")
    problem = f"the vocabulary has wrong counts of {counts}: {format_list(wrong, MAX_NAMED)}"
    return [Finding(problem, REMEDY_RECOUNT, recounts=True)]


def _searched_text(stored: Inventory, chunk: Chunk) -> str:
    page = stored.pages.get(chunk.document_id)
    return f"{page.front_matter.text_above(chunk.position) if page else ''}\n{chunk.text}"


def find_altered_pages(stored: Inventory) -> list[Finding]:
    """Find pages that do not match their hash: their text is read by agents, and in `llms.txt`."""
    altered = sorted(
        name
        for name, page in stored.pages.items()
        if name in stored.page_hashes and hash_page(page) != stored.page_hashes[name]
    )
    if not altered:
        return []
    pages = format_count(len(altered), "page")
    problem = f"{pages} altered in the catalog: the page does not match its hash"
    return [Finding(f"{problem}: {format_list(altered, MAX_NAMED)}", REMEDY_REPAIR, frozenset(altered))]


def find_wrong_descriptions(stored: Inventory, catalog: CatalogReader) -> list[Finding]:
    """Find chunks that searches would show with another title than their page has."""
    wrong: list[Chunk] = []
    for batch in _batches(stored.in_catalog.values()):
        descriptions = catalog.describe([chunk.chunk_id for chunk in batch])
        wrong += [
            chunk
            for chunk in batch
            if (described := descriptions.get(chunk.chunk_id)) is not None
            and described.title != shorten(chunk.title, TITLE_MAX)
        ]
    return _make_finding("{} with another title than the page has", wrong)


def find_wrong_vectors(stored: Inventory, index: IndexReader, embedder: Embedder) -> list[Finding]:
    """Embed a sample of chunks again, and find stored vectors that differ.

    Only this detects a point whose recorded key is right and whose vector is not.
    """
    chunks = sorted(_find_intact(stored), key=lambda chunk: chunk.chunk_id)
    sample = chunks[:: math.ceil(len(chunks) / EMBEDDED_SAMPLE) or 1]
    vectors = index.vectors([point_id(chunk.chunk_id) for chunk in sample])
    embeddings = embedder.embed_documents([*map(stored.embedded_text, sample)])
    wrong = [
        chunk
        for chunk, embedding in zip(sample, embeddings, strict=True)
        if not compute_cosine(embedding, vectors.get(point_id(chunk.chunk_id))) >= SAME_VECTOR
    ]
    findings = _make_finding(f"{{}} of {len(sample):,} sampled with a vector of another text or model", wrong)
    # A sync keeps a vector whose recorded key is right.
    return [replace(finding, remedy=REMEDY_REINDEX, pages=frozenset()) for finding in findings]


def _batches(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """Yield the chunks in batches, each of which is one request to a store."""
    remaining = iter(chunks)
    while batch := list(islice(remaining, _BATCH)):
        yield batch


def _make_finding(problem: str, chunks: Iterable[Chunk], detail: str = "") -> list[Finding]:
    """Return one finding for all chunks with a problem; none if there are no such chunks."""
    damaged = list(chunks)
    if not damaged:
        return []
    ids = sorted({chunk.chunk_id for chunk in damaged})
    message = problem.format(format_count(len(ids), "chunk")) + (f" ({detail})" if detail else "")
    pages = frozenset(chunk.document_id for chunk in damaged)
    return [Finding(f"{message}: {format_list(ids, MAX_NAMED)}", REMEDY_REPAIR, pages)]
