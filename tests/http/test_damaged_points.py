"""Rule 29 in every interface: points that lack a field, and points damaged through Qdrant's own API."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import jsonschema_rs
import pytest
import structlog
from hypothesis import HealthCheck, settings
from hypothesis import given as given_examples
from hypothesis import strategies as st
from qdrant_client import QdrantClient, models
from starlette.testclient import TestClient
from typer.testing import CliRunner

import pertinent
from pertinent.identity import is_url
from pertinent.surfaces import seed_functions
from pertinent.surfaces.cli.app import app as command_line
from pertinent.surfaces.client import PertinentClient
from pertinent.surfaces.http import create_app
from pertinent.surfaces.http.observability import Observer
from pertinent.surfaces.library import Pertinent
from pertinent.testing.embedder import HashedWords
from pertinent.workspace.workspace import Workspace

from ..servers.fixtures import Endpoint
from ..servers.service import running_service
from ..stores.external.pipelines import PASSAGES, PIPELINES, write
from .conftest import fill, settings_in

pytestmark = [
    pytest.mark.xdist_group("external"),
    pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection"),
]

QUERY = "the torque of joints"
POINTS = 24
"""How many chunks the shelf has."""
LIST = 20
"""The longest list of seeds 001 and 003."""


@pytest.fixture(autouse=True)
def _reset_log() -> Iterator[None]:
    """The command logs to its own stderr, which is closed when it ends."""
    yield
    structlog.reset_defaults()


@pytest.fixture(scope="module")
def client(qdrant: Endpoint) -> Iterator[QdrantClient]:
    opened = QdrantClient(url=qdrant.url, api_key=qdrant.key)
    yield opened
    opened.close()


@dataclass
class Interfaces:
    """Every interface to one collection; each response is checked against its OpenAPI description."""

    api: TestClient
    described: dict[str, Any]
    opened: Pertinent
    folder: Path

    def post(self, route: str, body: dict[str, Any]) -> dict[str, Any]:
        return self._checked("post", route, self.api.post(route, json=body))

    def get(self, route: str, template: str = "") -> dict[str, Any]:
        return self._checked("get", template or route, self.api.get(route))

    def _checked(self, method: str, route: str, response: Any) -> dict[str, Any]:
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        content = self.described["paths"][route][method]["responses"]["200"]["content"]
        schema = content["application/json"]["schema"]
        jsonschema_rs.validate({**schema, "components": self.described["components"]}, answer)
        return answer

    def search(self, **fields: Any) -> dict[str, Any]:
        body = {"query_text": QUERY, "top_k": 100, "similarity_threshold": 0.0, "distinct": False}
        return self.post("/api/v1/search", body | fields)

    def run(self, *arguments: str | Path, exits: tuple[int, ...] = (0,)) -> Any:
        """What a command prints as JSON."""
        result = CliRunner().invoke(command_line, [str(argument) for argument in arguments])
        assert result.exit_code in exits, (result.output, result.exception)
        return json.loads(result.stdout)


@contextmanager
def opened_interfaces(monkeypatch: pytest.MonkeyPatch, folder: Path, **chosen: Any) -> Iterator[Interfaces]:
    """The service, the library and the command line over the same settings."""
    usual = settings_in(folder, **chosen)
    for name, value in usual.model_dump(exclude_defaults=True).items():
        text = json.dumps(value) if isinstance(value, dict) else str(value)
        monkeypatch.setenv(f"PERTINENT_{name.upper()}", text)
    # The catalog of a collection is read again for each request.
    monkeypatch.setattr("pertinent.stores.external.catalog.CACHE_SECONDS", -1.0)
    # That a validation finds the same with 50 queries at once is tested elsewhere.
    monkeypatch.setattr("pertinent.validation.acceptance_checks.AT_ONCE", 5)
    with ExitStack() as open_until_done:
        opened = open_until_done.enter_context(Pertinent(Workspace(usual)))
        open_until_done.callback(seed_functions.close_shared)
        log = structlog.wrap_logger(structlog.ReturnLogger(), processors=[])
        app = create_app(opened, Observer(log))
        api = open_until_done.enter_context(TestClient(app, raise_server_exceptions=False))
        yield Interfaces(api, app.openapi(), opened, folder)


@pytest.fixture
def collection(client: QdrantClient) -> Iterator[str]:
    """The name of a collection that is removed at the end."""
    name = f"external-{uuid4().hex[:12]}"
    yield name
    for existing in client.get_collections().collections:
        if existing.name.startswith(name):
            client.delete_collection(existing.name)


OpenInterfaces = Callable[..., AbstractContextManager[Interfaces]]


@pytest.fixture
def open_interfaces(
    qdrant: Endpoint, collection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> OpenInterfaces:
    """Open every interface over the collection."""
    located = {"qdrant_url": qdrant.url, "qdrant_collection": collection}
    return lambda **chosen: opened_interfaces(monkeypatch, tmp_path / "data", **located, **chosen)


def test_snippets_of_points_that_share_an_id_are_their_own(
    client: QdrantClient, collection: str, open_interfaces: OpenInterfaces
) -> None:
    texts = [f"The torque of joints, part {number}." for number in range(4)]
    fields = {"url": "https://book.example/joints", "chunk_id": "joints"}
    write(client, collection, [fields | {"text": text} for text in texts], texts)
    with open_interfaces(qdrant_fields={name: name for name in ("text", "url", "chunk_id")}) as interfaces:
        results = interfaces.search(snippet_length=200)["results"]
        assert sorted(result["snippet"] for result in results) == texts
        assert [result["snippet"] for result in results] == [result["content"] for result in results]
        seed_003 = interfaces.post("/search", {"query": QUERY, "snippet_length": 200})["results"]
        assert sorted(result["snippet"] for result in seed_003) == texts


class TestSeed003Payload:
    """Seed 003's points have neither url nor time; the interfaces of seeds 001, 002 and 004 return them."""

    @pytest.mark.parametrize("base_url", [None, "https://github.example/book/blob/main"])
    def test_rule_29_each_result_has_a_url_and_unknown_values_are_null(
        self, client: QdrantClient, collection: str, open_interfaces: OpenInterfaces, base_url: str | None
    ) -> None:
        PIPELINES["seed 003"].fill(client, collection)
        below = base_url or "file://"
        expected = {f"{below}/docs/{passage.slug}.md" for passage in PASSAGES}
        with open_interfaces(external_base_url=base_url) as interfaces:
            response = interfaces.search()
            assert len(response["results"]) == len(PASSAGES)
            assert response["damaged"] == []
            for result in response["results"]:
                source = result["metadata"]
                assert source["url"] in expected
                assert (source["start"], source["end"], source["created_at"]) == (None, None, None)
            for result in pertinent.retrieve(QUERY, top_k=20)["results"]:
                assert result["url"] in expected
                assert result["position"] >= 0
                assert (result["start"], result["end"], result["created_at"]) == (None, None, None)
            printed = interfaces.run("search", QUERY, "--json", "--top-k", "20")
            assert {result["url"] for result in printed["results"]} == expected
            vector = HashedWords().embed_queries([QUERY])[0].tolist()
            assert {result.source_url for result in pertinent.retrieve_content_chunks(vector, 20)} == expected
            interfaces.post("/search", {"query": QUERY, "top_k": 20})
            listed = interfaces.get("/api/v1/documents")["documents"]
            assert {page["url"] for page in listed} == expected
            for page in listed:
                interfaces.get(f"/api/v1/documents/{page['document_id']}", "/api/v1/documents/{document_id}")
            assert interfaces.run("doctor", "--json")["sound"] is True
            with running_service(interfaces.opened.workspace) as url, PertinentClient(url) as remote:
                # Unknown values and the ids of points are the same as in the library.
                assert remote.search(QUERY, 20).hits == interfaces.opened.search(QUERY, 20).hits
                assert {hit.chunk.url for hit in remote.search(QUERY, 20).hits} == expected

    def test_rule_29_point_without_url_and_source_path_is_left_out_and_counted(
        self, client: QdrantClient, collection: str, open_interfaces: OpenInterfaces
    ) -> None:
        PIPELINES["seed 003"].fill(client, collection)
        client.delete_payload(collection, ["source_path"], points=[1, 2], wait=True)
        with open_interfaces() as interfaces:
            response = interfaces.search()
            assert response["status"] == "partial"
            assert len(response["results"]) == len(PASSAGES) - 2
            assert {(point["point_id"], *point["problems"]) for point in response["damaged"]} == {
                ("1", "url is missing"),
                ("2", "url is missing"),
            }
            assert any("2 damaged points were left out" in warning for warning in response["warnings"])
            inspection = interfaces.run("inspect", "--json")
            assert [point.split(" ")[1] for point in inspection["damaged"]] == ["1", "2"]

    def test_rule_29_invalid_base_url_is_refused(self) -> None:
        with pytest.raises(pertinent.PertinentError, match="external_base_url: must be an address"):
            Pertinent.open(external_base_url="docs/")

    def test_search_gives_up_on_an_unreadable_collection(
        self,
        client: QdrantClient,
        collection: str,
        open_interfaces: OpenInterfaces,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        write(client, collection, [{"text": "alone"}] * 300, ["alone"] * 300)
        monkeypatch.setattr("pertinent.search.engine.MOST_DAMAGED", 100)
        with open_interfaces(qdrant_fields={"text": "text"}) as interfaces:
            response = interfaces.search(top_k=1)
            assert response["status"] == "no_results"
            assert 100 <= len(response["damaged"]) < 300


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text("abc", max_size=3), below, max_size=3)
    ),
    max_leaves=5,
)
NO_TEXT = st.booleans() | st.just([1]) | st.just({"a": 1})
NUMBERS = st.integers(-5, 5) | st.just(1.5)
TEXTS = (
    "chunk_id", "document_id", "anchor", "title", "section", "source_path", "slug", "source_type",
)  # fmt: skip
BAD: Mapping[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(TEXTS, NO_TEXT),
    "text": NO_TEXT | NUMBERS | st.none() | st.sampled_from(["", " \n"]),
    "url": NO_TEXT
    | NUMBERS
    | st.sampled_from(["not a url", "/docs", "http:///x", "http://[", "https://a b/", "javascript:alert(1)"]),
    "position": NO_TEXT | st.sampled_from(["x", -1, 1.5, 2**40]),
    "created_at": NO_TEXT | st.sampled_from(["yesterday", "2025-13-45", "10:00", "2025-12-15X10:00:00"]),
    "content_hash": NO_TEXT | NUMBERS,
}
"""Values that are damage wherever they stand."""
OWN_BAD: Mapping[str, st.SearchStrategy[Any]] = {
    **BAD,
    **dict.fromkeys((*TEXTS, "source", "embedding_key"), NO_TEXT | NUMBERS),
    **dict.fromkeys(("start", "end", "order_index"), BAD["position"]),
    **{name: BAD[name] | st.none() for name in ("url", "position", "content_hash", "text")},
    **{name: NO_TEXT | NUMBERS | st.none() for name in ("chunk_id", "document_id")},
    **dict.fromkeys(("headings", "url_parents"), NO_TEXT | NUMBERS | st.none() | st.just("text")),
    "created_at": BAD["created_at"] | st.just(12345) | st.just(""),
}
"""What is damage in a point of our own, where nothing is read leniently."""


