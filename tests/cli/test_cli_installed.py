"""The installed command, as a shell starts it: exit codes, streams, signals, encodings."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import Run, Start

COMMAND = str(Path(sys.executable).with_name("pertinent"))
pytestmark = pytest.mark.slow  # every test starts processes

HOLD = (
    "import sys; from pertinent import Pertinent; "
    "p = Pertinent.open(); p.workspace.index(); print('ready', flush=True); sys.stdin.read()"
)


def test_help_imports_no_slow_module() -> None:
    heavy = {"numpy", "onnxruntime", "pydantic", "qdrant_edge", "sqlalchemy", "tokenizers", "yaml"}
    script = (
        "import sys; sys.argv = ['pertinent', '--help']; from pertinent.surfaces.cli import main\n"
        "try: main()\nexcept SystemExit: print('LOADED', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not heavy & set(done.stdout.partition("LOADED")[2].split())


def test_python_runs_the_package_as_the_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pertinent", "--version"], capture_output=True, text=True, check=True
    )
    command = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == command.stdout


def test_index_and_search_end_to_end(start: Start, docs: Path) -> None:
    done = start("index", docs)
    assert (done.returncode, "pages" in done.stdout) == (0, True)
    search = start("search", "revolute joint", "--json")
    assert search.returncode == 0
    assert json.loads(search.stdout)["results"][0]["title"] == "Joints"
    assert search.stderr == ""


def test_bad_input_exits_with_2_and_one_line_on_stderr(start: Start) -> None:
    done = start("search", "x", "-k", "99")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "pertinent: --top-k: must be a whole number from 1 to 20, not '99'\n"


@pytest.fixture
def held(indexed: Path) -> Iterator[None]:
    """The index, open in another process."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield
        process.kill()


@pytest.mark.usefixtures("held")
def test_index_locked_by_another_process_exits_with_3(run: Run) -> None:
    result = run("search", "nodes", exits=3)
    assert "another process" in result.stderr
    assert result.stderr.count("\n") == 1
    doctor = run("doctor", exits=3)
    assert "another process" in " ".join(doctor.stdout.split())
    assert run("list").exit_code == 0


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("command", ["index", "remove"])
def test_writer_gives_up_waiting_for_a_process_that_has_the_index_open(
    run: Run, docs: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("PERTINENT_LOCK_TIMEOUT", "0")
    argument = docs if command == "index" else "robots"
    errors = " ".join(run(command, argument, exits=1).stderr.split())
    assert re.search(r"Waiting for process \d+ on \S+, which has this index open", errors)
    assert re.search(r"gave up after 0 s: process \d+ on \S+ has this index open; .* lock_timeout", errors)


def test_failing_embedder_exits_with_3(run: Run, docs: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (model / name).write_bytes(b"no such thing")
    result = run("--embedder", f"onnx:{model}", "index", docs, exits=3)
    assert "tokenizer.json" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_prints_the_traceback(run: Run, indexed: Path) -> None:
    (indexed / "catalog.sqlite3").write_bytes(b"not a database" * 100)
    plain = run("search", "nodes", exits=3)
    assert "Traceback" not in plain.stderr
    result = run("search", "nodes", "--debug", exits=3)
    assert "Traceback" in result.stderr


def test_unexpected_error_is_one_line_and_exits_with_70(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from pertinent.surfaces.cli import global_options

    def fail(_: object) -> None:
        raise ZeroDivisionError("by\nzero")

    monkeypatch.setattr(global_options.GlobalOptions, "load_settings", fail)
    result = run("settings", exits=70)
    assert result.stderr == (
        "pertinent: unexpected ZeroDivisionError: by zero; run again with --debug for the traceback\n"
    )


def test_closed_pipe_is_not_an_error(indexed: Path) -> None:
    with subprocess.Popen(
        [COMMAND, "search", "nodes", "-k", "20", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        assert command.stderr.read() == b""
        assert command.wait(30) == 141


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["search nodes", "search nodes --json", "label golden.yaml"])
def test_closed_streams_are_not_an_error(indexed: Path, closed: str, command: str) -> None:
    golden = "queries:\n- {text: what is a node, labels: docs/nodes.md}\n"
    Path("golden.yaml").write_text(golden, encoding="utf-8")
    done = subprocess.run(
        ["sh", "-c", f"{COMMAND} {command} {closed}"], stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, "unexpected" in done.stderr) == (0, False), done.stderr


def test_ctrl_c_interrupts_index_without_a_traceback(docs: Path) -> None:
    for number in range(3000):
        (docs / f"page{number}.md").write_text(f"# Page {number}\n\n" + f"Robot number {number} walks. " * 40)
    with subprocess.Popen(
        [COMMAND, "index", str(docs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as command:
        assert command.stderr is not None
        assert "Reading pages" in command.stderr.readline()
        time.sleep(0.3)
        command.send_signal(signal.SIGINT)
        errors = command.stderr.read()
        assert command.wait(30) == 130
    assert "the same command resumes the rest" in errors
    assert "Traceback" not in errors


def test_ctrl_c_during_a_long_step_says_how_to_stop_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with (
            subprocess.Popen(
                [COMMAND, "index", address], cwd=tmp_path, stderr=subprocess.PIPE, text=True
            ) as command,
            silent.accept()[0],
        ):
            command.send_signal(signal.SIGINT)
            assert command.stderr is not None
            message = "Stopping after the current step; press Ctrl-C again to stop at once\n"
            assert message in iter(command.stderr.readline, "")
            command.send_signal(signal.SIGINT)
            assert command.wait(30) == 130


def test_concurrent_index_runs_wait_for_each_other(docs: Path) -> None:
    for number in range(2000):
        (docs / f"page{number}.md").write_text(f"# Page {number}\n\n" + f"Robot number {number} walks. " * 40)
    command = [COMMAND, "index", str(docs)]
    with (
        subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as first,
        subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as second,
    ):
        outputs = [process.communicate(timeout=120) for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0)
    waiting = re.compile(r"Waiting for process \d+ on .+, which is writing to this index")
    assert sum(waiting.search(output) is not None for _, output in outputs) == 1


def test_ascii_terminal_gets_replacement_characters(start: Start, docs: Path) -> None:
    (docs / "intro.md").write_text("# Wëlcome 漢字\n\nRobots → walk “well”.\n", encoding="utf-8")
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    assert start("index", docs, **ascii_only).returncode == 0
    search = start("search", "robots walk", "--explain", **ascii_only)
    assert (search.returncode, search.stdout.isascii()) == (0, True)
    assert start("list", **ascii_only).returncode == 0
    assert start("doctor", **ascii_only).returncode == 0
    assert start("--help", **ascii_only).returncode == 0
    printed = start("search", "robots walk", "--json", **ascii_only).stdout
    assert printed.isascii()
    assert "漢字" in json.dumps(json.loads(printed), ensure_ascii=False)


@pytest.mark.skipif(os.name == "nt", reason="an argument that is no text exists only on POSIX")
def test_undecodable_argument_is_bad_input(indexed: Path) -> None:
    done = subprocess.run([COMMAND.encode(), b"search", b"\xff\xfe"], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"query_text" in done.stderr


def test_completion_lists_the_commands(start: Start) -> None:
    done = start(_PERTINENT_COMPLETE="complete_bash", COMP_WORDS="pertinent se", COMP_CWORD="1")
    assert set(done.stdout.split()) == {"search", "serve", "settings"}
