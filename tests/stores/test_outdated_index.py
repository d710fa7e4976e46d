"""A catalog with two indexes: each sync writes to one, and the other one is refused until it is repaired."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pertinent.errors import IndexOutdated, SyncRefused
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.surfaces.cli.app import app
from pertinent.surfaces.library import Pertinent

from ..conftest import FAST
from ..servers.fixtures import Endpoint

RECORD = Path("index/001/commits.json")


@pytest.fixture(autouse=True)
def _quick_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_EMBEDDER", FAST)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Two pages."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "links.md").write_text("# Links\n\nA link is a rigid body.\n")
    write_joints(docs, "A revolute joint has limits.")
    return docs


def write_joints(docs: Path, text: str) -> None:
    (docs / "joints.md").write_text(f"# Joints\n\n{text}\n")


def sync(docs: Path, folder: Path, **settings: Any) -> int:
    """Index the pages; return how many were written."""
    with Pertinent.open(folder, **settings) as pertinent:
        summary = pertinent.index(docs)
    return summary.pages_added + summary.pages_changed


def search(folder: Path, **settings: Any) -> list[str]:
    """Return the texts that are found by words."""
    with Pertinent.open(folder, **settings) as pertinent:
        hits = pertinent.search("revolute prismatic", ranking="lexical").hits
    return [hit.chunk.text for hit in hits]


def restore_catalog(docs: Path, data: Path, pending: Sequence[str] = ()) -> None:
    """Index the pages and a change of one, then restore the catalog from before the change.

    In the restored catalog, the `pending` pages are marked.
    """
    sync(docs, data)
    with closing(SqlCatalog.open(f"sqlite:///{data / 'catalog.sqlite3'}")) as catalog:
        catalog.begin(pending)
    backup = data.with_name("backup.sqlite3")
    shutil.copy(data / "catalog.sqlite3", backup)
    write_joints(docs, "A prismatic joint slides.")
    assert sync(docs, data) == 1
    for file in data.glob("catalog.sqlite3*"):
        file.unlink()
    shutil.copy(backup, data / "catalog.sqlite3")


@pytest.mark.slow
def test_embedded_index_is_refused_after_a_sync_of_its_copy(
    docs: Path, tmp_path: Path, qdrant: Endpoint, collection: str
) -> None:
    data = tmp_path / "data"
    server = {"qdrant_url": qdrant.url, "qdrant_api_key": qdrant.key, "qdrant_collection": collection}
    sync(docs, data)
    with Pertinent.open(data, qdrant_collection=collection) as pertinent:
        pertinent.migrate_to(qdrant.url)
    assert search(data) == search(data, **server) == ["A revolute joint has limits."]
    write_joints(docs, "A prismatic joint slides.")
    assert sync(docs, data, **server) == 1
    assert search(data, **server) == ["A prismatic joint slides."]
    for use in (search, lambda data: sync(docs, data)):
        with pytest.raises(
            IndexOutdated, match=r"no record of the last commit.*set QDRANT_URL.*doctor --repair"
        ):
            use(data)
    # The other way round, after the embedded index was rebuilt, or repaired.
    with Pertinent.open(data) as pertinent:
        pertinent.reindex()
    assert search(data) == ["A prismatic joint slides."]


@pytest.mark.slow
def test_served_index_is_refused_after_a_sync_of_the_embedded_one(
    docs: Path, tmp_path: Path, qdrant: Endpoint, collection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    server = {"qdrant_url": qdrant.url, "qdrant_api_key": qdrant.key, "qdrant_collection": collection}
    sync(docs, data)
    with Pertinent.open(data, qdrant_collection=collection) as pertinent:
        pertinent.migrate_to(qdrant.url)
    with Pertinent.open(data, **server) as running:
        assert running.search("revolute").hits
        write_joints(docs, "A prismatic joint slides.")
        assert sync(docs, data) == 1
        # A process that has the index open plans no sync either.
        with pytest.raises(IndexOutdated, match="unset QDRANT_URL"):
            running.index(docs)
    with pytest.raises(IndexOutdated, match="unset QDRANT_URL"):
        search(data, **server)
    monkeypatch.setenv("QDRANT_URL", qdrant.url)
    monkeypatch.setenv("QDRANT_API_KEY", qdrant.key or "")
    monkeypatch.setenv("QDRANT_COLLECTION_NAME", collection)
    repaired = CliRunner().invoke(app, ["--folder", str(data), "doctor", "--repair"])
    assert repaired.exit_code == 0, repaired.output
    assert "1 page is marked" in repaired.stdout
    assert sync(docs, data) == 1
    assert search(data) == ["A prismatic joint slides."]


@pytest.mark.slow
def test_copied_index_with_the_same_database_is_refused(
    docs: Path, tmp_path: Path, postgres_url: str
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    sync(docs, first, database_url=postgres_url)
    shutil.copytree(first, second)
    assert search(second, database_url=postgres_url) == ["A revolute joint has limits."]
    write_joints(docs, "A prismatic joint slides.")
    assert sync(docs, first, database_url=postgres_url) == 1
    for use in (search, lambda folder, **settings: sync(docs, folder, **settings)):
        with pytest.raises(IndexOutdated):
            use(second, database_url=postgres_url)
    assert search(first, database_url=postgres_url) == ["A prismatic joint slides."]


def test_copied_data_folder_is_an_index_of_its_own(docs: Path, tmp_path: Path) -> None:
    sync(docs, tmp_path / "data")
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    write_joints(docs, "A prismatic joint slides.")
    assert sync(docs, tmp_path / "data") == 1
    assert search(tmp_path / "copy") == ["A revolute joint has limits."]
    assert sync(docs, tmp_path / "copy") == 1
    assert search(tmp_path / "copy") == ["A prismatic joint slides."]


def remove_records(data: Path) -> Path:
    """Make index and catalog as an earlier version did; return the path of the index's record."""
    record = data / RECORD
    record.unlink()
    with closing(sqlite3.connect(data / "catalog.sqlite3")) as catalog, catalog:
        catalog.execute("DELETE FROM meta WHERE key = 'commits'")
    return record


