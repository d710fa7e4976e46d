"""Search: the one place that knows the order of a query's steps.

embed the query → candidates of both sides → rank → threshold, per page, top k → describe
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from .errors import CatalogFailure, DimensionMismatch, EmbedderError, InvalidInput, NotFound
from .limits import ENGINE, check_count, check_ranking
from .memory import Memory
from .ports import Catalog, Description, Embedder, Vector, VectorIndex
from .ranking import SIDES, Ranked, batches, contenders, rank
from .timing import Stopwatch, utc_now
from .types import (
    Answer,
    Chunk,
    DamagedPoint,
    Filters,
    Hit,
    LeftOut,
    PointId,
    Ranking,
    StoredPoint,
)

CANDIDATES = 50
"""How many points each side proposes at least."""

DEPTH = 4
"""How many points each side proposes for each hit that is asked for."""

WIDER = 4
"""By how much more is asked for where one page took up the list."""

CHUNKS_PER_ANSWER = 4
"""How many chunks are kept at hand for each answer that is remembered."""

EVERYTHING = Filters()

Embedded = Vector | EmbedderError
"""What became of a text that was to be embedded."""

NO_CATALOG = "the catalog did not answer; results are as the index has them"
NO_LEXICAL = "this collection has no lexical side; results are ranked by meaning alone"
NO_EMBEDDER = "the embedding model did not answer; results are ranked by words alone"

MOST_DAMAGED = 1000
"""How many damaged points a search reads past before it stops looking for further hits."""

DAMAGED_NAMED = 3
"""How many of them a note names."""

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
    fallback: Ranking | None = None
    """How to rank where the embedder does not answer; only `lexical` needs none."""
    distinct: bool = True
    """Whether a text that several pages share is shown once."""
    anew: bool = field(default=False, compare=False)
    """Whether an answer that was given before is not good enough."""

    def checked(self) -> Query:
        """The same query, or an error that names the field that is out of range."""
        if self.text is None and self.vector is None:
            raise InvalidInput("text", "must be given, or a vector")
        if self.per_page is not None:
            check_count("per_page", self.per_page, ENGINE.top_k_max)
        if self.fallback not in (None, "lexical"):
            raise InvalidInput("fallback", f"must be lexical, not {self.fallback!r}")
        return replace(
            self,
            text=None if self.text is None else ENGINE.check_query(self.text),
            top_k=ENGINE.check_top_k(self.top_k),
            threshold=ENGINE.check_threshold(self.threshold),
            ranking=check_ranking(self.ranking) if self.text is not None else "dense",
        )


class Engine:
    """Answers queries from an index and its catalog. Safe to call from many threads."""

    def __init__(self, embedder: Embedder, index: VectorIndex, catalog: Catalog, remembered: int = 0) -> None:
        self._embedder = embedder
        self._index = index
        self._catalog = catalog
        self._memory: Memory[Answer] = Memory(remembered)
        self._at_hand: Memory[Chunk] = Memory(CHUNKS_PER_ANSWER * remembered)
        """Chunks as the catalog describes them, by their points."""

    def search(self, query: Query) -> Answer:
        """The best passages for the query, in order, and how they came about."""
        (answer,) = self.search_together([query])
        if isinstance(answer, Exception):
            raise answer
        return answer

    def search_together(self, queries: Sequence[Query]) -> list[Answer | Exception]:
        """An answer for each query, or what went wrong with it.

        The queries go through each stage together: the code and the data of a stage stay at hand in the
        processor while all of them pass, where a query on its own finds them driven out by the model.
        """
        searches = [self._search(query) for query in queries]
        answers: dict[int, Answer | Exception] = {}
        told: dict[int, Embedded] = {}
        while len(answers) < len(searches):
            to_embed: dict[int, str] = {}
            for place, search in enumerate(searches):
                if place not in answers:
                    try:
                        text = search.send(told.get(place))
                    except StopIteration as end:
                        answers[place] = end.value
                    except Exception as error:  # the answer to its own query alone
                        answers[place] = error
                    else:
                        to_embed |= {} if text is None else {place: text}
            told = self._embed(to_embed)
        return [answers[place] for place in range(len(searches))]

    def _embed(self, texts: Mapping[int, str]) -> dict[int, Embedded]:
        if not texts:
            return {}
        try:
            return dict(zip(texts, self._embedder.embed_queries(list(texts.values())), strict=True))
        except EmbedderError as error:
            return dict.fromkeys(texts, error)

    def recall(self, query: Query) -> Answer | None:
        """The answer to a checked query that was given before, if nothing has changed since."""
        if query.vector is not None:
            return None
        watch = Stopwatch()
        known = self._memory.recall(query, self._index.version)
        if known is None:
            return None
        timings = dict.fromkeys(known.timings, 0.0)
        watch.lap("received")
        return replace(known, created_at=utc_now(), timings=timings | watch.stages, remembered=True)

    def _search(self, query: Query) -> Generator[str | None, Embedded | None, Answer]:
        """One search, which pauses after each stage: after the first for the vector of a text."""
        query = query.checked()
        known = None if query.anew else self.recall(query)
        if known is not None:
            return known
        version = self._index.version
        created_at = utc_now()
        watch = Stopwatch()
        watch.lap("received")
        embedded = yield query.text if query.vector is None else None
        vector, ranking, notes = self._embedded(query, embedded)
        watch.lap("embedded")
        yield None
        watch.resume()
        limit = max(CANDIDATES, DEPTH * query.top_k)
        # Where the best may be passed over, or those behind them are told of, all are ranked.
        best = query.top_k if query.per_page is None and not query.explain else None
        ranked = self._ranked(query, vector, ranking, limit, best)
        watch.lap("searched")
        yield None
        watch.resume()
        hits, left_out, damaged = self._select(ranked, query)
        while (
            len(hits) < query.top_k
            and len(damaged) < MOST_DAMAGED
            and _more(ranked, best or limit, query.threshold)
        ):
            limit *= 1 if best else WIDER
            best = None
            ranked = self._ranked(query, vector, ranking, limit, best)
            hits, left_out, damaged = self._select(ranked, query)
        hits, more = self._described(hits, query, version)
        notes = (*notes, *more, *damage_notes(damaged))
        watch.lap("filtered")
        answer = Answer(
            query=query.text or "",
            ranking=ranking,
            hits=tuple(hits),
            top_k=query.top_k,
            threshold=query.threshold,
            created_at=created_at,
            timings=watch.stages,
            left_out=tuple(left_out),
            notes=notes,
            damaged=tuple(damaged),
        )
        # A vector can't be looked up, and what one store did not say may be said a moment later.
        if query.vector is None and version is not None and not notes:
            self._memory.keep(query, version, answer)
        return answer

    def _ranked(
        self, query: Query, vector: Vector | None, ranking: Ranking, limit: int, best: int | None
    ) -> Ranked:
        """The candidates in order; only the best of them where it is said how many are wanted."""
        worth = None if best is None else partial(contenders, ranking=ranking, limit=limit, best=best)
        found = self._index.candidates(
            vector, query.text, by=SIDES[ranking], limit=limit, filters=query.filters, worth=worth
        )
        ranked = rank(found, ranking)
        return ranked if best is None else ranked.first(best)

    def _embedded(
        self, query: Query, embedded: Embedded | None
    ) -> tuple[Vector | None, Ranking, tuple[str, ...]]:
        """The query's vector, the ranking that can be had, and why it is not the one asked for."""
        ranking = query.ranking
        notes: tuple[str, ...] = ()
        if "lexical" not in self._index.sides:
            if ranking == "lexical":
                raise InvalidInput("ranking", "this collection has no lexical side; choose dense")
            notes = (NO_LEXICAL,) if ranking == "hybrid" else ()
            ranking = "dense"
        if query.vector is not None:
            return checked_vector(query.vector, self._embedder.dimension), ranking, notes
        if not isinstance(embedded, EmbedderError):
            return embedded, ranking, notes
        if "lexical" not in (query.ranking, query.fallback) or "lexical" not in self._index.sides:
            raise embedded
        return None, "lexical", (*notes, NO_EMBEDDER)

    def _select(self, ranked: Ranked, query: Query) -> tuple[list[Hit], list[LeftOut], list[DamagedPoint]]:
        """The first hits that pass threshold and per page, and where asked the next best that don't.

        A passage that several pages share (a partial, a licence) is shown once, from its best page. Points
        that can't be read and would stand in the list are gathered by themselves.
        """
        hits: list[Hit] = []
        left_out: list[LeftOut] = []
        damaged: list[DamagedPoint] = []
        pages: Counter[str] = Counter()
        texts: set[str] = set()
        for score, hit in self._hits(ranked, query):
            if isinstance(hit, DamagedPoint):
                if score >= query.threshold and len(hits) < query.top_k:
                    damaged.append(hit)
                continue
            page = hit.chunk.document_id
            if hit.score < query.threshold:
                left_out.append(
                    LeftOut(hit, f"score {hit.score:.3f} is below the threshold {query.threshold:g}")
                )
            elif query.distinct and hit.chunk.content_hash in texts:
                left_out.append(LeftOut(hit, "its text is that of a better hit, word for word"))
            elif query.per_page is not None and pages[page] >= query.per_page:
                left_out.append(LeftOut(hit, f"its page has {query.per_page} better hits already"))
            elif len(hits) >= query.top_k:
                left_out.append(LeftOut(hit, f"the list is full: top_k is {query.top_k}"))
            else:
                pages[page] += 1
                texts.add(hit.chunk.content_hash or hit.chunk.chunk_id)
                hits.append(hit)
            done = len(hits) >= query.top_k or hit.score < query.threshold
            if done and (not query.explain or len(left_out) >= EXPLAINED):
                break
        return hits, left_out[:EXPLAINED] if query.explain else [], damaged

    def _hits(self, ranked: Ranked, query: Query) -> Iterator[tuple[float, Hit | DamagedPoint]]:
        """The ranked points with their scores and chunks, read only as far as they are needed."""
        for ranks in batches(ranked.scores, query.top_k):
            points = self._points(ranked.point_ids[ranks.start : ranks.stop], query)
            ordered = sorted(
                (-ranked.scores[index], points[point].chunk_id, index)
                for index in ranks
                if (point := ranked.point_ids[index]) in points
            )
            for negative_score, _, index in ordered:
                score, point = -negative_score, ranked.point_ids[index]
                stored = points[point]
                if isinstance(stored, Chunk):
                    yield score, Hit(stored, score, ranked.parts(index), point)
                else:
                    yield score, stored

    def _points(self, points: Sequence[PointId], query: Query) -> dict[PointId, StoredPoint]:
        cached: dict[PointId, StoredPoint] = {}
        if not query.anew:
            cached.update(self._at_hand.recall_all(points, self._index.version))
        missing = [point for point in points if point not in cached]
        return cached | self._index.chunks(missing) if missing else cached

    def _described(
        self, hits: list[Hit], query: Query, version: int | None
    ) -> tuple[list[Hit], tuple[str, ...]]:
        """The hits as the catalog describes them; without it, as the index does.

        They are kept under the version at which the search began: a sync may have gone on since.
        """
        known = {} if query.anew else self._at_hand.recall_all([hit.point_id for hit in hits], version)
        if all(hit.point_id in known for hit in hits):
            # Another search may have had them described since this one read them.
            return [_with_chunk(hit, known[hit.point_id]) for hit in hits], ()
        try:
            rows = self._catalog.describe([hit.chunk.chunk_id for hit in hits])
        except CatalogFailure:
            return hits, (NO_CATALOG,)
        described = [_as_described(hit, rows.get(hit.chunk.chunk_id)) for hit in hits]
        if version is not None:
            self._at_hand.keep_all({hit.point_id: hit.chunk for hit in described}, version)
        return described, ()


