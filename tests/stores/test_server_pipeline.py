"""The whole pipeline on a Qdrant server and PostgreSQL: the same answers and the same verdict as embedded."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import qdrant_edge
import sqlalchemy as sa
from starlette.testclient import TestClient
from typer.testing import CliRunner

from pertinent.errors import CatalogFailure, IndexFailure, SyncRefused
from pertinent.identity import point_id
from pertinent.indexing.sync import WRITE_BATCH
from pertinent.stores.catalog.database import parse_url
from pertinent.stores.edge import EdgeIndex
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.index import QdrantIndex
from pertinent.surfaces.cli.app import app
from pertinent.surfaces.http import create_app, store_health
from pertinent.surfaces.library import Pertinent
from pertinent.testing.embedder import HashedWords
from pertinent.validation.report import ValidationReport
from pertinent.workspace import migrate as migrating

from ..servers.fixtures import Endpoint
from ..servers.forked import ForkedScript, run_to_end
from ..servers.qdrant import Cluster

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"
GOLDEN = HANDBOOK / "golden.yaml"
FAST = {"embedder": "testing:hashed-words", "query_cache": 0}
QUESTIONS = ("How do ROS 2 nodes communicate?", "What is a URDF joint?", "inflation radius of a costmap")


def search_all(pertinent: Pertinent, **options: Any) -> list[tuple[str, Any]]:
    return [
        (hit.chunk.chunk_id, pytest.approx(hit.score, abs=1e-5))
        for text in QUESTIONS
        for hit in pertinent.search(text, **options).hits
    ]


def figures(report: ValidationReport) -> tuple[str, dict[str, float]]:
    means = {name: round(mean.mean, 9) for name, mean in report.metrics["all"].items()}
    return report.verdict, means


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handbook in an embedded index."""
    folder = tmp_path_factory.mktemp("embedded")
    with Pertinent.open(folder, **FAST) as pertinent:
        pertinent.index(HANDBOOK)
    return folder


@pytest.fixture
def servers(qdrant: Endpoint, collection: str, postgres_url: str) -> dict[str, Any]:
    """The settings of a Qdrant server and a PostgreSQL database."""
    server = {"qdrant_url": qdrant.url, "qdrant_api_key": qdrant.key, "qdrant_collection": collection}
    return server | {"database_url": postgres_url}


def test_servers_answer_as_embedded_stores(embedded: Path, tmp_path: Path, servers: dict[str, Any]) -> None:
    with (
        Pertinent.open(embedded, **FAST) as local,
        Pertinent.open(tmp_path / "none", **FAST, **servers) as remote,
    ):
        remote.index(HANDBOOK)
        filters = {"section": "Pitfalls"}
        for options in ({}, {"ranking": "dense"}, {"ranking": "lexical"}, {"filters": filters}):
            assert search_all(local, **options) == search_all(remote, **options)
        assert figures(local.validate(GOLDEN, audit=True)) == figures(remote.validate(GOLDEN, audit=True))
        assert remote.index(HANDBOOK).chunks_added == 0
    assert not (tmp_path / "none").exists()


def test_running_process_writes_to_the_new_build(tmp_path: Path, servers: dict[str, Any]) -> None:
    book = tmp_path / "book"
    book.mkdir()
    (book / "joints.md").write_text("# Joints\n\nA revolute joint turns.\n", encoding="utf-8")
    with Pertinent.open(tmp_path / "a", **FAST, **servers) as running:
        running.index(book, base_url="https://book.example")
        assert running.search("revolute joint").hits
        with Pertinent.open(tmp_path / "b", **FAST, **servers) as second:
            second.reindex()
        (book / "gears.md").write_text("# Gears\n\nA planetary gear sits in the hip.\n", encoding="utf-8")
        running.index(book, base_url="https://book.example")
        assert running.search("planetary gear").hits[0].chunk.title == "Gears"
    with Pertinent.open(tmp_path / "c", **FAST, **servers) as later:
        assert later.search("planetary gear").hits[0].chunk.title == "Gears"
        assert later.workspace.index().count() == 2


def write_joints(book: Path, text: str) -> None:
    (book / "joints.md").write_text(f"# Joints\n\n{text}\n", encoding="utf-8")


