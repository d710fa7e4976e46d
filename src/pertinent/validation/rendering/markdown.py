"""A report as Markdown, for the page of a CI job: the verdict, what it rests on, and what failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..._internal.messages import count_queries
from ..acceptance_checks import Check
from ..criteria import Criterion
from ..report import ValidationReport
from . import figures, text, words
from .averages import TITLE, averages
from .bounds import Bound
from .cases import is_good, next_step, reason, state_of

ISSUES = 10
FAILED = 20
LONG = 300
SHORT = 100

_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ACTIVE = re.compile(
    r"""
      (?P<call> (?<!\w)@(?=\w) | \#(?=\d) )     # a mention, the number of an issue
    | [&<>|`\\*_~\[\]{}$]                       # markup
    | :(?=//) | (?<=www)\. | @(?=[\w-]+\.)      # what becomes a link by itself
    | ^[#+=-] | ^(?P<number>\d{1,9})[.)](?!\S)  # what begins a heading, a rule or a list
    """,
    re.VERBOSE | re.IGNORECASE,
)


def markdown(report: ValidationReport) -> str:
    """The summary; its text can't become markup, a link or a mention."""
    parts = [
        _head(report),
        _criteria(report),
        _averages(report),
        _checks(report),
        _issues(report),
        _failed(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def plain(told: str, limit: int = LONG) -> str:
    """Any text, on one line that Markdown leaves as it is.

    Character references and not backslashes: they mean the same inside a table and outside.
    """
    flat = text.line(_DIRECTIONS.sub("", text.printable(told)), limit)
    return _ACTIVE.sub(_reference, flat)


def _reference(found: re.Match[str]) -> str:
    """The sign by its number; behind one that calls somebody, a space that is not seen."""
    return f"{found['number'] or ''}&#{ord(found[0][-1])};{'&#8203;' if found['call'] else ''}"


def _head(report: ValidationReport) -> str:
    golden = report.golden
    bad = sum(not is_good(case) for case in report.test_cases)
    facts = [
        plain(figures.when(report.timestamp)),
        f"golden set {plain(golden.name, SHORT)} with {count_queries(golden.queries)}",
        f"{bad:,} of {len(report.test_cases):,} failed",
    ]
    if embedder := report.fingerprints.get("embedder"):
        facts.append(plain(embedder, SHORT))
    summary = plain(report.summary.removeprefix(f"{report.verdict}: "), 2 * LONG) or "(no summary)"
    return f"## {words.SIGNS[report.verdict]} {report.verdict}\n\n{summary}\n\n{' · '.join(facts)}"


def _criteria(report: ValidationReport) -> str:
    rows = (
        [
            plain(bound.criterion.name),
            plain(bound.wanted),
            bound.value,
            bound.interval or "",
            f"{bound.criterion.n:,}",
            _state(bound.criterion),
        ]
        for bound in map(Bound.of, report.criteria)
    )
    head = ["Criterion", "Wanted", "Found", "95% interval", "n", "Verdict"]
    return _table("Criteria", head, "lrrlrl", rows)


def _averages(report: ValidationReport) -> str:
    rows = (
        [average.name, figures.number(average.answerable, 3), figures.number(average.every_query, 3)]
        for average in averages(report)
    )
    head = ["Mean", f"Answerable ({report.golden.scored:,})", f"All ({report.total_queries:,})"]
    return _table(TITLE, head, "lrr", rows)


def _checks(report: ValidationReport) -> str:
    rows = (
        [plain(one.name), plain(one.wanted), figures.checked(one), f"{one.n:,}", _state(one)]
        for one in report.checks
    )
    return _table("Acceptance", ["Check", "Wanted", "Found", "n", "Verdict"], "llrrl", rows)


def _issues(report: ValidationReport) -> str:
    if not report.issues:
        return ""
    lines = [f"- {plain(one) or '(empty)'}" for one in report.issues[:ISSUES]]
    return "\n".join(["### Issues", "", *lines]) + _more(len(report.issues) - ISSUES)


def _failed(report: ValidationReport) -> str:
    bad = [case for case in report.test_cases if not is_good(case)]
    rows = (
        [
            plain(case.query.id, SHORT),
            plain(case.query.text, SHORT) or "(empty)",
            plain(reason(case)),
            plain(next_step(case)),
        ]
        for case in bad[:FAILED]
    )
    head = ["Id", "Query", "Reason", "What to do next"]
    return _table("Failed queries", head, "llll", rows) + _more(len(bad) - FAILED)


def _state(judged: Check | Criterion) -> str:
    state = state_of(judged)
    return f"{words.SIGNS[state]} {f'**{state}**' if state == 'not met' else state}"


def _table(title: str, head: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return ""
    rule = "|".join("--:" if side == "r" else ":--" for side in sides)
    return "\n".join([f"### {title}", "", f"| {' | '.join(head)} |", f"|{rule}|", *lines])


def _more(count: int) -> str:
    return f"\n\nAnd {count:,} more in the report." if count > 0 else ""
