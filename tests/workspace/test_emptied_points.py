"""Points that a killed run emptied and did not delete: the next run of its command deletes them."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from pertinent.surfaces.library import Pertinent

from ..conftest import FAST
from ..servers.forked import ForkedScript, run_to_end
from .pages import PARTS, write_pages

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("qdrant")]

KILLED = """
import os, signal, sys
from pertinent.indexing import sync
from pertinent.stores.edge import EdgeIndex
from pertinent.stores.qdrant.index import QdrantIndex
from pertinent.surfaces.cli import main

def kill_after(owner, name, is_last):
    method = getattr(owner, name)

    def call(*arguments):
        method(*arguments)
        if is_last(arguments):
            os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, name, call)

if sys.argv.pop(1) == "first write":
    sync.WRITE_BATCH = 3
    kill_after(EdgeIndex, "put", lambda _: True)
    kill_after(QdrantIndex, "put", lambda _: True)
else:
    # Only a deletion names the space that it needs; its first update empties the points.
    kill_after(EdgeIndex, "_update", lambda arguments: len(arguments) == 3)
    kill_after(QdrantIndex, "_clear_points", lambda _: True)
main()
"""
FIRST_WRITE, EMPTYING = "first write", "emptying"
NAMES = ("battery", "camera", "gripper", "knee")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Four pages of three chunks."""
    return write_pages(tmp_path / "docs", NAMES)


@pytest.fixture(params=["embedded", "server"])
def data(request: pytest.FixtureRequest, tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An index of the pages, in a folder or on a Qdrant server."""
    settings = {"embedder": FAST, "chunk_tokens": "20"}
    if request.param == "server":
        server = request.getfixturevalue("qdrant")
        settings |= {"qdrant_url": server.url, "qdrant_collection": request.getfixturevalue("collection")}
        settings |= {"qdrant_api_key": server.key} if server.key else {}
    for name, value in settings.items():
        monkeypatch.setenv(f"PERTINENT_{name.upper()}", value)
    folder = tmp_path / "data"
    with Pertinent.open(folder) as pertinent:
        pertinent.index(docs)
    return folder


def kill(data: Path, step: str, *command: str) -> None:
    """Run a command that is killed after this step."""
    killed = run_to_end(ForkedScript(KILLED, step, "--folder", str(data), *command))
    assert killed.returncode == -signal.SIGKILL, killed.stderr


def remove_first_page(data: Path, docs: Path) -> None:
    (docs / f"{NAMES[0]}.md").unlink()
    with Pertinent.open(data) as pertinent:
        assert pertinent.index(docs).pages_removed == 1


def count_points(pertinent: Pertinent) -> int:
    return pertinent.workspace.index().count()


def test_rollback_deletes_points_that_a_killed_one_emptied(data: Path, docs: Path) -> None:
    with Pertinent.open(data) as pertinent:
        pertinent.reindex()
    remove_first_page(data, docs)
    kill(data, EMPTYING, "reindex", "--rollback")
    with Pertinent.open(data) as pertinent:
        pertinent.rollback()
        assert count_points(pertinent) == (len(NAMES) - 1) * len(PARTS)


def test_resumed_reindex_deletes_points_that_a_killed_one_emptied(data: Path, docs: Path) -> None:
    kill(data, FIRST_WRITE, "reindex")
    remove_first_page(data, docs)
    kill(data, EMPTYING, "reindex")
    with Pertinent.open(data) as pertinent:
        assert pertinent.reindex() == count_points(pertinent) == (len(NAMES) - 1) * len(PARTS)
