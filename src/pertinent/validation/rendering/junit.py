"""A report as JUnit XML, for whatever shows the tests of a CI job."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from ..acceptance_checks import Check
from ..criteria import Criterion
from ..report import TestCase, ValidationReport
from . import figures, text
from .bounds import Bound
from .cases import is_good, next_step, reason, state_of

FLAWS = {"failures": "failure", "errors": "error", "skipped": "skipped"}
SHORT = 300


def junit(report: ValidationReport) -> str:
    """Three suites: criteria, acceptance and queries.

    A job is red where the verdict is: with a PASS, what fails without counting is told as skipped. What
    is INVALID is an error of the suite `criteria`.
    """
    criteria = _suite("criteria", [*_invalid(report), *map(_criterion, report.criteria)])
    criteria.insert(0, _properties(report))
    suites = [
        criteria,
        _suite("acceptance", map(_check, report.checks), counts=report.verdict != "PASS"),
        _suite("queries", map(_query, report.test_cases), counts=report.verdict != "PASS"),
    ]
    root = ET.Element("testsuites", name="pertinent validate")
    root.extend(suites)
    for name in ("tests", *FLAWS):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in suites)))
    root.set("time", suites[-1].get("time", "0"))
    for suite in suites:
        suite.set("timestamp", text.printable(report.timestamp))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(name: str, cases: Iterable[ET.Element], *, counts: bool = True) -> ET.Element:
    suite = ET.Element("testsuite", name=name)
    suite.extend(cases)
    if not counts:
        for failure in suite.iterfind("testcase/failure"):
            failure.tag = "skipped"
    suite.set("tests", str(len(suite)))
    for count, flaw in FLAWS.items():
        suite.set(count, str(sum(case.find(flaw) is not None for case in suite)))
    suite.set("time", f"{sum(float(case.get('time', '0')) for case in suite):.6f}")
    return suite


def _case(suite: str, name: str, time: str = "0.000000") -> ET.Element:
    shown = text.line(text.printable(name), SHORT) or "(no name)"
    return ET.Element("testcase", classname=f"pertinent.{suite}", name=shown, time=time)


def _flaw(case: ET.Element, flaw: str, message: str, kind: str = "", detail: Iterable[str] = ()) -> None:
    found = ET.SubElement(case, flaw, message=text.line(text.printable(message), SHORT))
    if kind:
        found.set("type", kind)
    found.text = text.printable("\n".join(detail))


def _properties(report: ValidationReport) -> ET.Element:
    facts = {"verdict": report.verdict, "summary": report.summary, "golden.name": report.golden.name}
    means = {name: value for name, value in report if name.startswith(("avg_precision_at_5", "mrr"))}
    facts |= {name: f"{value:.6g}" for name, value in means.items()}
    facts |= {f"fingerprint.{name}": value for name, value in report.fingerprints.items()}
    found = ET.Element("properties")
    for name, value in facts.items():
        ET.SubElement(found, "property", name=text.printable(name), value=text.printable(value))
    return found


def _invalid(report: ValidationReport) -> list[ET.Element]:
    if report.verdict != "INVALID":
        return []
    case = _case("criteria", "verdict")
    _flaw(case, "error", report.summary, "INVALID", [report.summary])
    return [case]


def _criterion(criterion: Criterion) -> ET.Element:
    case = _case("criteria", criterion.name)
    if criterion.passed is None:
        _flaw(case, "skipped", f"not judged: {criterion.detail}")
    elif not criterion.passed:
        bound = Bound.of(criterion)
        interval = [f"95% interval: {bound.interval}"] if bound.interval else []
        detail = [criterion.detail, *interval, f"n: {criterion.n}"]
        _flaw(case, "failure", f"{bound.value}, wanted {bound.wanted}", "criterion", detail)
    return case


def _check(check: Check) -> ET.Element:
    case = _case("acceptance", check.name)
    if state_of(check) == "not judged":
        _flaw(case, "skipped", "there is nothing to check")
    elif not check.passed:
        _flaw(
            case, "failure", f"{figures.checked(check)}, wanted: {check.wanted}", "acceptance", check.detail
        )
    return case


def _query(query: TestCase) -> ET.Element:
    kind = query.query.query_type
    case = _case(f"queries.{kind}", query.query.id, figures.seconds(query.latency_ms))
    if is_good(query):
        return case
    why = query.diagnosis
    told = [f"query: {query.query.text}", *query.complaints]
    if why is not None:
        told += [reason(query), f"next: {next_step(query)}"]
        told += [f"missed (label {miss.grade}): {miss.title}: {miss.detail}" for miss in why.misses]
    message = query.error or "; ".join(query.complaints) or (why.detail if why else query.status)
    _flaw(
        case, "error" if query.status == "error" else "failure", message, why.kind if why else "query", told
    )
    return case
