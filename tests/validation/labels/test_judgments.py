"""The log of judgments: nothing that was saved is lost, and torn lines are ignored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent.errors import InvalidInput, StoreError
from pertinent.testing.pages import page
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet
from pertinent.validation.labels.judgments import (
    MAX_JUDGES,
    Judgment,
    JudgmentLog,
    LogEntry,
    Undo,
    create_judgment,
    find_effective,
    merge_judgments,
)
from pertinent.validation.labels.pinning import label_chunk

from .pages import view

CHUNKS = view(page("nodes", {f"Part {n}": f"Passage number {n} tells of it." for n in range(5)}), 12).chunks


def judge(number: int, grade: int | None, judge: str | None = None, query: str = "q") -> Judgment:
    label = None if grade is None else label_chunk(CHUNKS[number], grade, judge)
    return create_judgment(query, CHUNKS[number].chunk_id, judge, label)


judgments = st.builds(
    judge,
    st.integers(0, 4),
    st.sampled_from([None, 0, 1, 2]),
    st.sampled_from([None, "ann", "ben"]),
    st.sampled_from(["q", "r"]),
)


@pytest.fixture
def log(tmp_path: Path) -> JudgmentLog:
    return JudgmentLog(tmp_path / "x.jsonl")


@given(added=st.lists(judgments), choice=st.data())
def test_effective_is_the_last_judgment_not_undone(added: list[Judgment], choice: st.DataObject) -> None:
    undone = choice.draw(st.sets(st.sampled_from(added)) if added else st.just(set()), label="undone")
    undos = [Undo(id=f"u{n}", at="", undoes=entry.id) for n, entry in enumerate(undone)]
    entries: list[LogEntry] = [*added, *undos]
    remaining = [entry for entry in added if entry not in undone]
    last = {(entry.judge, entry.query, entry.chunk): entry for entry in remaining}
    effective = find_effective(entries)
    assert sorted(entry.id for entry in effective) == sorted(entry.id for entry in last.values())
    assert effective == [entry for entry in remaining if entry in effective]


@settings(max_examples=60)
@given(added=st.lists(judgments, min_size=1, max_size=4), cut=st.integers(0, 400), late=judgments)
def test_torn_line_is_ignored_and_truncated_by_the_next_writer(
    added: list[Judgment], cut: int, late: Judgment, tmp_path_factory: pytest.TempPathFactory
) -> None:
    log = JudgmentLog(tmp_path_factory.mktemp("log") / "x.jsonl")
    for entry in added:
        log.add(entry)
    content = log.path.read_bytes()
    assert (log.read(), len(content.splitlines())) == (added, len(added))
    last_line = len(content) - (content[:-1].rfind(b"\n") + 1)
    log.path.write_bytes(content[: len(content) - min(cut, last_line)])
    complete = added if cut <= 1 else added[:-1]  # a line is complete without its newline
    assert log.read() == complete
    log.add(late)
    assert log.read() == [*complete, late]
    assert log.path.read_bytes().endswith(b"\n")


def test_number_of_judges_is_limited(log: JudgmentLog) -> None:
    for number in range(MAX_JUDGES):
        log.add(judge(0, 1, f"judge {number}"))
    with pytest.raises(InvalidInput, match="50 judges already"):
        log.add(judge(0, 1, "one too many"))
    log.add(judge(1, 2, "judge 7"))
    assert len(log.read()) == MAX_JUDGES + 1


def test_undo_takes_back_a_judges_own_last_judgment(log: JudgmentLog) -> None:
    assert log.undo("ann") is None
    assert not log.path.exists()
    entries = [judge(0, 1, "ann"), judge(1, 1, "ann"), judge(2, 1, "ben")]
    for entry in entries:
        log.add(entry)
    assert log.undo("ann") == entries[1]
    assert log.read_effective() == [entries[0], entries[2]]
    assert log.undo("ann") == entries[0]
    assert log.undo("ann") is None
    assert log.read_effective() == [entries[2]]
    assert len(log.read()) == 5


def test_undo_restores_the_judgment_that_was_replaced(log: JudgmentLog) -> None:
    first, second = judge(0, 1, "ann"), judge(0, 2, "ann")
    log.add(first)
    log.add(second)
    assert log.read_effective() == [second]
    log.undo("ann")
    assert log.read_effective() == [first]


LABELLED = '{"id": "x", "at": "", "query": "q", "chunk": "c", "label": '


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("no json at all", "line 2 is not JSON"),
        ("[1]", "line 2 is not an object"),
        ('{"id": "x", "at": "", "query": "q"}', "line 2: chunk: must be given"),
        ('{"id": "x", "at": "", "query": "q", "chunk": "c", "grade": 3}', "line 2: grade"),
        (LABELLED + '{"grade": 1, "page": "p", "judge": "a"}}', "same judge"),
        (LABELLED + '{"page": "p"}}', "the label must have a grade"),
    ],
)
def test_damaged_line_is_named_and_nothing_is_added(log: JudgmentLog, line: str, fault: str) -> None:
    log.path.write_text(f"\n{line}\n", encoding="utf-8")
    for access in (log.read, lambda: log.add(judge(0, None))):
        with pytest.raises(InvalidInput, match=fault):
            access()
    assert log.path.read_text(encoding="utf-8") == f"\n{line}\n"


def start_writer(log: JudgmentLog, loop: str, name: str = "", **options: Any) -> subprocess.Popen[str]:
    script = (
        "import sys\nfrom itertools import count\nfrom pathlib import Path\n"
        "from pertinent.validation.labels.judgments import JudgmentLog, create_judgment\n"
        "log, name = JudgmentLog(Path(sys.argv[1])), sys.argv[2]\n"
        f"for n in {loop}:\n"
        "    log.add(create_judgment('q', f'{name}-{n}', name, None))\n    print(n, flush=True)"
    )
    command = [sys.executable, "-c", script, str(log.path), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def test_many_threads_and_processes_lose_nothing(log: JudgmentLog) -> None:
    processes = [start_writer(log, "range(25)", name) for name in ("ann", "ben")]

    def write(name: str) -> None:
        for n in range(25):
            log.add(create_judgment("q", f"{name}-{n}", name, None))

    threads = [threading.Thread(target=write, args=(f"thread {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for process in processes:
        process.communicate(timeout=60)
    assert len(log.read_effective()) == 6 * 25


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX's")
def test_saved_judgments_survive_sigkill(log: JudgmentLog) -> None:
    for turn in range(3):
        existing = len(log.read())
        with start_writer(log, "count()") as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.05 * (turn + 1))
            process.send_signal(signal.SIGKILL)
            reported = 1 + len(process.stdout.read().split())
        assert len(log.read()) - existing >= reported


def test_unwritable_file_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="can't be written"):
        JudgmentLog(tmp_path / "no such folder" / "x.jsonl").add(judge(0, None))


def test_merge_refuses_a_judgment_of_an_unknown_query() -> None:
    golden = GoldenSet(queries=(GoldenQuery(text="a"),))
    with pytest.raises(InvalidInput, match="'gone', which the golden set does not have"):
        merge_judgments(golden, [judge(0, 1, query="gone")])


def test_merge_refuses_an_answer_to_an_unanswerable_query() -> None:
    golden = GoldenSet(queries=(GoldenQuery(id="q", text="a", answerable=False),))
    with pytest.raises(InvalidInput, match="q is not answerable"):
        merge_judgments(golden, [judge(0, 1)])
    assert merge_judgments(golden, [judge(0, 0)])
