"""Labelling over HTTP, and the pages of the reports."""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.generation import GenerationMode

from pertinent.errors import SettingsError
from pertinent.surfaces.http import label_desk
from pertinent.surfaces.http.problems import KINDS
from pertinent.surfaces.http.report_list import MOST, ReportList
from pertinent.surfaces.http.reports_pages import REPORT_POLICY
from pertinent.surfaces.subjects import Local
from pertinent.validation import report
from pertinent.validation.criteria import Criteria
from pertinent.validation.golden import formats as exchange
from pertinent.validation.golden import golden_set as files
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet, Label
from pertinent.validation.labels.judgments import JudgmentLog
from pertinent.validation.labels.labeling_session import LabelingSession
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import Options, validate
from pertinent.workspace.workspace import Workspace

from .conftest import Serve, Service, problem

LABELS = "/api/v1/labels"


def asked(*texts: str) -> GoldenSet:
    return GoldenSet(name="robots", queries=tuple(GoldenQuery(id=text, text=text) for text in texts))


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.yaml"
    files.dump_golden(asked("the torque of joints", "services and requests"), path)
    return path


@pytest.fixture
def labelling(serve: Serve, golden: Path) -> Service:
    return serve(golden=golden)


def judge(service: Service, shown: dict[str, Any], grade: int | None, **others: Any) -> Any:
    body = {"query_id": shown["query"]["id"], "chunk_id": shown["passage"]["chunk_id"], "grade": grade}
    return service.client.post(LABELS, json={**body, **others})


def following(service: Service, judge: str | None = None) -> dict[str, Any]:
    response = service.client.get(f"{LABELS}/next", params={"judge": judge} if judge else {})
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


