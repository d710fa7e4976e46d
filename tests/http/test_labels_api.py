"""Labelling over HTTP, and the labelling session behind it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from schemathesis.generation import GenerationMode

from pertinent.errors import SettingsError
from pertinent.surfaces.http import labeling_session_builder, labels_api
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.validation.golden import formats
from pertinent.validation.golden import golden_set as files
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet, Label
from pertinent.validation.labels.agreement import GradesByPassage, PairAgreement
from pertinent.validation.labels.judgments import JudgmentLog
from pertinent.validation.labels.labeling_session import LabelingSession

from .conftest import Serve, Service, check_conformance, problem

LABELS = "/api/v1/labels"
QUERIES = ("the torque of joints", "services and requests")


def make_golden(*texts: str) -> GoldenSet:
    return GoldenSet(name="robots", queries=tuple(GoldenQuery(id=text, text=text) for text in texts))


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.yaml"
    files.dump_golden(make_golden(*QUERIES), path)
    return path


@pytest.fixture
def labelling(serve: Serve, golden: Path) -> Service:
    return serve(golden=golden)


def judge(service: Service, passage: dict[str, Any], grade: int | None, **fields: Any) -> Any:
    body = {"query_id": passage["query"]["id"], "chunk_id": passage["passage"]["chunk_id"], "grade": grade}
    return service.client.post(LABELS, json={**body, **fields})


def next_passage(service: Service, judge: str | None = None) -> dict[str, Any]:
    response = service.client.get(f"{LABELS}/next", params={"judge": judge} if judge else {})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


class TestLabelling:
    def test_next_passage_has_no_rank_or_score(self, labelling: Service) -> None:
        passage = next_passage(labelling)
        assert passage.keys() == {"query", "passage", "progress", "undoable"}
        assert passage["query"].keys() == {"id", "text"}
        assert passage["passage"].keys() == {"chunk_id", "title", "section", "content"}
        assert passage["progress"]["judged"] == 0
        assert passage["progress"]["total"] >= 20
        assert passage["undoable"] is False

    def test_judgment_is_on_disk_before_the_response(self, labelling: Service, golden: Path) -> None:
        passage = next_passage(labelling, "ann")
        then = judge(labelling, passage, 2, judge="ann", note="in  full").json()
        (judgment,) = JudgmentLog.for_golden_file(golden).read_effective()
        assert judgment.label is not None
        assert (judgment.judge, judgment.label.grade, judgment.label.note) == ("ann", 2, "in full")
        assert then["progress"]["judged"] == 1
        assert then["passage"]["chunk_id"] != passage["passage"]["chunk_id"]
        assert then == next_passage(labelling, "ann")
        assert next_passage(labelling, "ben")["progress"]["judged"] == 0
        assert formats.read_golden(str(golden)).queries[0].labels[0].judge == "ann"

    def test_undo_returns_the_passage_with_its_former_grade(self, labelling: Service, golden: Path) -> None:
        passage = next_passage(labelling)
        judge(labelling, passage, 1, note="perhaps")
        undone = labelling.client.post(f"{LABELS}/undo", json={}).json()
        assert (undone["query"], undone["passage"]) == (passage["query"], passage["passage"])
        assert (undone["grade"], undone["note"], undone["undoable"]) == (1, "perhaps", False)
        assert JudgmentLog.for_golden_file(golden).read_effective() == []
        second_undo = labelling.client.post(f"{LABELS}/undo", json={})
        assert "no judgment to undo" in problem(second_undo, 404, "not_found")

    def test_skipped_passage_comes_back_at_the_end(self, labelling: Service) -> None:
        first = next_passage(labelling)
        then = judge(labelling, first, None).json()
        assert then["progress"]["skipped"] == 1
        assert then["passage"] != first["passage"]
        while then["progress"]["judged"] < then["progress"]["total"] - 1:
            then = judge(labelling, then, 0).json()
        assert then["passage"] == first["passage"]
        assert judge(labelling, then, 0).json()["passage"] is None

    def test_concurrent_judges_lose_no_judgment(self, labelling: Service, golden: Path) -> None:
        session = LabelingSession.open(LocalPipeline(labelling.pertinent.workspace), str(golden))

        def sit(name: str) -> int:
            passage, count = next_passage(labelling, name), 0
            while passage["passage"]:
                passage, count = judge(labelling, passage, 1, judge=name).json(), count + 1
            return count

        with ThreadPoolExecutor(4) as pool:
            counts = list(pool.map(sit, ["ann", "ben", "ann", "eve"]))
        standing = JudgmentLog.for_golden_file(golden).read_effective()
        assert {judgment.judge for judgment in standing} == {"ann", "ben", "eve"}
        assert len(standing) == 3 * len(session.candidates)
        assert len(JudgmentLog.for_golden_file(golden).read()) == sum(counts)

    def test_agreement_lists_judges_and_disagreements(self, labelling: Service) -> None:
        assert labelling.client.get(f"{LABELS}/agreement").json() == {"judges": [], "pairs": []}
        passage = next_passage(labelling, "ann")
        judge(labelling, passage, 2, judge="ann")
        judge(labelling, passage, 0, judge="ben")
        agreement = labelling.client.get(f"{LABELS}/agreement").json()
        assert agreement["judges"] == [{"judge": "ann", "passages": 1}, {"judge": "ben", "passages": 1}]
        (pair,) = agreement["pairs"]
        assert (pair["n"], pair["same"], pair["kappa"]) == (1, 0, 0.0)
        (apart,) = pair["disagreements"]
        assert (apart["query"], apart["first"], apart["second"]) == (passage["query"], 2, 0)
        assert apart["breadcrumb"] == f"{passage['passage']['title']} › {passage['passage']['section']}"

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"grade": 3}, "grade: must be between 0 and 2, not 3"),
            ({"grade": -1}, "grade"),
            ({"grade": True}, "grade"),
            ({"grade": "2"}, "grade"),
            ({"judge": "x" * 61}, "judge"),
            ({"judge": 7}, "judge"),
            ({"note": "x" * 1001}, "note"),
            ({"query_id": ""}, "query_id"),
            ({"rank": 1}, "rank: there is no such field"),
        ],
    )
    def test_invalid_judgment_is_refused_and_not_saved(
        self, labelling: Service, golden: Path, change: dict[str, Any], message: str
    ) -> None:
        body = {"query_id": "q", "chunk_id": "c", "grade": 1, **change}
        assert message in problem(labelling.client.post(LABELS, json=body), 400, "validation_error")
        missing = labelling.client.post(LABELS, json={"query_id": "q", "chunk_id": "c"})
        assert "grade: must be given" in problem(missing, 400, "validation_error")
        assert not JudgmentLog.for_golden_file(golden).path.exists()

    def test_judgment_of_an_unknown_passage_is_not_found(self, labelling: Service, golden: Path) -> None:
        body = {"query_id": "no such query", "chunk_id": "no such chunk", "grade": 1}
        problem(labelling.client.post(LABELS, json=body), 404, "not_found")
        assert not JudgmentLog.for_golden_file(golden).path.exists()

    @pytest.mark.parametrize(
        "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
    )
    @pytest.mark.parametrize("route", ["", "/undo"])
    def test_judgment_needs_a_json_content_type(
        self, labelling: Service, golden: Path, kind: str | None, route: str
    ) -> None:
        passage = next_passage(labelling)
        judge(labelling, passage, 1)
        before = JudgmentLog.for_golden_file(golden).read()
        ids = f'"query_id": "{passage["query"]["id"]}", "chunk_id": "{passage["passage"]["chunk_id"]}"'
        body = f'{{{ids}, "grade": 2}}'
        headers = {"content-type": kind} if kind else {}
        content = "{}" if route else body
        response = labelling.client.post(f"{LABELS}{route}", content=content, headers=headers)
        problem(response, 400, "validation_error")
        assert JudgmentLog.for_golden_file(golden).read() == before

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_cross_site_judgment_is_forbidden(self, serve: Serve, golden: Path, site: str) -> None:
        service = serve(golden=golden, cors_origins=["https://friend.example"])
        passage = next_passage(service)
        service.client.headers.update({"sec-fetch-site": site, "origin": "https://evil.example"})
        assert "page of this service" in problem(judge(service, passage, 2), 403, "forbidden")
        problem(service.client.post(f"{LABELS}/undo", json={}), 403, "forbidden")
        service.client.headers["origin"] = "https://friend.example"
        assert judge(service, passage, 2).status_code == 200
        service.client.headers.update({"sec-fetch-site": "same-origin", "origin": "https://own.example"})
        assert service.client.post(f"{LABELS}/undo", json={}).status_code == 200

    def test_judgment_of_another_origin_is_forbidden(self, serve: Serve, golden: Path) -> None:
        """Browsers send no `Sec-Fetch-Site` to a service on plain HTTP, other than on this machine."""
        service = serve(golden=golden)
        passage = next_passage(service)
        service.client.headers["origin"] = "http://evil.example"
        problem(judge(service, passage, 2), 403, "forbidden")
        service.client.headers["origin"] = str(service.client.base_url)
        assert judge(service, passage, 2).status_code == 200

    def test_labels_without_a_golden_set_explain_the_setting(self, service: Service) -> None:
        for response in (
            service.client.get(f"{LABELS}/next"),
            service.client.post(LABELS, json={"query_id": "q", "chunk_id": "c", "grade": 1}),
            service.client.post(LABELS, json={}),
            service.client.post(f"{LABELS}/undo", json={}),
            service.client.get(f"{LABELS}/agreement"),
        ):
            assert "PERTINENT_GOLDEN" in problem(response, 404, "not_found")
        assert service.client.get("/label").status_code == 200


def block_builds(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let builds of the session wait until the event is set."""
    build, go = LabelingSession.open, threading.Event()

    def wait_and_build(*args: Any, **options: Any) -> LabelingSession:
        go.wait(20)
        return build(*args, **options)

    monkeypatch.setattr(LabelingSession, "open", wait_and_build)
    monkeypatch.setattr(labeling_session_builder, "WAIT_SECONDS", 0.1)
    return go


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


