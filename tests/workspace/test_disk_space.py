"""A disk that is nearly full, as a real file system of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pertinent._internal.disk import MIN_FREE
from pertinent.errors import IndexFailure
from pertinent.stores.edge import EdgeIndex
from pertinent.surfaces.library import Pertinent
from pertinent.testing.index_suite import EMBEDDER, fill

from ..http.test_server import Server
from ..servers.forked import ForkedCommand, run_to_end

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system"),
]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


def write_page(folder: Path) -> Path:
    docs = folder / "docs"
    docs.mkdir()
    (docs / "joints.md").write_text("# Joints\n\nA revolute joint has limits.\n")
    return docs


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `pertinent` in a process of its own, which leaves no file open."""
    return run_to_end(ForkedCommand(*map(str, arguments), PERTINENT_EMBEDDER="testing:hashed-words"))


def test_reindex_checks_beforehand_that_a_second_build_has_space(disk: Path, tmp_path: Path) -> None:
    docs = write_page(tmp_path)
    with Pertinent.open(disk / "data", embedder="testing:hashed-words") as pertinent:
        pertinent.index(docs)
        # Enough for a small write, too little for another build.
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(disk).free - MIN_FREE - 2**20))
        with pytest.raises(IndexFailure, match=r"free \d+ MB") as failure:
            pertinent.reindex()
        assert "--drop-previous" in str(failure.value)
        assert pertinent.search("revolute joint").hits
        ballast.unlink()
        pertinent.reindex()
        assert pertinent.search("revolute joint").hits


def test_commands_that_free_space_work_on_a_nearly_full_disk(disk: Path, tmp_path: Path) -> None:
    docs = write_page(tmp_path)
    with Pertinent.open(disk / "data", embedder="testing:hashed-words") as pertinent:
        pertinent.index(docs, name="docs")
        pertinent.index(docs, name="again", base_url="https://again.example")
        pertinent.reindex()
    (disk / "ballast").write_bytes(bytes(shutil.disk_usage(disk).free - MIN_FREE * 2 // 3))
    with Pertinent.open(disk / "data", embedder="testing:hashed-words") as pertinent:
        with pytest.raises(IndexFailure, match="MB are free"):
            pertinent.index(docs, name="docs")
        assert pertinent.remove("again") == 1
        assert pertinent.drop_previous()
        assert [hit.chunk.title for hit in pertinent.search("revolute joint").hits] == ["Joints"]
    assert [folder.name for folder in (disk / "data/index").iterdir()] == ["002"]


def test_write_of_a_sync_that_has_filled_the_disk_is_refused(disk: Path) -> None:
    """The engine's files are mapped into memory: on a full disk, a write would end the process."""
    index = EdgeIndex.open(disk / "index", EMBEDDER.dimension)
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - MIN_FREE + 2**20))
    with pytest.raises(IndexFailure, match="MB are free"):
        fill(index)
    assert index.count() == 0
    ballast.unlink()
    assert len(fill(index)) == index.count()
    index.close()


def test_read_only_file_system_allows_search_list_and_show(disk: Path, tmp_path: Path) -> None:
    docs, data = write_page(tmp_path), disk / "data"
    assert run("index", docs, "--folder", data).returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    listed = run("list", "--folder", data)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "Joints" in listed.stdout
    searched = run("search", "revolute joint", "--json", "--folder", data)
    assert searched.returncode == 0, searched.stderr
    (hit,) = json.loads(searched.stdout)["results"]
    shown = run("show", hit["chunk_id"], "--folder", data)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "A revolute joint has limits." in shown.stdout
    (docs / "joints.md").write_text("# Joints\n\nChanged.\n")
    for command in (["index", docs], ["reindex"]):
        refused = run(*command, "--folder", data)
        assert refused.returncode == 3
        assert "Read-only file system" in refused.stderr
        assert "written" in refused.stderr


@pytest.mark.slow
def test_read_only_file_system_allows_serve(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, data, copies = write_page(tmp_path), disk / "data", tmp_path / "copies"
    copies.mkdir()
    assert run("index", docs, "--folder", data).returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")
    server = Server("--folder", str(data), TMPDIR=str(copies))
    try:
        status, body = server.ask("revolute joint")
        assert status == 200
        assert [hit["title"] for hit in json.loads(body)["results"]] == ["Joints"]
        assert json.loads(server.get("/health")[1])["status"] == "ok"
        assert json.loads(server.get("/api/v1/suggest?q=Joi")[1])["suggestions"]
        assert [*copies.iterdir()]
    finally:
        assert server.end() == 0
    assert len([line for line in server.output if "can't write" in line and "service.json" in line]) == 1
    assert not [*copies.iterdir()], "the copy of the index is deleted"
