"""The report pages: the list with trends, single reports and comparisons."""

from __future__ import annotations

import json
import os
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from pertinent.surfaces.http.report_folder import MAX_REPORTS, ReportFolder
from pertinent.surfaces.http.report_pages import REPORT_POLICY
from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.validation import report_files
from pertinent.validation.criteria import Criteria
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet, Label
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import ValidationOptions, validate
from pertinent.workspace.workspace import Workspace

from .conftest import Serve, Service, problem


@pytest.fixture(scope="module")
def reported(book: Workspace) -> ValidationReport:
    """A report over the book."""
    labels = (Label(grade=2, page="docs/joints.md", anchor="the-torque"),)
    queries = (
        GoldenQuery(id="torque", text="the torque of joints", labels=labels),
        GoldenQuery(id="markup", text="<script>alert(1)</script> is a script tag", labels=labels),
    )
    criteria = Criteria(precision_at_5=0.2, mrr=1.0)
    golden_set = GoldenSet(name='<b>"robots"', queries=queries, criteria=criteria)
    return validate(LocalPipeline(book), golden_set, ValidationOptions(together=False))


def saved(folder: Path, source: ValidationReport, day: int, **changes: Any) -> str:
    stamped = source.model_copy(update={"timestamp": f"2026-01-{day:02}T12:00:00Z", **changes})
    return report_files.save_report(stamped, folder).name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "validation_results"


@pytest.fixture
def reading(serve: Serve, folder: Path) -> Service:
    return serve(reports=folder)


def test_empty_report_folder_says_how_to_fill_it(reading: Service) -> None:
    page = reading.client.get("/reports")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "pertinent validate" in page.text
    assert "<table" not in page.text


def test_reports_are_listed_newest_first(reading: Service, folder: Path, reported: ValidationReport) -> None:
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


def test_trend_is_of_one_golden_set(reading: Service, folder: Path, reported: ValidationReport) -> None:
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
    names = [unescape(match) for match in re.findall(r'aria-label="([^"]+):', "".join(plots))]
    assert names == ["Queries with P@5 ≥ 0.20", "MRR (answerable)", "p95 latency"]


def test_empty_measure_has_no_plot(reading: Service, folder: Path, reported: ValidationReport) -> None:
    criteria = [
        criterion.model_copy(update={"passed": None} if criterion.name.startswith("queries with") else {})
        for criterion in reported.criteria
    ]
    for day in (1, 2):
        saved(folder, reported, day, criteria=criteria)
    page = reading.client.get("/reports").text
    assert 'data-name="P@5 share">–<' in page
    names = [unescape(match) for match in re.findall(r'<svg[^>]*aria-label="([^"]+):', page)]
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
def test_runs_with_other_options_have_their_own_trend(
    reading: Service, folder: Path, reported: ValidationReport, changes: dict[str, Any], title: str
) -> None:
    options = {**reported.options, **changes}
    fingerprints = reported.fingerprints | {"ranking": changes.get("ranking", "hybrid")}
    for day in (1, 3, 5):
        saved(folder, reported, day)
    for day in (2, 4):
        saved(folder, reported, day, options=options, fingerprints=fingerprints)
    page = unescape(reading.client.get("/reports").text)
    plots = re.findall(r"<svg.*?</svg>", page, re.S)
    assert [plot.count("<circle") for plot in plots] == [3, 3, 3, 2, 2, 2]
    headings = re.findall(r'<h2 id="trend-\d">([^<\n]*)', page.replace("<b>", "("))
    assert [heading.strip() for heading in headings] == ['("robots", hybrid ranking', f'("robots", {title}']


def test_report_pages_escape_all_texts(reading: Service, folder: Path, reported: ValidationReport) -> None:
    report_name = saved(folder, reported, 1)
    two = saved(folder, reported.model_copy(update={"summary": f'{reported.verdict}: "><img src=x>'}), 2)
    for path in ("/reports", f"/reports/compare?before={report_name}&after={two}", f"/reports/{two}"):
        page = reading.client.get(path)
        assert page.status_code == 200, page.text
        for mark in ('<b>"', "<b>&", "<img src=x", "<script"):
            assert mark not in page.text, path


def test_report_is_a_self_contained_page_without_scripts(
    reading: Service, folder: Path, reported: ValidationReport
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
        "report_20260101_120000.json.bak", "..%2f..%2fetc%2fpasswd", "%2e%2e%2fgolden.yaml",
        "report_20260101_120000.json%00", "report_20260101_120000.html", "report_1.json",
        "report_29990101_000000.json", "report_20260101_120000.json%2f..%2f..%2fhidden",
    ],
)  # fmt: skip
def test_only_report_file_names_are_served(reading: Service, folder: Path, name: str) -> None:
    folder.mkdir()
    (folder.parent / "golden.yaml").write_text("secret")
    (folder / "report_20260101_120000.json.bak").write_text("secret")
    assert "secret" not in problem(reading.client.get(f"/reports/{name}"), 404, "not_found")
    compared = reading.client.get(f"/reports/compare?before={name}&after={name}")
    problem(compared, 404, "not_found")