class TestLabelling:
    def test_passages_come_one_at_a_time_without_rank_or_score(self, labelling: Service) -> None:
        shown = following(labelling)
        assert shown.keys() == {"query", "passage", "progress", "undoable"}
        assert shown["query"].keys() == {"id", "text"}
        assert shown["passage"].keys() == {"chunk_id", "title", "section", "content"}
        assert shown["progress"]["judged"] == 0
        assert shown["progress"]["total"] >= 20
        assert shown["undoable"] is False

    def test_a_judgment_is_on_the_disk_when_it_is_answered(self, labelling: Service, golden: Path) -> None:
        shown = following(labelling, "ann")
        then = judge(labelling, shown, 2, judge="ann", note="in  full").json()
        (said,) = JudgmentLog.beside(golden).read_effective()
        assert said.label is not None
        assert (said.judge, said.label.grade, said.label.note) == ("ann", 2, "in full")
        assert then["progress"]["judged"] == 1
        assert then["passage"]["chunk_id"] != shown["passage"]["chunk_id"]
        assert then == following(labelling, "ann")
        assert following(labelling, "ben")["progress"]["judged"] == 0
        assert exchange.read_golden(str(golden)).queries[0].labels[0].judge == "ann"

    def test_undo_gives_the_passage_back_with_what_was_said(self, labelling: Service, golden: Path) -> None:
        shown = following(labelling)
        judge(labelling, shown, 1, note="perhaps")
        taken = labelling.client.post(f"{LABELS}/undo", json={}).json()
        assert (taken["query"], taken["passage"]) == (shown["query"], shown["passage"])
        assert (taken["grade"], taken["note"], taken["undoable"]) == (1, "perhaps", False)
        assert JudgmentLog.beside(golden).read_effective() == []
        again = labelling.client.post(f"{LABELS}/undo", json={})
        assert "no judgment to take back" in problem(again, 404, "not_found")

    def test_what_is_skipped_comes_again_at_the_end(self, labelling: Service) -> None:
        first = following(labelling)
        then = judge(labelling, first, None).json()
        assert then["progress"]["skipped"] == 1
        assert then["passage"] != first["passage"]
        while then["progress"]["judged"] < then["progress"]["total"] - 1:
            then = judge(labelling, then, 0).json()
        assert then["passage"] == first["passage"]
        assert judge(labelling, then, 0).json()["passage"] is None

    def test_two_browsers_at_once_lose_nothing(self, labelling: Service, golden: Path) -> None:
        desk = LabelingSession.open(Local(labelling.pertinent.workspace), str(golden))

        def sit(name: str) -> int:
            shown, count = following(labelling, name), 0
            while shown["passage"]:
                shown, count = judge(labelling, shown, 1, judge=name).json(), count + 1
            return count

        with ThreadPoolExecutor(4) as pool:
            counts = list(pool.map(sit, ["ann", "ben", "ann", "eve"]))
        standing = JudgmentLog.beside(golden).read_effective()
        assert {one.judge for one in standing} == {"ann", "ben", "eve"}
        assert len(standing) == 3 * len(desk.candidates)
        assert len(JudgmentLog.beside(golden).read()) == sum(counts)

    def test_the_agreement_of_the_judges(self, labelling: Service) -> None:
        assert labelling.client.get(f"{LABELS}/agreement").json() == {"judges": [], "pairs": []}
        shown = following(labelling, "ann")
        judge(labelling, shown, 2, judge="ann")
        judge(labelling, shown, 0, judge="ben")
        told = labelling.client.get(f"{LABELS}/agreement").json()
        assert told["judges"] == [{"judge": "ann", "passages": 1}, {"judge": "ben", "passages": 1}]
        (pair,) = told["pairs"]
        assert (pair["n"], pair["same"], pair["kappa"]) == (1, 0, 0.0)
        (apart,) = pair["disagreements"]
        assert (apart["query"], apart["first"], apart["second"]) == (shown["query"], 2, 0)
        assert apart["breadcrumb"] == f"{shown['passage']['title']} › {shown['passage']['section']}"

    @pytest.mark.parametrize(
        ("change", "said"),
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
    def test_what_is_out_of_range_is_refused_and_nothing_saved(
        self, labelling: Service, golden: Path, change: dict[str, Any], said: str
    ) -> None:
        body = {"query_id": "q", "chunk_id": "c", "grade": 1, **change}
        assert said in problem(labelling.client.post(LABELS, json=body), 400, "validation_error")
        missing = labelling.client.post(LABELS, json={"query_id": "q", "chunk_id": "c"})
        assert "grade: must be given" in problem(missing, 400, "validation_error")
        assert not JudgmentLog.beside(golden).path.exists()

    def test_a_passage_that_is_not_to_be_judged_is_not_found(self, labelling: Service, golden: Path) -> None:
        body = {"query_id": "no such query", "chunk_id": "no such chunk", "grade": 1}
        problem(labelling.client.post(LABELS, json=body), 404, "not_found")
        assert not JudgmentLog.beside(golden).path.exists()

    @pytest.mark.parametrize(
        "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None]
    )
    @pytest.mark.parametrize("route", ["", "/undo"])
    def test_a_body_that_any_page_could_send_is_refused(
        self, labelling: Service, golden: Path, kind: str | None, route: str
    ) -> None:
        shown = following(labelling)
        judge(labelling, shown, 1)
        before = JudgmentLog.beside(golden).read()
        ids = f'"query_id": "{shown["query"]["id"]}", "chunk_id": "{shown["passage"]["chunk_id"]}"'
        body = f'{{{ids}, "grade": 2}}'
        headers = {"content-type": kind} if kind else {}
        response = labelling.client.post(
            f"{LABELS}{route}", content=body if not route else "{}", headers=headers
        )
        problem(response, 400, "validation_error")
        assert JudgmentLog.beside(golden).read() == before

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_a_page_of_another_site_can_not_judge(self, serve: Serve, golden: Path, site: str) -> None:
        service = serve(golden=golden, cors_origins=["https://friend.example"])
        shown = following(service)
        service.client.headers.update({"sec-fetch-site": site, "origin": "https://evil.example"})
        assert "page of this service" in problem(judge(service, shown, 2), 403, "forbidden")
        problem(service.client.post(f"{LABELS}/undo", json={}), 403, "forbidden")
        service.client.headers["origin"] = "https://friend.example"
        assert judge(service, shown, 2).status_code == 200
        service.client.headers.update({"sec-fetch-site": "same-origin", "origin": "https://own.example"})
        assert service.client.post(f"{LABELS}/undo", json={}).status_code == 200

    def test_keys_are_asked_for(self, serve: Serve, golden: Path) -> None:
        service = serve(golden=golden, api_keys=["a-long-key"])
        for path in ("/label", "/reports", f"{LABELS}/next", f"{LABELS}/agreement"):
            problem(service.client.get(path), 401, "unauthorized")
        problem(service.client.post(f"{LABELS}/undo", json={}), 401, "unauthorized")
        assert service.client.get("/label", headers={"x-api-key": "a-long-key"}).status_code == 200

    def test_without_a_golden_set_it_says_how_to_set_one(self, service: Service) -> None:
        for response in (
            service.client.get(f"{LABELS}/next"),
            service.client.post(LABELS, json={"query_id": "q", "chunk_id": "c", "grade": 1}),
            service.client.post(LABELS, json={}),
            service.client.post(f"{LABELS}/undo", json={}),
            service.client.get(f"{LABELS}/agreement"),
        ):
            assert "PERTINENT_GOLDEN" in problem(response, 404, "not_found")
        assert service.client.get("/label").status_code == 200


class TestDeskOfTheService:
    def test_a_golden_set_that_can_not_be_read_is_an_error_at_start(
        self, serve: Serve, tmp_path: Path
    ) -> None:
        with pytest.raises(SettingsError, match="can't be read"):
            serve(golden=tmp_path / "none.yaml")
        broken = tmp_path / "broken.yaml"
        broken.write_text("queries: 7", encoding="utf-8")
        with pytest.raises(SettingsError, match="queries"):
            serve(golden=broken)

    def test_one_that_breaks_later_is_told_in_general_and_logged_in_particular(
        self, labelling: Service, golden: Path
    ) -> None:
        following(labelling)
        whole = golden.read_bytes()
        for spoil in (lambda: golden.write_text("queries: 7"), golden.unlink):
            spoil()
            problem(labelling.client.get(f"{LABELS}/next"), 503, "service_unavailable")
            assert str(golden) in labelling.lines("labelling")[-1]["detail"]
        golden.write_bytes(whole)
        assert following(labelling)["passage"]
        log = JudgmentLog.beside(golden).path
        log.write_text("spoilt\n", encoding="utf-8")
        problem(labelling.client.get(f"{LABELS}/next"), 503, "service_unavailable")
        assert "line 1 is not JSON" in labelling.lines("labelling")[-1]["detail"]
        log.unlink()
        assert following(labelling)["passage"]

    def test_a_file_that_can_not_be_written_saves_nothing_and_says_so(
        self, labelling: Service, golden: Path
    ) -> None:
        shown = following(labelling)
        JudgmentLog.beside(golden).path.mkdir()
        problem(judge(labelling, shown, 2), 503, "service_unavailable")

    def test_a_new_query_is_seen_without_a_restart(self, labelling: Service, golden: Path) -> None:
        before = following(labelling)["progress"]["total"]
        files.dump_golden(asked("the torque of joints", "services and requests", "backlash of gears"), golden)
        assert following(labelling)["progress"]["total"] > before

    def test_a_judge_need_not_wait_for_a_desk_that_is_made_anew(
        self, labelling: Service, golden: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = following(labelling)
        made, go = LabelingSession.open, threading.Event()

        def slow(*arguments: Any, **others: Any) -> LabelingSession:
            go.wait(20)
            return made(*arguments, **others)

        monkeypatch.setattr(LabelingSession, "open", slow)
        monkeypatch.setattr(label_desk, "PATIENCE_SECONDS", 0.1)
        files.dump_golden(asked("services and requests"), golden)
        assert following(labelling) == first
        go.set()
        until = time.monotonic() + 20
        while following(labelling)["query"] == first["query"]:
            assert time.monotonic() < until
            time.sleep(0.05)

    def test_until_there_is_a_desk_it_says_how_far_it_is(
        self, serve: Serve, golden: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made, go = LabelingSession.open, threading.Event()

        def slow(*arguments: Any, **others: Any) -> LabelingSession:
            go.wait(20)
            return made(*arguments, **others)

        monkeypatch.setattr(LabelingSession, "open", slow)
        monkeypatch.setattr(label_desk, "PATIENCE_SECONDS", 0.1)
        service = serve(golden=golden)
        response = service.client.get(f"{LABELS}/next")
        assert "0 of 2 queries" in problem(response, 503, "service_unavailable")
        assert response.headers["retry-after"] == "1"
        assert service.search().status_code == 200  # which nobody holds up
        go.set()
        until = time.monotonic() + 20
        while service.client.get(f"{LABELS}/next").status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.05)

    def test_what_a_section_label_of_the_file_covers_is_judged_already(
        self, serve: Serve, golden: Path
    ) -> None:
        label = Label(grade=2, page="docs/joints.md", anchor="the-torque")
        query = GoldenQuery(id="q", text="the torque of joints", labels=(label,))
        files.dump_golden(GoldenSet(queries=(query,)), golden)
        assert following(serve(golden=golden))["progress"]["judged"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", f"{LABELS}/next"), ("POST", LABELS), ("POST", f"{LABELS}/undo"), ("GET", f"{LABELS}/agreement")],
)
def test_the_routes_do_as_they_are_described(
    labelling: Service, method: str, path: str, mode: GenerationMode
) -> None:
    operation = schemathesis.openapi.from_asgi("/openapi.json", labelling.app)[path][method]

    @settings(max_examples=40, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def holds(case: Any) -> None:
        response = case.call_and_validate()
        assert response.status_code < 500
        if response.status_code >= 400:
            assert KINDS[response.status_code][0] == response.json()["error"]

    if operation.body or operation.query or mode is GenerationMode.POSITIVE:
        holds()


# ── reports ───────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def reported(book: Workspace) -> ValidationReport:
    """A report over the book."""
    labels = (Label(grade=2, page="docs/joints.md", anchor="the-torque"),)
    queries = (
        GoldenQuery(id="torque", text="the torque of joints", labels=labels),
        GoldenQuery(id="markup", text="<script>alert(1)</script> is a script tag", labels=labels),
    )
    asked = GoldenSet(name='<b>"robots"', queries=queries, criteria=Criteria(precision_at_5=0.2, mrr=1.0))
    return validate(Local(book), asked, Options(together=False))


def saved(folder: Path, found: ValidationReport, day: int, **changes: Any) -> str:
    stamped = found.model_copy(update={"timestamp": f"2026-01-{day:02}T12:00:00Z", **changes})
    return report.save(stamped, folder).name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "validation_results"


@pytest.fixture
def reading(serve: Serve, folder: Path) -> Service:
    return serve(reports=folder)


class TestReports:
    def test_an_empty_folder_says_how_to_fill_it(self, reading: Service) -> None:
        page = reading.client.get("/reports")
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "pertinent validate" in page.text
        assert "<table" not in page.text

    def test_the_list_has_each_report_newest_first(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        names = [saved(folder, reported, day, mrr=day / 10, mrr_answerable=day / 8) for day in (3, 1, 2)]
        page = reading.client.get("/reports").text
        rows = re.findall(r'href="reports/(report_[^"]+)"', page)
        assert rows == sorted(names, reverse=True)
        for name, value in (("MRR, all", "0.300"), ("MRR, answerable", "0.375")):
            assert f'data-name="{name}">{value}<' in page
        assert "Mean P@5, answerable" in page
        assert "Mean P@5, all" in page
        assert "FAIL" in page
        assert "2026-01-03 12:00 UTC" in page
        checked = re.findall(r'name="(before|after)" value="([^"]+)" required checked', page)
        assert checked == [("after", sorted(names)[2]), ("before", sorted(names)[1])]

    def test_the_trend_is_of_reports_of_one_golden_set(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        saved(folder, reported, 1)
        assert "<svg" not in reading.client.get("/reports").text
        saved(folder, reported, 2, fingerprints={**reported.fingerprints, "golden": "another"})
        assert "<svg" not in reading.client.get("/reports").text
        saved(folder, reported, 3, p95_latency_ms=12.5)
        page = reading.client.get("/reports").text
        plots = re.findall(r"<svg.*?</svg>", page, re.S)
        assert len(plots) == 3
        assert [plot.count("<circle") for plot in plots] == [2, 2, 2]
        assert re.search(r"2026-01-03 12:00 UTC: 12\sms, FAIL", plots[2])
        names = [unescape(one) for one in re.findall(r'aria-label="([^"]+):', "".join(plots))]
        assert names == ["Queries with P@5 ≥ 0.20", "MRR (answerable)", "p95 latency"]

    def test_what_was_not_judged_has_no_figure_and_no_plot(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        criteria = [
            one.model_copy(update={"passed": None}) if one.name.startswith("queries with") else one
            for one in reported.criteria
        ]
        for day in (1, 2):
            saved(folder, reported, day, criteria=criteria)
        page = reading.client.get("/reports").text
        assert 'data-name="P@5 share">–<' in page
        names = [unescape(one) for one in re.findall(r'<svg[^>]*aria-label="([^"]+):', page)]
        assert names == ["MRR (answerable)", "p95 latency"]

    @pytest.mark.parametrize(
        ("changes", "title"),
        [
            ({"limit": 1}, "hybrid ranking, the first query only"),
            ({"limit": 20}, "hybrid ranking, the first 20 queries only"),
            ({"threshold": 0.3}, "hybrid ranking, threshold 0.3"),
            ({"ranking": "dense"}, "dense ranking"),
        ],
    )
    def test_runs_that_were_asked_in_another_way_have_a_trend_of_their_own(
        self,
        reading: Service,
        folder: Path,
        reported: ValidationReport,
        changes: dict[str, Any],
        title: str,
    ) -> None:
        way = {
            "options": {**reported.options, **changes},
            "fingerprints": reported.fingerprints | {"ranking": changes.get("ranking", "hybrid")},
        }
        for day in (1, 3, 5):
            saved(folder, reported, day)
        for day in (2, 4):
            saved(folder, reported, day, **way)
        page = unescape(reading.client.get("/reports").text)
        plots = re.findall(r"<svg.*?</svg>", page, re.S)
        assert [plot.count("<circle") for plot in plots] == [3, 3, 3, 2, 2, 2]
        headings = re.findall(r'<h2 id="trend-\d">([^<\n]*)', page.replace("<b>", "("))
        assert [heading.strip() for heading in headings] == [
            '("robots", hybrid ranking',
            f'("robots", {title}',
        ]

    def test_what_others_wrote_is_text_on_every_page(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        one = saved(folder, reported, 1)
        two = saved(folder, reported.model_copy(update={"summary": f'{reported.verdict}: "><img src=x>'}), 2)
        for path in ("/reports", f"/reports/compare?before={one}&after={two}", f"/reports/{two}"):
            page = reading.client.get(path)
            assert page.status_code == 200, page.text
            for mark in ('<b>"', "<b>&", "<img src=x", "<script"):
                assert mark not in page.text, path

    def test_a_report_is_a_page_of_its_own_without_scripts(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        name = saved(folder, reported, 1)
        page = reading.client.get(f"/reports/{name}")
        assert page.status_code == 200
        assert page.headers["content-security-policy"] == REPORT_POLICY
        assert REPORT_POLICY.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
        assert "the torque of joints" in page.text

    @pytest.mark.parametrize(
        "name",
        [
            "report_20260101_120000.json.bak",
            "..%2f..%2fetc%2fpasswd",
            "%2e%2e%2fgolden.yaml",
            "report_20260101_120000.json%00",
            "report_20260101_120000.html",
            "report_1.json",
            "report_29990101_000000.json",
            "report_20260101_120000.json%2f..%2f..%2fhidden",
        ],
    )
    def test_only_the_names_of_reports_are_known(self, reading: Service, folder: Path, name: str) -> None:
        folder.mkdir()
        (folder.parent / "golden.yaml").write_text("secret")
        (folder / "report_20260101_120000.json.bak").write_text("secret")
        assert "secret" not in problem(reading.client.get(f"/reports/{name}"), 404, "not_found")
        compared = reading.client.get(f"/reports/compare?before={name}&after={name}")
        problem(compared, 404, "not_found")

    def test_a_file_that_is_no_report_is_named_and_breaks_nothing(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        saved(folder, reported, 1)
        (folder / "report_20260102_120000.json").write_text('{"verdict": "PASS"}')
        page = reading.client.get("/reports").text
        assert "report_20260102_120000.json" in page
        assert "can't be read as a report" in page
        problem(reading.client.get("/reports/report_20260102_120000.json"), 404, "not_found")

    def test_two_reports_side_by_side(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        worse = [case.model_copy(update={"status": "failed"}) for case in reported.test_cases]
        good = [case.model_copy(update={"status": "passed"}) for case in reported.test_cases]
        one = saved(folder, reported, 1, test_cases=good)
        two = saved(folder, reported, 2, test_cases=worse)
        page = unescape(reading.client.get(f"/reports/compare?before={one}&after={two}").text)
        for part in ("Before", "After", "2026-01-01 12:00 UTC", "nDCG@10", "no change", "passed → failed"):
            assert part in page
        assert re.search(r"Newly failing <span[^>]*>2<", page)

    def test_other_golden_sets_are_shown_side_by_side_but_not_compared(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        one = saved(folder, reported, 1)
        asked = [
            case.query.model_copy(update={"id": f"other-{case.query.id}"}) for case in reported.test_cases
        ]
        cases = [
            case.model_copy(update={"query": query})
            for case, query in zip(reported.test_cases, asked, strict=True)
        ]
        marks = {**reported.fingerprints, "golden": "another"}
        two = saved(folder, reported, 2, fingerprints=marks, test_cases=cases)
        page = reading.client.get(f"/reports/compare?before={one}&after={two}")
        assert page.status_code == 200
        assert "no answerable query in common" in page.text
        assert "Newly failing" not in page.text

    def test_other_labels_are_compared_and_said_first(
        self, reading: Service, folder: Path, reported: ValidationReport
    ) -> None:
        one = saved(folder, reported, 1)
        first, *others = reported.test_cases
        assert first.labels
        regraded = [label.model_copy(update={"grade": 3 - label.grade}) for label in first.labels]
        cases = [first.model_copy(update={"labels": regraded}), *others]
        marks = {**reported.fingerprints, "golden": "another"}
        two = saved(folder, reported, 2, fingerprints=marks, test_cases=cases)
        page = unescape(reading.client.get(f"/reports/compare?before={one}&after={two}").text)
        said = page.index(f"Scored with the labels of AFTER (golden set changed: {len(regraded)} label")
        assert said < page.index("Before") < page.index("nDCG@10")

    def test_both_must_be_named(self, reading: Service) -> None:
        problem(reading.client.get("/reports/compare"), 400, "validation_error")

    @pytest.mark.parametrize("path", ["/label", "/reports"])
    def test_the_pages_keep_the_strict_policy(self, reading: Service, path: str) -> None:
        page = reading.client.get(path)
        assert "unsafe" not in page.headers["content-security-policy"]
        for asset in re.findall(r'(?:src|href)="(static/[^"#]+)"', page.text):
            assert reading.client.get(f"/{asset}").status_code == 200, asset
        assert not re.search(r"<script>|style=|\son\w+=", page.text)

    def test_templates_are_not_served(self, reading: Service) -> None:
        assert reading.client.get("/static/reports.html.jinja").status_code == 404

    def test_each_file_is_read_once_and_again_when_it_changed(
        self, folder: Path, reported: ValidationReport, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        name = saved(folder, reported, 1)
        shelf = ReportList(folder)
        assert [one.name for one in shelf.read()[0]] == [name]
        monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("read again"))
        assert [one.name for one in shelf.read()[0]] == [name]
        monkeypatch.undo()
        (folder / name).write_text("{}")
        assert shelf.read() == ([], [name])
        (folder / name).unlink()
        assert shelf.read() == ([], [])

    def test_no_more_than_the_latest_are_listed(self, folder: Path, reported: ValidationReport) -> None:
        folder.mkdir()
        text = reported.model_copy(update={"test_cases": []}).model_dump_json()
        for number in range(MOST + 3):
            (folder / f"report_20260101_{number:06}.json").write_text(text)
        shorts, _ = ReportList(folder).read()
        assert len(shorts) == MOST
        assert shorts[0].name == f"report_20260101_{MOST + 2:06}.json"