def damage_notes(damaged: Sequence[DamagedPoint]) -> tuple[str, ...]:
    """What an answer says of the damaged points that were left out of it; nothing where there are none."""
    if not damaged:
        return ()
    points = "1 damaged point was" if len(damaged) == 1 else f"{len(damaged):,} damaged points were"
    more = f"; and {len(damaged) - DAMAGED_NAMED:,} more" if len(damaged) > DAMAGED_NAMED else ""
    named = "; ".join(map(str, damaged[:DAMAGED_NAMED]))
    return (f"{points} left out (`pertinent doctor` says what to do): {named}{more}",)


def neighbours(catalog: Catalog, chunk_id: str, around: int = 0) -> list[Chunk]:
    """The chunk with up to `around` chunks on each side of it, in the order of the page."""
    chunk = catalog.chunk(chunk_id)
    if chunk is None:
        raise NotFound(f"no chunk has the id {chunk_id!r}; `pertinent search --json` shows ids")
    if not around:
        return [chunk]
    first, last = chunk.position - around, chunk.position + around
    return [one for one in catalog.chunks(chunk.document_id) if first <= one.position <= last]


def _more(ranked: Ranked, asked: int, threshold: float) -> bool:
    """Whether there may be further candidates that pass the threshold."""
    return len(ranked.scores) >= asked and ranked.scores[-1] >= threshold