def test_unreadable_report_file_is_named(reading: Service, folder: Path, reported: ValidationReport) -> None:
    saved(folder, reported, 1)
    (folder / "report_20260102_120000.json").write_text('{"verdict": "PASS"}')
    page = reading.client.get("/reports").text
    assert "report_20260102_120000.json" in page
    assert "can't be read as a report" in page
    problem(reading.client.get("/reports/report_20260102_120000.json"), 404, "not_found")


def test_report_with_a_number_of_400_digits_is_no_server_error(
    reading: Service, folder: Path, reported: ValidationReport
) -> None:
    sound, name = saved(folder, reported, day=1), saved(folder, reported, day=2)
    written = json.loads((folder / name).read_text())
    for case in written["test_cases"]:
        case["relevant"] = 10**400
    (folder / name).write_text(json.dumps(written))
    assert reading.client.get(f"/reports/{name}").status_code == 200
    (folder / name).write_text(json.dumps({**written, "avg_latency_ms": 10**400}))
    assert reading.client.get(f"/reports/{name}").status_code == 404
    assert reading.client.get(f"/reports/compare?before={sound}&after={name}").status_code == 404


def test_pipe_in_the_folder_is_not_read(reading: Service, folder: Path, reported: ValidationReport) -> None:
    name = saved(folder, reported, 1)
    os.mkfifo(folder / "report_20260102_120000.json")
    page = reading.client.get("/reports").text
    assert name in page
    assert "report_20260102_120000.json" in page
    problem(reading.client.get("/reports/report_20260102_120000.json"), 404, "not_found")


def test_compare_shows_two_reports(reading: Service, folder: Path, reported: ValidationReport) -> None:
    worse = [case.model_copy(update={"status": "failed"}) for case in reported.test_cases]
    good = [case.model_copy(update={"status": "passed"}) for case in reported.test_cases]
    first = saved(folder, reported, 1, test_cases=good)
    two = saved(folder, reported, 2, test_cases=worse)
    page = unescape(reading.client.get(f"/reports/compare?before={first}&after={two}").text)
    for part in ("Before", "After", "2026-01-01 12:00 UTC", "nDCG@10", "no change", "passed → failed"):
        assert part in page
    assert re.search(r"Newly failing <span[^>]*>2<", page)


def test_compare_refuses_reports_without_a_common_query_but_shows_both(
    reading: Service, folder: Path, reported: ValidationReport
) -> None:
    before = saved(folder, reported, 1)
    cases = [
        case.model_copy(update={"query": case.query.model_copy(update={"id": f"other-{case.query.id}"})})
        for case in reported.test_cases
    ]
    fingerprints = {**reported.fingerprints, "golden": "another"}
    after = saved(folder, reported, 2, fingerprints=fingerprints, test_cases=cases)
    page = reading.client.get(f"/reports/compare?before={before}&after={after}")
    assert page.status_code == 200
    assert "no answerable query in common" in page.text
    assert "Newly failing" not in page.text


def test_compare_scores_changed_labels_and_says_so_first(
    reading: Service, folder: Path, reported: ValidationReport
) -> None:
    before = saved(folder, reported, 1)
    first, *remaining = reported.test_cases
    assert first.labels
    regraded = [label.model_copy(update={"grade": 3 - label.grade}) for label in first.labels]
    cases = [first.model_copy(update={"labels": regraded}), *remaining]
    fingerprints = {**reported.fingerprints, "golden": "another"}
    after = saved(folder, reported, 2, fingerprints=fingerprints, test_cases=cases)
    page = unescape(reading.client.get(f"/reports/compare?before={before}&after={after}").text)
    start = page.index(f"Scored with the labels of AFTER (golden set changed: {len(regraded)} label")
    assert start < page.index("Before") < page.index("nDCG@10")


@pytest.mark.parametrize("path", ["/label", "/reports"])
def test_report_pages_keep_the_strict_policy(reading: Service, path: str) -> None:
    page = reading.client.get(path)
    assert "unsafe" not in page.headers["content-security-policy"]
    for asset in re.findall(r'(?:src|href)="(static/[^"#]+)"', page.text):
        assert reading.client.get(f"/{asset}").status_code == 200, asset
    assert not re.search(r"<script>|style=|\son\w+=", page.text)


def test_templates_are_not_served(reading: Service) -> None:
    assert reading.client.get("/static/reports.html.jinja").status_code == 404


def test_report_file_is_read_again_only_after_a_change(
    folder: Path, reported: ValidationReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = saved(folder, reported, 1)
    reports = ReportFolder(folder)
    assert [summary.name for summary in reports.list_reports()[0]] == [name]
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("read again"))
    assert [summary.name for summary in reports.list_reports()[0]] == [name]
    monkeypatch.undo()
    (folder / name).write_text("{}")
    assert reports.list_reports() == ([], [name])
    (folder / name).unlink()
    assert reports.list_reports() == ([], [])


def test_only_the_latest_reports_are_listed(folder: Path, reported: ValidationReport) -> None:
    folder.mkdir()
    text = reported.model_copy(update={"test_cases": []}).model_dump_json()
    for number in range(MAX_REPORTS + 3):
        (folder / f"report_20260101_{number:06}.json").write_text(text)
    summaries, _ = ReportFolder(folder).list_reports()
    assert len(summaries) == MAX_REPORTS
    assert summaries[0].name == f"report_20260101_{MAX_REPORTS + 2:06}.json"