@contextmanager
def open_two(folder: Path, servers: dict[str, Any]) -> Iterator[tuple[Pertinent, Pertinent]]:
    """Open the same servers twice, with a book of one page in `folder` that is indexed."""
    book = folder / "book"
    book.mkdir()
    write_joints(book, "A revolute joint turns.")
    with (
        Pertinent.open(folder / "a", **FAST, **servers) as first,
        Pertinent.open(folder / "b", **FAST, **servers) as second,
    ):
        first.index(book, base_url="https://book.example")
        yield first, second


def test_sync_stops_when_its_session_in_postgres_is_ended(
    tmp_path: Path, servers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    book = tmp_path / "book"
    with open_two(tmp_path, servers) as (first, second):

        def lose_the_lock(*_: Any) -> Any:
            """The first sync has read an old page when its session ends, and another sync begins."""
            monkeypatch.undo()
            end_session(servers["database_url"], read_holder(first))
            write_joints(book, "A prismatic joint slides.")
            second.index(book, base_url="https://book.example")
            return embed_documents(*_)

        embed_documents = HashedWords.embed_documents
        monkeypatch.setattr(HashedWords, "embed_documents", lose_the_lock)
        write_joints(book, "A revolute joint turns between two limits.")
        with pytest.raises(CatalogFailure, match=r"lock .* was lost.* Run the command again"):
            first.index(book, base_url="https://book.example")
        assert [hit.chunk.text for hit in second.search("joint").hits] == ["A prismatic joint slides."]
        assert second.index(book, base_url="https://book.example").chunks_added == 0


def test_sync_that_loses_its_lock_in_a_write_leaves_no_old_text(
    tmp_path: Path, servers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    book = tmp_path / "book"
    with open_two(tmp_path, servers) as (first, second):

        def write_late(*arguments: Any) -> None:
            """Lose the lock; another sync writes newer text before these points arrive."""
            monkeypatch.undo()
            end_session(servers["database_url"], read_holder(first))
            write_joints(book, "A prismatic joint slides.")
            second.index(book, base_url="https://book.example")
            put(*arguments)

        put = QdrantIndex.put
        monkeypatch.setattr(QdrantIndex, "put", write_late)
        write_joints(book, "A revolute joint turns between two limits.")
        with pytest.raises(CatalogFailure, match=r"lock .* was lost.* Run the command again"):
            first.index(book, base_url="https://book.example")
        second.index(book, base_url="https://book.example")
        assert [hit.chunk.text for hit in second.search("joint").hits] == ["A prismatic joint slides."]


def test_lost_collection_is_not_created_by_a_search(
    tmp_path: Path, servers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_health, "CACHE_SECONDS", -1.0)
    name = servers["qdrant_collection"]
    with Pertinent.open(tmp_path / "a", **FAST, **servers) as pertinent:
        pertinent.index(HANDBOOK)
        builds = pertinent.workspace.builds.builds
        made_with = pertinent.workspace.catalog().fingerprint()
        assert made_with is not None
        with TestClient(create_app(pertinent)) as service:
            assert service.get("/readyz").status_code == 200
            builds.remove(1)
            lost = pytest.raises(IndexFailure, match=f"collection of the index '{name}' .*reindex")
            with Pertinent.open(tmp_path / "b", **FAST, **servers) as reader, lost:
                reader.search("joint")
            assert not builds.exists(1)
            assert service.get("/readyz").status_code == 503
            builds.open(made_with).close()
            assert service.get("/readyz").status_code == 503, "the collection is empty"


def test_sync_corrects_the_alias_after_a_reindex_that_was_killed(
    tmp_path: Path, servers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Pertinent.open(tmp_path / "a", **FAST, **servers) as pertinent:
        pertinent.index(HANDBOOK)
        builds = pertinent.workspace.builds.builds
        assert isinstance(builds, QdrantBuilds)
        assert builds.in_use() == 1
        with monkeypatch.context() as patch:
            patch.setattr(QdrantBuilds, "use", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                pertinent.reindex()
        assert builds.in_use() == 1
        pertinent.index(HANDBOOK)
        assert builds.in_use() == 2


def read_holder(pertinent: Pertinent) -> int:
    """Return the process id of the session that holds the write lock."""
    holder = pertinent.workspace.writable_catalog().describe_lock_holder()
    return int(holder.partition("pg_terminate_backend(")[2].partition(")")[0])


def end_session(database_url: str, pid: int) -> None:
    engine = sa.create_engine(parse_url(database_url), poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})


def test_migration_to_servers_does_not_embed(
    embedded: Path, tmp_path: Path, servers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    qdrant_url, postgres_url = servers["qdrant_url"], servers["database_url"]
    refuse = Mock(side_effect=AssertionError("something was embedded"))
    with Pertinent.open(embedded, **FAST, qdrant_collection=servers["qdrant_collection"]) as local:
        usual = search_all(local)
        with monkeypatch.context() as patch:
            patch.setattr("pertinent.testing.embedder.HashedWords.embed_documents", refuse)
            copied = local.migrate_to(qdrant_url, postgres_url)
        assert copied == local.workspace.index().count()
        with pytest.raises(IndexFailure, match="belongs to another catalog"):
            local.migrate_to(qdrant_url)
        assert search_all(local) == usual
    with Pertinent.open(tmp_path / "none", **FAST, **servers) as remote:
        assert search_all(remote) == usual
        assert remote.validate(GOLDEN, audit=True, together=False).audit == []
        # A sync after it finds nothing to do.
        assert remote.index(HANDBOOK).chunks_added == 0


def test_migration_refuses_a_catalog_with_pages(
    embedded: Path, tmp_path: Path, qdrant: Endpoint, collection: str, postgres_url: str
) -> None:
    book = tmp_path / "book"
    book.mkdir()
    (book / "page.md").write_text("# A page\n\nIt was here before.\n")
    with Pertinent.open(tmp_path / "other", **FAST, database_url=postgres_url) as filled:
        filled.index(book)
    with Pertinent.open(embedded, **FAST, qdrant_collection=collection) as local:
        with pytest.raises(SyncRefused, match="already has pages"):
            local.migrate_to(qdrant.url, postgres_url)
        # Nothing is left of the attempt.
        assert local.migrate_to(qdrant.url) > 0
        assert local.migrate_to(qdrant.url) == 0  # it is complete


def test_migration_refuses_a_damaged_vector(
    embedded: Path, tmp_path: Path, qdrant: Endpoint, collection: str
) -> None:
    shutil.copytree(embedded, tmp_path / "damaged")
    with Pertinent.open(tmp_path / "damaged", **FAST, qdrant_collection=collection) as local:
        chunk = local.workspace.catalog().chunks(local.pages()[0].document_id)[0]
        index = local.workspace.writable_index()
        assert isinstance(index, EdgeIndex)
        wrong = {"vector_checksum": "00000000"}
        index._update(qdrant_edge.UpdateOperation.set_payload([point_id(chunk.chunk_id)], wrong))
        with pytest.raises(IndexFailure, match=r"1 damaged vector.*pertinent reindex"):
            local.migrate_to(qdrant.url)
    assert in_use(qdrant, collection) is None


def in_use(qdrant: Endpoint, collection: str) -> int | None:
    return QdrantBuilds(qdrant.connect, collection).in_use()


@pytest.mark.parametrize(
    "breaks", ["QdrantIndex.put", "QdrantIndex.finish", "copy_catalog", "QdrantBuilds.use"]
)
def test_interrupted_migration_can_be_repeated(
    embedded: Path,
    tmp_path: Path,
    qdrant: Endpoint,
    servers: dict[str, Any],
    breaks: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collection, postgres_url = servers["qdrant_collection"], servers["database_url"]
    monkeypatch.setattr(migrating, "COPY_BATCH", 100)
    owner, _, name = breaks.rpartition(".")
    owners: dict[str, Any] = {"QdrantIndex": QdrantIndex, "QdrantBuilds": QdrantBuilds, "": migrating}
    broken = owners[owner]
    usual, calls = getattr(broken, name), []

    def dying(*arguments: Any) -> Any:
        calls.append(name)
        if len(calls) == (2 if name == "put" else 1):
            raise KeyboardInterrupt
        return usual(*arguments)

    with Pertinent.open(embedded, **FAST, qdrant_collection=collection) as local:
        with monkeypatch.context() as patch:
            patch.setattr(broken, name, dying)
            with pytest.raises(KeyboardInterrupt):
                local.migrate_to(qdrant.url, postgres_url)
        # The alias never shows a part.
        assert in_use(qdrant, collection) is None
        assert local.migrate_to(qdrant.url, postgres_url) == local.workspace.index().count()
        expected = search_all(local)
    with Pertinent.open(tmp_path / "none", **FAST, **servers) as remote:
        assert search_all(remote) == expected
    assert in_use(qdrant, collection) == 1


KILLED_MIGRATION = """
import os, signal, sys
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.index import QdrantIndex
from pertinent.workspace import migrate
from pertinent.surfaces.cli.app import app

migrate.COPY_BATCH = 100
owner, name = sys.argv.pop(1).split(".")
owner = {"QdrantIndex": QdrantIndex, "QdrantBuilds": QdrantBuilds, "migrate": migrate}[owner]
usual = getattr(owner, name)

def call(*args, **kwargs):
    usual(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(owner, name, call)
app()
"""


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("QdrantIndex.put", "Copied"),
        ("QdrantIndex.finish", "Copied"),
        ("migrate.copy_catalog", "Copied"),
        ("QdrantBuilds.use", "already complete"),
    ],
)
def test_migration_killed_after_any_step_is_completed_by_the_same_command(
    embedded: Path,
    tmp_path: Path,
    servers: dict[str, Any],
    step: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "embedded"
    shutil.copytree(embedded, folder)
    monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")
    monkeypatch.setenv("QDRANT_COLLECTION_NAME", servers["qdrant_collection"])
    monkeypatch.setenv("QDRANT_API_KEY", servers["qdrant_api_key"] or "")
    arguments = ["--folder", str(folder), "migrate-to", "qdrant"]
    arguments += ["--url", servers["qdrant_url"], "--database-url", servers["database_url"]]
    killed = run_to_end(ForkedScript(KILLED_MIGRATION, step, *arguments))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    repeated = CliRunner().invoke(app, arguments)
    assert (repeated.exit_code, repeated.stderr.count("choose another")) == (0, 0), repeated.stderr
    assert message in repeated.stdout
    assert "already complete" in CliRunner().invoke(app, arguments).stdout
    with Pertinent.open(tmp_path / "none", **FAST, **servers) as remote:
        assert remote.index(HANDBOOK).chunks_added == 0


def test_migration_over_a_copy_that_differs_is_refused(
    embedded: Path, tmp_path: Path, qdrant: Endpoint, collection: str
) -> None:
    shutil.copytree(embedded, tmp_path / "embedded")
    (tmp_path / "page.md").write_text("# A page\n\nIt is new.\n")
    with Pertinent.open(tmp_path / "embedded", **FAST, qdrant_collection=collection) as local:
        copied = local.migrate_to(qdrant.url)
        local.index(tmp_path / "page.md")
        with pytest.raises(SyncRefused, match="differs from this index"):
            local.migrate_to(qdrant.url)
    with closing(QdrantBuilds(qdrant.connect, collection).connect()) as server:
        count = server.read(lambda peer: peer.reading.count(f"{collection}_001")).count
    assert count == copied


def test_refused_migration_with_a_database_asks_for_another_one(
    embedded: Path, tmp_path: Path, qdrant: Endpoint, servers: dict[str, Any]
) -> None:
    shutil.copytree(embedded, tmp_path / "embedded")
    (tmp_path / "page.md").write_text("# A page\n\nIt is new.\n")
    name = servers["qdrant_collection"]
    with Pertinent.open(tmp_path / "embedded", **FAST, qdrant_collection=name) as local:
        local.migrate_to(qdrant.url, servers["database_url"])
        local.index(tmp_path / "page.md")
        with pytest.raises(SyncRefused, match="under another name, with a database of its own"):
            local.migrate_to(qdrant.url, servers["database_url"])


def test_interrupted_migration_with_the_same_catalog_can_be_repeated(
    embedded: Path, qdrant: Endpoint, collection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Pertinent.open(embedded, **FAST, qdrant_collection=collection) as local:
        with monkeypatch.context() as patch:
            patch.setattr(QdrantIndex, "finish", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                local.migrate_to(qdrant.url)
        assert in_use(qdrant, collection) is None
        assert local.migrate_to(qdrant.url) == local.workspace.index().count()
        assert in_use(qdrant, collection) == 1


def test_interrupted_sync_survives_migration(embedded: Path, tmp_path: Path, servers: dict[str, Any]) -> None:
    shutil.copytree(embedded, tmp_path / "copy")
    with Pertinent.open(tmp_path / "copy", **FAST, qdrant_collection=servers["qdrant_collection"]) as local:
        page, total = local.pages()[0], local.workspace.index().count()
        local.workspace.writable_catalog().begin([page.document_id])
        local.workspace.writable_index().delete_stale_points(page.document_id, keep=[])
        assert local.migrate_to(servers["qdrant_url"], servers["database_url"]) == total - page.chunks
    with Pertinent.open(tmp_path / "none", **FAST, **servers) as remote:
        assert remote.workspace.writable_catalog().pending() == [page.document_id]
        remote.index(HANDBOOK)
        assert remote.workspace.index().count() == total
        assert remote.workspace.writable_catalog().pending() == []


def test_collection_is_not_shared_by_two_catalogs(tmp_path: Path, qdrant: Endpoint, collection: str) -> None:
    for name in ("gears", "feet"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(f"# The {name}\n\nAll about the {name}.\n")
    server = {"qdrant_url": qdrant.url, "qdrant_collection": collection}
    with (
        Pertinent.open(tmp_path / "a", **FAST, **server) as first,
        Pertinent.open(tmp_path / "b", **FAST, **server) as second,
    ):
        # A plan does not claim the collection.
        assert second.plan(tmp_path / "feet").chunks_to_embed == 1
        first.index(tmp_path / "gears", name="book")
        with pytest.raises(IndexFailure, match=r"another catalog.*QDRANT_COLLECTION_NAME"):
            second.index(tmp_path / "feet", name="book")
        assert [hit.chunk.title for hit in first.search("feet").hits] == ["The gears"]
    elsewhere = server | {"qdrant_collection": f"{collection}-b"}
    with Pertinent.open(tmp_path / "b", **FAST, **elsewhere) as second:
        second.index(tmp_path / "feet", name="book")
        assert [hit.chunk.title for hit in second.search("feet").hits] == ["The feet"]


def test_interrupted_reindex_on_a_server_is_resumed(
    tmp_path: Path, qdrant: Endpoint, collection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = {"qdrant_url": qdrant.url, "qdrant_collection": collection}
    with Pertinent.open(tmp_path / "a", **FAST, **server) as pertinent:
        pertinent.index(HANDBOOK)
    usual, paid = HashedWords.embed_documents, 0

    def dying(self: HashedWords, texts: Any) -> Iterator[Any]:
        nonlocal paid
        for vector in usual(self, texts):
            if paid == 200:
                raise KeyboardInterrupt
            paid += 1
            yield vector

    small = {**FAST, "chunk_tokens": 100}
    with monkeypatch.context() as patch:
        patch.setattr(HashedWords, "embed_documents", dying)
        with Pertinent.open(tmp_path / "a", **small, **server) as pertinent:
            with pytest.raises(KeyboardInterrupt):
                pertinent.reindex()
            assert in_use(qdrant, collection) == 1
    with Pertinent.open(tmp_path / "a", **small, **server) as pertinent:
        chunks = pertinent.reindex()
        made_by: Any = pertinent.workspace.embedder()
        # What was embedded and not written yet when it died is lost.
        assert made_by.embedded + paid - chunks < WRITE_BATCH
        assert search_all(pertinent)
    assert in_use(qdrant, collection) == 2


def test_service_sees_what_another_process_indexes(tmp_path: Path, servers: dict[str, Any]) -> None:
    book = tmp_path / "book"
    book.mkdir()
    (book / "page.md").write_text("# Gears\n\nA planetary gear sits in the hip.\n")
    with Pertinent.open(tmp_path / "a", **FAST, **servers) as writer:
        writer.index(book, name="book")
        with (
            Pertinent.open(tmp_path / "b", **FAST, **servers) as reader,
            TestClient(create_app(reader)) as client,
        ):
            ask = {"query": "rubber sole"}
            before = client.post("/search", json=ask).json()["results"]
            assert [hit["title"] for hit in before] == ["Gears"]
            (book / "feet.md").write_text("# Feet\n\nA rubber sole grips the floor.\n")
            writer.index(book, name="book")
            best = client.post("/search", json=ask).json()["results"][0]
            assert best["snippet"] == "A rubber sole grips the floor."
            assert client.get("/health").json() == {"status": "ok", "qdrant": True, "postgres": True}


@pytest.mark.slow
@pytest.mark.usefixtures("cached_vectors")
def test_cluster_gives_the_same_verdict(
    tmp_path: Path, qdrant_cluster: Cluster, collection: str, postgres_url: str
) -> None:
    """With the real model, and each shard on two of three peers."""
    with Pertinent.open(tmp_path / "here") as local:
        local.index(HANDBOOK)
        usual = figures(local.validate(GOLDEN))
    servers = {
        "qdrant_url": ",".join(node.url for node in qdrant_cluster.nodes),
        "qdrant_collection": collection,
        "qdrant_replicas": 2,
        "database_url": postgres_url,
    }
    with Pertinent.open(tmp_path / "there", **servers) as remote:
        remote.index(HANDBOOK)
        assert figures(remote.validate(GOLDEN, audit=True)) == usual
    assert usual[0] == "PASS"
