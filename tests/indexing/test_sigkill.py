"""A sync that was killed with SIGKILL at any step is completed by the next one."""

from __future__ import annotations

import random
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pertinent.surfaces.library import Pertinent
from pertinent.types import readable_chunks

from ..servers.forked import ForkedScript, run_to_end

CHILD = """
import os, signal, sys
from pertinent.indexing import sync
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.stores.edge import EdgeIndex
from pertinent.surfaces.library import Pertinent

folder, book, calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
sync.COMMIT_CHUNKS = sync.EMBED_BATCH = 3
sync.WRITE_BATCH = 2

def fatal(method):
    def call(*args, **kwargs):
        global calls
        calls -= 1
        if calls < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(*args, **kwargs)
    return call

for kind, names in (
    (EdgeIndex, ("put", "describe", "delete_stale_points", "finish")),
    (SqlCatalog, ("begin", "commit", "register", "set_fingerprint")),
):
    for name in names:
        setattr(kind, name, fatal(getattr(kind, name)))

with Pertinent.open(folder, embedder="testing:hashed-words", chunk_tokens=20) as opened:
    opened.index(book, base_url="https://book.example/docs", allow_shrink=True)
"""


def write(book: Path, pages: dict[str, str]) -> Path:
    shutil.rmtree(book, ignore_errors=True)
    book.mkdir(parents=True)
    for name, text in pages.items():
        (book / f"{name}.md").write_text(f"# {name.title()}\n\n{text}\n")
    return book


def sentences(*words: str) -> str:
    return "\n\n".join(f"## On {word}\n\nThis passage tells all about {word} and no more." for word in words)


FIRST = {
    "alpha": sentences("apples", "pears", "plums"),
    "beta": sentences("nodes", "topics"),
    "gamma": sentences("joints", "links", "limits", "axes"),
    "delta": sentences("lidars"),
}
SECOND = {
    "alpha": sentences("apples", "cherries", "plums"),
    "beta": sentences("nodes", "topics"),
    "gamma": sentences("intro", "joints", "links", "limits", "axes"),
    "epsilon": sentences("cameras", "depth"),
}


def run(folder: Path, book: Path, calls: int) -> int:
    return run_to_end(ForkedScript(CHILD, str(folder), str(book), str(calls))).returncode


def complete(folder: Path, book: Path) -> None:
    """Sync in this process, to the end."""
    with (
        pytest.MonkeyPatch.context() as patch,
        Pertinent.open(folder, embedder="testing:hashed-words", chunk_tokens=20) as opened,
    ):
        patch.setattr("pertinent.indexing.sync.COMMIT_CHUNKS", 3)
        patch.setattr("pertinent.indexing.sync.EMBED_BATCH", 3)
        patch.setattr("pertinent.indexing.sync.WRITE_BATCH", 2)
        opened.index(book, base_url="https://book.example/docs", allow_shrink=True)


def contents(folder: Path) -> Any:
    """Return all that is stored, without times, and the result of a search."""
    with Pertinent.open(folder, embedder="testing:hashed-words", chunk_tokens=20) as opened:
        catalog = opened.workspace.writable_catalog()
        rows = [chunk for page in catalog.pages() for chunk in catalog.chunks(page.document_id)]
        points = readable_chunks(opened.workspace.index().scan())
        answer = opened.search("passage about limits", top_k=20, ranking="dense")
        return (
            sorted(str(replace(chunk, created_at="")) for chunk in rows),
            sorted(str(replace(chunk, created_at="")) for chunk in points),
            [record.page_hash for record in catalog.pages()],
            catalog.pending(),
            catalog.fingerprint(),
            [(hit.chunk.chunk_id, hit.score) for hit in answer.hits],
        )


NEVER = 10_000


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    """Return an index of the first book, and its contents before and after a sync of the second."""
    folder = tmp_path_factory.mktemp("unbroken")
    complete(folder / "data", write(folder / "book", FIRST))
    shutil.copytree(folder / "data", folder / "first")
    first = contents(folder / "data")
    complete(folder / "data", write(folder / "book", SECOND))
    return folder / "first", first, contents(folder / "data")


@pytest.mark.slow
@pytest.mark.parametrize("calls", range(0, 12, 2))
def test_next_sync_completes_a_first_run_killed_at_any_step(
    tmp_path: Path, unbroken: tuple[Path, Any, Any], calls: int
) -> None:
    book = write(tmp_path / "book", FIRST)
    assert run(tmp_path / "data", book, calls) == -signal.SIGKILL
    complete(tmp_path / "data", book)
    assert contents(tmp_path / "data") == unbroken[1]


@pytest.mark.slow
@pytest.mark.parametrize("calls", range(12))
def test_next_sync_completes_an_update_killed_at_any_step(
    tmp_path: Path, unbroken: tuple[Path, Any, Any], calls: int
) -> None:
    shutil.copytree(unbroken[0], tmp_path / "data")
    book = write(tmp_path / "book", SECOND)
    killed = run(tmp_path / "data", book, calls)
    assert killed == -signal.SIGKILL or calls > 8
    complete(tmp_path / "data", book)
    assert contents(tmp_path / "data") == unbroken[2]


@pytest.mark.slow
def test_next_sync_completes_runs_killed_at_random_moments(
    tmp_path: Path, unbroken: tuple[Path, Any, Any]
) -> None:
    shutil.copytree(unbroken[0], tmp_path / "data")
    book = write(tmp_path / "book", SECOND)
    moments = random.Random(20)  # noqa: S311 - the same moments on every run
    for _ in range(8):
        with ForkedScript(CHILD, str(tmp_path / "data"), str(book), str(NEVER)) as child:
            time.sleep(moments.random() * 0.2)
            child.kill()
    complete(tmp_path / "data", book)
    assert contents(tmp_path / "data") == unbroken[2]
