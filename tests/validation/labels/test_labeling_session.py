"""Labelling: a queue that does not give ranks away, and sessions that share their judgments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent._internal.progress import NoProgress
from pertinent.errors import InvalidInput, NotFound
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.testing.pages import page
from pertinent.types import Answer, Hit, Ranking, Scores, SearchOptions
from pertinent.validation.golden.formats import read_golden, write_table
from pertinent.validation.golden.golden_set import (
    GoldenQuery,
    GoldenSet,
    Label,
    dump_golden,
    load_golden_file,
)
from pertinent.validation.labels.agreement import Passage, measure_agreement
from pertinent.validation.labels.judgments import JudgmentLog
from pertinent.validation.labels.labeling_session import (
    POOL_DEPTH,
    TOP_RANKS,
    LabelingSession,
    PooledPassage,
    order_queue,
    pool_passages,
)
from pertinent.validation.target import ContentVersion, PageView
from pertinent.workspace.reindex import reindex
from pertinent.workspace.workspace import Workspace

from .pages import view

HAND_WRITTEN = """\
# What readers ask of the robot.
version: 1
name: robot
queries:
  - id: hinge   # the commonest question
    text: What does the hinge do?
    labels: &hinge
      - {page: docs/nodes.md, quote: "The hinge turns.", grade: 2}
  - id: hinge-again
    text: the hinge?
    query_type: paraphrase
    labels: *hinge
  - id: taxes
    text: How do I pay taxes?
    answerable: false
  - {id: nothing, text: "", query_type: edge}