def names_damage(notes: Iterable[str]) -> bool:
    return any("left out" in note and " is " in note for note in notes)


class Damaging:
    """A collection whose points are damaged, read through every interface, and repaired."""

    def __init__(self, client: QdrantClient, collection: str, interfaces: Interfaces) -> None:
        self._client = client
        self._collection = collection
        self.interfaces = interfaces
        records, _ = client.scroll(collection, limit=1000)
        self.payloads = {str(record.id): dict(record.payload or {}) for record in records}
        assert len(self.payloads) == POINTS

    def write(self, payloads: Mapping[str, Mapping[str, Any]]) -> None:
        operations: list[models.UpdateOperation] = [
            models.OverwritePayloadOperation(
                overwrite_payload=models.SetPayload(
                    payload=dict(payload), points=[int(point) if point.isdecimal() else point]
                )
            )
            for point, payload in payloads.items()
        ]
        self._client.batch_update_points(self._collection, operations, wait=True)

    def check(self, bad: Mapping[str, tuple[str, Any]], fuzzed: Mapping[str, tuple[str, Any]]) -> None:
        """Damage the points; every interface names the bad ones and answers with the others."""
        changes = {**fuzzed, **bad}
        self.write({point: {**self.payloads[point], name: value} for point, (name, value) in changes.items()})
        try:
            self._check_searches(bad)
            self._check_pages()
            self._check_commands(bad)
        finally:
            self.write({point: self.payloads[point] for point in changes})

    def _check_searches(self, bad: Mapping[str, tuple[str, Any]]) -> None:
        interfaces = self.interfaces
        response = interfaces.search()
        problems = {point["point_id"]: point["problems"] for point in response["damaged"]}
        point_ids = {result["similarity"]["result_embedding_id"] for result in response["results"]}
        assert point_ids | problems.keys() == self.payloads.keys(), "each point is a result, or is damaged"
        assert not point_ids & problems.keys()
        for point, (name, _) in bad.items():
            assert any(problem.startswith(name) for problem in problems[point]), (point, name, problems)
        if problems:
            assert response["status"] == "partial"
        for result in response["results"]:
            source = result["metadata"]
            assert is_url(source["url"])
            assert source["created_at"] is None or datetime.fromisoformat(source["created_at"])
        named = [f"{len(problems):,} damaged point"] if problems else []
        assert all(any(part in warning for warning in response["warnings"]) for part in named)

        answer = interfaces.opened.search(QUERY, top_k=100)
        assert {str(point.point_id): point.document_id for point in answer.damaged} == {
            point["point_id"]: point["document_id"] for point in response["damaged"]
        }
        shorter = pertinent.retrieve(QUERY, top_k=LIST)
        assert len(shorter["results"]) == min(LIST, POINTS - len(problems))
        assert names_damage(shorter["metadata"]["notes"]) >= (len(problems) > POINTS - LIST)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            chunks = pertinent.retrieve_content_chunks(HashedWords().embed_queries([QUERY])[0].tolist(), 20)
        assert len(chunks) == len(shorter["results"])
        assert names_damage(str(warning.message) for warning in caught) >= (len(problems) > POINTS - LIST)
        interfaces.post("/search", {"query": QUERY, "top_k": 20})
        expected = [chunk.chunk_id for chunk in chunks[:1]]
        if (
            set(expected) == interfaces.opened.workspace.read_texts(expected).keys()
            and expected[0] == expected[0].strip()
        ):
            tests = [{"test_id": "one", "query_text": QUERY, "expected_results": [expected[0][:100]]}]
            run = interfaces.api.post("/api/v1/validate", json={"tests": tests, "top_k": 100})
            assert run.status_code in (200, 400), run.text
            if run.status_code == 200:
                assert names_damage(run.json()["warnings"]) == bool(problems)

    def _check_pages(self) -> None:
        interfaces = self.interfaces
        for page in interfaces.get("/api/v1/documents")["documents"]:
            response = interfaces.api.get(f"/api/v1/documents/{page['document_id']}")
            assert response.status_code in (200, 400, 404), response.text
        for payload in list(self.payloads.values())[:3]:
            response = interfaces.api.get(f"/api/v1/chunks/{payload['chunk_id']}", params={"around": 2})
            assert response.status_code in (200, 404), response.text

    def _check_commands(self, bad: Mapping[str, tuple[str, Any]]) -> None:
        interfaces = self.interfaces
        printed = interfaces.run("search", QUERY, "--json", "--top-k", "20")
        assert names_damage(printed["metadata"]["notes"]) >= (len(bad) > POINTS - LIST)
        report = interfaces.run("validate", self._golden(), "--json", "--audit", exits=(0, 1, 2))
        examined = interfaces.run("doctor", "--json", exits=(0, 1))
        findings = [finding for check in examined["checks"] for finding in check["findings"]]
        problems = [finding["problem"] for finding in findings]
        commands = [finding["run"] for finding in findings]
        inspected = interfaces.run("inspect", "--json")["damaged"]
        for point, (name, _) in bad.items():
            for lines in (report["issues"], report["audit"], problems, inspected):
                assert any(f"point {point}" in line and f"{name} " in line for line in lines), (
                    point,
                    name,
                    lines,
                )
        if bad:
            assert report["verdict"] != "PASS"
            remedies = ("pertinent reindex", "pertinent doctor --repair", "pipeline")
            assert any(remedy in command for command in commands for remedy in remedies)

    def _golden(self) -> Path:
        path = self.interfaces.folder.parent / "golden.json"
        label = {"page": "docs/motors.md", "grade": 1}
        queries = [{"id": "q", "text": QUERY, "top_k": 100, "labels": [label]}]
        path.write_text(json.dumps({"name": "fuzz", "queries": queries}))
        return path


