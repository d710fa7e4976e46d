"""Writers wait for processes that have the embedded index open."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pertinent import Pertinent
from pertinent._internal.process_name import name_process
from pertinent._internal.progress import NoProgress
from pertinent.errors import IndexLocked
from pertinent.stores.edge_lock import LOCK_NAME

from ..conftest import FAST

OPEN_INDEX = """
import sys
from pertinent import Pertinent
pertinent = Pertinent.open(sys.argv[1], embedder=sys.argv[2])
pertinent.workspace.index()
print("ready", flush=True)
sys.stdin.read()
"""


class StopWhenWaiting(NoProgress):
    """Ends a process as soon as it is waited for."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.waits: list[str] = []

    def waiting(self, message: str) -> None:
        self.waits.append(message)
        self.process.kill()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "knee.md").write_text("# Knee\n\nThe knee bends.\n", encoding="utf-8")
    with Pertinent.open(tmp_path / "data", embedder=FAST) as pertinent:
        pertinent.index(folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("work", ["index", "reindex"])
def test_writer_waits_for_a_process_that_has_the_index_open(tmp_path: Path, docs: Path, work: str) -> None:
    with (
        subprocess.Popen(
            [sys.executable, "-c", OPEN_INDEX, str(tmp_path / "data"), FAST],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
        Pertinent.open(tmp_path / "data", embedder=FAST) as pertinent,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        progress = StopWhenWaiting(process)
        (docs / "hip.md").write_text("# Hip\n\nThe hip turns.\n", encoding="utf-8")
        if work == "index":
            assert pertinent.index(docs, progress=progress).pages_added == 1
        else:
            assert pertinent.reindex(progress) == 1
        (waiting,) = progress.waits
        assert re.fullmatch(rf"Waiting for process {process.pid} on .+, which has this index open", waiting)


def test_writer_does_not_wait_for_its_own_process(tmp_path: Path, docs: Path) -> None:
    with (
        Pertinent.open(tmp_path / "data", embedder=FAST) as reader,
        Pertinent.open(tmp_path / "data", embedder=FAST) as writer,
    ):
        reader.workspace.index()
        with pytest.raises(IndexLocked, match="another Pertinent in this process has the index"):
            writer.index(docs)
        reader.close()
        assert writer.index(docs).pages_unchanged == 1


@pytest.mark.slow
def test_writer_waits_for_a_process_of_its_own_name(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In containers with the name of their host, each process may be number 1."""
    with (
        subprocess.Popen(
            [sys.executable, "-c", OPEN_INDEX, str(tmp_path / "data"), FAST],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
        Pertinent.open(tmp_path / "data", embedder=FAST) as pertinent,
    ):
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        (lock,) = (tmp_path / "data" / "index").rglob(LOCK_NAME)
        lock.write_text(name_process())
        progress = StopWhenWaiting(process)
        assert pertinent.index(docs, progress=progress).pages_unchanged == 1
        assert progress.waits == [f"Waiting for {name_process()}, which has this index open"]