"""

BOOK = view(
    page(
        "nodes",
        {f"Part {n}": f"Passage number {n} tells of part {n} and of nothing else." for n in range(30)},
    ),
    target=12,
)
CHUNKS = BOOK.chunks
Lists = Mapping[str, Mapping[Ranking, Sequence[int]]]
"""The numbers of chunks, best first, by query and ranking."""


@dataclass
class FixedRankings:
    """A validation target whose rankings are given."""

    lists: Lists = field(default_factory=dict)

    def describe_pipeline(self) -> Mapping[str, str]:
        return {}

    def search(self, text: str, options: SearchOptions) -> Answer:
        if not text.strip():
            raise InvalidInput("text", "must not be empty")
        ranking = options.ranking or "hybrid"
        numbers = self.lists.get(text, {}).get(ranking, ())[: options.top_k]
        hits = [Hit(CHUNKS[number], 0.5, Scores(None, None), rank) for rank, number in enumerate(numbers)]
        return Answer(text, ranking, tuple(hits), options.top_k, options.threshold, "")

    def content_version(self) -> ContentVersion:
        return ContentVersion()

    def pages(self) -> Iterator[PageView]:
        yield BOOK

    def find_indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        return set(chunk_ids)

    def audit(self) -> list[str]:
        return []


def golden_set(*ids: str) -> GoldenSet:
    return GoldenSet(queries=tuple(GoldenQuery(id=query_id, text=query_id) for query_id in ids))


def pool(lists: Lists) -> list[PooledPassage]:
    return pool_passages(FixedRankings(lists), golden_set(*lists))


def next_passage(session: LabelingSession, judge: str | None = "ann") -> PooledPassage:
    candidate = session.state(judge).candidate
    assert candidate is not None
    return candidate


rankings = st.dictionaries(
    st.sampled_from(["hybrid", "dense", "lexical"]),
    st.lists(st.integers(0, 29), unique=True, max_size=15),
)
all_lists = st.dictionaries(st.sampled_from(["a", "b", "c"]), rankings, min_size=1)


class TestQueue:
    @given(lists=all_lists)
    def test_pool_has_the_first_ten_of_every_ranking(self, lists: Any) -> None:
        pooled = pool(lists)
        expected = {
            (query, CHUNKS[number].chunk_id)
            for query, by_ranking in lists.items()
            for numbers in by_ranking.values()
            for number in numbers[:POOL_DEPTH]
        }
        assert {(candidate.query.id, candidate.chunk.chunk_id) for candidate in pooled} == expected
        assert len(pooled) == len(expected)
        for candidate in pooled:
            number = CHUNKS.index(candidate.chunk)
            tops = [numbers[:POOL_DEPTH] for numbers in lists[candidate.query.id].values()]
            assert candidate.rank == min(top.index(number) + 1 for top in tops if number in top)

    @given(lists=all_lists, judge=st.sampled_from([None, "ann"]), seed=st.integers(0, 9))
    def test_top_comes_first_and_one_query_at_a_time(self, lists: Any, judge: str | None, seed: int) -> None:
        pooled = pool(lists)
        queue = order_queue(pooled, {}, judge, seed=seed)
        assert sorted(candidate.passage for candidate in queue) == sorted(item.passage for item in pooled)
        query_numbers = {query: number for number, query in enumerate(lists)}
        turns = [(candidate.rank > TOP_RANKS, query_numbers[candidate.query.id]) for candidate in queue]
        assert turns == sorted(turns)
        by_id = sorted(pooled, key=lambda item: (query_numbers[item.query.id], item.chunk.chunk_id))
        assert queue == order_queue(by_id, {}, judge, seed=seed)

    def test_order_does_not_give_ranks_away(self) -> None:
        pooled = pool({"a": {"hybrid": [*range(5)]}})
        queues = [order_queue(pooled, {}, f"judge {n}") for n in range(60)]
        orders = {tuple(candidate.rank for candidate in queue) for queue in queues}
        assert len(orders) > 30
        assert {order[0] for order in orders} == {1, 2, 3, 4, 5}

    @given(lists=all_lists, judged=st.sets(st.integers(0, 29)))
    def test_remaining_passages_keep_their_order(self, lists: Any, judged: set[int]) -> None:
        pooled = pool(lists)
        grades: dict[Passage, dict[str | None, int]] = {
            candidate.passage: {"ann": 1} for candidate in pooled if CHUNKS.index(candidate.chunk) in judged
        }
        queue = order_queue(pooled, {}, "ann")
        remaining = [candidate for candidate in queue if candidate.passage not in grades]
        assert order_queue(pooled, grades, "ann") == remaining

    def test_judge_sees_all_but_their_own_and_the_nameless_what_nobody_judged(self) -> None:
        pooled = pool({"a": {"hybrid": [0, 1, 2]}})
        first, second, third = (Passage("a", CHUNKS[number].chunk_id) for number in range(3))
        grades: dict[Passage, dict[str | None, int]] = {first: {None: 2}, second: {"ann": 0}}
        assert [candidate.passage for candidate in order_queue(pooled, grades)] == [third]
        assert [candidate.passage for candidate in order_queue(pooled, grades, "ann")] == [third, first]
        assert order_queue(pooled, grades, "ben")[0].passage == third

    def test_skipped_passage_comes_last(self) -> None:
        pooled = pool({"a": {"hybrid": [0, 1, 2]}})
        first = order_queue(pooled, {})[0].passage
        assert order_queue(pooled, {}, skipped=frozenset({first}))[-1].passage == first

    def test_unanswerable_and_refused_queries_pool_nothing(self) -> None:
        queries = (
            GoldenQuery(id="a", text="a", answerable=False),
            GoldenQuery(id="empty", text=""),
            GoldenQuery(id="b", text="b"),
        )
        lists: Lists = {text: {"hybrid": [0]} for text in ("a", "", "b")}
        calls: list[int] = []
        pooled = pool_passages(FixedRankings(lists), GoldenSet(queries=queries), lambda: calls.append(1))
        assert [candidate.query.id for candidate in pooled] == ["b"]
        assert len(calls) == 3


class TestGoldenFile:
    def test_hand_written_file_is_not_touched_and_reads_with_its_judgments(self, tmp_path: Path) -> None:
        path = tmp_path / "golden.yaml"
        path.write_text(HAND_WRITTEN, encoding="utf-8")
        target = FixedRankings({"What does the hinge do?": {"hybrid": [0, 1]}})
        session = LabelingSession.open(target, str(path))
        candidate = next_passage(session)
        session.judge(candidate, 2, "ann", "  in\nfull ")
        assert path.read_text(encoding="utf-8") == HAND_WRITTEN
        plain = load_golden_file(path)
        own, added = read_golden(str(path)).queries[0].labels
        assert (own,) == plain.queries[0].labels
        assert (added.grade, added.judge, added.note, added.page) == (2, "ann", "in full", "docs/nodes.md")
        assert added.quote == candidate.chunk.text
        assert read_golden(str(path), include_judgments=False) == plain
        session.undo("ann")
        assert read_golden(str(path)) == plain

    @pytest.mark.parametrize("name", ["golden.yaml", "golden.json", "golden.csv"])
    def test_every_file_format_can_be_judged(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        write = write_table if name.endswith(".csv") else dump_golden
        write(golden_set("a"), path)
        session = LabelingSession.open(FixedRankings({"a": {"hybrid": [0]}}), str(path))
        session.judge(session.find("a", CHUNKS[0].chunk_id), 1, None)
        assert [label.grade for label in read_golden(str(path)).queries[0].labels] == [1]

    @pytest.mark.parametrize(
        ("spec", "query", "fault"),
        [
            ("beir:data", None, "only a golden file"),
            ("golden.yaml", "hing", "no query with the id 'hing'"),
            ("golden.yaml", "taxes", "'taxes' has no answer"),
        ],
    )
    def test_folder_and_unsuitable_query_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, query: str | None, fault: str
    ) -> None:
        monkeypatch.chdir(tmp_path)
        Path("golden.yaml").write_text(HAND_WRITTEN, encoding="utf-8")
        with pytest.raises(InvalidInput, match=fault):
            LabelingSession.open(FixedRankings(), spec, query=query)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    dump_golden(golden_set("a", "b"), tmp_path / "golden.yaml")
    return tmp_path / "golden.yaml"


@pytest.fixture
def session(path: Path) -> LabelingSession:
    return LabelingSession.open(TARGET, str(path))


TARGET = FixedRankings(
    {
        "a": {"hybrid": [0, 1, 2], "dense": [2, 3], "lexical": []},
        "b": {"hybrid": [4, 0], "dense": [], "lexical": [5]},
    }
)


class TestSession:
    def test_judge_goes_from_the_first_passage_to_the_last(self, session: LabelingSession) -> None:
        seen: list[PooledPassage] = []
        while (state := session.state("ann")).candidate:
            assert (state.progress.judged, state.progress.total) == (len(seen), 7)
            assert state.undoable is bool(seen)
            seen.append(state.candidate)
            session.judge(state.candidate, len(seen) % 3, "ann")
        assert len({candidate.passage for candidate in seen}) == 7
        assert [candidate.query.id for candidate in seen] == ["a"] * 4 + ["b"] * 3
        assert session.state("ann").progress.judged == 7
        # Another judge sees all passages, and a judge without a name none.
        assert session.state("ben").progress.judged == 0
        assert session.state(None).candidate is None

    def test_skip_can_be_undone(self, session: LabelingSession) -> None:
        first = next_passage(session)
        session.judge(first, None, "ann", "no idea")
        state = session.state("ann")
        assert state.candidate != first
        assert (state.progress.judged, state.progress.skipped) == (0, 1)
        assert session.state("ben").progress.skipped == 0
        undone = session.undo("ann")
        assert undone is not None
        assert session.find(undone.query, undone.chunk) == first
        state = session.state("ann")
        assert (state.candidate, state.undoable) == (first, False)
        with pytest.raises(NotFound, match="not one of those"):
            session.find("a", "no such chunk")

    def test_two_sessions_see_each_others_judgments(self, session: LabelingSession, path: Path) -> None:
        second = LabelingSession.open(TARGET, str(path))
        while candidate := session.state(None).candidate:
            session.judge(candidate, 0, None)
            if candidate := second.state(None).candidate:
                second.judge(candidate, 0, None)
        assert second.state(None).progress == session.state(None).progress
        assert len(session.log.read_effective()) == 7

    def test_judgments_hold_with_another_chunk_size(self, stored: Workspace, path: Path) -> None:
        dump_golden(golden_set("the hinge of the knee", "camera cable"), path)
        session = LabelingSession.open(LocalPipeline(stored), str(path))
        for _ in range(5):
            session.judge(next_passage(session), 2, "ann")
        settings = stored.settings.model_copy(update={"chunk_tokens": 30})
        stored.close()
        reindexed = Workspace(settings)
        reindex(reindexed, NoProgress())
        session = LabelingSession.open(LocalPipeline(reindexed), str(path))
        grades = session.grades()
        passages = {candidate.passage for candidate in session.candidates.values()}
        judged = {passage for passage in passages if "ann" in grades.get(passage, {})}
        assert len(judged) >= 5
        assert session.state("ann").progress.judged == len(judged)
        assert next_passage(session).passage not in judged
        reindexed.close()

    def test_judged_pages_are_shown_once_and_labelled_as_a_whole(self, stored: Workspace, path: Path) -> None:
        query = GoldenQuery(id="q", text="the hinge of the knee")
        dump_golden(GoldenSet(unit="page", queries=(query,)), path)
        session = LabelingSession.open(LocalPipeline(stored), str(path))
        pages = [candidate.chunk.document_id for candidate in session.candidates.values()]
        assert len(pages) == len({*pages}) == 4
        candidate = next_passage(session)
        session.judge(candidate, 2, "ann")
        for opened in (session, LabelingSession.open(LocalPipeline(stored), str(path))):
            assert opened.state("ann").progress.judged == 1
        (label,) = read_golden(str(path)).queries[0].labels
        assert label == Label(grade=2, page=candidate.chunk.source_path, judge="ann")

    def test_names_and_notes_are_cleaned_and_limited(self, session: LabelingSession) -> None:
        candidate = next_passage(session, " ann\t")
        session.judge(candidate, 1, " ann\x1b ", "\x07 \ud800")
        (judgment,) = session.log.read_effective()
        assert judgment.label is not None
        assert (judgment.judge, judgment.label.note) == ("ann", None)
        for too_long in (["x" * 61], [None, "x" * 1001]):
            with pytest.raises(InvalidInput, match="characters"):
                session.judge(candidate, 1, *too_long)
        assert len(session.log.read()) == 1

    def test_judge_is_compared_with_the_labels_of_the_golden_file(self, path: Path) -> None:
        labels = [{"page": "docs/nodes.md", "anchor": f"part-{n}", "grade": n} for n in range(3)]
        dump_golden(GoldenSet.model_validate({"queries": [{"text": "a", "labels": labels}]}), path)
        session = LabelingSession.open(FixedRankings({"a": {"hybrid": [*range(10)]}}), str(path))
        assert session.state(None).progress.judged == 3
        for candidate in session.candidates.values():
            session.judge(candidate, 2, "ann")
        (pair,) = measure_agreement(session.grades())
        assert (pair.first, pair.second, pair.n) == (None, "ann", 3)
        assert [both.first for both in pair.disagreements] == [0, 1]
        assert session.breadcrumbs[pair.disagreements[0].passage.name] == "nodes › Part 0"

    def test_judgment_without_a_name_overrides_the_label_on_its_page(self, path: Path) -> None:
        labels = [{"page": "docs/nodes.md"}, {"page": "docs/nodes.md", "anchor": "part-1", "grade": 1}]
        dump_golden(GoldenSet.model_validate({"queries": [{"text": "a", "labels": labels}]}), path)
        session = LabelingSession.open(FixedRankings({"a": {"hybrid": [0, 1, 2]}}), str(path))
        session.judge(session.find("a", CHUNKS[0].chunk_id), 0, None)
        for reopened in (session, LabelingSession.open(FixedRankings(), str(path))):
            grades = {passage.name: by_judge[None] for passage, by_judge in reopened.grades().items()}
            assert [grades[chunk.chunk_id] for chunk in CHUNKS[:3]] == [0, 1, 2]

    def test_log_lines_are_plain_json(self, session: LabelingSession, path: Path) -> None:
        session.judge(next_passage(session, None), 1, None)
        (line,) = JudgmentLog.for_golden_file(path).path.read_text(encoding="utf-8").splitlines()
        assert json.loads(line).keys() == {"id", "at", "query", "chunk", "label"}
