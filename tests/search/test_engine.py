"""Search: what comes back, in which order, and what does not."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from pertinent._internal.progress import NoProgress
from pertinent.errors import CatalogFailure, DimensionMismatch, EmbedderError, InvalidInput, NotFound
from pertinent.ports import Description, Vector
from pertinent.search import engine as engine_module
from pertinent.search.engine import Engine, count_bytes, find_neighbors
from pertinent.search.notes import NO_PHRASE
from pertinent.search.ranking import weigh_features
from pertinent.testing.embedder import HashedWords
from pertinent.testing.pages import InMemorySource, page
from pertinent.types import (
    Answer,
    Filters,
    PointId,
    Ranking,
    SearchOptions,
    SectionName,
    Vocabulary,
    readable_chunks,
)
from pertinent.workspace.workspace import Workspace

BOOK = [
    page(
        "topics",
        {
            "": "Nodes exchange messages over topics.",
            "Quality of service": "Reliable delivery resends lost messages. Best effort does not.",
            "Publishing": "A publisher sends messages on a topic at a steady rate.",
            "Subscribing": "A subscriber receives messages of a topic in a callback.",
        },
    ),
    page("services", {"": "A service answers one request with one response."}),
    page("joints", {"Limits": "A revolute joint turns between limits.", "Axis": "The axis of a joint."}),
]


@pytest.fixture
def engine(workspace: Workspace) -> Engine:
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(InMemorySource(*BOOK)))
    return workspace.engine()


def search(engine: Engine, text: str, **options: Any) -> Answer:
    return engine.search(text, SearchOptions(**options))


@pytest.mark.parametrize("ranking", ["hybrid", "dense", "lexical"])
def test_the_list_is_in_the_order_of_the_score_it_shows(engine: Engine, ranking: Ranking) -> None:
    answer = search(engine, "messages of a topic", ranking=ranking, top_k=10)
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    for hit in answer.hits:
        match = sum(weigh_features(hit.scores).values())
        hybrid = 1 / (1 + math.exp(-10 * (match - 0.35)))
        expected = {"hybrid": hybrid, "dense": hit.scores.cosine, "lexical": hit.scores.lexical}[ranking]
        assert hit.score == pytest.approx(expected)
    assert (
        answer.algorithm
        == {
            "hybrid": "hybrid-similarity",
            "dense": "cosine-similarity",
            "lexical": "lexical-similarity",
        }[ranking]
    )


def test_component_scores_are_there_in_every_ranking(engine: Engine) -> None:
    seen = {}
    rankings: tuple[Ranking, ...] = ("hybrid", "dense", "lexical")
    for ranking in rankings:
        hit = search(engine, "revolute joint", ranking=ranking).hits[0]
        assert hit.scores.cosine is not None
        assert hit.scores.lexical is not None
        seen[ranking] = (hit.chunk.chunk_id, hit.scores[:2])
        names_and_page = hit.scores[2:5]
        assert (None in names_and_page) == (ranking != "hybrid")
    assert len(set(seen.values())) == 1


def test_the_same_query_gives_the_same_list_every_time(engine: Engine) -> None:
    first = search(engine, "messages", top_k=20)
    for _ in range(5):
        assert search(engine, "messages", top_k=20).hits == first.hits


def test_equal_scores_are_ordered_by_chunk_id_also_at_the_cut(workspace: Workspace) -> None:
    twins = [page(f"twin-{n}", {"": f"Exactly the same words{'!' * n}"}, title="Twin") for n in range(9)]
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(InMemorySource(*twins)))
    ids = sorted(chunk.chunk_id for chunk in workspace.index().scan())
    for top_k in (1, 3, 5, 9):
        answer = search(workspace.engine(), "same words", top_k=top_k)
        assert [hit.chunk.chunk_id for hit in answer.hits] == ids[:top_k]


def test_a_passage_that_several_pages_share_is_shown_once(workspace: Workspace) -> None:
    partial = "Source the workspace before you run anything."
    book = [page(name, {"Setup": partial, "More": f"More about {name}."}) for name in ("one", "two", "three")]
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(InMemorySource(*book)))
    answer = search(workspace.engine(), "source the workspace", top_k=5)
    assert [hit.chunk.text for hit in answer.hits].count(partial) == 1
    assert len(answer.hits) == 4
    assert sum("word for word" in candidate.reason for candidate in answer.excluded) == 2
    there = Filters(document_id=book[2].document_id)
    assert search(workspace.engine(), "source the workspace", filters=there).hits[0].chunk.text == partial


def test_many_copies_of_one_text_do_not_crowd_out_the_rest(workspace: Workspace) -> None:
    licence = "Source code is licensed as the file says."
    copies = [page(f"copy-{n}", {"Licence": licence}, title="Same") for n in range(120)]
    others = [page(f"other-{n}", {"Text": f"Other licensed source number {n}."}) for n in range(20)]
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(InMemorySource(*copies, *others)))
    answer = search(workspace.engine(), "source code licensed as the file says", top_k=5)
    assert len({hit.chunk.text for hit in answer.hits}) == len(answer.hits) == 5
    every = search(workspace.engine(), "source code licensed as the file says", top_k=5, distinct=False)
    assert len({hit.chunk.text for hit in every.hits}) == 1


def test_a_threshold_leaves_out_what_scores_less(engine: Engine) -> None:
    everything = search(engine, "messages over topics", top_k=20)
    middle = everything.hits[2].score
    above = search(engine, "messages over topics", top_k=20, threshold=middle)
    assert [h.chunk for h in above.hits] == [h.chunk for h in everything.hits if h.score >= middle]
    assert search(engine, "zebra", threshold=1.0).hits == ()


def test_at_most_n_hits_of_a_page_where_asked(engine: Engine) -> None:
    free = search(engine, "messages of a topic", top_k=6)
    assert sum(hit.chunk.slug == "topics" for hit in free.hits) > 2
    spread = search(engine, "messages of a topic", top_k=6, per_page=2)
    assert sum(hit.chunk.slug == "topics" for hit in spread.hits) == 2
    assert spread.hits[0] == free.hits[0]
    assert {hit.chunk.slug for hit in spread.hits} == {"topics", "services", "joints"}


def test_filters_apply(engine: Engine) -> None:
    answer = search(engine, "messages", filters=Filters(section="Limits"), top_k=10)
    assert [hit.chunk.section for hit in answer.hits] == ["Limits"]


def test_excluded_candidates_come_with_the_reason(engine: Engine) -> None:
    by_count = search(engine, "messages", top_k=1)
    assert "the list is full: top_k is 1" in by_count.excluded[0].reason
    by_score = search(engine, "messages", threshold=0.99)
    assert by_score.hits == ()
    assert "below the threshold 0.99" in by_score.excluded[0].reason
    by_page = search(engine, "messages of a topic", per_page=1)
    assert any("its page has 1" in candidate.reason for candidate in by_page.excluded)


def test_every_stage_is_timed(engine: Engine) -> None:
    timings = search(engine, "messages").timings
    assert list(timings) == ["received", "embedded", "searched", "filtered"]
    assert all(ms >= 0 for ms in timings.values())


def test_a_vector_alone_is_ranked_dense_and_has_no_lexical_score(engine: Engine) -> None:
    vector = HashedWords().embed_queries(["revolute joint"])[0]
    answer = engine.search_vector(vector)
    assert answer.ranking == "dense"
    assert answer.hits[0].chunk.slug == "joints"
    assert answer.hits[0].scores.lexical is None


@pytest.mark.parametrize("length", [1e300, 1e-300])
def test_length_of_a_vector_does_not_matter(engine: Engine, length: float) -> None:
    vector = HashedWords().embed_queries(["revolute joint"])[0]
    scaled = engine.search_vector([float(element) * length for element in vector])
    assert [(hit.point_id, round(hit.score, 5)) for hit in scaled.hits] == [
        (hit.point_id, round(hit.score, 5)) for hit in engine.search_vector(vector).hits
    ]


@pytest.mark.parametrize(
    ("vector", "error"),
    [
        ([0.1] * 3, DimensionMismatch),
        ([float("nan")] * 64, InvalidInput),
        ([0.0] * 64, InvalidInput),
        (["a"] * 64, InvalidInput),
        ([[0.1] * 64], InvalidInput),
    ],
)
def test_a_vector_that_does_not_fit_is_refused(engine: Engine, vector: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        engine.search_vector(vector)


def test_odd_queries_get_a_clean_answer(engine: Engine) -> None:
    for text in (
        "?",
        "the of and",
        "🤖",
        "'; DROP TABLE documents; --",
        "<script>",
        "\x00\x07",
        "漢字",
        "a" * 2000,
    ):
        answer = search(engine, text)
        assert all(0 <= hit.score <= 1 for hit in answer.hits)


class UnavailableCatalog:
    """A catalog that does not answer."""

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        raise CatalogFailure("gone")

    def vocabulary_version(self) -> int:
        raise CatalogFailure("gone")


def test_without_its_catalog_a_search_answers_from_the_index_and_says_so(
    engine: Engine, workspace: Workspace
) -> None:
    degraded = Engine(workspace.embedder(), workspace.index(), UnavailableCatalog())  # type: ignore[arg-type]
    answer = search(degraded, "messages")
    assert {h.chunk.chunk_id for h in answer.hits} == {
        h.chunk.chunk_id for h in search(engine, "messages").hits
    }
    assert "catalog did not answer" in answer.notes[0]


def test_without_its_catalog_a_search_corrects_nothing(engine: Engine, workspace: Workspace) -> None:
    degraded = Engine(workspace.embedder(), workspace.index(), UnavailableCatalog())  # type: ignore[arg-type]
    answer = search(degraded, "mesages of a topic")
    assert (answer.searched_for, answer.corrected) == ("mesages of a topic", False)
    assert answer.hits
    assert search(engine, "mesages of a topic").corrected


class UniformCatalog:
    """A catalog that describes every chunk alike, and has no words."""

    def __init__(self, description: Description) -> None:
        self._description = description

    def describe(self, chunk_ids: Sequence[str]) -> dict[str, Description]:
        return dict.fromkeys(chunk_ids, self._description)

    def vocabulary_version(self) -> int:
        return 0

    def vocabulary(self) -> Vocabulary:
        return Vocabulary({}, 0)

    def section_names(self) -> list[SectionName]:
        return []


@pytest.mark.parametrize("other", ["source_path", "slug", "title"])
def test_path_slug_and_title_are_what_the_catalog_says(
    engine: Engine, workspace: Workspace, other: str
) -> None:
    chunk = search(engine, "messages of a topic", top_k=1).hits[0].chunk
    changed: Any = {other: "another"}
    catalog = UniformCatalog(replace(Description(chunk.source_path, chunk.slug, chunk.title), **changed))
    changed_engine = Engine(workspace.embedder(), workspace.index(), catalog)  # type: ignore[arg-type]
    hit = search(changed_engine, "messages of a topic", top_k=1).hits[0]
    assert hit.chunk == replace(chunk, **changed)


def test_seed_003_a_title_that_is_null_in_the_catalog_is_none(engine: Engine, workspace: Workspace) -> None:
    catalog = UniformCatalog(Description("p.md", "p", None))
    untitled = Engine(workspace.embedder(), workspace.index(), catalog)  # type: ignore[arg-type]
    indexed = search(engine, "messages of a topic", top_k=1).hits[0].chunk
    described = search(untitled, "messages of a topic", top_k=1).hits[0].chunk
    assert described == replace(indexed, source_path="p.md", slug="p", title="")
    assert described.breadcrumb.startswith("p.md")


def test_neighbours_rebuild_the_text_around_a_chunk(engine: Engine, workspace: Workspace) -> None:
    middle = next(c for c in readable_chunks(workspace.index().scan()) if c.section == "Publishing")
    assert [c.position for c in find_neighbors(workspace.catalog(), middle.chunk_id)] == [2]
    around = find_neighbors(workspace.catalog(), middle.chunk_id, around=1)
    assert [c.section for c in around] == ["Quality of service", "Publishing", "Subscribing"]
    assert [c.position for c in find_neighbors(workspace.catalog(), middle.chunk_id, around=50)] == [
        0,
        1,
        2,
        3,
    ]
    whole = workspace.catalog().page(middle.document_id)
    assert whole is not None
    assert all(whole.text[c.start : c.end] == c.text for c in around)


def test_an_unknown_chunk_is_not_found(engine: Engine, workspace: Workspace) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        find_neighbors(workspace.catalog(), "nowhere")


def test_fifty_threads_search_rightly_while_a_sync_runs(engine: Engine, workspace: Workspace) -> None:
    """Every answer is that of the book before or after the change, never a mixture of pages gone."""
    queries = ["service request", "revolute joint limits", "steady rate publisher"]
    expected = {text: search(engine, text, top_k=1).hits[0].chunk.chunk_id for text in queries}
    stop = threading.Event()

    def resync() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            extra = [page(f"extra-{k}", {"": f"Unrelated filler {n} {k}."}) for k in range(20)]
            indexer = workspace.create_indexer(NoProgress())
            indexer.apply(indexer.plan(InMemorySource(*BOOK, *extra)), allow_shrink=True)

    syncing = threading.Thread(target=resync)
    syncing.start()
    try:
        with ThreadPoolExecutor(50) as pool:
            texts = queries * 100
            answers = list(pool.map(lambda text: search(engine, text, top_k=1), texts))
    finally:
        stop.set()
        syncing.join()
    for text, answer in zip(texts, answers, strict=True):
        assert answer.hits[0].chunk.chunk_id == expected[text]
        assert answer.notes == ()


def test_one_long_page_does_not_use_up_a_list_with_hits_per_page(workspace: Workspace) -> None:
    long = page("long", {f"Part {n}": f"The word robot robot robot, part {n}." for n in range(300)})
    others = [page(f"other-{n}", {"": f"A robot among many other things here, {n}."}) for n in range(10)]
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(InMemorySource(long, *others)))
    rankings: tuple[Ranking, ...] = ("hybrid", "dense", "lexical")
    for ranking in rankings:
        answer = search(workspace.engine(), "robot", top_k=10, per_page=1, ranking=ranking)
        assert len({hit.chunk.document_id for hit in answer.hits}) == len(answer.hits) == 10


def test_a_batch_gets_the_answers_that_each_query_gets_alone(engine: Engine) -> None:
    queries = [
        ("messages of a topic", SearchOptions(top_k=3)),
        ("joint limits", SearchOptions(ranking="dense")),
        ("service request", SearchOptions(per_page=1, top_k=10)),
        ("nothing like it", SearchOptions(threshold=0.99)),
        ("mesages of a tpoic", SearchOptions()),
        ("mesages of a tpoic", SearchOptions(correct=False)),
        ('"best effort" delivry', SearchOptions()),
        ('""', SearchOptions()),
    ]
    for (text, options), answer in zip(queries, engine.search_batch(queries), strict=True):
        assert isinstance(answer, Answer)
        single = engine.search(text, options)
        assert answer.hits == single.hits
        assert (answer.searched_for, answer.corrected) == (single.searched_for, single.corrected)
        assert list(answer.timings) == ["received", "embedded", "searched", "filtered"]


class CountingEmbedder(HashedWords):
    """Records which texts it embeds in one batch, and may fail."""

    def __init__(self, error: EmbedderError | None = None) -> None:
        super().__init__()
        self.batches: list[list[str]] = []
        self._error = error

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        self.batches.append(list(texts))
        if self._error is not None:
            raise self._error
        return super().embed_queries(texts)


@pytest.mark.usefixtures("engine")
def test_a_batch_embeds_its_new_texts_in_one_call(workspace: Workspace) -> None:
    embedder = CountingEmbedder()
    engine = Engine(embedder, workspace.index(), workspace.catalog(), cache_size=10)
    search(engine, "cached")
    texts = ["topics", "cached", "joints"]
    answers = engine.search_batch([(text, SearchOptions()) for text in texts])
    assert embedder.batches == [["cached"], ["topics", "joints"]]
    assert [answer.cached for answer in answers if isinstance(answer, Answer)] == [False, True, False]


@pytest.mark.usefixtures("engine")
def test_a_failing_embedder_fails_only_the_queries_of_a_batch_that_need_it(workspace: Workspace) -> None:
    engine = Engine(CountingEmbedder(EmbedderError("down")), workspace.index(), workspace.catalog())
    outcomes = engine.search_batch(
        [
            ("messages", SearchOptions()),
            ("messages", SearchOptions(fallback="lexical")),
            ("messages", SearchOptions(ranking="dense")),
            ("messages", SearchOptions(ranking="lexical")),
        ]
    )
    assert [type(outcome) for outcome in outcomes] == [EmbedderError, Answer, EmbedderError, Answer]


def test_cached_answers_are_limited_in_memory(
    workspace: Workspace, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = search(engine, "messages")
    assert count_bytes(answer) > sum(len(hit.chunk.text) for hit in answer.hits) > 0
    monkeypatch.setattr(engine_module, "MAX_CACHED_BYTES", 1.5 * count_bytes(answer))
    limited = Engine(HashedWords(), workspace.index(), workspace.catalog(), cache_size=10)
    options = SearchOptions()
    for text in ("messages", "messages again"):
        limited.search(text, options)
        assert limited.cached_answer(text, options) is not None
    assert limited.cached_answer("messages", options) is None


@pytest.mark.usefixtures("engine")
def test_a_degraded_answer_is_not_cached(workspace: Workspace) -> None:
    engine = Engine(HashedWords(), workspace.index(), UnavailableCatalog(), cache_size=10)  # type: ignore[arg-type]
    assert search(engine, "messages").notes
    assert engine.cached_answer("messages", SearchOptions()) is None


class Speechless(HashedWords):
    """An embedder whose service is down."""

    def embed_queries(self, texts: Any) -> Any:
        raise EmbedderError(f"no answer for {texts!r}")


def without_model(workspace: Workspace) -> Engine:
    return Engine(Speechless(), workspace.index(), workspace.catalog())


@pytest.mark.usefixtures("engine")
def test_with_the_embedder_down_words_still_answer_where_the_caller_allows_it(workspace: Workspace) -> None:
    answer = search(without_model(workspace), "messages of a topic", fallback="lexical")
    assert answer.ranking == "lexical"
    assert answer.hits == tuple(
        replace(hit, scores=hit.scores._replace(cosine=None))
        for hit in search(workspace.engine(), "messages of a topic", ranking="lexical").hits
    )
    assert answer.notes == ("the embedding model did not answer; results are ranked by words alone",)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("ranking", ["hybrid", "dense"])
def test_with_the_embedder_down_nothing_is_made_up_unasked(workspace: Workspace, ranking: Ranking) -> None:
    with pytest.raises(EmbedderError):
        search(without_model(workspace), "messages", ranking=ranking)


@pytest.mark.usefixtures("engine")
def test_who_asks_for_words_alone_needs_no_embedder(workspace: Workspace) -> None:
    assert search(without_model(workspace), "messages of a topic", ranking="lexical").hits


class DenseOnly:
    """An index without a lexical side, as another pipeline may have made it."""

    sides = ("dense",)

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def candidates(self, vector: Any, text: str | None, **options: Any) -> Any:
        return self._inner.candidates(vector, None, **options)


@pytest.mark.usefixtures("engine")
def test_a_collection_without_a_lexical_side_is_ranked_dense_and_says_so(workspace: Workspace) -> None:
    """Rule 2 in docs/seeds.md."""
    engine = Engine(HashedWords(), DenseOnly(workspace.index()), workspace.catalog())
    answer = search(engine, "messages of a topic")
    assert (answer.ranking, answer.algorithm) == ("dense", "cosine-similarity")
    assert answer.notes == (
        "this collection can't be searched by words; results are ranked by meaning alone",
    )
    assert search(engine, "messages of a topic", ranking="dense").notes == ()
    with pytest.raises(InvalidInput, match="can't be searched by words"):
        search(engine, "messages", ranking="lexical")


def test_an_answer_says_what_was_searched_for(engine: Engine) -> None:
    answer = search(engine, "Relable delivery of mesages")
    assert answer.query == "Relable delivery of mesages"
    assert (answer.searched_for, answer.corrected) == ("reliable delivery of messages", True)
    assert answer.hits == search(engine, "reliable delivery of messages").hits


def test_an_answer_to_known_words_is_not_corrected(engine: Engine) -> None:
    answer = search(engine, "Reliable delivery of messages")
    assert (answer.searched_for, answer.corrected) == (answer.query, False)


def test_without_correction_the_words_are_searched_for_as_typed(engine: Engine) -> None:
    answer = search(engine, "Relable mesages", correct=False)
    assert (answer.searched_for, answer.corrected) == ("Relable mesages", False)


def test_a_cached_answer_depends_on_correction(workspace: Workspace, engine: Engine) -> None:
    cached = Engine(HashedWords(), workspace.index(), workspace.catalog(), cache_size=10)
    assert search(cached, "mesages").corrected
    assert not search(cached, "mesages", correct=False).corrected
    assert search(cached, "mesages").cached


@pytest.mark.usefixtures("engine")
def test_the_corrected_text_is_embedded(workspace: Workspace) -> None:
    embedder = CountingEmbedder()
    engine = Engine(embedder, workspace.index(), workspace.catalog())
    search(engine, "mesages of a topic")
    engine.search_batch([("mesages of a topic", SearchOptions())])
    assert embedder.batches == [["messages of a topic"]] * 2


def test_a_quoted_phrase_must_occur(engine: Engine) -> None:
    answer = search(engine, '"messages of a topic"', top_k=10)
    assert [hit.chunk.section for hit in answer.hits] == ["Subscribing"]
    assert answer.excluded == ()


def test_phrase_below_the_threshold_is_not_called_absent(engine: Engine) -> None:
    answer = search(engine, '"messages of a topic"', threshold=1.0)
    assert answer.hits == ()
    assert NO_PHRASE not in answer.notes


def test_nearest_passage_has_the_phrase_though_others_score_more(workspace: Workspace) -> None:
    indexer = workspace.create_indexer(NoProgress())
    pages = [page(f"page-{n}", {"Robot wrist": f"The robot turns one wrist {n}."}) for n in range(10)]
    pages.append(page("last", {"": "A long passage about something else, with one robot wrist in it."}))
    indexer.apply(indexer.plan(InMemorySource(*pages)))
    answer = search(workspace.engine(), '"one robot wrist"', threshold=1.0)
    assert answer.hits == ()
    assert [excluded.hit.chunk.slug for excluded in answer.excluded] == ["last"]


def test_phrase_is_found_among_many_passages_below_the_threshold(workspace: Workspace) -> None:
    indexer = workspace.create_indexer(NoProgress())
    pages = [page(f"page-{n}", {"": f"The robot number {n} turns its wrist."}) for n in range(300)]
    pages.append(page("last", {"Robot wrist": "A long passage about something else, with one robot wrist."}))
    indexer.apply(indexer.plan(InMemorySource(*pages)))
    best = search(workspace.engine(), '"one robot wrist"').hits[0]
    assert best.chunk.slug == "last"
    answer = search(workspace.engine(), '"one robot wrist"', threshold=best.score)
    assert [hit.chunk.slug for hit in answer.hits] == ["last"]


class CountingIndex:
    """Counts how often an index is searched, and records which points are read."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.searches = 0
        self.points_read: list[PointId] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def candidates(self, *arguments: Any, **options: Any) -> Any:
        self.searches += 1
        return self._inner.candidates(*arguments, **options)

    def chunks(self, point_ids: Sequence[PointId]) -> Any:
        self.points_read += point_ids
        return self._inner.chunks(point_ids)


