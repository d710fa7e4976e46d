"""The embedded index: the suite of every index, and what only a folder can get wrong."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from pertinent.errors import IndexFailure, IndexLocked
from pertinent.ports import VectorIndex
from pertinent.stores import edge_checksums, edge_shard
from pertinent.stores.edge import EdgeIndex, _translate_errors
from pertinent.stores.payload import KEYWORDS
from pertinent.testing.index_suite import EMBEDDER, IndexSuite, fill
from pertinent.types import Filters

Vectors = np.ndarray[tuple[int, int], np.dtype[np.float32]]


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


def test_filters_are_read_from_the_disk(tmp_path: Path) -> None:
    """In memory, those of a million chunks take hundreds of MB, and most of the time at each opening."""
    opened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    schema = opened._shard.info().payload_schema
    on_disk = {field: getattr(info.params, "on_disk", None) for field, info in schema.items()}
    assert on_disk == dict.fromkeys(KEYWORDS, True)
    opened.close()


def test_disk_too_full_to_optimise_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(IndexFailure, match=r"nearly full.* run the command again"),
        _translate_errors(tmp_path),
    ):
        raise RuntimeError("Not enough space available for optimization, needed: 440.51 MiB")


@pytest.mark.parametrize("replaced", [False, True])
def test_folder_that_was_moved_or_replaced_is_not_used(tmp_path: Path, replaced: bool) -> None:
    """The engine would write to the new folder what belongs to the old one."""
    folder, copy = tmp_path / "index", tmp_path / "copy"
    index = EdgeIndex.open(folder, EMBEDDER.dimension)
    written = fill(index)
    index.close()
    shutil.copytree(folder, copy)
    index = EdgeIndex.open(folder, EMBEDDER.dimension)
    folder.rename(tmp_path / "moved")
    if replaced:
        copy.rename(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for use in (index.count, lambda: fill(index), lambda: index.record_commits(["a"]), index.flush):
        with pytest.raises(IndexFailure, match="was moved, deleted or replaced"):
            use()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    index.close()
    (tmp_path / "moved").replace(tmp_path / "again")
    reopened = EdgeIndex.open(tmp_path / "again", EMBEDDER.dimension)
    assert reopened.count() == len(written)
    reopened.close()


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    opened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    opened.close()
    opened.close()


def test_closing_waits_for_calls_of_other_threads(tmp_path: Path) -> None:
    """Qdrant does not close a shard in use: the folder would stay locked."""
    opened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    fill(opened)
    has_called = threading.Semaphore(0)

    def call_until_closed() -> str:
        try:
            while True:
                list(opened.scan())
                has_called.release()
        except IndexFailure as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        messages = [pool.submit(call_until_closed) for _ in range(8)]
        for _ in range(100):
            has_called.acquire()
        opened.close()
        assert {message.result() for message in messages} == {f"the index in {tmp_path} is closed"}
    EdgeIndex.open(tmp_path, EMBEDDER.dimension).close()


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


# A process opens an index; one that is forked from it writes, then the first one does.
FORKS = """
import os, sys
from pathlib import Path
from pertinent.stores.edge import EdgeIndex
from pertinent.testing.index_suite import EMBEDDER, fill

opened = EdgeIndex.open(Path(sys.argv[1]), EMBEDDER.dimension)
written = fill(opened)
if (child := os.fork()) == 0:
    print(opened.count(), flush=True)
    fill(opened, written[:1])
