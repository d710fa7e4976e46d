"""The same golden set on a service over real HTTP, and on the pipeline behind it: the same verdict."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as qdrant
from fastapi import APIRouter

from pertinent._internal.progress import NoProgress
from pertinent.errors import IndexFailure, InvalidInput, SettingsError
from pertinent.identity import content_hash, point_id
from pertinent.ports import PageWrite
from pertinent.stores.candidates import DENSE
from pertinent.surfaces.http import audits_api
from pertinent.surfaces.reindex_gate import ReindexGate
from pertinent.surfaces.validation_targets import LocalPipeline, RemoteService, validate_golden
from pertinent.types import SearchOptions
from pertinent.validation.runner import QueryRunner
from pertinent.validation.target import ValidationTarget
from pertinent.validation.validate import NoVerdict, ValidationOptions, validate
from pertinent.workspace.reindex import reindex
from pertinent.workspace.workspace import Workspace

from ..servers.service import running_service
from .comparison.test_compare import compared
from .conftest import golden, has_issue
from .test_damage import passage, set_payload, shard


@contextmanager
def validation_target(stored: Workspace, surface: str) -> Iterator[ValidationTarget]:
    if surface == "local":
        yield LocalPipeline(stored)
        return
    with running_service(stored) as url:
        remote = RemoteService.connect(url)
        with remote.client:
            yield remote


def test_service_and_local_pipeline_get_the_same_verdict(stored: Workspace) -> None:
    local = validate(LocalPipeline(stored), golden(), ValidationOptions(audit=True))
    with running_service(stored) as url:
        remote = RemoteService.connect(url + "/")
        with remote.client:
            over_http = validate(remote, golden(), ValidationOptions(audit=True, concurrency=4))
    assert over_http.verdict == local.verdict == "PASS"
    assert over_http.metrics == local.metrics
    assert over_http.audit == local.audit == []
    for case, expected in zip(over_http.test_cases, local.test_cases, strict=True):
        assert case.actual_results == expected.actual_results
    for name in ("corpus", "golden"):
        assert over_http.fingerprints[name] == local.fingerprints[name]
    assert over_http.fingerprints["subject"].rstrip("/") == url


@pytest.mark.parametrize("surface", ["local", "service"])
def test_audit_finds_vectors_of_other_texts(stored: Workspace, surface: str) -> None:
    """Only the stores show it: pages, texts and hashes are right."""
    knee, camera = passage(stored, "knee", "shaft"), passage(stored, "camera", "shaft")
    index = stored.writable_index()
    vectors = index.vectors([point_id(knee.chunk_id), point_id(camera.chunk_id)])
    points: list[Any] = [
        qdrant.PointVectors(point_id(chunk.chunk_id), {DENSE: vectors[point_id(other.chunk_id)].tolist()})
        for chunk, other in ((knee, camera), (camera, knee))
    ]
    shard(stored).update(qdrant.UpdateOperation.update_vectors(points))
    with validation_target(stored, surface) as target:
        report = validate(target, golden(), ValidationOptions(together=False, audit=True))
    assert report.verdict == "FAIL"
    assert report.audit is not None
    assert report.audit[0].startswith("2 chunks with a damaged vector")
    assert report.audit[1].endswith(
        f"{min(knee.chunk_id, camera.chunk_id)}, {max(knee.chunk_id, camera.chunk_id)}"
    )


def test_audit_finds_a_page_that_is_indexed_twice(stored: Workspace) -> None:
    catalog = stored.writable_catalog()
    record = catalog.pages()[0]
    page = catalog.page(record.document_id)
    assert page is not None
    catalog.commit(
        "s", [PageWrite(replace(page, document_id=f"old-{record.document_id}"), record.page_hash, [])]
    )
    assert any(
        fault.startswith(f"1 page is indexed more than once: {record.url}")
        for fault in LocalPipeline(stored).audit()
    )


def test_audit_that_takes_longer_than_a_request_is_waited_for(
    stored: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    polled = threading.Event()

    def audit_slowly(_: Workspace) -> list[str]:
        assert polled.wait(60)
        return ["a fault"]

    monkeypatch.setattr("pertinent.surfaces.http.audit_queue.audit_stored_data", audit_slowly)
    monkeypatch.setattr("pertinent.surfaces.validation_targets.time.sleep", lambda _: polled.set())
    with running_service(stored, request_timeout=0.5) as url:
        remote = RemoteService.connect(url)
        with remote.client:
            assert remote.audit() == ["a fault"]


def test_audit_of_an_older_service_gives_no_verdict(
    stored: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no such route; what can't be checked must not pass."""
    monkeypatch.setattr(audits_api, "router", APIRouter())
    with (
        validation_target(stored, "service") as older,
        pytest.raises(NoVerdict, match=r"can't audit its stored data.*with the service stopped"),
    ):
        validate(older, golden(), ValidationOptions(together=False, audit=True))


