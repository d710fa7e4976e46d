"""A data folder whose permissions forbid writing, as one that another user has indexed."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pertinent.build import server_builds
from pertinent.errors import IndexLocked
from pertinent.settings import Settings
from pertinent.stores.edge_lock import FolderLock
from pertinent.surfaces.library import Pertinent

from ..servers.fixtures import Endpoint
from ..servers.forked import ForkedScript, run_to_end

DROP_CAPABILITIES = """
import ctypes
version_and_process = (ctypes.c_uint32 * 2)(0x20080522, 0)
assert ctypes.CDLL(None).capset(version_and_process, (ctypes.c_uint32 * 6)()) == 0
"""
"""Without its capabilities, root obeys permissions like everybody else."""

RECORD_COMMITS = """
import sys
from pathlib import Path
from pertinent.errors import IndexFailure
from pertinent.stores.edge import EdgeIndex
from pertinent.testing.embedder import HashedWords
index = EdgeIndex.open(Path(sys.argv[1]), HashedWords().dimension)
try:
    index.record_commits(["one"])
except IndexFailure as error:
    print(error)
index.close()
"""

COMMAND = DROP_CAPABILITIES + "from pertinent.surfaces.cli import main; main()"

SEARCH_UNTIL_ENTER = """
import sys
from pathlib import Path
from pertinent.surfaces.library import Pertinent
with Pertinent.open(Path(sys.argv[1]), embedder="testing:hashed-words") as pertinent:
    print(pertinent.search("revolute joint").hits[0].chunk.title, flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """The data folder of an indexed page."""
    docs, folder = tmp_path / "docs", tmp_path / "data"
    docs.mkdir()
    (docs / "joints.md").write_text("# Joints\n\nA revolute joint has limits.\n")
    with Pertinent.open(folder, embedder="testing:hashed-words") as pertinent:
        pertinent.index(docs)
    paths = [folder, *folder.rglob("*")]
    for path in paths:
        path.chmod(path.stat().st_mode & ~0o222)
    yield folder
    for path in paths:
        path.chmod(path.stat().st_mode | 0o200)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `pertinent` in a process that obeys permissions."""
    process = ForkedScript(COMMAND, *map(str, arguments), PERTINENT_EMBEDDER="testing:hashed-words")
    return run_to_end(process)


def test_unwritable_folder_allows_search_and_list(data: Path) -> None:
    listed = run("list", "--folder", data)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "Joints" in listed.stdout
    searched = run("search", "revolute joint", "--json", "--folder", data)
    assert searched.returncode == 0, searched.stderr
    (hit,) = json.loads(searched.stdout)["results"]
    assert hit["title"] == "Joints"


def test_unwritable_folder_refuses_index(data: Path) -> None:
    refused = run("index", data.parent / "docs", "--folder", data)
    assert refused.returncode == 3
    assert "Permission denied" in refused.stderr


def test_index_in_an_unwritable_folder_refuses_a_record(data: Path) -> None:
    build = data / "index" / "001"
    process = ForkedScript(DROP_CAPABILITIES + RECORD_COMMITS, str(build))
    refused = run_to_end(process)
    assert refused.stdout == f"the index in {build} can't be written: make the folder writable\n"


@pytest.mark.slow
def test_migration_of_an_unwritable_index_without_a_record_copies_nothing(
    tmp_path: Path, qdrant: Endpoint, collection: str
) -> None:
    docs, data = tmp_path / "docs", tmp_path / "data"
    docs.mkdir()
    (docs / "joints.md").write_text("# Joints\n\nA revolute joint has limits.\n")
    with Pertinent.open(data, embedder="testing:hashed-words") as pertinent:
        pertinent.index(docs)
        catalog_id = pertinent.workspace.writable_catalog().catalog_id()
    with closing(sqlite3.connect(data / "catalog.sqlite3")) as catalog, catalog:
        catalog.execute("DELETE FROM meta WHERE key = 'commits'")
    build = data / "index" / "001"
    (build / "commits.json").unlink()
    build.chmod(0o555)
    migration = ForkedScript(
        COMMAND,
        *("migrate-to", "qdrant", "--url", qdrant.url, "--folder", str(data)),
        PERTINENT_EMBEDDER="testing:hashed-words",
        QDRANT_COLLECTION_NAME=collection,
    )
    refused = run_to_end(migration)
    build.chmod(0o755)
    assert refused.returncode != 0
    assert f"the index in {build} can't be written: make the folder writable" in refused.stderr
    settings = Settings(qdrant_url=qdrant.url, qdrant_collection=collection)
    assert server_builds(settings, lambda: catalog_id).numbers() == []


def test_readers_of_an_unwritable_folder_keep_its_owner_from_writing(data: Path) -> None:
    build = data / "index" / "001"
    reader, another = (ForkedScript(DROP_CAPABILITIES + SEARCH_UNTIL_ENTER, str(data)) for _ in range(2))
    with reader, another:
        assert [reader.stdout.readline(), another.stdout.readline()] == ["Joints\n", "Joints\n"]
        # The process that has locked the folder last has closed it: it must not be named.
        with pytest.raises(IndexLocked, match="its name is unknown"):
            FolderLock(build)
        for process in (reader, another):
            process.stdin.write("\n")
            process.stdin.flush()
    assert [reader.wait(), another.wait()] == [0, 0]
    owner = FolderLock(build)
    refused = run("search", "revolute joint", "--folder", data)
    owner.close()
    assert refused.returncode != 0
    assert "has the index in" in refused.stderr
