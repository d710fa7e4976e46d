"""Search: the one place that knows the order of a query's steps.

embed the query → candidates of both sides → rank → threshold, per page, top k → describe
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .errors import CatalogFailure, DimensionMismatch, InvalidInput, NotFound
from .limits import ENGINE, check_count, check_ranking
from .ports import Catalog, Description, Embedder, Vector, VectorIndex
from .ranking import SIDES, Ranked, batches, rank
from .timing import Stopwatch, utc_now
from .types import Answer, Chunk, Filters, Hit, LeftOut, Ranking

CANDIDATES = 100
"""How many points each side proposes; more than any door may ask for changes no first page."""

EVERYTHING = Filters()

EXPLAINED = 5
"""How many candidates that were left out are told of, where asked."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search, checked: text or a vector, and what the caller wants of the list."""

    text: str | None
    vector: Vector | None = None
    top_k: int = 5
    threshold: float = 0.0
    ranking: Ranking = "hybrid"
    filters: Filters = EVERYTHING
    per_page: int | None = None
    explain: bool = False

    def checked(self) -> Query:
        """The same query, or an error that names the field that is out of range."""
        if self.text is None and self.vector is None:
            raise InvalidInput("text", "must be given, or a vector")
        if self.per_page is not None:
            check_count("per_page", self.per_page, ENGINE.top_k_max)
        return replace(
            self,
            text=None if self.text is None else ENGINE.check_query(self.text),
            top_k=ENGINE.check_top_k(self.top_k),
            threshold=ENGINE.check_threshold(self.threshold),
            ranking=check_ranking(self.ranking) if self.text is not None else "dense",
        )


class Engine:
    """Answers queries from an index and its catalog. Safe to call from many threads."""

    def __init__(self, embedder: Embedder, index: VectorIndex, catalog: Catalog) -> None:
        self._embedder = embedder
        self._index = index
        self._catalog = catalog

    def embed(self, text: str) -> Vector:
        """The query's vector."""
        return self._embedder.embed_query(text)

    def search(self, query: Query) -> Answer:
        """The best passages for the query, in order, and how they came about."""
        created_at = utc_now()
        watch = Stopwatch()
        query = query.checked()
        watch.lap("received")
        vector = self._vector(query)
        watch.lap("embedded")
        found = self._index.candidates(
            vector,
            query.text,
            by=SIDES[query.ranking],
            limit=max(CANDIDATES, query.top_k),
            filters=query.filters,
        )
        watch.lap("searched")
        hits, left_out = self._select(rank(found, query.ranking), query)
        hits, notes = self._described(hits)
        watch.lap("filtered")
        return Answer(
            query=query.text or "",
            ranking=query.ranking,
            hits=tuple(hits),
            top_k=query.top_k,
            threshold=query.threshold,
            created_at=created_at,
            timings=watch.stages,
            left_out=tuple(left_out),
            notes=notes,
        )

    def _vector(self, query: Query) -> Vector | None:
        if query.vector is not None:
            return checked_vector(query.vector, self._embedder.dimension)
        return self._embedder.embed_query(query.text or "")

    def _select(self, ranked: Ranked, query: Query) -> tuple[list[Hit], list[LeftOut]]:
        """The first hits that pass threshold and per page, and where asked the next best that don't."""
        hits: list[Hit] = []
        left_out: list[LeftOut] = []
        pages: Counter[str] = Counter()
        for hit in self._hits(ranked, query.top_k):
            page = hit.chunk.document_id
            if hit.score < query.threshold:
                left_out.append(
                    LeftOut(hit, f"score {hit.score:.3f} is below the threshold {query.threshold:g}")
                )
            elif query.per_page is not None and pages[page] >= query.per_page:
                left_out.append(LeftOut(hit, f"its page has {query.per_page} better hits already"))
            elif len(hits) >= query.top_k:
                left_out.append(LeftOut(hit, f"the list is full: top_k is {query.top_k}"))
            else:
                pages[page] += 1
                hits.append(hit)
            done = len(hits) >= query.top_k or hit.score < query.threshold
            if done and (not query.explain or len(left_out) >= EXPLAINED):
                break
        return hits, left_out[:EXPLAINED] if query.explain else []

    def _hits(self, ranked: Ranked, size: int) -> Iterator[Hit]:
        """The ranked points with their chunks, read only as far as they are needed."""
        for places in batches(ranked.scores, size):
            chunks = self._index.chunks(ranked.point_ids[places.start : places.stop])
            hits = [
                Hit(chunks[point], ranked.scores[place], ranked.parts(place), point)
                for place in places
                if (point := ranked.point_ids[place]) in chunks
            ]
            yield from sorted(hits, key=lambda hit: (-hit.score, hit.chunk.chunk_id))

    def _described(self, hits: list[Hit]) -> tuple[list[Hit], tuple[str, ...]]:
        """The hits as the catalog describes them; without it, as the index does."""
        if not hits:
            return hits, ()
        try:
            rows = self._catalog.describe([hit.chunk.chunk_id for hit in hits])
        except CatalogFailure as error:
            return hits, (f"the catalog did not answer: {error}",)
        return [_as_described(hit, rows.get(hit.chunk.chunk_id)) for hit in hits], ()


def neighbours(catalog: Catalog, chunk_id: str, around: int = 0) -> list[Chunk]:
    """The chunk with up to `around` chunks on each side of it, in the order of the page."""
    chunk = catalog.chunk(chunk_id)
    if chunk is None:
        raise NotFound(f"no chunk has the id {chunk_id!r}; `pertinent search --json` shows ids")
    if not around:
        return [chunk]
    first, last = chunk.position - around, chunk.position + around
    return [one for one in catalog.chunks(chunk.document_id) if first <= one.position <= last]


def _as_described(hit: Hit, row: Description | None) -> Hit:
    if row is None:
        return hit
    title = row.title or hit.chunk.title
    return replace(hit, chunk=replace(hit.chunk, source_path=row.source_path, slug=row.slug, title=title))


def checked_vector(vector: Sequence[float] | Vector, dimension: int) -> Vector:
    """The vector as floats, or an error: a wrong length, or a value that is no number."""
    try:
        array = np.asarray(vector, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidInput("query_embedding", "must be a list of numbers") from error
    if array.ndim != 1:
        raise InvalidInput("query_embedding", "must be one flat list of numbers")
    if len(array) != dimension:
        raise DimensionMismatch(len(array), dimension)
    if not np.isfinite(array).all():
        raise InvalidInput("query_embedding", "holds a value that is not a finite number")
    return array