class TestSessionBuilder:
    def test_unreadable_golden_set_is_an_error_at_start(self, serve: Serve, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="can't be read"):
            serve(golden=tmp_path / "none.yaml")
        broken = tmp_path / "broken.yaml"
        broken.write_text("queries: 7", encoding="utf-8")
        with pytest.raises(SettingsError, match="queries"):
            serve(golden=broken)

    def test_golden_set_that_breaks_later_is_logged_and_a_503(self, labelling: Service, golden: Path) -> None:
        next_passage(labelling)
        content = golden.read_bytes()
        for spoil in (lambda: golden.write_text("queries: 7"), golden.unlink):
            spoil()
            problem(labelling.client.get(f"{LABELS}/next"), 503, "service_unavailable")
            assert str(golden) in labelling.lines("labelling")[-1]["detail"]
        golden.write_bytes(content)
        assert next_passage(labelling)["passage"]
        log = JudgmentLog.for_golden_file(golden).path
        log.write_text("spoilt\n", encoding="utf-8")
        problem(labelling.client.get(f"{LABELS}/next"), 503, "service_unavailable")
        assert "line 1 is not JSON" in labelling.lines("labelling")[-1]["detail"]
        log.unlink()
        assert next_passage(labelling)["passage"]

    def test_unwritable_log_is_a_503(self, labelling: Service, golden: Path) -> None:
        passage = next_passage(labelling)
        JudgmentLog.for_golden_file(golden).path.mkdir()
        problem(judge(labelling, passage, 2), 503, "service_unavailable")

    def test_session_reloads_a_changed_golden_set(self, labelling: Service, golden: Path) -> None:
        before = next_passage(labelling)["progress"]["total"]
        files.dump_golden(make_golden(*QUERIES, "backlash of gears"), golden)
        assert next_passage(labelling)["progress"]["total"] > before

    def test_previous_session_is_used_during_a_rebuild(
        self, labelling: Service, golden: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = next_passage(labelling)
        go = block_builds(monkeypatch)
        files.dump_golden(make_golden("services and requests"), golden)
        assert next_passage(labelling) == first
        go.set()
        wait_until(lambda: next_passage(labelling)["query"] != first["query"])

    def test_session_reports_its_progress_until_it_is_ready(
        self, serve: Serve, golden: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go = block_builds(monkeypatch)
        service = serve(golden=golden)
        response = service.client.get(f"{LABELS}/next")
        assert "0 of 2 queries" in problem(response, 503, "service_unavailable")
        assert response.headers["retry-after"] == "1"
        assert service.search().status_code == 200  # searches do not wait for the build
        go.set()
        wait_until(lambda: service.client.get(f"{LABELS}/next").status_code == 200)

    def test_silent_catalog_stops_no_other_request(
        self, labelling: Service, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The version of an index on a server is read from the catalog."""
        workspace = labelling.pertinent.workspace
        asked, released = threading.Event(), threading.Event()

        def wait_for_release() -> int:
            asked.set()
            assert released.wait(5), "the service answers nobody while the catalog is silent"
            return 1

        monkeypatch.setattr(type(workspace.index()), "version", None)
        monkeypatch.setattr(workspace.catalog(), "vocabulary_version", wait_for_release)
        with ThreadPoolExecutor(1) as pool:
            response = pool.submit(next_passage, labelling)
            assert asked.wait(10)
            assert labelling.client.get("/livez").status_code == 200
            released.set()
            assert response.result()["passage"]

    def test_slow_work_of_labelling_stops_no_search(
        self, labelling: Service, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert next_passage(labelling)["passage"]
        asked, released = threading.Event(), threading.Event()

        def wait_for_release(grades: GradesByPassage) -> list[PairAgreement]:
            asked.set()
            assert released.wait(20), "no search is answered meanwhile"
            return []

        monkeypatch.setattr(labels_api, "measure_agreement", wait_for_release)
        with ThreadPoolExecutor(4) as pool:
            waiting = [pool.submit(labelling.client.get, f"{LABELS}/agreement") for _ in range(4)]
            assert asked.wait(10)
            assert labelling.search().status_code == 200
            released.set()
            assert {response.result().status_code for response in waiting} == {200}

    def test_section_label_of_the_golden_file_counts_as_judged(self, serve: Serve, golden: Path) -> None:
        label = Label(grade=2, page="docs/joints.md", anchor="the-torque")
        query = GoldenQuery(id="q", text="the torque of joints", labels=(label,))
        files.dump_golden(GoldenSet(queries=(query,)), golden)
        assert next_passage(serve(golden=golden))["progress"]["judged"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", f"{LABELS}/next"), ("POST", LABELS), ("POST", f"{LABELS}/undo"), ("GET", f"{LABELS}/agreement")],
)
def test_label_routes_conform_to_their_openapi_description(
    labelling: Service, method: str, path: str, mode: GenerationMode
) -> None:
    operation = schemathesis.openapi.from_asgi("/openapi.json", labelling.app)[path][method]
    check_conformance(operation, mode, examples=40)
