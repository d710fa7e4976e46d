"""`pertinent label`: lines from a pipe, keys from a real terminal, and the judges' agreement."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pertinent.validation.golden import formats as exchange
from pertinent.validation.golden.golden_set import Label
from pertinent.validation.labels.judgments import JudgmentLog

from .conftest import Run

COMMAND = str(Path(sys.executable).with_name("pertinent"))

GOLDEN = """\
# Written by hand.
queries:
  - {id: nodes, text: How do nodes talk?, query_type: broad, note: a hint that nobody should see}
  - {id: joints, text: What limits a joint?}
  - {id: taxes, text: How do I pay taxes?, answerable: false}
"""

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("indexed")]


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.yaml"
    path.write_text(GOLDEN, encoding="utf-8")
    return path


def labels(golden: Path) -> list[Label | None]:
    return [judgment.label for judgment in JudgmentLog.for_golden_file(golden).read_effective()]


def grades(golden: Path) -> list[int | None]:
    return [label.grade if label else None for label in labels(golden)]


def test_label_reads_a_grade_from_each_line(run: Run, golden: Path) -> None:
    done = run("label", golden, "--judge", "ann", stdin="2\n0\n1\nq\n", exits=0)
    assert grades(golden) == [2, 0, 1]
    assert "How do nodes talk?" in done.stdout
    assert "0 of " in done.stdout
    assert "3 judgments saved in" in done.stdout
    assert golden.read_text(encoding="utf-8") == GOLDEN
    merged = [label for query in exchange.read_golden(str(golden)).queries for label in query.labels]
    assert [label.judge for label in merged] == ["ann"] * 3


def test_label_shows_nothing_that_biases_a_judge(run: Run, golden: Path) -> None:
    output = run("label", golden, stdin="0\n" * 20).stdout
    assert "Nodes › Topics" in output
    assert "taxes" not in output
    for secret in ("broad", "specific", "hint", "hybrid", "dense", "lexical", "rank", "https://"):
        assert secret not in output
    assert not re.search(r"\b0\.\d", output)


def test_label_ignores_unknown_keys(run: Run, golden: Path) -> None:
    done = run("label", golden, stdin="3\nyes\n\n  \n22\n\x1b[A\nQ\n2\n", exits=0)
    assert done.stdout.count("Nothing was judged.") == 5
    assert grades(golden) == [2]


def test_label_saves_a_note_with_the_next_judgment_and_undo_restores_it(run: Run, golden: Path) -> None:
    done = run("label", golden, stdin="n on one line\n1\nn\n on the next  line \n2\n")
    assert [label and label.note for label in labels(golden)] == ["on one line", "on the next line"]
    done = run("label", golden, stdin="u\n0\n")
    assert "Undone: your 2." in done.stdout
    assert "note: on the next line" in done.stdout
    assert grades(golden) == [1, 0]
    assert [label and label.note for label in labels(golden)] == ["on one line", "on the next line"]


def test_label_refuses_a_note_that_is_too_long(run: Run, golden: Path) -> None:
    done = run("label", golden, stdin=f"n {'x' * 1001}\n2\n")
    assert "1001 characters" in done.stdout
    assert grades(golden) == [2]


def test_label_undoes_skips_and_resumes(run: Run, golden: Path) -> None:
    first = run("label", golden, stdin="u\ns\nu\nu\n2\n")
    assert first.stdout.count("There is nothing to undo.") == 2
    assert "Undone: your skip." in first.stdout
    assert grades(golden) == [2]
    resumed = run("label", golden, stdin="0\n")
    assert re.search(r"^1 of \d+ passages judged", resumed.stdout, re.M)
    assert grades(golden) == [2, 0]


def test_label_undoes_after_the_last_passage(run: Run, golden: Path) -> None:
    done = run("label", golden, "--query", "joints", stdin="1\n" * 30 + "u\n")
    assert "Everything is judged." in done.stdout
    assert "Undone: your 1." in done.stdout
    (total,) = {int(match) for match in re.findall(r"of (\d+) passages", done.stdout)}
    assert len(grades(golden)) == total - 1
    assert {judgment.query for judgment in JudgmentLog.for_golden_file(golden).read_effective()} == {"joints"}


def test_label_reports_that_nothing_can_be_judged(run: Run, tmp_path: Path) -> None:
    golden = tmp_path / "none.yaml"
    golden.write_text("queries: [{id: taxes, text: taxes, answerable: false}]", encoding="utf-8")
    done = run("label", golden, stdin="2\n", exits=0)
    assert "There is nothing to judge" in done.stdout
    assert not JudgmentLog.for_golden_file(golden).path.exists()


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (["no-such-file.yaml"], ["no-such-file.yaml", "can't be read"]),
        (["beir:data"], ["beir:data", "only a golden file"]),
        (["GOLDEN", "--query", "x"], ["query", "'x'"]),
        (["GOLDEN", "--query", "taxes"], ["query", "no answer"]),
        (["GOLDEN", "--judge", " "], ["judge", "must not be empty"]),
        (["GOLDEN", "--judge", "x" * 61], ["judge", "61"]),
        (["GOLDEN", "--agreement"], ["agreement", "two judges", "nobody"]),
        ([], ["GOLDEN", "--help"]),
    ],
)
def test_label_refuses_bad_input(run: Run, golden: Path, arguments: list[str], messages: list[str]) -> None:
    arguments = [str(golden) if argument == "GOLDEN" else argument for argument in arguments]
    done = run("label", *arguments, stdin="2\n", exits=2)
    last = done.stderr.splitlines()[-1]
    assert all(part in last for part in messages)
    assert "Traceback" not in done.stderr
    assert not JudgmentLog.for_golden_file(golden).path.exists()


def test_label_agreement_prints_kappa_of_two_judges(run: Run, golden: Path) -> None:
    run("label", golden, "--judge", "ann", stdin="2\n0\n" * 20)
    alone = run("label", golden, "--agreement", exits=2)
    assert "these have labels: ann" in alone.stderr
    run("label", golden, "--judge", "ben", stdin="2\n" * 40)
    agreement = run("label", golden, "--agreement", exits=0)
    assert "ann and ben" in agreement.stdout
    assert re.search(r"weighted kappa 0\.00 over \d+ passages; the same grade for \d+", agreement.stdout)
    assert "What limits a joint?" in agreement.stdout
    assert re.search(r"Joints › (Limits|Friction)", agreement.stdout)
    assert run("label", golden, "--agreement", "--judge", "eve").exit_code == 2


def test_label_help_lists_the_keys(run: Run) -> None:
    output = run("label", "--help").stdout
    for part in ("it does not help", "it helps in part", "it answers", "skip", "undo", ".judgments.jsonl"):
        assert part in " ".join(output.split())


def test_validate_reads_the_judgments(run: Run, golden: Path) -> None:
    before = run("validate", golden, "--json")
    run("label", golden, stdin="2\n" * 40)
    after = run("validate", golden, "--json")
    assert '"labels": 0' in before.stdout
    assert int(re.findall(r'"labels": (\d+)', after.stdout)[0]) > 5


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], screen: int) -> None:
        self.process = process
        self._screen = screen
        self.output = ""

    def until(self, text: str, seconds: float = 30) -> None:
        """Read on until the text is shown."""
        end = time.monotonic() + seconds
        while text not in self.output:
            ready, _, _ = select.select([self._screen], [], [], max(0, end - time.monotonic()))
            assert ready, f"{text!r} was not shown, but {self.output[-500:]!r}"
            try:
                self.output += os.read(self._screen, 4096).decode()
            except OSError:
                assert text in self.output
                return

    def press(self, key: str, then: str) -> None:
        """Press a key, once the prompt is there, and wait for what follows."""
        self.until("\r\n> ")
        time.sleep(0.05)  # the terminal switches to single keys a moment after the prompt
        self.output = ""
        os.write(self._screen, key.encode())
        self.until(then)

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())


@contextmanager
def terminal(*arguments: str | Path) -> Iterator[Terminal]:
    screen, keyboard = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        [COMMAND, "label", *map(str, arguments)],
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: _own(keyboard),  # noqa: PLW1509 - no thread is started before the exec
    ) as process:
        os.close(keyboard)
        try:
            yield Terminal(process, screen)
        finally:
            process.kill()
            os.close(screen)


def _own(keyboard: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(keyboard, termios.TIOCSCTTY, 0)


def test_label_reads_single_keys_on_a_terminal(golden: Path) -> None:
    with terminal(golden, "--judge", "ann") as opened:
        opened.press("2", "1 of ")
        opened.press("\x1b[A", "Nothing was judged.")
        opened.press("n", "note: ")
        opened.type("by hand\r")
        opened.until("The note will be saved with your next judgment.")
        opened.press("1", "2 of ")
        opened.press("u", "Undone: your 1.")
        opened.press("0", "2 of ")
        opened.press("q", "2 judgments saved")
        assert opened.process.wait(30) == 0
    assert grades(golden) == [2, 0]
    assert [label and label.note for label in labels(golden)] == [None, "by hand"]


@pytest.mark.parametrize("key", ["\x03", "signal"])
def test_label_ctrl_c_keeps_all_judgments(golden: Path, key: str) -> None:
    with terminal(golden) as opened:
        opened.press("2", "1 of ")
        opened.press("1", "2 of ")
        opened.until("\r\n> ")
        time.sleep(0.1)
        if key == "signal":
            opened.process.send_signal(signal.SIGINT)
        else:
            opened.type(key)
        opened.until("every judgment is saved")
        assert opened.process.wait(30) == 130
        assert "Traceback" not in opened.output
    assert grades(golden) == [2, 1]


def test_label_ends_at_the_end_of_input(golden: Path) -> None:
    with terminal(golden) as opened:
        opened.press("2", "1 of ")
        opened.press("\x04", "1 judgment saved")
        assert opened.process.wait(30) == 0


def test_label_does_not_lock_the_index(run: Run, golden: Path) -> None:
    with terminal(golden) as opened:
        opened.until("0 of ")
        assert run("search", "nodes").exit_code == 0


def test_label_removes_terminal_escapes(run: Run, docs: Path, tmp_path: Path) -> None:
    evil = "# Evil\x1b[31m\n\nThe evil \x1b]0;owned\x07 word \x9b2J.\n"
    (docs / "evil.md").write_text(evil, encoding="utf-8")
    run("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots")
    golden = tmp_path / "evil.yaml"
    golden.write_text('queries: [{id: evil, text: "evil \\e[31m word"}]', encoding="utf-8")
    output = run("label", golden, stdin="n \x1b[31mred\n2\n").stdout
    assert "Evil" in output
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", output)
