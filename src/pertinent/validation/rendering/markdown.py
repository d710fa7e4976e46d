"""Render a report as Markdown for the page of a CI job: the verdict, the criteria and the failures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..._internal.messages import count_queries
from ..acceptance_checks import AcceptanceCheck
from ..criteria import Criterion
from ..report import ValidationReport
from . import display_names, number_format, safe_text
from .averages import TITLE, list_averages
from .case_summary import explain_failure, next_step
from .criterion_display import CriterionDisplay, state_of

MAX_ISSUES = 10
MAX_FAILED = 20
MAX_LINE = 300
MAX_NAME = 100

_DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ACTIVE = re.compile(
    r"""
      (?P<call> (?<!\w)@(?=\w) | \#(?=\d) )     # a mention, the number of an issue
    | [&<>|`\\*_~\[\]{}$]                       # markup
    | :(?=//) | (?<=www)\. | @(?=[\w-]+\.)      # becomes a link by itself
    | ^[#+=-] | ^(?P<number>\d{1,9})[.)](?!\S)  # begins a heading, a rule or a list
    """,
    re.VERBOSE | re.IGNORECASE,
)


def render_markdown(report: ValidationReport) -> str:
    """Render the summary; text of the report cannot become markup, a link or a mention."""
    parts = [
        _format_head(report),
        _format_criteria(report),
        _format_averages(report),
        _format_checks(report),
        _format_issues(report),
        _format_failed(report),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape_markdown(text: str, limit: int = MAX_LINE) -> str:
    """Shorten any text to one line, and escape what Markdown would interpret.

    The escapes are character references, not backslashes: they mean the same inside a table and outside.
    """
    flat = safe_text.shorten_line(_DIRECTIONS.sub("", safe_text.make_printable(text)), limit)
    return _ACTIVE.sub(_escape_match, flat)


def format_table(headings: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> str:
    """Format a table; empty where it has no rows.

    Args:
        headings: The headings of the columns.
        sides: `l` or `r` for each column: where its text is aligned.
        rows: The cells, escaped.
    """
    lines = [f"| {' | '.join(row)} |" for row in rows]
    if not lines:
        return ""
    rule = "|".join("--:" if side == "r" else ":--" for side in sides)
    return "\n".join([f"| {' | '.join(headings)} |", f"|{rule}|", *lines])


def _escape_match(match: re.Match[str]) -> str:
    """Return the character reference; a zero-width space after it keeps a mention from being one."""
    return f"{match['number'] or ''}&#{ord(match[0][-1])};{'&#8203;' if match['call'] else ''}"


def _format_head(report: ValidationReport) -> str:
    golden = report.golden
    failed = sum(not case.has_passed for case in report.test_cases)
    facts = [
        escape_markdown(number_format.format_time(report.timestamp)),
        f"golden set {escape_markdown(golden.name, MAX_NAME)} with {count_queries(golden.queries)}",
        f"{failed:,} of {len(report.test_cases):,} failed",
    ]
    if embedder := report.fingerprints.get("embedder"):
        facts.append(escape_markdown(embedder, MAX_NAME))
    summary = escape_markdown(report.summary.removeprefix(f"{report.verdict}: "), 2 * MAX_LINE)
    title = f"{display_names.SIGNS[report.verdict]} {report.verdict}"
    return f"## {title}\n\n{summary or '(no summary)'}\n\n{' · '.join(facts)}"


def _format_criteria(report: ValidationReport) -> str:
    rows = (
        [
            escape_markdown(display.criterion.name),
            escape_markdown(display.target),
            display.value,
            display.interval or "",
            f"{display.criterion.n:,}",
            _format_state(display.criterion),
        ]
        for display in map(CriterionDisplay.from_criterion, report.criteria)
    )
    headings = ["Criterion", "Target", "Result", "95% interval", "n", "Verdict"]
    return _format_section("Criteria", headings, "lrrlrl", rows)


def _format_averages(report: ValidationReport) -> str:
    rows = (
        [
            average.name,
            number_format.format_number(average.answerable, 3),
            number_format.format_number(average.every_query, 3),
        ]
        for average in list_averages(report)
    )
    headings = ["Mean", f"Answerable ({report.golden.scored:,})", f"All ({report.total_queries:,})"]
    return _format_section(TITLE, headings, "lrr", rows)


def _format_checks(report: ValidationReport) -> str:
    rows = (
        [
            escape_markdown(check.name),
            escape_markdown(check.target),
            number_format.format_check_value(check),
            f"{check.n:,}",
            _format_state(check),
        ]
        for check in report.checks
    )
    return _format_section("Acceptance", ["Check", "Target", "Result", "n", "Verdict"], "llrrl", rows)


def _format_issues(report: ValidationReport) -> str:
    if not report.issues:
        return ""
    lines = [f"- {escape_markdown(issue) or '(empty)'}" for issue in report.issues[:MAX_ISSUES]]
    return "\n".join(["### Issues", "", *lines]) + _format_omitted(len(report.issues) - MAX_ISSUES)


def _format_failed(report: ValidationReport) -> str:
    failed = [case for case in report.test_cases if not case.has_passed]
    rows = (
        [
            escape_markdown(case.query.id, MAX_NAME),
            escape_markdown(case.query.text, MAX_NAME) or "(empty)",
            escape_markdown(explain_failure(case)),
            escape_markdown(next_step(case)),
        ]
        for case in failed[:MAX_FAILED]
    )
    headings = ["Id", "Query", "Reason", "What to do next"]
    section = _format_section("Failed queries", headings, "llll", rows)
    return section + _format_omitted(len(failed) - MAX_FAILED)


def _format_state(judged: AcceptanceCheck | Criterion) -> str:
    state = state_of(judged)
    return f"{display_names.SIGNS[state]} {f'**{state}**' if state == 'not met' else state}"


def _format_section(title: str, headings: Sequence[str], sides: str, rows: Iterable[Sequence[str]]) -> str:
    table = format_table(headings, sides, rows)
    return f"### {title}\n\n{table}" if table else ""


def _format_omitted(count: int) -> str:
    return f"\n\nAnd {count:,} more in the report." if count > 0 else ""
