"""The engine: runs the steps of a query in order, and caches the answers.

correct → embed → candidates of both sides → rank → rerank, if a reranker is set → select → describe
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from .._internal.cache import VersionedCache
from .._internal.clock import StageTimer, utc_now
from ..errors import CatalogFailure, EmbedderError, IndexMissing, InvalidInput, NotFound, RerankerError
from ..identity import point_id
from ..ports import CatalogReader, Description, Embedder, IndexReader, Vector
from ..types import (
    NO_RERANKER,
    Answer,
    Chunk,
    Filters,
    Hit,
    PointId,
    Ranking,
    SearchOptions,
    StoredPoint,
    Suggestion,
)
from .book_words import BookWords
from .book_words_cache import BookWordsCache
from .cosine_scale import KNOWN_SCALES, SAMPLE, CosineScale, estimate_scale
from .notes import NO_CATALOG, NO_CHUNKS, NO_EMBEDDER, NO_LEXICAL, NO_PHRASE, NO_WORDS, describe_damage
from .phrases import Phrases
from .query_vector import normalize_vector
from .ranking import CANDIDATE_SIDES, CANDIDATES, Ranked, rank, select
from .reranking import Reranking
from .spelling import SearchText, read_query
from .suggest import suggest
from .terms import Analyzer
from .timed_catalog import TimedCatalog

CANDIDATES_PER_HIT = 2
"""How many candidates each side proposes for each hit; lists of up to 25 all have `CANDIDATES`."""

WIDENING = 4
"""The factor by which the number of candidates grows when too few of them can be listed."""

MAX_CANDIDATES = 800
"""The most candidates that a search reads of each side.

It bounds the cost of a quoted phrase that no passage has.
"""

NO_RERANKER_SET = (
    "no reranker is set: set `reranker`, for example to local:ms-marco-MiniLM-L-12-v2, or leave rerank out"
)

MOST_DAMAGED = 1000
"""How many damaged points a search reads past before it stops looking for further hits."""

MAX_CACHED_BYTES = 64 * 2**20
"""How much memory the cached answers may take, approximately."""

HIT_BYTES = 1500
"""About how much memory a hit takes without its texts: ids, hashes, scores."""

PROBE_TEXT = "health"
"""The text of the search that a health check makes."""

DEFAULT_OPTIONS = SearchOptions()


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A query as it is searched for, with its vector or the error of the embedder."""

    query: SearchText
    vector: Vector | None
    error: EmbedderError | None = None
    milliseconds: float = 0.0