def test_index_of_an_earlier_version_is_opened_and_recorded(docs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    sync(docs, data)
    record = remove_records(data)
    assert search(data)
    write_joints(docs, "A planar joint slides.")
    assert sync(docs, data) == 1
    assert record.exists()


def test_index_is_opened_after_a_commit_was_interrupted(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    sync(docs, data)
    write_joints(docs, "A prismatic joint slides.")
    for fails in ("before", "after"):
        with monkeypatch.context() as patch:
            usual = SqlCatalog.commit

            def die(self: SqlCatalog, *arguments: Any, usual: Any = usual, fails: str = fails) -> None:
                if fails == "after":
                    usual(self, *arguments)
                raise KeyboardInterrupt

            patch.setattr(SqlCatalog, "commit", die)
            with pytest.raises(KeyboardInterrupt):
                sync(docs, data)
        assert search(data) == ["A prismatic joint slides."]


@pytest.mark.slow
def test_index_without_a_record_is_refused_after_a_sync_of_its_copy(
    docs: Path, tmp_path: Path, postgres_url: str
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    sync(docs, first, database_url=postgres_url)
    shutil.copytree(first, second)
    (second / RECORD).unlink()
    with pytest.raises(IndexOutdated):
        search(second, database_url=postgres_url)


@pytest.mark.parametrize("content", ["", "null", "{}", "[]", "[[", "7"])
def test_index_with_a_damaged_record_is_recorded_again_by_a_repair(
    docs: Path, tmp_path: Path, content: str
) -> None:
    data = tmp_path / "data"
    sync(docs, data)
    (data / RECORD).write_text(content)
    with pytest.raises(IndexOutdated):
        search(data)
    repaired = CliRunner().invoke(app, ["--folder", str(data), "doctor", "--repair"])
    assert repaired.exit_code == 0, repaired.output
    assert search(data) == ["A revolute joint has limits."]


@pytest.mark.slow
def test_index_without_latest_commit_is_refused(
    docs: Path, tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    sync(docs, first, database_url=postgres_url)
    shutil.copytree(first, second)
    write_joints(docs, "A prismatic joint slides.")
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(SqlCatalog, "commit", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                sync(docs, first, database_url=postgres_url)
        assert search(first, database_url=postgres_url)
    write_joints(docs, "A planar joint slides.")
    assert sync(docs, second, database_url=postgres_url) == 1
    with pytest.raises(IndexOutdated):
        search(first, database_url=postgres_url)


def test_catalog_from_before_a_commit_is_refused_also_with_pending_pages(docs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    restore_catalog(docs, data, ["links"])
    with pytest.raises(IndexOutdated):
        search(data)


def test_index_of_another_copy_of_the_folder_is_refused(docs: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    sync(docs, first)
    shutil.copytree(first, second)
    for folder, text in ((first, "A prismatic joint slides."), (second, "A planar joint slides.")):
        write_joints(docs, text)
        assert sync(docs, folder) == 1
    shutil.rmtree(first / "index")
    shutil.copytree(second / "index", first / "index")
    with pytest.raises(IndexOutdated):
        search(first)


def test_restored_catalog_is_completed_by_a_repair(docs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    restore_catalog(docs, data)
    with pytest.raises(IndexOutdated, match="restored from a backup"):
        search(data)
    examined = CliRunner().invoke(app, ["--folder", str(data), "doctor"])
    assert (examined.exit_code, "no record of the last commit" in " ".join(examined.stdout.split())) == (
        1,
        True,
    )
    with pytest.raises(IndexOutdated):
        search(data)
    repaired = CliRunner().invoke(app, ["--folder", str(data), "doctor", "--repair"])
    assert (repaired.exit_code, "1 page is marked" in repaired.stdout) == (0, True), repaired.output
    assert sync(docs, data) == 1
    assert search(data) == ["A prismatic joint slides."]
    assert CliRunner().invoke(app, ["--folder", str(data), "doctor"]).exit_code == 0


def test_index_is_refused_if_both_records_are_damaged(docs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    sync(docs, data)
    (data / RECORD).write_text("{")
    with closing(sqlite3.connect(data / "catalog.sqlite3")) as connection, connection:
        assert connection.execute("UPDATE meta SET value = '{' WHERE key = 'commits'").rowcount == 1
    with pytest.raises(IndexOutdated):
        search(data)


def test_repair_says_that_the_index_can_be_used_though_a_site_is_down(docs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Pertinent.open(data) as pertinent:
        pertinent.index(docs, base_url="http://127.0.0.1:9/docs")
    (data / RECORD).write_text("{")
    repaired = CliRunner().invoke(app, ["--folder", str(data), "doctor", "--repair", "--links"])
    assert (repaired.exit_code, "can be used again" in " ".join(repaired.stdout.split())) == (3, True)
    assert search(data) == ["A revolute joint has limits."]


def test_restored_catalog_with_a_damaged_page_is_completed_by_a_repair(docs: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    restore_catalog(docs, data)
    with closing(sqlite3.connect(data / "catalog.sqlite3")) as connection, connection:
        connection.execute("UPDATE pages SET sections = '{' WHERE title = 'Links'")
    repaired = CliRunner().invoke(app, ["--folder", str(data), "doctor", "--repair"])
    assert (repaired.exit_code, "2 pages are marked" in repaired.stdout) == (0, True), repaired.output
    assert sync(docs, data) == 2
    assert search(data) == ["A prismatic joint slides."]
    assert CliRunner().invoke(app, ["--folder", str(data), "doctor"]).exit_code == 0


def test_validated_reindex_does_not_compare_with_an_outdated_index(docs: Path, tmp_path: Path) -> None:
    data, golden = tmp_path / "data", tmp_path / "golden.yaml"
    restore_catalog(docs, data)
    with Pertinent.open(data) as pertinent:
        path = next(page.source_path for page in pertinent.pages() if page.title == "Links")
        query = f"{{id: link, text: link, labels: [{{page: {path}, grade: 2}}]}}"
        golden.write_text(f"version: 1\nqueries: [{query}]\ncriteria: {{precision_at_5: 0}}\n")
        with pytest.raises(SyncRefused, match=r"can't be compared.*no record of the last commit"):
            pertinent.reindex(golden=golden)
        with pytest.raises(IndexOutdated):
            pertinent.search("revolute")
        pertinent.reindex()
        assert pertinent.search("revolute joint").hits
