"""A migration that was interrupted and is repeated after the source has changed."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pertinent.errors import SyncRefused
from pertinent.ports import Fingerprint
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.surfaces.library import Pertinent
from pertinent.testing.catalog_suite import page_write

from ..conftest import FAST
from ..servers.fixtures import Endpoint


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "joints.md").write_text("# Joints\n\nA revolute joint has limits.\n")
    return docs


def interrupt(pertinent: Pertinent, url: str, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupt a migration when the catalog is copied and the alias is not set."""
    with monkeypatch.context() as patch:
        patch.setattr(QdrantBuilds, "use", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            pertinent.migrate_to(url, database)


@pytest.mark.slow
def test_interrupted_migration_is_completed_after_a_sync_of_the_source(
    docs: Path,
    tmp_path: Path,
    qdrant: Endpoint,
    collection: str,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Pertinent.open(tmp_path / "data", embedder=FAST, qdrant_collection=collection) as local:
        local.index(docs)
        interrupt(local, qdrant.url, postgres_url, monkeypatch)
        (docs / "joints.md").write_text("# Joints\n\nA prismatic joint slides.\n")
        (docs / "links.md").write_text("# Links\n\nA link is a rigid body.\n")
        local.index(docs)
        assert local.migrate_to(qdrant.url, postgres_url) == 2
        assert local.migrate_to(qdrant.url, postgres_url) == 0
    servers: dict[str, Any] = {"qdrant_url": qdrant.url, "database_url": postgres_url}
    with Pertinent.open(tmp_path / "none", embedder=FAST, qdrant_collection=collection, **servers) as remote:
        assert remote.search("prismatic").hits[0].chunk.text == "A prismatic joint slides."
        assert remote.index(docs).pages_changed == 0


def test_catalog_with_an_index_of_its_own_is_no_copy_under_way(tmp_path: Path) -> None:
    """An interrupted copy left it empty, and then a source was synced to it."""
    with closing(SqlCatalog.open(f"sqlite:///{tmp_path / 'catalog.sqlite3'}")) as catalog:
        catalog.begin_copy("source")
        assert catalog.is_copy_under_way("source")
        catalog.set_fingerprint(Fingerprint("one", 8, "chunker", "lexical"))
        catalog.commit("s", [page_write("a", ["one"])])
        assert not catalog.is_copy_under_way("source")


@pytest.mark.slow
def test_copy_that_was_synced_is_not_emptied(
    docs: Path,
    tmp_path: Path,
    qdrant: Endpoint,
    collection: str,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    servers: dict[str, Any] = {"qdrant_url": qdrant.url, "database_url": postgres_url}
    with Pertinent.open(tmp_path / "data", embedder=FAST, qdrant_collection=collection) as local:
        local.index(docs)
        interrupt(local, qdrant.url, postgres_url, monkeypatch)
        (docs / "links.md").write_text("# Links\n\nA link is a rigid body.\n")
        with Pertinent.open(
            tmp_path / "none", embedder=FAST, qdrant_collection=collection, **servers
        ) as remote:
            remote.index(docs)
            with pytest.raises(SyncRefused, match="one of them was synced"):
                local.migrate_to(qdrant.url, postgres_url)
            assert len(remote.pages()) == 2
    with (
        Pertinent.open(tmp_path / "data", embedder=FAST, qdrant_collection=f"{collection}_b") as local,
        pytest.raises(SyncRefused, match="already has pages"),
    ):
        local.migrate_to(qdrant.url, postgres_url)


@pytest.mark.slow
def test_copy_that_lacks_new_paths_of_its_chunks_is_not_complete(
    docs: Path, tmp_path: Path, qdrant: Endpoint, collection: str
) -> None:
    """Both indexes share the catalog, and have the same texts."""
    address = "https://book.example/docs"
    (docs / "joints.md").write_text("---\nslug: /joints\n---\n# Joints\n\nA revolute joint has limits.\n")
    with Pertinent.open(tmp_path / "data", embedder=FAST, qdrant_collection=collection) as local:
        local.index(docs, base_url=address)
        assert local.migrate_to(qdrant.url) == 1
        assert local.migrate_to(qdrant.url) == 0
        (docs / "joints.md").rename(docs / "axes.md")
        assert local.index(docs, base_url=address).chunks_added == 0
        with pytest.raises(SyncRefused, match="one of them was synced"):
            local.migrate_to(qdrant.url)