class Engine:
    """Answers queries from an index and its catalog. Thread-safe."""

    def __init__(  # noqa: PLR0913 - the parts of a search
        self,
        embedder: Embedder,
        index: IndexReader,
        catalog: CatalogReader,
        *,
        ranking: Ranking = "hybrid",
        cache_size: int = 0,
        language: str = "english",
        is_word: Callable[[str], bool] = lambda _word: False,
        catalog_timeout: float | None = None,
        reranking: Reranking | None = None,
    ) -> None:
        """Prepare searching.

        Args:
            embedder: Embeds queries.
            index: Proposes candidates.
            catalog: Describes hits, and knows the words of the book.
            ranking: The ranking of searches whose options name none.
            cache_size: How many answers are cached, in at most `MAX_CACHED_BYTES`.
            language: The language of the book, for stems and stop words.
            is_word: Whether a folded word exists in the language, so that it is not corrected.
            catalog_timeout: How many seconds a search waits for the catalog; None waits until it answers.
            reranking: Reranks the best hits; None if no reranker is set.
        """
        self._embedder = embedder
        self._index = index
        self._descriptions = catalog if catalog_timeout is None else TimedCatalog(catalog, catalog_timeout)
        self._default_ranking = ranking
        self._is_word = is_word
        self._reranking = reranking
        self._book_words = BookWordsCache(catalog, language)
        self._cosine_scale: tuple[int, CosineScale] | None = None
        """The estimated scale of the model's cosines, and from how many vectors."""
        self._answers: VersionedCache[Answer] = VersionedCache(cache_size, MAX_CACHED_BYTES, count_bytes)

    @property
    def analyzer(self) -> Analyzer:
        """Splits texts into the terms that searches compare."""
        return self._book_words.analyzer

    def search(self, text: str, options: SearchOptions = DEFAULT_OPTIONS) -> Answer:
        """Find the passages that answer the text best.

        Args:
            text: The query, already checked by the caller's own limits.
            options: What the caller wants of the list.
        """
        if (answer := self.cached_answer(text, options)) is not None:
            return answer
        return self._search_and_cache(text, None, options, self._load_book())

    def search_vector(
        self, vector: Sequence[float] | Vector, options: SearchOptions = DEFAULT_OPTIONS
    ) -> Answer:
        """Find the passages nearest to a vector; the ranking is `dense`, and nothing is cached."""
        unit_vector = normalize_vector(vector, self._embedder.dimension)
        embedded = EmbeddedQuery(SearchText(""), unit_vector)
        return self._search(None, embedded, replace(options, ranking="dense"), self._load_book())

    def search_batch(self, queries: Sequence[tuple[str, SearchOptions]]) -> list[Answer | Exception]:
        """Search for several queries, embedded in one batch; an error is the result of its own query.

        Raises:
            IndexMissing: No query can be answered.
        """
        book = self._load_book()
        new = [query for query in dict.fromkeys(queries) if self.cached_answer(*query) is None]
        texts = [self._read_query(text, book, options) for text, options in new]
        embedded = dict(zip(new, self._embed(texts), strict=True)) if new else {}
        outcomes: list[Answer | Exception] = []
        for text, options in queries:
            try:
                answer = self.cached_answer(text, options)
                outcomes.append(
                    answer or self._search_and_cache(text, embedded.get((text, options)), options, book)
                )
            except IndexMissing:
                raise
            except Exception as error:
                outcomes.append(error)
        return outcomes

    def load_words(self) -> None:
        """Load the words of the book, so that the first search need not wait for them."""
        self._load_book()

    def suggest(self, text: str, limit: int) -> list[Suggestion]:
        """Find pages and sections whose name fits what has been typed so far, best first."""
        return suggest(text, self._load_book(), limit)

    def cached_answer(self, text: str, options: SearchOptions) -> Answer | None:
        """Return the cached answer, if neither the index nor the words of the book have changed since."""
        if options.bypass_cache:
            return None
        timer = StageTimer()
        version = self._index.version
        answer = self._answers.get((text, options), (version, self._book_words.get_cached(version)))
        if answer is None:
            return None
        timer.lap("received")
        timings = dict.fromkeys(answer.timings, 0.0) | timer.stages
        return replace(answer, created_at=utc_now(), timings=timings, cached=True)

    def probe_index(self) -> int:
        """Search the index as a query does, and count its chunks; raise IndexFailure if it fails."""
        vector = np.zeros(self._embedder.dimension, np.float32)
        vector[0] = 1.0
        sides = self._index.sides
        self._index.candidates(vector, PROBE_TEXT, by=sides, limit=1, filters=Filters())
        return self._index.count()

    def probe_catalog(self) -> None:
        """Query the catalog as a search does; raise CatalogFailure if it fails or takes too long."""
        self._descriptions.ping()

    def _load_book(self) -> BookWords:
        return self._book_words.load(self._index.version)

    def _search_and_cache(
        self, text: str, embedded: EmbeddedQuery | None, options: SearchOptions, book: BookWords
    ) -> Answer:
        version = self._index.version
        answer = self._search(text, embedded, options, book)
        # Degraded answers are not cached, nor those of an index that others may change.
        if version is not None and not answer.notes:
            self._answers.put((text, options), answer, (version, book))
        return answer

    def _search(
        self, text: str | None, embedded: EmbeddedQuery | None, options: SearchOptions, book: BookWords
    ) -> Answer:
        created_at = utc_now()
        timer = StageTimer()
        timer.lap("received")
        if embedded is None:
            (embedded,) = self._embed([self._read_query(text or "", book, options)])
        query = embedded.query
        ranking, notes = self._choose_ranking(options, embedded)
        reranking = self._choose_reranking(text, ranking, options)
        timer.lap("embedded")
        timer.stages["embedded"] = embedded.milliseconds
        lexical_text = None if text is None else query.text
        phrases = Phrases(query.phrases)
        ranked = self._rank_until_full(lexical_text, embedded.vector, ranking, options, phrases, book)
        timer.lap("searched")
        with_phrases = ranked.filter_by_phrases(phrases)
        if with_phrases.hits:
            ranked = with_phrases
        elif phrases:
            notes = (*notes, NO_PHRASE)
        selected = select(ranked, options)
        rerank_share = 0.0
        if reranking is not None:
            rerank_timer = StageTimer()
            try:
                ranked = reranking.apply(ranked, query.text, options)
                selected = select(ranked, options)
                rerank_share = reranking.share
            except RerankerError:
                notes = (*notes, NO_RERANKER)
            rerank_timer.lap("reranked")
            timer.stages |= rerank_timer.stages
        hits, catalog_notes = self._describe(selected.hits)
        if not catalog_notes and self._book_words.is_outdated:
            catalog_notes = (NO_WORDS,)
        notes = (*notes, *catalog_notes, *describe_damage(selected.damaged))
        if not hits and not selected.excluded and not self._index.count():
            notes = (*notes, NO_CHUNKS)
        timer.lap("filtered")
        timer.stages["filtered"] -= timer.stages.get("reranked", 0.0)
        return Answer(
            query=text or "",
            ranking=ranking,
            hits=tuple(hits),
            top_k=options.top_k,
            threshold=options.threshold,
            created_at=created_at,
            timings=timer.stages,
            excluded=tuple(selected.excluded),
            notes=notes,
            damaged=tuple(selected.damaged),
            searched_for=query.text,
            corrected=query.corrected,
            rerank_share=rerank_share,
        )

    def _read_query(self, text: str, book: BookWords, options: SearchOptions) -> SearchText:
        return read_query(text, book, self._is_word, correct=options.correct)

    def _embed(self, queries: Sequence[SearchText]) -> list[EmbeddedQuery]:
        """Embed the queries in one batch; an error of the embedder is the result of each."""
        timer = StageTimer()
        vectors: Sequence[Vector | None] = [None] * len(queries)
        failure = None
        try:
            vectors = self._embedder.embed_queries([query.text for query in queries])
        except EmbedderError as error:
            failure = error
        milliseconds = timer.seconds() * 1000
        return [
            EmbeddedQuery(query, vector, failure, milliseconds)
            for query, vector in zip(queries, vectors, strict=True)
        ]

    def _choose_ranking(
        self, options: SearchOptions, embedded: EmbeddedQuery
    ) -> tuple[Ranking, tuple[str, ...]]:
        """Return the requested ranking or, if index or embedder do not allow it, another one with a note."""
        ranking = options.ranking or self._default_ranking
        has_lexical = "lexical" in self._index.sides
        if ranking == "lexical" and not has_lexical:
            raise InvalidInput("ranking", "this collection can't be searched by words; choose dense")
        if embedded.error is not None:
            if not has_lexical or "lexical" not in (ranking, options.fallback):
                raise embedded.error
            return "lexical", (NO_EMBEDDER,)
        if has_lexical:
            return ranking, ()
        return "dense", (NO_LEXICAL,) if ranking == "hybrid" else ()

    def _choose_reranking(
        self, text: str | None, ranking: Ranking, options: SearchOptions
    ) -> Reranking | None:
        """Return the reranking of a search; the caller decides, and by default only `hybrid` is reranked."""
        if options.rerank and self._reranking is None:
            raise InvalidInput("rerank", NO_RERANKER_SET)
        wants_reranking = ranking == "hybrid" if options.rerank is None else options.rerank
        return self._reranking if wants_reranking and text is not None else None

    def _rank_until_full(
        self,
        text: str | None,
        vector: Vector | None,
        ranking: Ranking,
        options: SearchOptions,
        phrases: Phrases,
        book: BookWords,
    ) -> Ranked:
        """Rank candidates, and more of them until the list is full or further ones can't be listed."""
        sides = CANDIDATE_SIDES[ranking]
        scale = self._load_cosine_scale(book) if ranking == "hybrid" else CosineScale()
        points: dict[PointId, StoredPoint] = {}
        limit = max(CANDIDATES, CANDIDATES_PER_HIT * options.top_k)
        while True:
            candidates = self._index.candidates(vector, text, by=sides, limit=limit, filters=options.filters)
            points |= self._index.chunks([point for point in candidates.point_ids if point not in points])
            ranked = rank(candidates, points, ranking, text or "", book, scale)
            hits = select(ranked.filter_by_phrases(phrases), options).hits
            has_more = len(candidates.point_ids) >= limit and len(ranked.damaged) < MOST_DAMAGED
            # The few passages that have a phrase may be far down, and still reach the threshold.
            can_fill = has_more and (bool(phrases) or ranked.all_reach(options.threshold))
            if len(hits) >= options.top_k or not can_fill or limit >= MAX_CANDIDATES:
                return ranked
            limit = min(limit * WIDENING, MAX_CANDIDATES)

    def _load_cosine_scale(self, book: BookWords) -> CosineScale:
        """Return the scale of the model's cosines, estimated again while a small book grows."""
        if (scale := KNOWN_SCALES.get(self._embedder.name)) is not None:
            return scale
        sample_size = min(book.vocabulary.chunks, SAMPLE)
        if self._cosine_scale is None or self._cosine_scale[0] != sample_size:
            sample = islice(self._index.scan(), SAMPLE)
            vectors = self._index.vectors([point_id(point.chunk_id) for point in sample])
            self._cosine_scale = sample_size, estimate_scale([*vectors.values()])
        return self._cosine_scale[1]

    def _describe(self, hits: list[Hit]) -> tuple[list[Hit], tuple[str, ...]]:
        """Take path, slug and title from the catalog; while it is down, from the index."""
        try:
            descriptions = self._descriptions.describe([hit.chunk.chunk_id for hit in hits])
        except CatalogFailure:
            return hits, (NO_CATALOG,)
        return [_apply_description(hit, descriptions.get(hit.chunk.chunk_id)) for hit in hits], ()