@pytest.mark.parametrize("no_golden_set", [None, 5, b"golden.yaml"])
def test_golden_set_of_another_type_is_refused(pipeline: LocalPipeline, no_golden_set: Any) -> None:
    with pytest.raises(InvalidInput, match="golden: must be a file"):
        validate_golden(pipeline, no_golden_set, {})


@pytest.mark.parametrize("surface", ["local", "service"])
def test_pages_that_change_during_a_run_give_no_verdict(
    stored: Workspace, surface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = stored.writable_catalog()
    pages = [record.document_id for record in catalog.pages()]

    def sync(*arguments: Any) -> Any:
        """Another process removes a page while the queries run."""
        if pages:
            catalog.commit("a", [], removed=[pages.pop()])
        return search(*arguments)

    target_type = LocalPipeline if surface == "local" else RemoteService
    search = target_type.search
    monkeypatch.setattr(target_type, "search", sync)
    with validation_target(stored, surface) as target, pytest.raises(NoVerdict, match="pages changed during"):
        validate(target, golden(), ValidationOptions(together=False))


@pytest.mark.parametrize("surface", ["local", "service"])
def test_half_written_pages_give_no_verdict(stored: Workspace, surface: str) -> None:
    """A sync that began before the run, and commits after it, changes no record of a page meanwhile."""
    stored.writable_catalog().begin([stored.catalog().pages()[0].document_id])
    with (
        validation_target(stored, surface) as target,
        pytest.raises(NoVerdict, match="1 page is only partly"),
    ):
        validate(target, golden(), ValidationOptions(together=False))


def test_interrupted_sync_does_not_stop_a_validated_reindex(stored: Workspace, tmp_path: Path) -> None:
    stored.writable_catalog().begin([stored.catalog().pages()[0].document_id])
    path = tmp_path / "golden.json"
    path.write_text(golden().model_dump_json())
    summaries: list[str] = []
    reindex(stored, NoProgress(), ReindexGate(stored, path, summaries.append))
    assert [summary[:9] for summary in summaries] == ["new: PASS", "old: PASS"]


def test_validated_reindex_says_that_too_few_queries_are_not_judged(
    stored: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "golden.json"
    path.write_text(golden().model_dump_json())
    comparison = compared([0.8] * 5, [0.2] * 5)
    monkeypatch.setattr("pertinent.surfaces.reindex_gate.compare_reports", lambda *_: comparison)
    summaries: list[str] = []
    reindex(stored, NoProgress(), ReindexGate(stored, path, summaries.append))
    assert summaries[-1].startswith("old and new: not judged: at least 6 queries are needed")


@pytest.mark.parametrize("surface", ["local", "service"])
def test_sync_that_begins_during_a_run_gives_no_verdict(
    stored: Workspace, surface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begin_sync(runner: QueryRunner) -> None:
        stored.writable_catalog().begin(["a-new-page"])

    monkeypatch.setattr(QueryRunner, "warm_up", begin_sync)
    with validation_target(stored, surface) as target, pytest.raises(NoVerdict, match="a sync is running"):
        validate(target, golden(), ValidationOptions(together=False))


@pytest.mark.parametrize("surface", ["local", "service"])
def test_build_that_is_replaced_during_a_run_gives_no_verdict(
    stored: Workspace, surface: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def replace_build(runner: QueryRunner) -> None:
        fingerprint = stored.catalog().fingerprint()
        assert fingerprint is not None
        stored.writable_catalog().set_fingerprint(replace(fingerprint, build=2))

    monkeypatch.setattr(QueryRunner, "warm_up", replace_build)
    monkeypatch.setattr("pertinent.validation.validate.run_queries", lambda *_: [])
    with validation_target(stored, surface) as target, pytest.raises(NoVerdict, match="pages changed"):
        validate(target, golden(), ValidationOptions(together=False, diagnose=False))


STALE_TEXT = "The hinge of the knee, in words that its page no longer has."
STALE_FIELDS: list[dict[str, object]] = [
    {"text": STALE_TEXT, "content_hash": content_hash(STALE_TEXT)},
    {"url": "https://book.example/docs/another-page"},
    {"section": "Another section"},
    {"position": 4711},
]


@pytest.mark.parametrize("fields", STALE_FIELDS, ids=lambda fields: next(iter(fields)))
@pytest.mark.parametrize("surface", ["local", "service"])
def test_result_unlike_its_page_fails_and_is_named(
    stored: Workspace, surface: str, fields: dict[str, object]
) -> None:
    """The result is complete and its hash is right, but its page is another one."""
    chunk = passage(stored, "knee", "hinge")
    set_payload(stored, chunk, **fields)
    with validation_target(stored, surface) as target:
        report = validate(target, golden(), ValidationOptions(together=False))
    assert (report.metadata_completeness_rate, report.hash_validation_pass_rate) == (1.0, 1.0)
    assert report.verdict == "FAIL"
    assert "results unlike their page: 1 (target: 0)" in report.summary
    assert has_issue(report, f"result {chunk.chunk_id}", f"differs from its page in {', '.join(fields)}")


def test_service_applies_filters_and_ranking(stored: Workspace) -> None:
    data = golden().model_dump(mode="json")
    data["queries"][2]["filters"] = {"section": "The motor"}
    golden_set = golden().model_validate(data)
    with running_service(stored) as url:
        remote = RemoteService.connect(url)
        with remote.client:
            report = validate(remote, golden_set, ValidationOptions(ranking="lexical"))
    (case,) = (case for case in report.test_cases if case.query.id == "knee")
    assert {result.section for result in case.actual_results} == {"The motor"}
    assert all(result.similarity_score == result.lexical for result in case.actual_results)


def test_service_requires_the_api_key(stored: Workspace) -> None:
    with running_service(stored, api_keys=["a-secret-key"]) as url:
        remote = RemoteService.connect(url, "a-secret-key")
        with remote.client:
            assert remote.search("knee", SearchOptions(top_k=1)).hits
        for key in (None, "another-key"):
            remote = RemoteService.connect(url, key)
            with remote.client, pytest.raises(SettingsError, match="API key"):
                remote.search("knee", SearchOptions(top_k=1))


def test_request_is_retried_after_a_rate_limit(stored: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("pertinent.surfaces.client.client.time.sleep", waited.append)
    with running_service(stored, rate_limit=1) as url:
        remote = RemoteService.connect(url)
        with remote.client:
            remote.search("knee", SearchOptions(top_k=1))
            with pytest.raises(IndexFailure, match="429"):
                remote.search("knee", SearchOptions(top_k=1))
    assert len(waited) == 5
    assert all(0 < seconds <= 60 for seconds in waited)


def test_unreachable_service_gives_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pertinent.surfaces.client.connection.FIRST_WAIT_SECONDS", 0.01)
    remote = RemoteService.connect("http://127.0.0.1:1")
    with remote.client, pytest.raises(NoVerdict, match="does not answer"):
        validate(remote, golden())


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://x", ""])
def test_service_address_must_be_http(url: str) -> None:
    with pytest.raises(InvalidInput, match="http"):
        RemoteService.connect(url)


def answering(body: bytes, status: int) -> Callable[..., http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [(b"<html>", 200, "with JSON of"), (b"[]", 200, "with JSON of"), (b'{"message": "boom"}', 500, "boom")],
)
def test_unexpected_response_is_an_index_failure(body: bytes, status: int, message: str) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), answering(body, status)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        remote = RemoteService.connect(f"http://127.0.0.1:{server.server_port}")
        with remote.client, pytest.raises(IndexFailure, match=message):
            list(remote.pages())
        server.shutdown()
