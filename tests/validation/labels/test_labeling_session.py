"""Labelling: a queue that tells nothing of ranks, judgments that nothing loses, and how far judges agree."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent.errors import InvalidInput, NotFound, StoreError
from pertinent.surfaces.subjects import Local
from pertinent.testing.pages import page
from pertinent.types import Answer, Chunk, Hit, Ranking, Scores, SearchOptions
from pertinent.validation.golden import formats as exchange
from pertinent.validation.golden import golden_set as files
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet, Label
from pertinent.validation.labels.agreement import Passage, agreement, judges
from pertinent.validation.labels.judgments import Judgment, Line, Log, Undo, judgment, merged, standing
from pertinent.validation.labels.labeling_session import DEPTH, TOP, Candidate, Desk, pool, queue
from pertinent.validation.labels.resolve import label_for
from pertinent.validation.target import PageView
from pertinent.workspace.workspace import Workspace

from .test_resolve import view

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


def chunk(number: int) -> Chunk:
    return BOOK.chunks[number]


@dataclass
class Ranked:
    """A subject whose rankings are given: the numbers of chunks, best first, by query and ranking."""

    lists: Mapping[str, Mapping[Ranking, Sequence[int]]] = field(default_factory=dict)

    def facts(self) -> Mapping[str, str]:
        return {}

    def search(self, text: str, options: SearchOptions) -> Answer:
        if not text.strip():
            raise InvalidInput("text", "must not be empty")
        numbers = self.lists.get(text, {}).get(options.ranking or "hybrid", ())
        hits = [Hit(chunk(one), 0.5, Scores(None, None), rank) for rank, one in enumerate(numbers)]
        return Answer(
            text,
            options.ranking or "hybrid",
            tuple(hits[: options.top_k]),
            options.top_k,
            options.threshold,
            "",
        )

    def pages(self) -> Iterator[PageView]:
        yield BOOK

    def indexed(self, chunk_ids: Sequence[str]) -> set[str]:
        return set(chunk_ids)

    def audit(self) -> list[str]:
        return []


def golden(*ids: str, **changes: Any) -> GoldenSet:
    queries = tuple(GoldenQuery(id=one, text=one) for one in ids)
    return GoldenSet(queries=queries).model_copy(update=changes)


rankings = st.dictionaries(
    st.sampled_from(["hybrid", "dense", "lexical"]),
    st.lists(st.integers(0, 29), unique=True, max_size=15),
)
pools = st.dictionaries(st.sampled_from(["a", "b", "c"]), rankings, min_size=1)


class TestQueue:
    @given(lists=pools)
    def test_it_holds_what_any_ranking_has_in_its_first_ten(self, lists: Any) -> None:
        found = pool(Ranked(lists), golden(*lists))
        wanted = {
            (query, chunk(number).chunk_id)
            for query, by_ranking in lists.items()
            for numbers in by_ranking.values()
            for number in numbers[:DEPTH]
        }
        assert {(one.query.id, one.chunk.chunk_id) for one in found} == wanted
        assert len(found) == len(wanted)
        for one in found:
            ranks = [list(numbers[:DEPTH]) for numbers in lists[one.query.id].values()]
            number = BOOK.chunks.index(one.chunk)
            assert one.rank == min(ranked.index(number) + 1 for ranked in ranks if number in ranked)

    @given(lists=pools, judge=st.sampled_from([None, "ann"]), seed=st.integers(0, 9))
    def test_the_top_comes_first_and_a_query_at_a_time(
        self, lists: Any, judge: str | None, seed: int
    ) -> None:
        candidates = pool(Ranked(lists), golden(*lists))
        shown = queue(candidates, {}, judge, seed=seed)
        assert sorted(one.passage for one in shown) == sorted(one.passage for one in candidates)
        turns = [(one.rank > TOP, list(lists).index(one.query.id)) for one in shown]
        assert turns == sorted(turns)
        other = sorted(candidates, key=lambda one: (list(lists).index(one.query.id), one.chunk.chunk_id))
        assert shown == queue(other, {}, judge, seed=seed)

    def test_rank_does_not_show_through(self) -> None:
        lists: Any = {"a": {"hybrid": [*range(5)], "dense": [], "lexical": []}}
        candidates = pool(Ranked(lists), golden("a"))
        orders = {tuple(one.rank for one in queue(candidates, {}, f"judge {n}")) for n in range(60)}
        assert len(orders) > 30
        first = [next(iter(order)) for order in orders]
        assert {*first} == {1, 2, 3, 4, 5}

    @given(lists=pools, gone=st.sets(st.integers(0, 29)))
    def test_what_is_left_keeps_its_order(self, lists: Any, gone: set[int]) -> None:
        candidates = pool(Ranked(lists), golden(*lists))
        judged = [one.passage for one in candidates if BOOK.chunks.index(one.chunk) in gone]
        views: dict[Passage, dict[str | None, int]] = {one: {"ann": 1} for one in judged}
        left = queue(candidates, views, "ann")
        assert left == [one for one in queue(candidates, {}, "ann") if one.passage not in views]

    def test_nobody_is_shown_what_anybody_judged_and_a_judge_all_but_their_own(self) -> None:
        candidates = pool(Ranked({"a": {"hybrid": [0, 1, 2]}}), golden("a"))
        one, two, three = (Passage("a", chunk(number).chunk_id) for number in range(3))
        views: dict[Passage, dict[str | None, int]] = {one: {None: 2}, two: {"ann": 0}}
        assert [found.passage for found in queue(candidates, views)] == [three]
        assert [found.passage for found in queue(candidates, views, "ann")] == [three, one]
        assert queue(candidates, views, "ben")[0].passage == three

    def test_what_was_skipped_comes_last(self) -> None:
        candidates = pool(Ranked({"a": {"hybrid": [0, 1, 2]}}), golden("a"))
        first = queue(candidates, {})[0].passage
        assert queue(candidates, {}, skipped=frozenset({first}))[-1].passage == first

    def test_queries_that_have_no_answer_or_are_refused_bring_nothing(self) -> None:
        lists: Any = {text: {"hybrid": [0]} for text in ("a", "", "b")}
        queries = (
            GoldenQuery(id="a", text="a", answerable=False),
            GoldenQuery(id="empty", text=""),
            GoldenQuery(id="b", text="b"),
        )
        counted: list[int] = []
        found = pool(Ranked(lists), GoldenSet(queries=queries), lambda: counted.append(1))
        assert [one.query.id for one in found] == ["b"]
        assert len(counted) == 3


ids = st.sampled_from(["q", "r"])
words = st.builds(
    lambda query, number, judge, grade: judgment(
        query,
        chunk(number).chunk_id,
        judge,
        None if grade is None else label_for(chunk(number), grade, judge),
    ),
    ids,
    st.integers(0, 4),
    st.sampled_from([None, "ann", "ben"]),
    st.sampled_from([None, 0, 1, 2]),
)


class TestLog:
    @given(said=st.lists(words), steps=st.data())
    def test_what_stands_is_the_last_of_each_judge_but_for_what_was_taken_back(
        self, said: list[Judgment], steps: st.DataObject
    ) -> None:
        taken = steps.draw(st.sets(st.sampled_from(said)) if said else st.just(set()), label="taken")
        lines: list[Line] = [*said, *(Undo(id=f"u{n}", at="", undoes=one.id) for n, one in enumerate(taken))]
        found = standing(lines)
        left = [one for one in said if one not in taken]
        last = {(one.judge, one.query, one.chunk): one for one in left}
        assert sorted(one.id for one in found) == sorted(one.id for one in last.values())
        assert found == [one for one in left if one in found]

    @settings(max_examples=50)
    @given(said=st.lists(words, max_size=6))
    def test_all_that_is_written_is_read(
        self, said: list[Judgment], tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        log = Log(tmp_path_factory.mktemp("log") / "x.jsonl")
        for one in said:
            log.add(one)
        assert log.lines() == said
        assert len(log.path.read_bytes().splitlines()) == len(said) if said else not log.path.exists()

    @settings(max_examples=60)
    @given(said=st.lists(words, min_size=1, max_size=3), cut=st.integers(1, 400), late=words)
    def test_a_line_that_was_torn_is_not_read_and_the_next_one_cuts_it_off(
        self, said: list[Judgment], cut: int, late: Judgment, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        log = Log(tmp_path_factory.mktemp("log") / "x.jsonl")
        for one in said:
            log.add(one)
        whole = log.path.read_bytes()
        last = len(whole) - (whole[:-1].rfind(b"\n") + 1)
        log.path.write_bytes(whole[: len(whole) - min(cut, last)])
        kept = said if cut == 1 else said[:-1]  # without its newline alone it is whole all the same
        assert log.lines() == kept
        log.add(late)
        assert log.lines() == [*kept, late]
        assert log.path.read_bytes().endswith(b"\n")

    def test_undo_takes_back_a_judges_own_last_word(self, tmp_path: Path) -> None:
        log = Log(tmp_path / "x.jsonl")
        assert log.undo("ann") is None
        assert not log.path.exists()
        first, second, other = (
            judgment("q", chunk(n).chunk_id, judge, label_for(chunk(n), 1, judge))
            for n, judge in enumerate(["ann", "ann", "ben"])
        )
        for one in (first, second, other):
            log.add(one)
        assert log.undo("ann") == second
        assert log.standing() == [first, other]
        assert log.undo("ann") == first
        assert log.undo("ann") is None
        assert log.standing() == [other]
        assert len(log.lines()) == 5

    def test_a_judgment_that_replaced_another_gives_it_back(self, tmp_path: Path) -> None:
        log = Log(tmp_path / "x.jsonl")
        for grade in (1, 2):
            log.add(judgment("q", chunk(0).chunk_id, "ann", label_for(chunk(0), grade, "ann")))
        assert [one.label and one.label.grade for one in log.standing()] == [2]
        log.undo("ann")
        assert [one.label and one.label.grade for one in log.standing()] == [1]

    @pytest.mark.parametrize(
        ("line", "fault"),
        [
            ("no json at all", "line 2 is not JSON"),
            ("[1]", "line 2 is not an object"),
            ('{"id": "x", "at": "", "query": "q"}', "line 2: chunk: must be given"),
            ('{"id": "x", "at": "", "query": "q", "chunk": "c", "grade": 3}', "line 2: grade"),
            (
                '{"id": "x", "at": "", "query": "", "chunk": "", "label": '
                '{"grade": 1, "page": "p", "judge": "a"}}',
                "same judge",
            ),
            (
                '{"id": "x", "at": "", "query": "q", "chunk": "c", "label": {"page": "p"}}',
                "the label must have its grade",
            ),
        ],
    )
    def test_a_line_that_is_wrong_is_named_and_nothing_is_added_to_it(
        self, tmp_path: Path, line: str, fault: str
    ) -> None:
        log = Log(tmp_path / "x.jsonl")
        log.path.write_text(f"\n{line}\n", encoding="utf-8")
        before = log.path.read_bytes()
        with pytest.raises(InvalidInput, match=fault):
            log.lines()
        with pytest.raises(InvalidInput, match=fault):
            log.add(judgment("q", "c", None, None))
        assert log.path.read_bytes() == before

    def test_many_threads_and_processes_lose_nothing(self, tmp_path: Path) -> None:
        log = Log(tmp_path / "x.jsonl")
        script = (
            "import sys\n"
            "from pathlib import Path\n"
            "from pertinent.validation.labels.judgments import Log, judgment\n"
            "log = Log(Path(sys.argv[1]))\n"
            "for n in range(25): log.add(judgment('q', f'{sys.argv[2]}-{n}', sys.argv[2], None))"
        )
        others = [
            subprocess.Popen([sys.executable, "-c", script, str(log.path), name]) for name in ("ann", "ben")
        ]

        def write(name: str) -> None:
            for n in range(25):
                log.add(judgment("q", f"{name}-{n}", name, None))

        threads = [threading.Thread(target=write, args=(f"thread {n}",)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [other.wait(60) for other in others] == [0, 0]
        assert len(log.standing()) == 6 * 25

    @pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX's")
    def test_what_was_said_to_be_saved_survives_sigkill(self, tmp_path: Path) -> None:
        log = Log(tmp_path / "x.jsonl")
        script = (
            "import sys\n"
            "from pathlib import Path\n"
            "from pertinent.validation.labels.judgments import Log, judgment\n"
            "log = Log(Path(sys.argv[1])); n = 0\n"
            "while True: log.add(judgment('q', f'{n}', None, None)); print(n, flush=True); n += 1"
        )
        for turn in range(3):
            before = len(log.lines())
            with subprocess.Popen(
                [sys.executable, "-c", script, str(log.path)], stdout=subprocess.PIPE, text=True
            ) as child:
                assert child.stdout is not None
                child.stdout.readline()
                time.sleep(0.05 * (turn + 1))
                child.send_signal(signal.SIGKILL)
                told = 1 + len(child.stdout.read().split())
            assert len(log.lines()) - before >= told

    def test_a_file_that_cant_be_written_says_so(self, tmp_path: Path) -> None:
        log = Log(tmp_path / "no such folder" / "x.jsonl")
        with pytest.raises(StoreError, match="can't be written"):
            log.add(judgment("q", "c", None, None))


class TestGoldenSet:
    def test_a_hand_written_file_is_left_as_it_is_and_reads_with_its_judgments(self, tmp_path: Path) -> None:
        path = tmp_path / "golden.yaml"
        path.write_text(HAND_WRITTEN, encoding="utf-8")
        desk = Desk.open(Ranked({"What does the hinge do?": {"hybrid": [0, 1]}}), str(path))
        shown = desk.look("ann").candidate
        assert shown is not None
        desk.judge(shown, 2, "ann", "  in\nfull ")
        assert path.read_text(encoding="utf-8") == HAND_WRITTEN
        (query, *_), plain = exchange.read(str(path)).queries, files.load(path)
        assert query.labels[:1] == plain.queries[0].labels
        label = query.labels[1]
        assert (label.grade, label.judge, label.note, label.page) == (2, "ann", "in full", "docs/nodes.md")
        assert label.quote == shown.chunk.text
        assert exchange.read(str(path), judged=False) == plain
        desk.undo("ann")
        assert exchange.read(str(path)) == plain

    @pytest.mark.parametrize("name", ["golden.yaml", "golden.json", "golden.csv"])
    def test_files_of_every_kind_can_be_judged(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        given = GoldenSet(name="golden", queries=(GoldenQuery(id="a", text="a"),))
        if name.endswith(".csv"):
            exchange.write_table(given, path)
        else:
            files.dump(given, path)
        desk = Desk.open(Ranked({"a": {"hybrid": [0]}}), str(path))
        desk.judge(desk.find("a", chunk(0).chunk_id), 1, None)
        assert [label.grade for label in exchange.read(str(path)).queries[0].labels] == [1]

    def test_a_judgment_of_a_query_that_is_gone_is_no_secret(self) -> None:
        said = [judgment("gone", chunk(0).chunk_id, None, label_for(chunk(0), 1))]
        with pytest.raises(InvalidInput, match="'gone', which the golden set does not have"):
            merged(golden("a"), said)

    def test_a_judgment_can_not_answer_what_has_no_answer(self) -> None:
        asked = GoldenSet(queries=(GoldenQuery(id="a", text="a", answerable=False),))
        with pytest.raises(InvalidInput, match="a is not answerable"):
            merged(asked, [judgment("a", chunk(0).chunk_id, None, label_for(chunk(0), 1))])
        assert merged(asked, [judgment("a", chunk(0).chunk_id, None, label_for(chunk(0), 0))])

    def test_a_folder_and_an_unknown_query_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "golden.yaml"
        path.write_text(HAND_WRITTEN, encoding="utf-8")
        with pytest.raises(InvalidInput, match="only a golden file"):
            Desk.open(Ranked(), "beir:data")
        with pytest.raises(InvalidInput, match="no query with the id 'hing'"):
            Desk.open(Ranked(), str(path), query="hing")
        with pytest.raises(InvalidInput, match="'taxes' has no answer"):
            Desk.open(Ranked(), str(path), query="taxes")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "golden.yaml"
    files.dump(golden("a", "b"), place)
    return place


LISTS: dict[str, dict[Ranking, list[int]]] = {
    "a": {"hybrid": [0, 1, 2], "dense": [2, 3], "lexical": []},
    "b": {"hybrid": [4, 0], "dense": [], "lexical": [5]},
}


class TestDesk:
    def test_from_the_first_passage_to_the_last(self, path: Path) -> None:
        desk = Desk.open(Ranked(LISTS), str(path))
        seen: list[Candidate] = []
        while (look := desk.look("ann")).candidate:
            assert look.progress.judged == len(seen)
            assert look.progress.total == 7
            assert look.undoable is bool(seen)
            seen.append(look.candidate)
            desk.judge(look.candidate, len(seen) % 3, "ann")
        assert len({one.passage for one in seen}) == 7
        assert [one.query.id for one in seen] == ["a"] * 4 + ["b"] * 3
        assert desk.look("ann").progress.left == 0
        # Another judge is shown all of it, who gives no name nothing.
        assert desk.look("ben").progress.judged == 0
        assert desk.look(None).candidate is None

    def test_undo_and_skip(self, path: Path) -> None:
        desk = Desk.open(Ranked(LISTS), str(path))
        first = desk.look("ann").candidate
        assert first is not None
        desk.judge(first, None, "ann", "no idea")
        look = desk.look("ann")
        assert look.candidate != first
        assert (look.progress.judged, look.progress.skipped) == (0, 1)
        assert desk.look("ben").progress.skipped == 0
        taken = desk.undo("ann")
        assert taken is not None
        assert desk.find(taken.query, taken.chunk) == first
        assert desk.look("ann").candidate == first
        assert not desk.look("ann").undoable
        with pytest.raises(NotFound, match="not among those"):
            desk.find("a", "no such chunk")

    def test_two_desks_see_each_others_judgments(self, path: Path) -> None:
        one, other = (Desk.open(Ranked(LISTS), str(path)) for _ in range(2))
        while shown := one.look(None).candidate:
            one.judge(shown, 0, None)
            if shown := other.look(None).candidate:
                other.judge(shown, 0, None)
        assert other.look(None).progress == one.look(None).progress
        assert len(one.log.standing()) == 7

    def test_what_was_judged_stays_judged_after_the_pages_are_cut_up_anew(
        self, stored: Workspace, path: Path
    ) -> None:
        subject = Local(stored)
        texts = ("the hinge of the knee", "camera cable")
        files.dump(GoldenSet(queries=tuple(GoldenQuery(id=text, text=text) for text in texts)), path)
        desk = Desk.open(subject, str(path))
        for _ in range(5):
            shown = desk.look("ann").candidate
            assert shown is not None
            desk.judge(shown, 2, "ann")
        settings_now = stored.settings.model_copy(update={"chunk_tokens": 30})
        stored.close()
        again = Workspace(settings_now)
        from pertinent._internal.progress import Silent

        again.reindex(Silent())
        anew = Desk.open(Local(again), str(path))
        judged = {
            one.passage for one in anew.candidates.values() if "ann" in anew.views().get(one.passage, {})
        }
        assert len(judged) >= 5
        look = anew.look("ann")
        assert look.progress.judged == len(judged)
        assert look.candidate is not None
        assert look.candidate.passage not in judged
        again.close()

    def test_where_pages_are_judged_a_page_is_shown_once_and_labelled_whole(
        self, stored: Workspace, path: Path
    ) -> None:
        files.dump(GoldenSet(unit="page", queries=(GoldenQuery(id="q", text="the hinge of the knee"),)), path)
        desk = Desk.open(Local(stored), str(path))
        pages = [one.chunk.document_id for one in desk.candidates.values()]
        assert len(pages) == len({*pages}) == 4
        shown = desk.look("ann").candidate
        assert shown is not None
        desk.judge(shown, 2, "ann")
        assert desk.look("ann").progress.judged == 1
        assert Desk.open(Local(stored), str(path)).look("ann").progress.judged == 1
        (label,) = exchange.read(str(path)).queries[0].labels
        assert label == Label(grade=2, page=shown.chunk.source_path, judge="ann")

    def test_names_and_notes_lose_what_is_no_text_and_may_not_be_endless(self, path: Path) -> None:
        desk = Desk.open(Ranked(LISTS), str(path))
        shown = desk.look(" ann\t").candidate
        assert shown is not None
        desk.judge(shown, 1, " ann\x1b ", "\x07 \ud800")
        (said,) = desk.log.standing()
        assert said.label is not None
        assert (said.judge, said.label.note) == ("ann", None)
        for wrong in (["x" * 61], [None, "x" * 1001]):
            with pytest.raises(InvalidInput, match="characters"):
                desk.judge(shown, 1, *wrong)
        assert len(desk.log.lines()) == 1


class TestAgreement:
    def views(self, pairs: Sequence[tuple[int | None, int | None]]) -> dict[Passage, dict[str | None, int]]:
        return {
            Passage("q", f"{n}"): {
                name: grade for name, grade in zip(("ann", "ben"), pair, strict=True) if grade is not None
            }
            for n, pair in enumerate(pairs)
        }

    def test_only_what_both_have_judged_counts(self) -> None:
        found = self.views([(2, 2), (0, 0), (1, 2), (2, 0), (1, None), (None, 1)])
        (pair,) = agreement(found)
        assert (pair.first, pair.second, pair.n) == ("ann", "ben", 4)
        assert [(one.passage.name, one.first, one.second) for one in pair.disagreements] == [
            ("3", 2, 0),
            ("2", 1, 2),
        ]
        assert judges(found) == [("ann", 5), ("ben", 5)]

    @given(pairs=st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=1))
    def test_kappa_is_the_same_whoever_is_first_and_1_only_without_disagreement(self, pairs: Any) -> None:
        (one,) = agreement(self.views(pairs))
        (other,) = agreement(self.views([(second, first) for first, second in pairs]))
        assert one.kappa == pytest.approx(other.kappa)
        assert (one.kappa == 1.0) <= (not one.disagreements)
        assert one.kappa is None or one.kappa <= 1.0

    def test_every_two_who_have_something_in_common(self) -> None:
        views: dict[Passage, dict[str | None, int]] = {
            Passage("q", "1"): {None: 2, "ann": 2},
            Passage("q", "2"): {"ann": 0, "ben": 1},
        }
        assert [(pair.first, pair.second, pair.n) for pair in agreement(views)] == [
            (None, "ann", 1),
            ("ann", "ben", 1),
        ]
        assert agreement({}) == []

    def test_a_judge_agrees_with_the_golden_file_over_the_passages_that_its_labels_cover(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "golden.yaml"
        labels = [{"page": "docs/nodes.md", "anchor": f"part-{n}", "grade": n} for n in range(3)]
        files.dump(GoldenSet.model_validate({"queries": [{"id": "a", "text": "a", "labels": labels}]}), path)
        desk = Desk.open(Ranked({"a": {"hybrid": [*range(10)]}}), str(path))
        assert desk.look(None).progress.judged == 3
        for one in desk.candidates.values():
            desk.judge(one, 2, "ann")
        (pair,) = agreement(desk.views())
        assert (pair.first, pair.second, pair.n) == (None, "ann", 3)
        assert [one.first for one in pair.disagreements] == [0, 1]
        assert desk.breadcrumbs[pair.disagreements[0].passage.name] == "nodes › Part 0"


def test_the_lines_are_plain_json(path: Path) -> None:
    desk = Desk.open(Ranked(LISTS), str(path))
    shown = desk.look(None).candidate
    assert shown is not None
    desk.judge(shown, 1, None)
    (line,) = Log.beside(path).path.read_text(encoding="utf-8").splitlines()
    assert json.loads(line).keys() == {"id", "at", "query", "chunk", "label"}