def count_bytes(answer: Answer) -> int:
    """Return about how much memory an answer takes."""
    chunks = [hit.chunk for hit in (*answer.hits, *(excluded.hit for excluded in answer.excluded))]
    texts = (text for chunk in chunks for text in (chunk.text, chunk.title, chunk.section, chunk.url))
    return len(chunks) * HIT_BYTES + sum(map(sys.getsizeof, (answer.query, *texts)))


def find_neighbors(catalog: CatalogReader, chunk_id: str, around: int = 0) -> list[Chunk]:
    """Return the chunk with up to `around` chunks on each side of it, in the order of the page."""
    chunk = catalog.chunk(chunk_id)
    if chunk is None:
        raise NotFound(f"no chunk has the id {chunk_id!r}; `pertinent search --json` shows ids")
    if not around:
        return [chunk]
    first, last = chunk.position - around, chunk.position + around
    return [
        neighbour for neighbour in catalog.chunks(chunk.document_id) if first <= neighbour.position <= last
    ]


def _apply_description(hit: Hit, row: Description | None) -> Hit:
    chunk = hit.chunk
    if row is None or (row.source_path, row.slug, row.title) == (chunk.source_path, chunk.slug, chunk.title):
        return hit
    # Only a missing row falls back to the payload's title: one that is NULL is no title.
    described = replace(chunk, source_path=row.source_path, slug=row.slug, title=row.title or "")
    return replace(hit, chunk=described)
