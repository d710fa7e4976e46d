"""Render a report as JUnit XML, which CI systems show as test results."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from ..acceptance_checks import AcceptanceCheck
from ..criteria import Criterion
from ..report import TestCase, ValidationReport
from . import number_format, safe_text
from .case_summary import describe_failure
from .criterion_display import CriterionDisplay, state_of

PROBLEMS = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""The attribute that counts each kind of problem, and its element."""
MAX_LINE = 300


def render_junit(report: ValidationReport) -> str:
    """Render three suites: criteria, acceptance and queries.

    The job is red only where the verdict is: with a PASS, a failure or an error that does not count is
    `skipped`. An INVALID verdict is an error in the suite `criteria`.
    """
    criteria = _build_suite("criteria", [*_build_invalid(report), *map(_build_criterion, report.criteria)])
    criteria.insert(0, _build_properties(report))
    counts = report.verdict != "PASS"
    suites = [
        criteria,
        _build_suite("acceptance", map(_build_check, report.checks), counts=counts),
        _build_suite("queries", map(_build_query, report.test_cases), counts=counts),
    ]
    root = ET.Element("testsuites", name="pertinent validate")
    root.extend(suites)
    for name in ("tests", *PROBLEMS):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", suites[-1].get("time", "0"))
    for suite in suites:
        suite.set("timestamp", safe_text.make_printable(report.timestamp))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _build_suite(name: str, cases: Iterable[ET.Element], *, counts: bool = True) -> ET.Element:
    suite = ET.Element("testsuite", name=name)
    suite.extend(cases)
    if not counts:
        for problem in suite.iterfind("testcase/*"):
            problem.tag = "skipped"
    suite.set("tests", str(len(suite)))
    for attribute, tag in PROBLEMS.items():
        suite.set(attribute, str(sum(case.find(tag) is not None for case in suite)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in suite):.6f}")
    return suite


def _build_case(suite: str, name: str, time: str = "0.000000") -> ET.Element:
    title = safe_text.shorten_line(safe_text.make_printable(name), MAX_LINE) or "(no name)"
    return ET.Element("testcase", classname=f"pertinent.{suite}", name=title, time=time)


def _add_problem(
    case: ET.Element, tag: str, message: str, kind: str = "", detail: Iterable[str] = ()
) -> None:
    line = safe_text.shorten_line(safe_text.make_printable(message), MAX_LINE)
    problem = ET.SubElement(case, tag, message=line)
    if kind:
        problem.set("type", kind)
    problem.text = safe_text.make_printable("\n".join(detail))


def _build_properties(report: ValidationReport) -> ET.Element:
    facts = {"verdict": report.verdict, "summary": report.summary, "golden.name": report.golden.name}
    means = {name: value for name, value in report if name.startswith(("avg_precision_at_5", "mrr"))}
    facts |= {name: f"{value:.6g}" for name, value in means.items()}
    facts |= {f"fingerprint.{name}": value for name, value in report.fingerprints.items()}
    properties = ET.Element("properties")
    for name, value in facts.items():
        ET.SubElement(
            properties, "property", name=safe_text.make_printable(name), value=safe_text.make_printable(value)
        )
    return properties


def _build_invalid(report: ValidationReport) -> list[ET.Element]:
    if report.verdict != "INVALID":
        return []
    case = _build_case("criteria", "verdict")
    _add_problem(case, "error", report.summary, "INVALID", [report.summary])
    return [case]


def _build_criterion(criterion: Criterion) -> ET.Element:
    case = _build_case("criteria", criterion.name)
    if criterion.passed is None:
        _add_problem(case, "skipped", f"not judged: {criterion.detail}")
    elif not criterion.passed:
        display = CriterionDisplay.from_criterion(criterion)
        interval = [f"95% interval: {display.interval}"] if display.interval else []
        detail = [criterion.detail, *interval, f"n: {criterion.n}"]
        _add_problem(case, "failure", f"{display.value}, target: {display.target}", "criterion", detail)
    return case


def _build_check(check: AcceptanceCheck) -> ET.Element:
    case = _build_case("acceptance", check.name)
    if state_of(check) == "not judged":
        _add_problem(case, "skipped", "there is nothing to check")
    elif not check.passed:
        message = f"{number_format.format_check_value(check)}, target: {check.target}"
        _add_problem(case, "failure", message, "acceptance", check.detail)
    return case


def _build_query(test_case: TestCase) -> ET.Element:
    query, diagnosis = test_case.query, test_case.diagnosis
    case = _build_case(
        f"queries.{query.query_type}", query.id, number_format.format_seconds(test_case.latency_ms)
    )
    if test_case.has_passed:
        return case
    message = (
        test_case.error
        or "; ".join(test_case.complaints)
        or (diagnosis.detail if diagnosis else test_case.status)
    )
    tag = "error" if test_case.status == "error" else "failure"
    detail = [f"query: {query.text}", *describe_failure(test_case)]
    _add_problem(case, tag, message, diagnosis.kind if diagnosis else "query", detail)
    return case
