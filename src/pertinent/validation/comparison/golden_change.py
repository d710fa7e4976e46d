"""Find how the golden set changed between two reports: the labels, and the queries themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from ..._internal.messages import format_count, format_list
from ...errors import InvalidInput
from ..golden.golden_set import GoldenSet
from ..report import Query, TestCase, ValidationReport
from ..report_fields import ReportPart
from .stored_labels import LabelLocation, StoredLabel

MAX_NAMES = 10
"""How many queries of a kind a message names."""


class LabelChange(ReportPart):
    """A label of a query in both reports that was added, removed or regraded."""

    query: str
    location: str
    baseline: int | None = Field(description="Its grade in the baseline; null if the label is new")
    current: int | None = Field(description="Its current grade; null if the label was removed")


class GoldenChange(ReportPart):
    """How the golden set of the current report differs from that of the baseline."""

    same: bool
    labels: list[LabelChange] = Field(description="The labels that changed, of the queries in both")
    queries_added: list[str]
    queries_removed: list[str]
    queries_reworded: list[str] = Field(
        description="Queries with the same id but another text or filter, which are not compared"
    )
    queries_relabelled: list[str] = Field(description="The queries in both whose labels changed")


def find_golden_change(baseline: ValidationReport, current: ValidationReport) -> GoldenChange:
    """Compare the queries and labels of two reports."""
    old, new = cases_by_id(baseline), cases_by_id(current)
    common = [name for name in new if name in old and _is_same_query(old[name].query, new[name].query)]
    locations = {**baseline.label_locations, **current.label_locations}
    fingerprints = [report.fingerprints.get("golden") for report in (baseline, current)]
    is_same_set = fingerprints[0] is not None and fingerprints[0] == fingerprints[1]
    changes = [
        change
        for name in ([] if is_same_set else common)
        for change in _find_label_changes(old[name], new[name], locations)
    ]
    relabeled = {change.query for change in changes}
    return GoldenChange(
        same=is_same_set and len(common) == len(old) == len(new),
        labels=changes,
        queries_added=[name for name in new if name not in old],
        queries_removed=[name for name in old if name not in new],
        queries_reworded=[name for name in new if name in old and name not in common],
        queries_relabelled=[name for name in common if name in relabeled],
    )


def check_comparable(baseline: ValidationReport, current: ValidationReport, change: GoldenChange) -> None:
    """Refuse two reports that can't be compared, and say why."""
    _check_same_unit(baseline, current.golden.unit, "report")
    for report in (baseline, current):
        keys = {label.key for case in report.test_cases for label in case.labels}
        if keys - report.label_locations.keys():
            raise InvalidInput(
                "report", f"the report of {report.timestamp} is damaged: labels lack their locations"
            )
        cases = cases_by_id(report)
        if any(cases[name].relevant and not cases[name].labels for name in change.queries_relabelled):
            raise InvalidInput(
                "report",
                f"the report of {report.timestamp} has no labels, so it can be compared only with a run of "
                "the same golden set",
            )


def check_baseline(baseline: ValidationReport, golden: GoldenSet) -> None:
    """Refuse a baseline that has no query in common with a golden set, before anything runs."""
    _check_same_unit(baseline, golden.unit, "baseline")
    queries = {(case.query.id, case.query.text) for case in baseline.test_cases}
    if not any(query.scored and (query.id, query.text) in queries for query in golden.queries):
        raise InvalidInput(
            "baseline",
            f"is a report of another golden set, {baseline.golden.name}: no answerable query is in both",
        )


def describe_golden_change(change: GoldenChange) -> str:
    """Say which labels both runs are scored with, and how the golden set changed."""
    if change.same:
        return "Scored with the same golden set."
    queries = [
        f"{what}: {format_list(names, MAX_NAMES)}"
        for what, names in (
            ("added", change.queries_added),
            ("removed", change.queries_removed),
            ("reworded", change.queries_reworded),
        )
        if names
    ]
    parts = [*_describe_labels(change.labels), *([f"queries {'; '.join(queries)}"] if queries else [])]
    changes = f": {'; '.join(parts)}" if parts else ", but no label and no query"
    return f"Scored with the labels of AFTER (golden set changed{changes})."


def cases_by_id(report: ValidationReport) -> dict[str, TestCase]:
    """The test cases of a report by the id of their query."""
    return {case.query.id: case for case in report.test_cases}


def _describe_labels(changes: Sequence[LabelChange]) -> list[str]:
    added = sum(change.baseline is None for change in changes)
    removed = sum(change.current is None for change in changes)
    regraded = len(changes) - added - removed
    counts = [(added, "added"), (removed, "removed"), (regraded, "regraded")]
    parts = [(count, what) for count, what in counts if count]
    if not parts:
        return []
    (count, what), *following = parts
    first = f"{format_count(count, 'label', 'labels')} {what}"
    return [", ".join([first, *(f"{count:,} {what}" for count, what in following)])]


def _is_same_query(old: Query, new: Query) -> bool:
    return old.text == new.text and old.filters == new.filters


def _find_label_changes(
    old: TestCase, new: TestCase, locations: Mapping[str, LabelLocation]
) -> list[LabelChange]:
    old_grades, new_grades = _highest_grades(old.labels), _highest_grades(new.labels)
    return [
        LabelChange(
            query=new.query.id,
            location=locations[key].description if key in locations else key,
            baseline=old_grades.get((key, judge)),
            current=new_grades.get((key, judge)),
        )
        for key, judge in {**old_grades, **new_grades}
        if old_grades.get((key, judge)) != new_grades.get((key, judge))
    ]


def _highest_grades(labels: Sequence[StoredLabel]) -> dict[tuple[str, str | None], int]:
    """The highest grade of each judge on each location."""
    ordered = sorted(labels, key=lambda label: label.grade)
    return {(label.key, label.judge): label.grade for label in ordered}


def _check_same_unit(baseline: ValidationReport, unit: str, field: str) -> None:
    if baseline.golden.unit != unit:
        raise InvalidInput(
            field,
            f"one run judges each {baseline.golden.unit} and the other each {unit}: such lists can't be "
            "compared",
        )
