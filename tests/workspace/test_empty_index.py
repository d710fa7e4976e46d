"""Rule 27: an index or collection without points gives no results and says why; it is no error."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models
from typer.testing import CliRunner, Result

import pertinent
from pertinent import build
from pertinent.errors import FingerprintMismatch, IndexFailure, NotFound
from pertinent.search.notes import NO_CHUNKS, NO_LEXICAL
from pertinent.surfaces import seed_functions
from pertinent.surfaces.cli.app import app
from pertinent.surfaces.library import Pertinent
from pertinent.testing.embedder import HashedWords

from ..conftest import FAST
from ..servers.fixtures import Endpoint

VECTOR = [0.1] * 64
WIDER = "onnx:wider"


class Wider(HashedWords):
    """Another model, with more dimensions."""

    name = WIDER

    def __init__(self) -> None:
        super().__init__()
        self.dimension = 96


@pytest.fixture(autouse=True)
def _quick_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERTINENT_EMBEDDER", FAST)


@pytest.fixture
def wider(monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of a user who has chosen another model."""
    monkeypatch.setattr(build, "_choose_embedder", lambda _: Wider())
    monkeypatch.setenv("PERTINENT_EMBEDDER", WIDER)


def index_page(folder: Path, text: str, encoding: str = "utf-8") -> None:
    folder.mkdir()
    (folder / "page.md").write_text(text, encoding=encoding)
    with Pertinent.open() as opened:
        opened.index(folder, name="docs")


def index_page_without_text(folder: Path) -> None:
    index_page(folder, "---\ntitle: Empty\n---\n")


def index_unreadable_page(folder: Path) -> None:
    index_page(folder, "# Gelenke für Roboter\n", encoding="utf-16")


def remove_every_source(folder: Path) -> None:
    index_page(folder, "# Joints\n\nA revolute joint has limits.\n")
    with Pertinent.open() as opened:
        assert opened.remove("docs") == 1