def damage(points: list[str], bad: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """A few points with a field that is surely damaged, and others with a field of any JSON at all."""
    surely = st.sampled_from(sorted(bad)).flatmap(lambda name: st.tuples(st.just(name), bad[name]))
    perhaps = st.tuples(st.sampled_from(sorted(bad)), JSON_VALUES)
    batch = points[:8]
    further = points[8:12]
    return st.tuples(
        st.fixed_dictionaries({}, optional=dict.fromkeys(batch, surely)),
        st.fixed_dictionaries({}, optional=dict.fromkeys(further, perhaps)),
    )


def fuzz(damaging: Damaging, bad: Mapping[str, st.SearchStrategy[Any]], examples: int) -> None:
    points = sorted(damaging.payloads)

    @settings(max_examples=examples, derandomize=True, suppress_health_check=list(HealthCheck))
    @given_examples(damage(points, bad))
    def holds(changes: tuple[Any, Any]) -> None:
        damaging.check(*changes)

    # Every field at least once, a few points at a time.
    names = sorted(bad)
    worst = {name: None if name in ("text", "headings", "url_parents") else {"a": 1} for name in names}
    for start in range(0, len(names), 8):
        batch = names[start : start + 8]
        damaging.check({point: (name, worst[name]) for point, name in zip(points, batch, strict=False)}, {})
    holds()


@pytest.mark.slow
def test_rule_29_damage_in_own_points_is_named_by_every_interface(
    client: QdrantClient, collection: str, open_interfaces: OpenInterfaces
) -> None:
    with open_interfaces() as interfaces:
        fill(interfaces.opened.workspace)
        fuzz(Damaging(client, collection, interfaces), OWN_BAD, examples=12)
        # Repaired by the command that doctor names.
        records, _ = client.scroll(collection, limit=1)
        client.set_payload(collection, {"position": "x"}, [records[0].id], wait=True)
        assert interfaces.search()["status"] == "partial"
        with running_service(interfaces.opened.workspace) as url, PertinentClient(url) as remote:
            damaged = remote.search(QUERY, 100).damaged
            assert damaged == interfaces.opened.search(QUERY, 100).damaged != ()
        interfaces.opened.reindex()
        assert interfaces.search()["status"] == "success"
        assert interfaces.run("doctor", "--json")["sound"] is True


@pytest.mark.slow
def test_rule_29_damage_in_external_points_is_named_by_every_interface(
    client: QdrantClient, collection: str, open_interfaces: OpenInterfaces, tmp_path: Path
) -> None:
    source = Workspace(settings_in(tmp_path / "source"))
    fill(source)
    catalog = source.catalog()
    chunks = [chunk for page in catalog.pages() for chunk in catalog.chunks(page.document_id)]
    source.close()
    payloads = [{name: getattr(chunk, name) for name in BAD} for chunk in chunks]
    write(client, collection, payloads, [chunk.text for chunk in chunks])
    with open_interfaces() as interfaces:
        fuzz(Damaging(client, collection, interfaces), BAD, examples=12)