os.waitpid(child, 0)
fill(opened, written[:1])
print(Path(sys.argv[1], "pertinent.lock").read_text())
opened.close()
"""


def test_forked_process_can_read_but_not_write(tmp_path: Path) -> None:
    """Both would have the lock, and each would overwrite the points of the other."""
    command = [sys.executable, "-c", FORKS, str(tmp_path)]
    parent = subprocess.run(command, capture_output=True, text=True, check=True)
    count, holder = parent.stdout.splitlines()
    assert "opened before this process was forked" in parent.stderr
    assert holder.startswith("process ")
    reopened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    assert reopened.count() == int(count)
    reopened.close()


def test_refused_process_changes_no_file_of_the_index(tmp_path: Path) -> None:
    """Qdrant would merge the journals of the files before it finds them locked, and break the next write."""
    folder = tmp_path / "index"
    opened = EdgeIndex.open(folder, EMBEDDER.dimension)
    written = fill(opened)
    opened.delete_stale_points(written[0].chunk.document_id, keep=())
    opened.flush()
    before = read_files(folder)
    program = (
        "import sys, pathlib, pertinent.stores.edge as edge\n"
        "from pertinent.errors import IndexLocked\n"
        "try:\n    edge.EdgeIndex.open(pathlib.Path(sys.argv[1]), int(sys.argv[2]))\n"
        "except IndexLocked:\n    print('refused')\n"
    )
    command = [sys.executable, "-c", program, str(folder), str(EMBEDDER.dimension)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "refused\n"
    assert read_files(folder) == before
    opened.delete_stale_points(written[-1].chunk.document_id, keep=())
    opened.finish()
    opened.close()


def read_files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


def put_vectors(index: EdgeIndex, vectors: Vectors, first: int = 0) -> None:
    import qdrant_edge as qdrant

    points = [
        qdrant.Point(UUID(int=first + number), {"dense": vector.tolist()}, {})
        for number, vector in enumerate(vectors)
    ]
    index._shard.update(qdrant.UpdateOperation.upsert_points(points))


def make_vectors(count: int) -> Vectors:
    vectors = np.random.default_rng(7).normal(size=(count, 128)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


@pytest.mark.slow
def test_recall_against_exact_search_after_optimising(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With HNSW built on 8-bit vectors, the ten nearest are those of a full scan, and so are their scores."""
    monkeypatch.setattr(edge_shard, "FULL_SCAN_KB", 1000)
    rng = np.random.default_rng(8)
    vectors = make_vectors(6000)
    opened = EdgeIndex.open(tmp_path, 128)
    put_vectors(opened, vectors)
    assert opened._shard.optimize()
    recalled = 0
    for query in vectors[:50] + 0.05 * rng.normal(size=(50, 128)).astype(np.float32):
        unit = query / np.linalg.norm(query)
        cosines = vectors @ unit
        nearest = {UUID(int=n) for n in np.argsort(-cosines)[:10].tolist()}
        candidates = opened.candidates(query, None, by=["dense"], limit=100, filters=Filters())
        recalled += len(nearest & set(candidates.point_ids[:10]))
        assert candidates.cosine == pytest.approx(
            [cosines[point.int] for point in candidates.point_ids if isinstance(point, UUID)], abs=1e-5
        )
    opened.close()
    assert recalled / 500 >= 0.97


@pytest.mark.slow
def test_optimising_is_left_out_until_much_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_shard, "FULL_SCAN_KB", 1000)  # 2,000 vectors of 128 dimensions
    vectors = make_vectors(6000)
    opened = EdgeIndex.open(tmp_path, 128)
    put_vectors(opened, vectors[:1500])
    assert not opened._shard.optimize()
    put_vectors(opened, vectors[1500:4000], first=1500)
    assert opened._shard.optimize()
    put_vectors(opened, vectors[4000:4500], first=4000)
    assert not opened._shard.optimize()
    (candidate, *_) = opened.candidates(
        vectors[4200], None, by=["dense"], limit=5, filters=Filters()
    ).point_ids
    assert candidate == UUID(int=4200)
    put_vectors(opened, vectors[4500:], first=4500)
    assert opened._shard.optimize()
    opened.close()


def test_files_that_are_read_before_opening_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a new version of the engine names them otherwise, and opening from the disk is slow."""
    monkeypatch.setattr(edge_shard, "FULL_SCAN_KB", 1000)
    opened = EdgeIndex.open(tmp_path, 128)
    put_vectors(opened, make_vectors(3000))
    opened.finish()
    opened.close()
    for name in edge_checksums._WRITTEN_ONCE:
        assert list(tmp_path.glob(f"segments/*/{name}")), name
    reopened = EdgeIndex.open(tmp_path, 128)
    assert reopened.count() == 3000
    reopened.close()


# The lists of words are empty here; tests/stores/test_damaged_files.py has some.
@pytest.mark.parametrize("name", edge_checksums._WRITTEN_ONCE[:3])
def test_damaged_file_of_a_segment_is_named_when_the_index_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(edge_shard, "FULL_SCAN_KB", 1000)
    opened = EdgeIndex.open(tmp_path, 128)
    put_vectors(opened, make_vectors(3000))
    opened.finish()
    # Changes of points do not change the files.
    put_vectors(opened, make_vectors(100))
    opened.finish()
    opened.close()
    EdgeIndex.open(tmp_path, 128).close()
    (file,) = tmp_path.glob(f"segments/*/{name}")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(IndexFailure, match=rf"{file.name} does not match .* `pertinent reindex`"):
        EdgeIndex.open(tmp_path, 128)


@pytest.mark.parametrize("byte", [2, 3])
def test_impossible_number_of_a_point_is_named_when_the_index_is_opened(tmp_path: Path, byte: int) -> None:
    """The engine would take gigabytes and minutes, or end the process."""
    opened = EdgeIndex.open(tmp_path, EMBEDDER.dimension)
    written = fill(opened)
    opened.delete_stale_points(written[0].chunk.document_id, keep=[])
    fill(opened)
    opened.close()
    (log,) = tmp_path.glob("segments/*/mutable_id_tracker.mappings")
    content = bytearray(log.read_bytes())
    content[-4 + byte] ^= 0x10
    EdgeIndex.open(tmp_path, EMBEDDER.dimension).close()
    log.write_bytes(content)
    with pytest.raises(IndexFailure, match=r"impossible number of a point.* `pertinent reindex`"):
        EdgeIndex.open(tmp_path, EMBEDDER.dimension)


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
