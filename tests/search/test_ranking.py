"""Scores, order and selection."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from pertinent.search.ranking import rank, select
from pertinent.types import (
    Candidates,
    Chunk,
    DamagedPoint,
    PointId,
    Ranking,
    Scores,
    SearchOptions,
    StoredPoint,
)

RANKINGS: st.SearchStrategy[Ranking] = st.sampled_from(["hybrid", "dense", "lexical"])
CHUNK = Chunk(
    "", "page", "https://book.example/", "", "Title", "", 0, 0, 4, "Text", "hash", "p.md", "p", "page"
)


def chunk_of(point_id: PointId) -> Chunk:
    """A chunk whose id, page and text follow from its point."""
    number = point_id.int if isinstance(point_id, UUID) else point_id
    return replace(
        CHUNK, chunk_id=str(point_id), document_id=f"page-{number % 3}", content_hash=f"{number % 7}"
    )


def rank_all(candidates: Candidates, ranking: Ranking) -> list[tuple[PointId, float, Scores]]:
    chunks = {point_id: chunk_of(point_id) for point_id in candidates.point_ids}
    return [(hit.point_id, hit.score, hit.scores) for hit in rank(candidates, chunks, ranking).hits]


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
def test_rank_makes_each_score_of_the_point_s_own_parts(candidates: Candidates, ranking: Ranking) -> None:
    for point_id, score, (cosine, lexical) in rank_all(candidates, ranking):
        position = candidates.point_ids.index(point_id)
        if candidates.cosine:
            assert cosine == min(max(candidates.cosine[position], 0.0), 1.0)
        if candidates.bm25:
            assert lexical == candidates.bm25[position] / (candidates.bm25[position] + 10.0)
        expected = {
            "dense": cosine or 0.0,
            "lexical": lexical or 0.0,
            "hybrid": 0.5 * (cosine or 0.0) + 0.5 * (lexical or 0.0),
        }
        assert score == expected[ranking]


def test_rank_turns_a_negative_cosine_into_0() -> None:
    assert rank_all(Candidates([1], [-0.3], None), "dense") == [(1, 0.0, Scores(0.0, None))]


def test_rank_hybrid_is_the_mean_of_cosine_and_saturated_bm25() -> None:
    candidates = Candidates([1], [0.8], [10.0])
    assert rank_all(candidates, "hybrid") == [(1, 0.65, Scores(0.8, 0.5))]
    assert rank_all(candidates, "dense") == [(1, 0.8, Scores(0.8, 0.5))]
    assert rank_all(candidates, "lexical") == [(1, 0.5, Scores(0.8, 0.5))]


def test_rank_drops_a_candidate_without_a_chunk() -> None:
    ranked = rank(Candidates([1, 2], [0.8, 0.7], None), {2: chunk_of(2)}, "dense")
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
    ranked = rank(candidates, {point: chunk_of(point) for point in candidates.point_ids}, "hybrid")
    hits, excluded, damaged = select(ranked, options)
    assert damaged == []
    assert len(hits) <= options.top_k
    assert all(hit.score >= options.threshold for hit in hits)
    assert hits == [hit for hit in ranked.hits if hit in hits]
    texts = [hit.chunk.content_hash for hit in hits]
    assert not options.distinct or len(set(texts)) == len(texts)
    pages = [hit.chunk.document_id for hit in hits]
    assert all(pages.count(page) <= (options.per_page or len(pages)) for page in pages)
    # A better candidate is missing only for a reason.
    for hit in ranked.hits if len(hits) < options.top_k else ():
        assert (
            hit in hits
            or hit.score < options.threshold
            or (options.distinct and hit.chunk.content_hash in texts)
            or (options.per_page and pages.count(hit.chunk.document_id) >= options.per_page)
        )
    assert [candidate.hit for candidate in excluded] == [hit for hit in ranked.hits if hit not in hits][:5]


def test_select_names_the_damaged_points_that_would_have_been_listed() -> None:
    points: dict[PointId, StoredPoint] = {number: chunk_of(number) for number in (1, 2, 3)}
    points |= {
        number: DamagedPoint(number, f"damaged-{number}", ("position: must be a number",))
        for number in (4, 5, 6)
    }
    candidates = Candidates([1, 2, 3, 4, 5, 6], [0.9, 0.6, 0.5, 0.7, 0.55, 0.2], None)
    ranked = rank(candidates, points, "dense")
    assert [point.point_id for point in select(ranked, SearchOptions(top_k=2)).damaged] == [4]
    assert [point.point_id for point in select(ranked, SearchOptions(threshold=0.3)).damaged] == [4, 5]
    assert [hit.point_id for hit in select(ranked, SearchOptions()).hits] == [1, 2, 3]