def _with_chunk(hit: Hit, chunk: Chunk) -> Hit:
    return hit if hit.chunk is chunk else replace(hit, chunk=chunk)


def _as_described(hit: Hit, row: Description | None) -> Hit:
    chunk = hit.chunk
    if row is None or (row.source_path, row.slug, row.title) == (chunk.source_path, chunk.slug, chunk.title):
        return hit
    title = row.title or chunk.title
    return replace(hit, chunk=replace(chunk, source_path=row.source_path, slug=row.slug, title=title))


def checked_vector(vector: Sequence[float] | Vector, dimension: int) -> Vector:
    """The vector at unit length, or an error: a wrong number of elements, or one that is no number."""
    try:
        array = np.asarray(vector)
    except ValueError as error:
        raise InvalidInput("query_embedding", "must be a list of numbers") from error
    if array.dtype.kind not in "fiu" and array.size:
        raise InvalidInput("query_embedding", "must be a list of numbers")
    if array.ndim != 1:
        raise InvalidInput("query_embedding", "must be one flat list of numbers")
    if len(array) != dimension:
        raise DimensionMismatch(len(array), dimension)
    if not np.isfinite(array).all():
        raise InvalidInput("query_embedding", "holds a value that is not a finite number")
    # A cosine does not depend on the length of a vector; Qdrant gives up on very long and short ones.
    length = float(np.linalg.norm(array.astype(np.float64)))
    if not length:
        raise InvalidInput("query_embedding", "holds only zeros, which point nowhere")
    return (array / length).astype(np.float32)