@pytest.fixture(params=[index_page_without_text, index_unreadable_page, remove_every_source])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The source of an index in the present folder that has no chunks."""
    request.param(tmp_path / "docs")
    return tmp_path / "docs"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.usefixtures("empty")
def test_seed_002_empty_index_gives_an_empty_list() -> None:
    assert pertinent.retrieve_content_chunks(VECTOR) == []


@pytest.mark.usefixtures("empty")
def test_seed_002_vector_of_another_length_is_an_error_on_an_empty_index() -> None:
    with pytest.raises(ValueError, match="1024 elements"):
        pertinent.retrieve_content_chunks([0.1] * 1024)


def test_seed_002_folder_without_an_index_is_an_error() -> None:
    with pytest.raises(NotFound, match=r"nothing is indexed in .pertinent yet; run `pertinent index PATH`"):
        pertinent.retrieve_content_chunks(VECTOR)
    assert not Path(".pertinent").exists()


def test_folder_above_the_data_folder_is_named_with_the_right_one(tmp_path: Path) -> None:
    index_page(tmp_path / "docs", "# Joints\n\nA revolute joint has limits.\n")
    folder = Path.cwd()
    with pytest.raises(NotFound) as caught, pertinent.Pertinent.open(folder) as book:
        book.search("joints")
    expected = f"nothing is indexed in {folder} itself; the data folder seems to be {folder / '.pertinent'}"
    assert str(caught.value) == expected


def test_seed_002_index_that_lost_its_points_is_an_error(tmp_path: Path) -> None:
    index_page(tmp_path / "docs", "# Joints\n\nA revolute joint has limits.\n")
    shutil.rmtree(".pertinent/index")
    with pytest.raises(IndexFailure, match="`pertinent reindex`"):
        pertinent.retrieve_content_chunks(VECTOR)


@pytest.mark.usefixtures("empty")
def test_seed_001_empty_index_gives_no_results_and_says_why() -> None:
    response = pertinent.retrieve("joints")
    assert response["results"] == []
    assert response["metadata"]["total_results"] == 0
    assert response["metadata"]["notes"] == [NO_CHUNKS]


@pytest.mark.usefixtures("empty")
def test_search_command_on_an_empty_index_says_why() -> None:
    result = run("search", "joints")
    assert result.exit_code == 0
    assert result.stdout == "No passage was found.\n"
    assert result.stderr == f"pertinent: {NO_CHUNKS}\n"
    assert "run `pertinent index PATH`" in NO_CHUNKS
    as_json = run("search", "joints", "--json")
    assert as_json.exit_code == 0
    assert json.loads(as_json.stdout)["metadata"]["notes"] == [NO_CHUNKS]
    assert "no chunks yet" in run("search", "joints", "--explain").stdout


def test_filter_that_matches_nothing_is_not_an_empty_index(tmp_path: Path) -> None:
    index_page(tmp_path / "docs", "# Joints\n\nA revolute joint has limits.\n")
    with Pertinent.open() as opened:
        assert opened.search("joints", filters={"section": "Nowhere"}).notes == ()
        assert opened.search("zebra", ranking="lexical").notes == ()


@pytest.mark.usefixtures("empty")
def test_commands_work_on_an_empty_index() -> None:
    assert "0 chunks" in run("list").stdout
    assert run("reindex").exit_code == 0
    refusal = run("show", "no-such-chunk")
    assert (refusal.exit_code, "no-such-chunk" in refusal.stderr) == (2, True)


@pytest.mark.usefixtures("wider")
class TestAnotherEmbedder:
    """With no chunk indexed, other settings replace those that the index was made with."""

    @pytest.fixture(autouse=True)
    def _made_before(self, empty: Path) -> None:
        """The order of fixtures: `empty` comes before the settings change."""

    @pytest.fixture
    def empty(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        with monkeypatch.context() as before:
            before.setattr(build, "_choose_embedder", lambda _: HashedWords())
            before.setenv("PERTINENT_EMBEDDER", FAST)
            index_page_without_text(tmp_path / "docs")
        return tmp_path / "docs"

    def test_other_embedder_can_index_an_empty_index(self, empty: Path) -> None:
        (empty / "page.md").write_text("# Joints\n\nA revolute joint has limits.\n")
        with Pertinent.open() as opened:
            assert opened.index(empty, name="docs").chunks_added == 1
            made_with = opened.workspace.catalog().fingerprint()
            assert made_with is not None
            assert (made_with.embedder, made_with.dimension) == (WIDER, 96)
            assert opened.search("revolute joint").hits
        with pytest.raises(FingerprintMismatch, match="pertinent reindex"):
            Pertinent.open(embedder=FAST, chunk_tokens=50).search("joint")

    def test_other_embedder_can_search_an_empty_index(self) -> None:
        assert pertinent.retrieve("joints")["metadata"]["notes"] == [NO_CHUNKS]
        assert pertinent.retrieve_content_chunks([0.1] * 96) == []
        assert len(pertinent.generate_query_embedding("joints").vector) == 96
        with pytest.raises(ValueError, match="made for 96"):
            pertinent.retrieve_content_chunks(VECTOR)

    def test_other_embedder_leaves_one_build(self) -> None:
        pertinent.retrieve("joints")
        seed_functions.close_shared()
        assert [folder.name for folder in Path(".pertinent/index").iterdir()] == ["002"]
        assert run("reindex", "--rollback").exit_code == 2
        assert run("doctor").exit_code == 0

    def test_other_embedder_is_refused_while_another_process_writes(self) -> None:
        with Pertinent.open() as writer, writer.workspace.writable_catalog().write_lock(lambda: None):
            with Pertinent.open() as reader, pytest.raises(FingerprintMismatch):
                reader.search("joints")
            with sqlite3.connect(".pertinent/catalog.sqlite3") as catalog:
                (made_with,) = catalog.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
            catalog.close()
        assert json.loads(made_with)["embedder"] == FAST


def test_dry_run_leaves_the_settings_of_an_empty_index(tmp_path: Path) -> None:
    remove_every_source(tmp_path / "docs")
    before = Path(".pertinent/catalog.sqlite3").read_bytes()
    with Pertinent.open(chunk_tokens=50) as opened:
        assert len(opened.plan(tmp_path / "docs").changes) == 1
    assert Path(".pertinent/catalog.sqlite3").read_bytes() == before


class TestQdrantServer:
    """The same on a real Qdrant, for an own collection and for one of another pipeline."""

    @pytest.fixture(autouse=True)
    def _settings(self, qdrant: Endpoint, collection: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("QDRANT_URL", qdrant.url)
        monkeypatch.setenv("QDRANT_COLLECTION_NAME", collection)

    @pytest.fixture
    def client(self, qdrant: Endpoint) -> Iterator[QdrantClient]:
        client = QdrantClient(url=qdrant.url, api_key=qdrant.key)
        yield client
        client.close()

    def test_seed_002_own_collection_without_points_gives_an_empty_list(self, tmp_path: Path) -> None:
        remove_every_source(tmp_path / "docs")
        assert pertinent.retrieve_content_chunks(VECTOR) == []
        assert pertinent.retrieve("joints")["metadata"]["notes"] == [NO_CHUNKS]

    def test_other_embedder_replaces_an_empty_collection(
        self, tmp_path: Path, request: pytest.FixtureRequest, client: QdrantClient, collection: str
    ) -> None:
        remove_every_source(tmp_path / "docs")
        request.getfixturevalue("wider")
        assert pertinent.retrieve_content_chunks([0.1] * 96) == []
        names = [collection.name for collection in client.get_collections().collections]
        assert [name for name in names if name.startswith(collection)] == [f"{collection}_002"]

    def test_seed_002_missing_collection_is_an_error_that_names_it(self, collection: str) -> None:
        with pytest.raises(NotFound, match="pertinent index") as error:
            pertinent.retrieve_content_chunks(VECTOR)
        assert f"check its name, '{collection}' (QDRANT_COLLECTION_NAME)" in str(error.value)

    @pytest.mark.parametrize("fields", ["", '{"text": "content", "url": "url"}'])
    def test_seed_002_external_collection_without_points_gives_an_empty_list(
        self, client: QdrantClient, collection: str, monkeypatch: pytest.MonkeyPatch, fields: str
    ) -> None:
        if fields:
            monkeypatch.setenv("PERTINENT_QDRANT_FIELDS", fields)
        size = models.VectorParams(size=64, distance=models.Distance.DOT)
        client.create_collection(collection, size)
        assert pertinent.retrieve_content_chunks(VECTOR) == []
        answer = seed_functions.open_shared().search("joints", filters={"url": "https://robots.example"})
        assert (answer.hits, answer.notes) == ((), (NO_LEXICAL, NO_CHUNKS))
        assert seed_functions.open_shared().pages() == []
        assert run("search", "joints").exit_code == 0

        vector = HashedWords().embed_queries(["revolute joint"])[0].tolist()
        payload = {
            "content": "A revolute joint",
            "url": "https://robots.example/joints",
            "position": 0,
            "chunk_id": "joints-0",
            "created_at": "2026-01-01T00:00:00Z",
        }
        client.upsert(collection, [models.PointStruct(id=1, vector=vector, payload=payload)], wait=True)
        (result,) = pertinent.retrieve_content_chunks(vector)
        assert result.text == "A revolute joint"
        assert seed_functions.open_shared().search("revolute joint").notes == (NO_LEXICAL,)
