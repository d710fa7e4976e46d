"""The suite that every vector index must pass.

class TestMyIndex(IndexSuite):
    @pytest.fixture
    def index(self): ...  # empty, with vectors of EMBEDDER.dimension
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from .._internal.vector_checksum import compute_checksum
from ..errors import DimensionMismatch
from ..identity import point_id
from ..indexing.chunking import chunk_page, embedded_text
from ..ports import Entry, IndexWriter, VectorIndex
from ..search.bm25 import Bm25
from ..types import Candidates, Filters, Page, PointId, readable_chunks
from .embedder import HashedWords
from .pages import page

EMBEDDER = HashedWords()

PAGES = [
    page(
        "topics",
        {
            "": "Nodes exchange messages over topics.",
            "Quality of service": "Reliable delivery resends lost messages; best effort does not.",
            "Publishing": "A publisher sends messages on a topic at a steady rate.",
        },
    ),
    page(
        "services",
        {
            "": "A service answers one request with one response.",
            "Calling": "A client sends a request and waits for the response of the server.",
        },
    ),
    page("guide/joints", {"Limits": "A revolute joint turns between a lower and an upper limit."}),
]


def entries(pages: Sequence[Page] = PAGES, source: str = "book") -> list[Entry]:
    """Return every chunk of the pages as an index entry."""
    return [
        Entry(
            replace(chunk, created_at="2026-01-02T03:04:05Z"),
            source,
            embedded_text(chunk),
            chunk.content_hash,
        )
        for document in pages
        for chunk in chunk_page(document, EMBEDDER.count_tokens, target=60, most=120)
    ]


def fill(index: IndexWriter, filled: Sequence[Entry] | None = None) -> list[Entry]:
    """Embed the entries and put them into the index."""
    filled = entries() if filled is None else list(filled)
    index.put(filled, list(EMBEDDER.embed_documents([entry.embedded_text for entry in filled])))
    return filled


def by_point(candidates: Candidates) -> dict[PointId, tuple[float, float]]:
    """Return cosine and BM25 of each candidate; 0 for a side without a query."""
    zeros = [0.0] * len(candidates.point_ids)
    scores = zip(candidates.cosine or zeros, candidates.bm25 or zeros, strict=True)
    return dict(zip(candidates.point_ids, scores, strict=True))


def check_commits(index: VectorIndex, expected: Sequence[str]) -> None:
    """Check the recorded commits; a peer of a cluster may be behind for a moment."""
    deadline = time.monotonic() + 10
    while (recorded := list(index.commits())) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert recorded == expected


class IndexSuite:
    """Subclass it with a fixture `index`: an empty index of `EMBEDDER.dimension`."""

    def test_chunks_are_read_back_equal(self, index: VectorIndex) -> None:
        stored = fill(index)
        assert index.count() == len(stored)
        assert sorted(index.scan(), key=str) == sorted((e.chunk for e in stored), key=str)
        points = [point_id(entry.chunk.chunk_id) for entry in stored]
        assert index.chunks(points) == {p: e.chunk for p, e in zip(points, stored, strict=True)}

    def test_vectors_are_read_back_for_the_points_that_exist(self, index: VectorIndex) -> None:
        stored = fill(index)
        vectors = index.vectors([*(point_id(entry.chunk.chunk_id) for entry in stored), point_id("missing")])
        assert len(vectors) == len(stored)
        for entry in stored:
            (embedded,) = EMBEDDER.embed_queries([entry.embedded_text])
            vector = vectors[point_id(entry.chunk.chunk_id)]
            assert vector.tolist() == pytest.approx(embedded.tolist(), abs=1e-6)
        assert index.vectors([]) == {}

    def test_dense_candidates_have_exact_cosines(self, index: VectorIndex) -> None:
        stored = fill(index)
        query = EMBEDDER.embed_queries(["messages over topics"])[0]
        candidates = index.candidates(query, None, by=["dense"], limit=100, filters=Filters())
        exact: dict[PointId, float] = {
            point_id(e.chunk.chunk_id): float(EMBEDDER.embed_queries([e.embedded_text])[0] @ query)
            for e in stored
        }
        assert dict(zip(candidates.point_ids, candidates.cosine or [], strict=True)) == pytest.approx(
            exact, abs=1e-5
        )
        assert candidates.bm25 is None

    def test_exact_search_returns_the_nearest_points(self, index: VectorIndex) -> None:
        fill(index)
        query = EMBEDDER.embed_queries(["messages over topics"])[0]
        candidates = index.candidates(query, None, by=["dense"], limit=2, filters=Filters())
        exact = index.search_exactly(query, 2)
        assert list(exact) == list(candidates.point_ids)
        assert list(exact.values()) == pytest.approx(candidates.cosine, abs=1e-6)

    def test_lexical_candidates_share_a_word_with_the_query(self, index: VectorIndex) -> None:
        stored = fill(index)
        candidates = index.candidates(None, "revolute", by=["lexical"], limit=100, filters=Filters())
        expected = next(point_id(e.chunk.chunk_id) for e in stored if "revolute" in e.chunk.text)
        assert candidates.point_ids == [expected]
        assert candidates.bm25 is not None
        assert candidates.bm25[0] > 0
        assert candidates.cosine is None

    def test_candidates_of_one_side_have_the_score_of_the_other(self, index: VectorIndex) -> None:
        fill(index)
        vector = EMBEDDER.embed_queries(["a service answers one request"])[0]
        both = index.candidates(vector, "revolute joint", by=["dense", "lexical"], limit=1, filters=Filters())
        everything = index.candidates(
            vector, "revolute joint", by=["dense", "lexical"], limit=100, filters=Filters()
        )
        assert len(both.point_ids) == 2
        scores_of_all = by_point(everything)
        for point, scores in by_point(both).items():
            assert scores == pytest.approx(scores_of_all[point], abs=1e-6)

    def test_query_of_stop_words_has_no_lexical_candidates(self, index: VectorIndex) -> None:
        fill(index)
        candidates = index.candidates(None, "the of and", by=["lexical"], limit=10, filters=Filters())
        assert candidates.point_ids == []

    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            (Filters(section="Quality of service"), {"topics"}),
            (Filters(url="https://book.example/docs/services"), {"services"}),
            (Filters(url="https://book.example/docs"), {"topics", "services", "guide/joints"}),
            (Filters(url="https://book.example/docs/guide/"), {"guide/joints"}),
            (Filters(url="https://book.example/docs/serv"), set()),
            (Filters(document_id=PAGES[1].document_id), {"services"}),
            (Filters(source_type="docusaurus-page"), {"topics", "services", "guide/joints"}),
            (Filters(source_type="docusaurus-page", section="Limits"), {"guide/joints"}),
            (Filters(source_type="other"), set()),
        ],
    )
    def test_filters_exclude_other_points(
        self, index: VectorIndex, filters: Filters, expected: set[str]
    ) -> None:
        fill(index)
        vector = EMBEDDER.embed_queries(["messages"])[0]
        for by in (["dense"], ["dense", "lexical"]):
            candidates = index.candidates(vector, "messages request joint", by=by, limit=100, filters=filters)
            chunks = index.chunks(candidates.point_ids)
            assert {chunk.slug for chunk in readable_chunks(chunks.values())} == expected

    def test_filters_that_miss_a_chunk_are_named(self, index: VectorIndex) -> None:
        chunks = [entry.chunk for entry in fill(index)]
        assert index.find_damaged_filters(chunks) == []
        assert index.find_damaged_filters([]) == []
        moved = replace(chunks[-1], document_id="other")
        assert index.find_damaged_filters([*chunks[:-1], moved]) == ["document_id"]
        assert index.find_damaged_filters([*chunks, chunks[-1]]) == [
            "document_id",
            "section",
            "url",
            "source_type",
        ]

    def test_put_replaces_an_existing_point(self, index: VectorIndex) -> None:
        stored = fill(index)
        fill(index, stored)
        assert index.count() == len(stored)

    def test_describe_changes_the_payload_and_keeps_the_vector(self, index: VectorIndex) -> None:
        first = fill(index)[0]
        vector = EMBEDDER.embed_queries([first.embedded_text])[0]
        moved = replace(first, chunk=replace(first.chunk, position=7, title="Renamed"))
        index.describe([moved])
        point = point_id(first.chunk.chunk_id)
        assert index.chunks([point])[point] == moved.chunk
        candidates = index.candidates(vector, None, by=["dense"], limit=100, filters=Filters())
        assert by_point(candidates)[point][0] == pytest.approx(1.0, abs=1e-5)

    def test_embedding_keys_are_returned_for_existing_points(self, index: VectorIndex) -> None:
        stored = fill(index)
        point = point_id(stored[0].chunk.chunk_id)
        assert index.embedding_keys([point, point_id("nowhere")]) == {point: stored[0].embedding_key}
        assert index.embedding_keys([]) == {}

    def test_vectors_match_their_checksums_bit_for_bit(self, index: VectorIndex) -> None:
        stored = fill(index)
        points = [point_id(entry.chunk.chunk_id) for entry in stored]
        index.describe(stored[:2])
        index.finish()
        checksums = index.vector_checksums([*points, point_id("nowhere")])
        assert checksums.keys() == set(points)
        vectors = index.vectors(points)
        assert checksums == {point: compute_checksum(vectors[point]) for point in points}
        assert index.vector_checksums([]) == {}

    def test_word_weights_are_those_of_the_text(self, index: VectorIndex) -> None:
        stored = fill(index)
        index.finish()
        points = [point_id(entry.chunk.chunk_id) for entry in stored]
        weights = index.word_weights([*points, point_id("nowhere")])
        assert weights.keys() == set(points)
        for entry in stored:
            hashes, values = Bm25().document(entry.embedded_text)
            expected = dict(zip(hashes, values, strict=True))
            assert weights[point_id(entry.chunk.chunk_id)] == pytest.approx(expected, rel=1e-6)
        assert index.word_weights([]) == {}

    def test_delete_stale_points_deletes_points_of_that_page_only(self, index: VectorIndex) -> None:
        stored = fill(index)
        topics = [e for e in stored if e.chunk.slug == "topics"]
        index.delete_stale_points(PAGES[0].document_id, keep=[point_id(topics[0].chunk.chunk_id)])
        remaining = {chunk.chunk_id for chunk in index.scan()}
        assert remaining == {e.chunk.chunk_id for e in stored if e not in topics[1:]}
        index.delete_stale_points(PAGES[0].document_id, keep=[])
        assert {chunk.slug for chunk in readable_chunks(index.scan())} == {"services", "guide/joints"}

    def test_words_of_deleted_points_do_not_count(self, index: VectorIndex) -> None:
        def sync_joints(limits: str) -> None:
            points = fill(index, entries([page("guide/joints", {"Limits": limits})]))
            keep = [point_id(entry.chunk.chunk_id) for entry in points]
            index.delete_stale_points(PAGES[2].document_id, keep=keep)

        def score() -> float:
            candidates = index.candidates(None, "revolute", by=["lexical"], limit=9, filters=Filters())
            ((_, bm25),) = by_point(candidates).values()
            return bm25

        fill(index)
        expected = score()
        for number in range(5):
            sync_joints(f"Edit {number} of the revolute joint.")
        sync_joints("A revolute joint turns between a lower and an upper limit.")
        assert score() == pytest.approx(expected, rel=1e-5)

    def test_vector_of_another_dimension_is_refused_with_both_numbers(self, index: VectorIndex) -> None:
        fill(index)
        with pytest.raises(DimensionMismatch, match=r"3 elements.*64"):
            index.candidates(np.ones(3, dtype=np.float32), None, by=["dense"], limit=5, filters=Filters())

    def test_empty_index_has_no_candidates(self, index: VectorIndex) -> None:
        vector = EMBEDDER.embed_queries(["anything"])[0]
        candidates = index.candidates(vector, "anything", by=["dense", "lexical"], limit=5, filters=Filters())
        assert candidates.point_ids == []
        assert list(index.scan()) == []
        assert index.chunks([]) == {}

    def test_version_changes_with_every_write(self, index: VectorIndex) -> None:
        versions = [index.version]
        stored = fill(index)
        versions.append(index.version)
        index.describe(stored[:1])
        versions.append(index.version)
        index.delete_stale_points(PAGES[0].document_id, keep=[])
        versions.append(index.version)
        assert versions == [None] * 4 or len(set(versions)) == 4

    def test_finish_keeps_all_points(self, index: VectorIndex) -> None:
        stored = fill(index)
        index.finish()
        assert index.count() == len(stored)

    def test_commits_are_those_that_were_recorded_last(self, index: VectorIndex) -> None:
        check_commits(index, [])
        index.record_commits(["first", "second"])
        check_commits(index, ["first", "second"])
        fill(index)
        index.finish()
        index.record_commits(["second"])
        check_commits(index, ["second"])

    def test_many_threads_search_while_one_writes(self, index: VectorIndex) -> None:
        fill(index)
        vector = EMBEDDER.embed_queries(["messages over topics"])[0]
        stop = threading.Event()

        def write() -> None:
            while not stop.is_set():
                fill(index)
                index.finish()

        def search(_: int) -> set[PointId]:
            candidates = index.candidates(
                vector, "messages", by=["dense", "lexical"], limit=100, filters=Filters()
            )
            return set(candidates.point_ids)

        expected = search(0)
        writer = threading.Thread(target=write)
        writer.start()
        try:
            with ThreadPoolExecutor(50) as pool:
                answers = list(pool.map(search, range(300)))
        finally:
            stop.set()
            writer.join()
        assert all(answer == expected for answer in answers)
