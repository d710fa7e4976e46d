"""`pertinent inspect`: what it shows of a collection, and the settings file that it makes opens it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import structlog
from qdrant_client import QdrantClient, models

from pertinent.identity import content_hash
from pertinent.ports import Fingerprint
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.collection import CollectionOptions

from ..servers.fixtures import Endpoint
from ..stores.external.pipelines import EMBEDDER, PASSAGES, PIPELINES, SITE, vector, write
from .conftest import Run, Start

pytestmark = [
    pytest.mark.xdist_group("external"),
    pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection"),
]


@pytest.fixture(autouse=True)
def _reset_log() -> Iterator[None]:
    """The command logs to its own stderr, which is closed when it ends."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def client(qdrant: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Iterator[QdrantClient]:
    """A client of the server that the environment names to the command, too."""
    monkeypatch.setenv("QDRANT_URL", qdrant.url)
    if qdrant.key:
        monkeypatch.setenv("QDRANT_API_KEY", qdrant.key)
    opened = QdrantClient(url=qdrant.url, api_key=qdrant.key)
    yield opened
    opened.close()


@pytest.fixture
def name(client: QdrantClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A collection's name, set for the command."""
    collection_name = f"theirs-{uuid4().hex[:12]}"
    monkeypatch.setenv("QDRANT_COLLECTION_NAME", collection_name)
    yield collection_name
    client.delete_collection(collection_name)


def data(run: Run, *arguments: str) -> dict[str, Any]:
    result = run("inspect", "--json", *arguments, exits=0)
    inspection: dict[str, Any] = json.loads(result.stdout)
    return inspection


def test_inspect_prints_vectors_and_fields(run: Run, client: QdrantClient, name: str) -> None:
    PIPELINES["seed 003"].fill(client, name)
    result = run("inspect", exits=0)
    output = " ".join(result.stdout.split())
    assert f"{name} at http" in output
    assert "6 points, 1 shard, 1 replica" in output
    assert "unnamed 64 Cosine searched" in output
    assert "Fields recognised as retrieval-api, in 6 points examined:" in output
    assert "position order_index (from 1) 6 1" in output
    assert "text text 6 Nodes exchange messages over topics." in output
    missing = "content_hash: missing in all 6 points examined; hash validation counts them as failed"
    assert missing in output
    assert "url: missing in all 6 points examined; their address is made from source_path" in output
    assert "title:" not in output
    assert "--write pertinent.toml" in output


def test_inspect_json_has_all_fields(run: Run, client: QdrantClient, name: str, qdrant: Endpoint) -> None:
    PIPELINES["langchain hybrid"].fill(client, name)
    inspection = data(run)
    assert (inspection["collection"], inspection["points"], inspection["looked_at"]) == (name, 6, 6)
    assert inspection["server"].startswith(qdrant.url.rstrip("/"))
    assert inspection["vectors"] == [
        {"name": "meaning", "dimension": 64, "distance": "Cosine", "refusal": "", "searched": True}
    ]
    assert inspection["sparse_vectors"] == ["langchain-sparse"]
    recognised = (inspection["shape"], inspection["position_base"], inspection["made_with"])
    assert recognised == ("langchain", 0, None)
    fields = {field["name"]: field for field in inspection["fields"]}
    assert fields["text"]["path"] == "page_content"
    assert (fields["source_path"]["path"], fields["source_path"]["count"]) == ("metadata.source", 6)
    assert fields["source_path"]["example"].startswith("docs/")
    assert fields["url"] == {"name": "url", "path": None, "count": 0, "example": ""}
    assert "missing in all 6 points" in inspection["missing"]["title"]
    assert inspection["problems"] == []


def test_inspect_counts_points_without_a_field(run: Run, client: QdrantClient, name: str) -> None:
    payloads: list[dict[str, Any]] = []
    for passage in PASSAGES:
        content = {"content": passage.text, "content_hash": content_hash(passage.text)}
        payloads.append({**content, "url": passage.url, "title": passage.title})
    del payloads[0]["title"]
    payloads[1]["content_hash"] = "5d41402abc4b2a76b9719d911017c592"
    write(client, name, payloads, [passage.text for passage in PASSAGES])
    inspection = data(run)
    assert inspection["missing"]["title"].startswith("missing in 1 of 6 points examined; ")
    assert inspection["missing"]["content_hash"].startswith("1 of 6 points examined lack the SHA-256")


@pytest.mark.parametrize("pipeline", ["seed 003", "langchain", "llama-index"])
def test_inspect_writes_settings_that_open_the_collection(
    run: Run,
    client: QdrantClient,
    name: str,
    qdrant: Endpoint,
    pipeline: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With nothing but the file: search, list, show and validate work, and writing is refused."""
    PIPELINES[pipeline].fill(client, name)
    done = run("inspect", "--write", "pertinent.toml", exits=0)
    assert "wrote pertinent.toml" in done.stderr
    written = tomllib.loads(Path("pertinent.toml").read_text(encoding="utf-8"))
    assert (written["qdrant_url"], written["qdrant_collection"]) == (qdrant.url, name)
    assert written["qdrant_fields"]["text"]
    assert ("order_index" in written["qdrant_fields"]) == (pipeline == "seed 003")
    for variable in ("QDRANT_URL", "QDRANT_COLLECTION_NAME"):
        monkeypatch.delenv(variable)

    search = run("search", "revolute joint limit", "--json", "--explain", exits=0)
    answer = json.loads(search.stdout)
    assert answer["results"][0]["content"].startswith("A revolute joint")
    assert (answer["metadata"]["ranking"], answer["metadata"]["notes"]) == ("dense", [])

    listed = json.loads(run("list", "--json").stdout)
    assert sorted(page["chunks"] for page in listed["pages"]) == [1, 2, 3]
    show = run("show", answer["results"][0]["chunk_id"], "--around", "1")
    assert "A revolute joint turns" in show.stdout

    location = "page: docs/guide/joints.md" if pipeline == "seed 003" else f"url: {SITE}/guide/joints"
    Path("golden.yaml").write_text(
        "name: theirs\nqueries:\n- id: joints\n  text: revolute joint limit\n  labels:\n"
        f"  - {{grade: 2, {location}, quote: revolute joint turns between}}\n",
        encoding="utf-8",
    )
    judged = run("validate", "golden.yaml", "--audit", "--json", "--require", "queries_reaching=0")
    report = json.loads(judged.stdout)
    assert (judged.exit_code, report["mrr"], report["hash_validation_pass_rate"]) == (1, 1.0, 0.0)
    assert report["label_faults"] == []
    assert any("lacks" in line for line in report["audit"])

    checked = run("doctor")
    assert (checked.exit_code, "No problems found." in checked.stdout) == (0, True), checked.output

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("# Page\n\nText.\n", encoding="utf-8")
    for command in (("index", tmp_path / "docs"), ("index", tmp_path / "docs", "--dry-run"), ("reindex",)):
        refused = run(*command)
        assert (refused.exit_code, "never writes to it" in refused.stderr) == (1, True), refused.output


def test_doctor_names_ids_that_chunks_share(run: Run, client: QdrantClient, name: str) -> None:
    texts = [f"Text {number} about joints." for number in range(22)]
    payloads = [
        {"text": text, "url": SITE, "title": "t", "chunk_id": f"c-{max(number, 1)}", "position": number}
        for number, text in enumerate(texts)
    ]
    write(client, name, payloads, texts)
    result = run("doctor", "--json", exits=1)
    (check,) = (check for check in json.loads(result.stdout)["checks"] if check["findings"])
    assert check["name"] == "payloads"
    (finding,) = check["findings"]
    assert finding["problem"] == "1 chunk id is shared by points with different texts: c-1"
    assert finding["run"].startswith("name the fields in `qdrant_fields`, without `chunk_id`")


def test_inspect_replaces_a_file_only_with_overwrite(run: Run, client: QdrantClient, name: str) -> None:
    PIPELINES["seed 000"].fill(client, name)
    file = Path("mine.toml")
    file.write_text("mine")
    refused = run("inspect", "--write", "mine.toml", exits=2)
    assert "--overwrite replaces it" in refused.stderr
    assert file.read_text() == "mine"
    assert run("inspect", "--write", "mine.toml", "--overwrite").exit_code == 0
    assert "[qdrant_fields]" in file.read_text()
    nowhere = run("inspect", "--write", "nowhere/mine.toml")
    assert (nowhere.exit_code, "no folder nowhere" in nowhere.stderr) == (2, True)


def test_inspect_lists_unknown_fields_and_writes_nothing(run: Run, client: QdrantClient, name: str) -> None:
    payloads = [{"body": {"plain": passage.text}, "at": passage.url} for passage in PASSAGES]
    write(client, name, payloads, [passage.text for passage in PASSAGES])
    result = run("inspect", "--write", "pertinent.toml", exits=2)
    output = " ".join(result.stdout.split())
    assert "body.plain 6 Nodes exchange messages over topics." in output
    assert "[qdrant_fields] with text" in result.stderr
    assert not Path("pertinent.toml").exists()

    Path("pertinent.toml").write_text('[qdrant_fields]\ntext = "body.plain"\nurl = "at"\n')
    named = run("inspect")
    assert (named.exit_code, "as the settings name them" in named.stdout) == (0, True)
    assert json.loads(run("search", "joint", "--json").stdout)["results"][0]["url"] == f"{SITE}/guide/joints"


def test_inspect_keeps_the_vector_that_the_settings_name(run: Run, client: QdrantClient, name: str) -> None:
    params = models.VectorParams(size=64, distance=models.Distance.COSINE)
    client.create_collection(name, {"body": params, "title": params})
    points = [
        models.PointStruct(
            id=number,
            vector={"body": vector(passage.text), "title": vector(passage.title)},
            payload={"page_content": passage.text, "metadata": {"source": passage.url}},
        )
        for number, passage in enumerate(PASSAGES)
    ]
    client.upsert(name, points, wait=True)
    unclear = run("inspect", exits=2)
    assert "several dense vectors" in unclear.stderr
    Path("pertinent.toml").write_text('[qdrant_fields]\nvector = "body"\n')
    assert run("inspect", "--write", "pertinent.toml", "--overwrite").exit_code == 0
    fields = tomllib.loads(Path("pertinent.toml").read_text())["qdrant_fields"]
    assert (fields["vector"], fields["text"]) == ("body", "page_content")


def test_inspect_removes_terminal_escapes(run: Run, client: QdrantClient, name: str) -> None:
    evil = "\x1b]0;owned\x07\x1b[31mred \u202etxet[/bold]"
    payloads = [{"page_content": evil, "metadata": {"source": evil, "\x1b[2J": evil}}]
    write(client, name, payloads, ["red"])
    for arguments in ((), ("--json",)):
        output = run("inspect", *arguments).output
        assert not set("\x1b\x07\u202e") & set(output)
    assert "red txet[/bold]" in run("inspect").stdout


def test_inspect_recognises_a_collection_of_pertinent(
    run: Run, client: QdrantClient, qdrant: Endpoint, collection: str
) -> None:
    made_with = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")
    builds = QdrantBuilds(qdrant.connect, collection, CollectionOptions())
    builds.open(made_with).close()
    builds.use(made_with.build)
    result = run("inspect", "--collection", collection)
    assert "Pertinent created it, with testing:hashed-words" in " ".join(result.stdout.split())


def test_inspect_without_a_server_or_collection_says_what_to_set(run: Run, qdrant: Endpoint) -> None:
    unset = run("inspect")
    assert (unset.exit_code, "--url, or set QDRANT_URL" in unset.stderr) == (2, True)
    nowhere = run("inspect", "--url", qdrant.url, "--collection", "nowhere")
    assert (nowhere.exit_code, "has no collection nowhere" in nowhere.stderr) == (2, True)
    silent = run("inspect", "--url", "http://127.0.0.1:9")
    assert (silent.exit_code, "can't be reached" in silent.stderr) == (3, True)


def test_remove_passwords_keeps_only_the_addresses() -> None:
    from pertinent.surfaces.cli.inspect import remove_passwords

    addresses = "https://me:s3cret@a:6333, https://b:6333"
    assert remove_passwords(addresses) == "https://a:6333,https://b:6333"


def test_inspect_runs_when_installed(start: Start, client: QdrantClient, name: str, qdrant: Endpoint) -> None:
    PIPELINES["seed 000"].fill(client, name)
    done = start("inspect", "--url", qdrant.url, "--collection", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert "retrieval-validation" in done.stdout
