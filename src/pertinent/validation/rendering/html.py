"""A report as one page: nothing is loaded and nothing runs; it reads on a phone, in the dark, on paper."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from ..._internal.messages import format_count
from ..defaults import is_answerable
from ..report import Mean, ValidationReport
from . import cases, figures, text, words
from .averages import averages
from .bounds import Bound
from .plots import plots
from .selection import Selection

HERE = Path(__file__).parent
STYLES = ("report.css", "figures.css", "queries.css")
FIRST = 8
"""How many lines of a list stand open; the rest unfolds."""
MOST = 1000
"""How many lines of a list there are at all."""
SHORT = 12
"""How much of a fingerprint tells it from others."""

_TICKED = re.compile("`([^`\n]+)`")
_HEX = re.compile(r"[0-9a-f]{32,}")


def html(report: ValidationReport) -> str:
    """The whole page."""
    selection = Selection.of(report.test_cases)
    linked = {one.place for one in selection.full}
    page = _ENVIRONMENT.get_template("report.html.jinja").render(
        report=report,
        summary=report.summary.removeprefix(f"{report.verdict}: "),
        bounds=[Bound.of(one) for one in report.criteria],
        selection=selection,
        anchors={one.case.query.id: one.anchor for one in reversed(selection.full)},
        figures=plots(report, linked),
        groups=groups(report),
        passed=sum(cases.is_good(case) for case in report.test_cases),
    )
    return text.printable(page)


def short(value: str) -> str:
    """A fingerprint's beginning; other values in full."""
    return value[:SHORT] if _HEX.fullmatch(value) else value


def named(detail: str, anchors: dict[str, str]) -> tuple[str, str, str]:
    """A line such as `id: what is wrong` as the id, where its query stands on the page, and the rest."""
    name, colon, rest = detail.partition(":")
    known = colon and name.strip() and name in anchors
    return (name, anchors[name], colon + rest) if known else ("", "", detail)


def ticked(told: str) -> Markup:
    """The text with what stands between backticks as code."""
    parts = _TICKED.split(told)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )


def mean(found: Mean | None) -> str:
    """A mean alone."""
    return figures.number(found.mean if found else None)


def groups(report: ValidationReport) -> list[str]:
    """The groups whose means are in the table: all, then types, then categories."""
    known = ["all", *(f"type:{one}" for one in words.TYPES), *(f"category:{one}" for one in words.CATEGORIES)]
    others = [name for name in report.metrics if name not in known and "/" not in name]
    return [name for name in [*known, *others] if report.metrics.get(name)]


def measures(report: ValidationReport) -> list[str]:
    """Every measure of any group, in the order of their first mention."""
    return list(dict.fromkeys(name for group in report.metrics.values() for name in group))


def style() -> Markup:
    """The page's own style."""
    parts = [(HERE / name).read_text(encoding="utf-8") for name in STYLES]
    return Markup("\n".join(parts))  # noqa: S704 - the files are ours


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": figures.number,
        "share": figures.share,
        "count": figures.count,
        "format_count": format_count,
        "milliseconds": figures.milliseconds,
        "checked": figures.checked,
        "when": figures.when,
        "short": short,
        "line": text.line,
        "mean": mean,
        "measure": words.measure,
        "meaning": words.meaning,
        "ticked": ticked,
    }
    made.globals |= {
        "address": text.address,
        "averages": averages,
        "breadcrumb": text.breadcrumb,
        "named": named,
        "measures": measures,
        "style": style,
        "facts": words.FACTS,
        "signs": words.SIGNS,
        "statuses": words.STATUSES,
        "labels": words.LABELS,
        "reasons": words.REASONS,
        "is_answerable": is_answerable,
        "is_good": cases.is_good,
        "is_strict": cases.is_strict,
        "state_of": cases.state_of,
        "next_step": cases.next_step,
        "precision_at_5": cases.precision_at_5,
        "first": FIRST,
        "most": MOST,
    }
    return made


_ENVIRONMENT = _environment()
