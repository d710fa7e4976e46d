"""The embedded index: the suite of every index, and what only a folder can get wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from pertinent.errors import IndexFailure, IndexLocked
from pertinent.ports import VectorIndex
from pertinent.stores.edge import EdgeIndex, _translate_errors
from pertinent.testing.index_suite import EMBEDDER, IndexSuite, fill
from pertinent.types import Filters


@pytest.fixture
def index(tmp_path: Path) -> Iterator[VectorIndex]:
    opened = EdgeIndex.open(tmp_path / "index", EMBEDDER.dimension)
    yield opened
    opened.close()


class TestEdge(IndexSuite):
    """The embedded index is an index."""


def test_writes_are_there_after_reopening(tmp_path: Path) -> None:
    first = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    written = fill(first)
    first.close()
    reopened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    assert reopened.count() == len(written)
    reopened.close()


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    opened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    opened.close()
    opened.close()


def test_second_process_gets_advice(tmp_path: Path) -> None:
    opened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    code = (
        "import sys; from pathlib import Path; from pertinent.stores.edge import EdgeIndex\n"
        f"EdgeIndex.open(Path(sys.argv[1]), {EMBEDDER.dimension})"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    opened.close()
    assert second.returncode != 0
    assert "another process" in second.stderr
    assert "wait for it to end, or close it" in second.stderr


def test_index_cannot_be_opened_twice(tmp_path: Path) -> None:
    opened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    with pytest.raises(IndexLocked):
        EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    opened.close()


def test_damaged_folder_is_an_index_failure(tmp_path: Path) -> None:
    (tmp_path / "edge_config.json").write_text("no JSON")
    with pytest.raises(IndexFailure, match="doctor"):
        EdgeIndex.open(tmp_path, EMBEDDER.dimension)


WRITER = """
import sys
from pathlib import Path
from pertinent.stores.edge import EdgeIndex
from pertinent.testing.index_suite import EMBEDDER, fill
index = EdgeIndex.open(Path(sys.argv[1]), EMBEDDER.dimension)
while True:
    print(len(fill(index)), flush=True)
"""


def test_acknowledged_writes_survive_a_kill(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        acknowledged = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
    time.sleep(0.05)
    reopened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    assert reopened.count() == acknowledged
    reopened.close()


def test_recall_against_exact_search_after_optimising(tmp_path: Path) -> None:
    """With HNSW built, the ten nearest are those of a full scan."""
    import qdrant_edge as qdrant

    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(6000, 128)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    opened = EdgeIndex.open(tmp_path, 128)
    points = [qdrant.Point(UUID(int=n), {"dense": vector.tolist()}, {}) for n, vector in enumerate(vectors)]
    opened._shard.update(qdrant.UpdateOperation.upsert_points(points))
    opened.finish()
    recalled = 0
    for query in vectors[:50] + 0.05 * rng.normal(size=(50, 128)).astype(np.float32):
        nearest = {UUID(int=n) for n in np.argsort(-(vectors @ query))[:10].tolist()}
        candidates = opened.candidates(query, None, by=["dense"], limit=100, filters=Filters())
        recalled += len(nearest & set(candidates.point_ids[:10]))
    opened.close()
    assert recalled / 500 >= 0.97


def test_panic_of_the_engine_is_an_index_failure(tmp_path: Path) -> None:
    class Panic(BaseException):
        """As PyO3 raises it."""

    def panic() -> None:
        with _translate_errors(tmp_path):
            raise Panic("index out of bounds")

    with pytest.raises(IndexFailure, match="index out of bounds"):
        panic()
    for error in (KeyboardInterrupt, SystemExit):
        with pytest.raises(error), _translate_errors(tmp_path):
            raise error
