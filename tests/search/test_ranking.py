"""Scores, order and selection."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.search.bare_lists import measure_discount
from pertinent.search.bm25 import MAX_WEIGHT
from pertinent.search.book_words import TYPICAL_WEIGHT, BookWords
from pertinent.search.cosine_scale import CosineScale
from pertinent.search.name_matcher import NameMatcher
from pertinent.search.phrases import Phrases
from pertinent.search.ranking import (
    CANDIDATES,
    FORMULAS,
    RAW_DECIMALS,
    rank,
    select,
    weigh_features,
)
from pertinent.search.terms import Analyzer, words
from pertinent.types import (
    Candidates,
    Chunk,
    DamagedPoint,
    Hit,
    PointId,
    Ranking,
    Scores,
    SearchOptions,
    StoredPoint,
    Vocabulary,
    WordCounts,
)

RANKINGS: st.SearchStrategy[Ranking] = st.sampled_from(["hybrid", "dense", "lexical"])
CHUNK = Chunk(
    "", "page", "https://book.example/", "", "Title", "", 0, 0, 4, "Text", "hash", "p.md", "p", "page"
)


def chunk_of(point_id: PointId) -> Chunk:
    """A chunk whose id, page and text follow from its point."""
    number = point_id.int if isinstance(point_id, UUID) else point_id
    return replace(CHUNK, chunk_id=str(point_id), document_id=f"page-{number % 3}", text=f"{number % 7}")


def rank_all(candidates: Candidates, ranking: Ranking) -> list[tuple[PointId, float, Scores]]:
    chunks = {point_id: chunk_of(point_id) for point_id in candidates.point_ids}
    return [
        (hit.point_id, hit.score, hit.scores)
        for hit in rank(candidates, chunks, ranking, "screen", BOOK, CosineScale()).hits
    ]


def hybrid_score(scores: Scores) -> float:
    """The score of the ranking `hybrid` as docs/ranking.md states it."""
    assert scores.base is scores.rerank is None
    cosine, lexical, numbers = scores.cosine or 0.0, scores.lexical or 0.0, scores.numbers or 0.0
    title, heading, page = scores.title or 0.0, scores.heading or 0.0, scores.page or 0.0
    content = 0.5 * (1 - numbers) * cosine + 0.5 * (1 + numbers) * lexical
    match = (content + 0.4 * title**4 + 0.15 * heading**4) / 1.55 + 0.3 * page
    return 1 / (1 + math.exp(-10 * (match - 0.35)))


@st.composite
def candidate_lists(draw: st.DrawFn) -> Candidates:
    points = draw(st.lists(st.uuids(), max_size=40, unique=True))
    count = len(points)
    cosine = draw(st.none() | st.lists(st.floats(-1, 1.001), min_size=count, max_size=count))
    bm25 = draw(st.none() | st.lists(st.floats(0, 200), min_size=count, max_size=count))
    return Candidates(list(points), cosine, bm25)


@given(candidate_lists(), RANKINGS)
def test_rank_scores_are_between_0_and_1_and_order_the_list(candidates: Candidates, ranking: Ranking) -> None:
    ranked = rank_all(candidates, ranking)
    assert all(0.0 <= score <= 1.0 for _, score, _ in ranked)
    assert all(part is None or 0.0 <= part <= 1.0 for _, _, parts in ranked for part in parts)
    assert ranked == sorted(ranked, key=lambda hit: (-hit[1], str(hit[0])))
    assert {point_id for point_id, _, _ in ranked} == set(candidates.point_ids)


@given(candidate_lists(), RANKINGS)
def test_rank_computes_each_score_from_the_features_it_shows(
    candidates: Candidates, ranking: Ranking
) -> None:
    highest = MAX_WEIGHT * BOOK.weigh_terms(["screen"])
    for point_id, score, scores in rank_all(candidates, ranking):
        position = candidates.point_ids.index(point_id)
        if candidates.cosine:
            cosine = round(candidates.cosine[position], RAW_DECIMALS)
            assert scores.cosine == pytest.approx(min(max(cosine, 0.0), 1.0), abs=1e-12)
        if candidates.bm25:
            share = round(candidates.bm25[position], RAW_DECIMALS) / highest
            assert scores.lexical == pytest.approx(min(math.sqrt(share), 1.0))
        expected = {
            "dense": scores.cosine or 0.0,
            "lexical": scores.lexical or 0.0,
            "hybrid": hybrid_score(scores),
        }
        assert score == pytest.approx(expected[ranking])


def test_rank_turns_a_negative_cosine_into_0() -> None:
    assert rank_all(Candidates([1], [-0.3], None), "dense") == [(1, 0.0, Scores(0.0, None))]


def test_rank_hybrid_is_the_calibrated_sum_of_its_features() -> None:
    candidates = Candidates([1], [0.8], [0.25 * MAX_WEIGHT * BOOK.weigh_terms(["screen"])])
    # 0.5 × 0.8 + 0.5 × 0.5 = 0.65 of 1.55; the page has no other passage.
    ((_, score, scores),) = rank_all(candidates, "hybrid")
    assert scores[:4] == pytest.approx((0.8, 0.5, 0.0, 0.0))
    assert scores.page == pytest.approx(0.65 / 1.55)
    assert score == pytest.approx(1 / (1 + math.exp(-10 * (1.3 * 0.65 / 1.55 - 0.35))))
    ((_, dense, _),) = rank_all(candidates, "dense")
    ((_, lexical, _),) = rank_all(candidates, "lexical")
    assert (dense, lexical) == pytest.approx((0.8, 0.5))


def test_rank_drops_a_candidate_without_a_chunk() -> None:
    ranked = rank(Candidates([1, 2], [0.8, 0.7], None), {2: chunk_of(2)}, "dense", "", BOOK, CosineScale())
    assert [hit.point_id for hit in ranked.hits] == [2]


@given(
    candidate_lists(),
    st.builds(
        SearchOptions,
        top_k=st.integers(1, 20),
        threshold=st.floats(0, 1),
        per_page=st.none() | st.integers(1, 5),
        distinct=st.booleans(),
    ),
)
def test_select_lists_the_best_hits_that_pass_every_limit(
    candidates: Candidates, options: SearchOptions
) -> None:
    ranked = rank(
        candidates,
        {point: chunk_of(point) for point in candidates.point_ids},
        "hybrid",
        "",
        BOOK,
        CosineScale(),
    )
    hits, excluded, damaged = select(ranked, options)
    assert damaged == []
    assert len(hits) <= options.top_k
    assert all(hit.score >= options.threshold for hit in hits)
    assert hits == [hit for hit in ranked.hits if hit in hits]
    texts = [hit.chunk.text for hit in hits]
    assert not options.distinct or len(set(texts)) == len(texts)
    pages = [hit.chunk.document_id for hit in hits]
    assert all(pages.count(page) <= (options.per_page or len(pages)) for page in pages)
    # A better candidate is missing only for a reason.
    for hit in ranked.hits if len(hits) < options.top_k else ():
        assert (
            hit in hits
            or hit.score < options.threshold
            or (options.distinct and hit.chunk.text in texts)
            or (options.per_page and pages.count(hit.chunk.document_id) >= options.per_page)
        )
    assert [candidate.hit for candidate in excluded] == [hit for hit in ranked.hits if hit not in hits][:5]


def test_select_names_the_damaged_points_that_would_have_been_listed() -> None:
    points: dict[PointId, StoredPoint] = {number: chunk_of(number) for number in (1, 2, 3)}
    points |= {
        number: DamagedPoint(number, f"damaged-{number}", "page", ("position: must be a number",))
        for number in (4, 5, 6)
    }
    candidates = Candidates([1, 2, 3, 4, 5, 6], [0.9, 0.6, 0.5, 0.7, 0.55, 0.2], None)
    ranked = rank(candidates, points, "dense", "", BOOK, CosineScale())
    assert [point.point_id for point in select(ranked, SearchOptions(top_k=2)).damaged] == [4]
    assert [point.point_id for point in select(ranked, SearchOptions(threshold=0.3)).damaged] == [4, 5]
    assert [hit.point_id for hit in select(ranked, SearchOptions()).hits] == [1, 2, 3]


def make_book(texts: Sequence[str], language: str = "english") -> BookWords:
    """The words of a book that has these texts, one chunk each."""
    distinct = [set(words(text)) for text in texts]
    counts = {
        word: WordCounts(0, 0, sum(word in text_words for text_words in distinct))
        for word in set().union(*distinct)
    }
    return BookWords(Vocabulary(counts, len(texts)), (), Analyzer(language))


BOOK = make_book(
    [
        "Navigation",
        "Nesting navigators",
        "Navigation lifecycle",
        "Headers of a screen",
        "Tabs",
        "The header of a stack",
        "Moving between screens",
    ]
)
WORDS = sorted(BOOK.vocabulary.words)
SENTENCES = st.lists(st.sampled_from([*WORDS, "zebra", "the"]), max_size=6).map(" ".join)


def rank_chunks(
    chunks: Mapping[PointId, Chunk],
    query: str = "",
    cosine: Mapping[PointId, float] | float = 0.5,
    bm25: Mapping[PointId, float] | float = 3.0,
) -> dict[PointId, Hit]:
    """Rank chunks, by default with equal raw scores; the hits are in order."""
    ids = list(chunks)
    columns = [
        [scores if isinstance(scores, float) else scores[point_id] for point_id in ids]
        for scores in (cosine, bm25)
    ]
    ranked = rank(Candidates(ids, *columns), chunks, "hybrid", query, BOOK, CosineScale())
    return {hit.point_id: hit for hit in ranked.hits}


def make_chunk(page: str, title: str = "", section: str = "", **fields: Any) -> Chunk:
    return replace(
        CHUNK, chunk_id=f"{page} {section}", document_id=page, title=title, section=section, **fields
    )


@given(SENTENCES, SENTENCES)
def test_name_match_is_in_0_to_1_and_full_only_for_the_same_words(query: str, name: str) -> None:
    match = NameMatcher(query, BOOK).match(name)
    assert 0.0 <= match <= 1.0
    assert (match == pytest.approx(1.0)) == (bool(query) and set(words(query)) == set(words(name)))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("navigation", "navigation lifecycle"),
        ("navigation lifecycle", "nesting navigators"),
        ("navigation", "header of a stack"),
    ],
)
def test_name_match_is_higher_for_a_name_with_more_of_the_query(better: str, worse: str) -> None:
    matcher = NameMatcher("navigation", BOOK)
    assert matcher.match(better) > matcher.match(worse)


def test_name_match_counts_stems_and_exact_words() -> None:
    matcher = NameMatcher("header", BOOK)
    assert matcher.match("Header") == 1.0
    assert 0.5 <= matcher.match("Headers") < 1.0


def test_name_match_counts_the_beginning_of_a_name() -> None:
    assert NameMatcher("nesting nav", BOOK).match("Nesting navigators") == pytest.approx(
        math.sqrt(2 * 11 / (11 + 18))
    )
    assert NameMatcher("gators", BOOK).match("Nesting navigators") == 0.0


def test_an_exact_name_beats_a_fragment_with_more_words() -> None:
    chunks: dict[PointId, Chunk] = {
        1: make_chunk("exact", "Navigation"),
        2: make_chunk("fragment", "Navigation lifecycle", "Navigation lifecycle › Tabs"),
    }
    hits = rank_chunks(chunks, "navigation", cosine={1: 0.5, 2: 0.55}, bm25={1: 3.0, 2: 3.3})
    assert list(hits) == [1, 2]
    assert hits[1].scores.title == hits[1].scores.heading == 1.0


def test_the_introduction_comes_before_fragments_of_its_page_among_near_equal_hits() -> None:
    chunks: dict[PointId, Chunk] = {
        1: make_chunk("page", "Navigation", "Tabs"),
        2: make_chunk("page", "Navigation"),
        3: make_chunk("page", "Navigation", "Headers"),
    }
    hits = rank_chunks(chunks, "navigation", cosine={1: 0.53, 2: 0.5, 3: 0.52})
    assert next(iter(hits)) == 2


def test_page_evidence_is_the_mean_of_the_three_best_passages() -> None:
    cosines: dict[PointId, float] = {1: 0.9, 2: 0.6, 3: 0.3, 4: 0.1, 5: 0.7}
    chunks: dict[PointId, Chunk] = {
        number: make_chunk("short" if number == 5 else "long", section=str(number)) for number in cosines
    }
    hits = rank_chunks(chunks, cosine=cosines, bm25=0.0)
    evidence = (0.9 + 0.6 + 0.3) / 3 * 0.5 / 1.55
    assert [hits[number].scores.page for number in (1, 2, 3, 4)] == [pytest.approx(evidence)] * 4
    # A page with one passage is not punished for it.
    assert hits[5].scores.page == pytest.approx(0.7 * 0.5 / 1.55)


def test_several_good_passages_of_a_page_support_each_other() -> None:
    chunks: dict[PointId, Chunk] = {
        1: make_chunk("alone", section="1"),
        2: make_chunk("alone", section="2"),
        3: make_chunk("strong", section="3"),
        4: make_chunk("strong", section="4"),
    }
    hits = rank_chunks(chunks, cosine={1: 0.6, 2: 0.1, 3: 0.58, 4: 0.58}, bm25=0.0)
    assert list(hits) == [3, 4, 1, 2]


@given(st.integers(CANDIDATES, 4 * CANDIDATES), st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_number_of_candidates(limit: int, random: Any) -> None:
    """A store proposes the best points of each side; a longer list has all of a shorter one."""
    count = 4 * CANDIDATES
    points: dict[PointId, Chunk] = {n: make_chunk(f"page-{n % 9}", section=str(n)) for n in range(count)}
    columns = [random.sample(range(1, count + 1), count) for _ in range(2)]

    def search(side_limit: int) -> dict[PointId, Hit]:
        best = {n for column in columns for n in sorted(points, key=lambda n: -column[n])[:side_limit]}
        chunks = {n: points[n] for n in sorted(best)}
        return rank_chunks(
            chunks,
            cosine={n: columns[0][n] / (count + 1) for n in chunks},
            bm25={n: columns[1][n] / 10 for n in chunks},
        )

    short, long = search(CANDIDATES), search(limit)
    assert all(long[point_id] == hit for point_id, hit in short.items())


FEATURES = st.builds(Scores, *[st.floats(0, 1)] * 6, base=st.none(), rerank=st.none())


@given(FEATURES, st.sampled_from(Scores._fields[:5]), st.floats(0, 1))
def test_the_match_is_monotone_in_each_feature(scores: Scores, feature: str, value: float) -> None:
    other = scores._replace(**{feature: value})
    lower, higher = sorted((scores, other), key=lambda each: getattr(each, feature))
    assert sum(weigh_features(lower).values()) <= sum(weigh_features(higher).values())
    assert 0.0 <= hybrid_score(lower) <= hybrid_score(higher) <= 1.0


@given(candidate_lists(), SENTENCES)
def test_hybrid_features_and_scores_are_in_0_to_1_with_names(candidates: Candidates, query: str) -> None:
    titles = ["Navigation", "Nesting navigators", "", "Tabs"]
    points = {
        point_id: replace(chunk_of(point_id), title=titles[number % 4], section=WORDS[number % len(WORDS)])
        for number, point_id in enumerate(candidates.point_ids)
    }
    ranked = rank(candidates, points, "hybrid", query, BOOK, CosineScale())
    for hit in ranked.hits:
        assert 0.0 <= hit.score <= 1.0
        assert all(feature is None or 0.0 <= feature <= 1.0 for feature in hit.scores)
        assert hit.score == pytest.approx(hybrid_score(hit.scores))


def test_a_list_of_links_comes_after_a_passage_that_matches_as_well() -> None:
    links = "- [Nesting navigators](nesting.md)\n- [Tabs](tabs.md)"
    chunks: dict[PointId, Chunk] = {
        1: make_chunk("further-reading", text=links),
        2: make_chunk("answer", text="Tabs can be nested in a stack, and a stack in [tabs](tabs.md)."),
    }
    hits = rank_chunks(chunks, "nesting tabs", cosine={1: 0.7, 2: 0.6})
    assert list(hits) == [2, 1]
    remaining = 1 - measure_discount(links)
    assert remaining < 0.7
    assert hits[1].scores.cosine == pytest.approx(0.7 * remaining)
    assert hits[1].scores.lexical == pytest.approx((hits[2].scores.lexical or 0.0) * remaining)
    assert hits[1].score == pytest.approx(hybrid_score(hits[1].scores))


def test_a_list_of_links_is_found_by_its_name() -> None:
    chunks: dict[PointId, Chunk] = {
        1: make_chunk("list", "Nesting navigators", text="- [Stacks](stacks.md)\n- [Tabs](tabs.md)"),
        2: make_chunk("other", "Tabs"),
    }
    hits = rank_chunks(chunks, "nesting navigators")
    assert list(hits) == [1, 2]
    assert hits[1].scores.title == 1.0


NUMBERED = make_book(["Tabs in version 15", "Tabs in version 16", "Tabs 2", "Stacks", "Screens", "Headers"])


def rank_numbered(query: str) -> list[Hit]:
    """Rank a passage that is closer in meaning and one that has more of the words."""
    chunks: dict[PointId, Chunk] = {1: make_chunk("meaning"), 2: make_chunk("words")}
    candidates = Candidates([1, 2], [0.65, 0.5], [1.0, 1.5])
    return rank(candidates, chunks, "hybrid", query, NUMBERED, CosineScale()).hits


def test_words_count_more_than_meaning_in_a_query_with_numbers() -> None:
    without, with_number = rank_numbered("tabs in version"), rank_numbered("tabs in version 15")
    assert [hit.point_id for hit in without] == [1, 2]
    assert [hit.point_id for hit in with_number] == [2, 1]
    assert without[0].scores.numbers is None
    for hit in [*without, *with_number]:
        assert hit.score == pytest.approx(hybrid_score(hit.scores))


def test_numbers_count_by_their_share_of_the_query_up_to_1() -> None:
    few, many = rank_numbered("tabs version stacks screens headers 15"), rank_numbered("15 16")
    weight = NUMBERED.weigh_terms(NUMBERED.analyzer.terms("tabs version stacks screens headers 15"))
    assert few[0].scores.numbers == pytest.approx(4 * NUMBERED.weigh_terms(["15"]) / weight)
    assert many[0].scores.numbers == 1.0


def test_a_number_that_the_book_does_not_have_does_not_count() -> None:
    assert rank_numbered("tabs in version 99")[0].scores.numbers is None


def test_a_single_digit_is_no_number_but_part_of_a_name() -> None:
    assert rank_numbered("tabs 2")[0].scores.numbers is None


@pytest.mark.parametrize("ranking", ["dense", "lexical"])
def test_the_other_rankings_do_not_discount_lists(ranking: Ranking) -> None:
    chunks: dict[PointId, Chunk] = {1: make_chunk("list", text="- [Tabs](tabs.md)"), 2: make_chunk("other")}
    ranked = rank(Candidates([1, 2], [0.7] * 2, [3.0] * 2), chunks, ranking, "tabs", BOOK, CosineScale())
    first, second = ranked.hits
    assert first.score == second.score


def test_lexical_is_the_root_of_the_share_of_the_highest_bm25() -> None:
    chunks: dict[PointId, Chunk] = {1: make_chunk("page")}
    highest = MAX_WEIGHT * BOOK.weigh_terms(BOOK.analyzer.terms("nesting tabs"))
    for share in (0.0, 0.25, 1.0):
        hit = rank_chunks(chunks, "nesting tabs", bm25=share * highest)[1]
        assert hit.scores.lexical == pytest.approx(math.sqrt(share))


def test_lexical_is_higher_for_a_query_of_few_or_common_words() -> None:
    chunks: dict[PointId, Chunk] = {1: make_chunk("page")}
    lexical = [
        rank_chunks(chunks, query)[1].scores.lexical or 0.0
        for query in ("navigation", "tabs", "nesting tabs lifecycle moving between stack")
    ]
    assert lexical[0] > lexical[1] > lexical[2] > 0.0


def test_without_words_of_the_book_each_word_counts_as_a_typical_one() -> None:
    chunks: dict[PointId, Chunk] = {1: make_chunk("page")}
    empty = BookWords(Vocabulary({}, 0), (), Analyzer())
    ranked = rank(Candidates([1], [0.5], [11.0]), chunks, "hybrid", "nesting tabs", empty, CosineScale())
    assert ranked.hits[0].scores.lexical == pytest.approx(math.sqrt(11.0 / (MAX_WEIGHT * 2 * TYPICAL_WEIGHT)))


def test_damaged_points_are_scored_as_the_only_passage_of_their_page() -> None:
    points: dict[PointId, StoredPoint] = {
        1: make_chunk("page"),
        2: DamagedPoint(2, "damaged", "page", ("position: must be a number",)),
    }
    ranked = rank(Candidates([1, 2], [0.7, 0.7], [4.0, 4.0]), points, "hybrid", "", BOOK, CosineScale())
    assert [hit.point_id for hit in ranked.hits] == [1]
    assert [(score, point.point_id) for score, point in ranked.damaged] == [(ranked.hits[0].score, 2)]


def test_ids_of_both_kinds_can_have_equal_scores() -> None:
    ids: list[PointId] = [7, UUID(int=5), UUID(int=9)]
    chunks = {point_id: replace(make_chunk("page"), chunk_id=str(point_id)) for point_id in ids}
    ranked = rank(Candidates(ids, [0.5] * 3, [0.0] * 3), chunks, "hybrid", "tabs", BOOK, CosineScale())
    assert len(ranked.hits) == 3


def test_heading_matches_alone_or_behind_the_title() -> None:
    chunks: dict[PointId, StoredPoint] = {
        1: make_chunk("a", "Navigation", "Lifecycle"),
        2: make_chunk("b", "Header", "Lifecycle"),
        3: make_chunk("c", "Navigation", ""),
    }
    candidates = Candidates([1, 2, 3], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0])
    for query, best in (("navigation lifecycle", 1), ("header lifecycle", 2), ("navigation", 3)):
        ranked = rank(candidates, chunks, "hybrid", query, BOOK, CosineScale())
        assert ranked.hits[0].point_id == best, query
        assert ranked.hits[0].scores.heading == pytest.approx(1.0)


def test_passage_with_the_whole_query_matches_all_its_words() -> None:
    text = "Call `navigation` of the *screen* before [the header](/header) is shown."
    chunks: dict[PointId, StoredPoint] = {1: make_chunk("a", text=text), 2: make_chunk("b", text="Header.")}
    candidates = Candidates([1, 2], [0.5, 0.5], [3.0, 3.0])
    for query, lexical in (
        ("navigation of the screen", 1.0),
        ("the header is SHOWN", 1.0),
        ("the header", None),
    ):
        ranked = rank(candidates, chunks, "hybrid", query, BOOK, CosineScale())
        by_id = {hit.point_id: hit.scores.lexical for hit in ranked.hits}
        assert by_id[1] == (by_id[2] if lexical is None else lexical), query


def test_formulas_name_every_feature() -> None:
    assert all(feature in FORMULAS["hybrid"] for feature in Scores._fields[:6])
    assert FORMULAS["dense"] == "cosine"
    assert FORMULAS["lexical"] == "lexical"


def test_hits_without_the_quoted_words_are_not_kept() -> None:
    chunks: dict[PointId, StoredPoint] = {1: make_chunk("a", text="best effort"), 2: make_chunk("b")}
    ranked = rank(Candidates([1, 2], [0.5, 0.9], None), chunks, "dense", "", BOOK, CosineScale())
    assert [hit.point_id for hit in ranked.filter_by_phrases(Phrases(["best effort"])).hits] == [1]
    assert ranked.filter_by_phrases(Phrases([])) == ranked
