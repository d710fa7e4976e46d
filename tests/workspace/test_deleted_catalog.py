"""A catalog that was deleted while its index is still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from pertinent.errors import IndexFailure, NotFound
from pertinent.health.doctor import Doctor
from pertinent.settings import load
from pertinent.surfaces.library import Pertinent

from ..servers.fixtures import Endpoint

EMBEDDER = "testing:hashed-words"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A page that is indexed, without the catalog."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "joints.md").write_text("# Joints\n\nA revolute joint has limits.\n")
    with Pertinent.open(tmp_path / "data", embedder=EMBEDDER) as pertinent:
        pertinent.index(docs)
    for file in (tmp_path / "data").glob("catalog.sqlite3*"):
        file.unlink()
    return docs


def test_deleted_catalog_is_named_with_the_way_to_recover(docs: Path, tmp_path: Path) -> None:
    with Pertinent.open(tmp_path / "data", embedder=EMBEDDER) as pertinent:
        for use in (lambda: pertinent.search("joint"), pertinent.reindex):
            with pytest.raises(NotFound, match="has lost its catalog") as failure:
                use()
            assert "`pertinent index SOURCE`" in str(failure.value)
        assert not (tmp_path / "data/catalog.sqlite3").exists()
        report = pertinent.index(docs)
        assert (report.chunks_added, report.chunks_kept) == (1, 0)
        assert pertinent.search("revolute joint").hits


def test_new_catalog_leaves_out_what_an_older_index_has(docs: Path, tmp_path: Path) -> None:
    (docs / "joints.md").unlink()
    (docs / "links.md").write_text("# Links\n\nA link is a rigid body.\n")
    with Pertinent.open(tmp_path / "data", embedder=EMBEDDER) as pertinent:
        pertinent.index(docs)
        assert [hit.chunk.title for hit in pertinent.search("revolute joint").hits] == ["Links"]
        folders = tmp_path / "data/index"
        assert sorted(folder.name for folder in folders.iterdir()) == ["001", "002"]
        pertinent.reindex()
        assert sorted(folder.name for folder in folders.iterdir()) == ["002", "003"]


def test_doctor_names_a_deleted_catalog(docs: Path, tmp_path: Path) -> None:
    assert docs.exists()
    doctor = Doctor(lambda: load({"folder": tmp_path / "data", "embedder": EMBEDDER}, environment={}))
    _, catalog = doctor.examine()
    doctor.close()
    (finding,) = catalog.findings
    assert "has lost its catalog" in finding.problem
    assert "`pertinent index SOURCE`" in finding.remedy


def test_deleted_catalog_of_an_index_on_a_server_is_named_with_the_way_to_recover(
    docs: Path, tmp_path: Path, qdrant: Endpoint, collection: str
) -> None:
    settings = {"embedder": EMBEDDER, "qdrant_url": qdrant.url, "qdrant_api_key": qdrant.key}
    with Pertinent.open(tmp_path / "lost", qdrant_collection=collection, **settings) as pertinent:
        pertinent.index(docs)
    with Pertinent.open(tmp_path / "new", qdrant_collection=collection, **settings) as pertinent:
        for use in (lambda: pertinent.search("joint"), pertinent.reindex):
            with pytest.raises(NotFound, match="its catalog is lost: set DATABASE_URL") as failure:
                use()
            assert "delete the collections of the index, or set QDRANT_COLLECTION_NAME" in str(failure.value)
        with pytest.raises(IndexFailure, match="belongs to another catalog"):
            pertinent.index(docs)
    with Pertinent.open(tmp_path / "new", qdrant_collection=f"{collection}-2", **settings) as pertinent:
        pertinent.index(docs)
        assert pertinent.search("revolute joint").hits
