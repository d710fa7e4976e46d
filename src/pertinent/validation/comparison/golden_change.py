"""What changed in the golden set between two reports: labels, and the queries themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from ...errors import InvalidInput
from ..golden.golden_set import GoldenSet
from ..phrases import counted, listed
from ..report import Query, ReportPart, TestCase, ValidationReport
from .stored_labels import LabelPlace, StoredLabel

NAMED = 10
"""How many queries of a kind a message names."""


class LabelChange(ReportPart):
    """A label of a query that is in both reports."""

    query: str
    place: str
    before: int | None = Field(description="Its grade; null where the label is new")
    after: int | None = Field(description="Its grade; null where the label was removed")


class GoldenChange(ReportPart):
    """How the golden set of the later report differs from that of the earlier one."""

    same: bool
    labels: list[LabelChange] | None = Field(
        description="The labels that changed, of the queries in both; null where a report does not hold them"
    )
    queries_added: list[str]
    queries_removed: list[str]
    queries_reworded: list[str] = Field(description="The same id with another text or filter: another query")
    queries_relabelled: list[str] = Field(description="The queries in both that have other labels now")


def find_golden_change(before: ValidationReport, after: ValidationReport) -> GoldenChange:
    """Compare what the two reports asked and how it was judged."""
    old, new = cases_by_id(before), cases_by_id(after)
    common = [name for name in new if name in old and _asks_the_same(old[name].query, new[name].query)]
    places = {**before.label_places, **after.label_places}
    marks = [report.fingerprints.get("golden") for report in (before, after)]
    same_mark = marks[0] is not None and marks[0] == marks[1]
    holds_labels = all(case.labels is not None for name in common for case in (old[name], new[name]))
    judged = [] if same_mark else common
    changes = [change for name in judged for change in _label_changes(old[name], new[name], places)]
    unknown = [] if holds_labels else judged
    changed = {change.query for change in changes} | set(unknown)
    in_both = set(old) & set(new)
    return GoldenChange(
        same=same_mark and len(common) == len(old) == len(new),
        labels=None if unknown else changes,
        queries_added=[name for name in new if name not in in_both],
        queries_removed=[name for name in old if name not in in_both],
        queries_reworded=[name for name in new if name in in_both and name not in set(common)],
        queries_relabelled=[name for name in common if name in changed],
    )


def check_comparable(before: ValidationReport, after: ValidationReport, change: GoldenChange) -> None:
    """Refuse two reports that can't be compared, and say why."""
    _refuse_other_unit(before, after.golden.unit, "report")
    for report in (before, after):
        keys = {label.key for case in report.test_cases for label in case.labels or ()}
        if keys - report.label_places.keys():
            raise InvalidInput("report", f"that of {report.timestamp} is damaged: labels lack their places")
    if change.queries_relabelled and any(case.labels is None for case in after.test_cases):
        raise InvalidInput(
            "report",
            "the golden set changed, and the later report was made by a version that did not keep its "
            "labels: the earlier lists can't be scored with them; validate again, and compare that report",
        )


def check_baseline(before: ValidationReport, golden: GoldenSet) -> None:
    """Refuse, before anything runs, a baseline that has nothing in common with a golden set."""
    _refuse_other_unit(before, golden.unit, "baseline")
    asked = {(case.query.id, case.query.text) for case in before.test_cases}
    if not any(query.scored and (query.id, query.text) in asked for query in golden.queries):
        raise InvalidInput(
            "baseline",
            f"was made with another golden set, {before.golden.name}: no query that has an answer is in both",
        )


def describe_golden_change(change: GoldenChange) -> str:
    """By which labels both runs are scored, and what changed in the golden set."""
    if change.same:
        return "Scored with the same golden set."
    queries = [
        f"{what}: {listed(names, NAMED)}"
        for what, names in (
            ("added", change.queries_added),
            ("removed", change.queries_removed),
            ("asked differently", change.queries_reworded),
        )
        if names
    ]
    parts = [*_describe_labels(change.labels), *([f"queries {'; '.join(queries)}"] if queries else [])]
    changes = f": {'; '.join(parts)}" if parts else ", but no label and no query"
    return f"Scored with the labels of AFTER (golden set changed{changes})."


def cases_by_id(report: ValidationReport) -> dict[str, TestCase]:
    """The cases of a report by the id of their query."""
    return {case.query.id: case for case in report.test_cases}


def _describe_labels(changes: Sequence[LabelChange] | None) -> list[str]:
    if changes is None:
        return ["which labels changed is not known, since a report does not hold them"]
    added = sum(change.before is None for change in changes)
    removed = sum(change.after is None for change in changes)
    regraded = len(changes) - added - removed
    counts = [(added, "added"), (removed, "removed"), (regraded, "regraded")]
    parts = [(count, what) for count, what in counts if count]
    if not parts:
        return []
    (count, what), *others = parts
    first = f"{counted(count, 'label', 'labels')} {what}"
    return [", ".join([first, *(f"{count:,} {what}" for count, what in others)])]


def _asks_the_same(old: Query, new: Query) -> bool:
    """Whether text and filters are the same; a report that does not hold filters is taken to agree."""
    return old.text == new.text and (None in (old.filters, new.filters) or old.filters == new.filters)


def _label_changes(old: TestCase, new: TestCase, places: Mapping[str, LabelPlace]) -> list[LabelChange]:
    if old.labels is None or new.labels is None:
        return []
    before, after = _grades(old.labels), _grades(new.labels)
    return [
        LabelChange(
            query=new.query.id,
            place=places[key].place if key in places else key,
            before=before.get((key, judge)),
            after=after.get((key, judge)),
        )
        for key, judge in {**before, **after}
        if before.get((key, judge)) != after.get((key, judge))
    ]


def _grades(labels: Sequence[StoredLabel]) -> dict[tuple[str, str | None], int]:
    """The grade of each place and judge; a judge's highest counts."""
    ordered = sorted(labels, key=lambda label: label.grade)
    return {(label.key, label.judge): label.grade for label in ordered}


def _refuse_other_unit(before: ValidationReport, unit: str, field: str) -> None:
    if before.golden.unit != unit:
        raise InvalidInput(
            field,
            f"one run judges each {before.golden.unit} and the other each {unit}: their lists are of "
            "different things, and can't be compared",
        )