def test_quoted_phrase_that_does_not_occur_is_named_after_few_searches(workspace: Workspace) -> None:
    indexer = workspace.create_indexer(NoProgress())
    long = [page(f"page-{n}", {"": f"The robot number {n} turns its wrist."}) for n in range(300)]
    indexer.apply(indexer.plan(InMemorySource(*long)))
    index = CountingIndex(workspace.index())
    engine = Engine(workspace.embedder(), index, workspace.catalog())
    answer = search(engine, '"robot wrist"')
    assert len(answer.hits) == 5
    assert answer.notes == (NO_PHRASE,)
    # 50, 200, 800: the last one has all chunks.
    assert index.searches == 3
    assert len(index.points_read) == len(set(index.points_read)) == 300


def test_typing_the_name_of_a_page_finds_it_first(engine: Engine) -> None:
    for typed in ("services", "Servces", "serv", "joints", "JOINST"):
        hit = search(engine, typed).hits[0]
        assert hit.chunk.slug in typed.lower() or hit.chunk.slug[:4] == typed.lower()[:4], typed


def test_short_list_is_the_beginning_of_the_list_of_20(workspace: Workspace) -> None:
    indexer = workspace.create_indexer(NoProgress())
    pages = [page(f"page-{n}", {"": f"Robot wrist {n}." + " The robot wrist." * 4}) for n in range(60)]
    # Its name makes it the best, but each side has 60 better passages.
    text = "Some " + " ".join(f"word{n}" for n in range(100))
    pages.append(page("last", {"Robot wrist": text}, title="Robot wrist"))
    indexer.apply(indexer.plan(InMemorySource(*pages)))
    lists = {top_k: search(workspace.engine(), "robot wrist", top_k=top_k).hits for top_k in (5, 20)}
    assert lists[5] == lists[20][:5]


def test_scores_do_not_depend_on_top_k(workspace: Workspace) -> None:
    # No two chunks have equal raw scores: which of them the index proposes would be arbitrary.
    pages = [
        page(
            f"page-{n}",
            {
                f"Part {k}": "robot " * (1 + (4 * n + k) % 15) + "arm " * (1 + (4 * n + k) // 15)
                for k in range(4)
            },
        )
        for n in range(60)
    ]
    indexer = workspace.create_indexer(NoProgress())
    indexer.apply(indexer.plan(InMemorySource(*pages)))
    short = search(workspace.engine(), "robot 7 moves its arm", top_k=5).hits
    long = search(workspace.engine(), "robot 7 moves its arm", top_k=100).hits
    scores = {hit.point_id: hit.score for hit in long}
    assert [scores[hit.point_id] for hit in short] == [hit.score for hit in short]
