"""Score the lists of an earlier report again, with the labels of a later one.

A label that both golden sets have stands where the earlier run found it. The place of a new label is that
of the later run. It means the same in the earlier one where the page has the same text; on a page that was
edited, a result is recognised by its text alone. A result that can't be recognised is never guessed at:
the query can't be scored again, and the reason says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .. import metrics
from ..metrics import MEASURES, SPAN_RECALL, Measure
from ..phrases import counted
from ..report import SearchResult, TestCase, ValidationReport
from ..scoring import seed_figures
from .stored_labels import KEPT_DEPTH, LabelPlace, StoredLabel, StoredPassage, StoredSpan

NEED_ALL_ANSWERS = {"recall", "rcap", "map", "ndcg"}
"""The families that compare a list with everything that answers the query."""

OF_SHOWN_RESULTS = ("p@5", "rr_best")
"""Seed 000's figures, which need no more than the results that a caller got."""

EDITED = (
    "their pages were edited or cut into other chunks, and the reports do not tell whether the new labels "
    "are in these results"
)

UNKNOWN_ANSWERS = "the earlier report does not tell how many of its passages cover the new labels"

PageMatch = Literal["same chunks", "same text", "unknown"]


@dataclass(frozen=True, slots=True)
class Rescored:
    """A list of the earlier run, scored with the later labels."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    """Those that can be computed from what the report holds."""
    relevant: int | None = None
    """How many passages answer the query; None where the report does not tell."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """The others, and why they can't be."""
    problem: str | None = None
    """Why nothing can be computed."""


@dataclass(frozen=True, slots=True)
class _PlacedLabel:
    """A label of the later golden set, as it stands in the earlier run."""

    label: StoredLabel
    spans: Sequence[StoredSpan]
    texts: frozenset[str]
    """The hashes of the passages that cover it."""
    complete: bool
    """Whether these are all of the earlier run's passages that cover it."""
    edited: frozenset[str] = frozenset()
    """Pages that may have been edited, so that its spans mean nothing in the earlier run."""


class Rescorer:
    """Scores queries of one report with the labels that another one holds."""

    def __init__(self, before: ValidationReport, after: ValidationReport) -> None:
        self._before, self._after = before, after
        self._by_page = after.golden.unit == "page"
        corpora = [report.fingerprints.get("corpus") for report in (before, after)]
        self._same_corpus = corpora[0] is not None and corpora[0] == corpora[1]
        shown = [_passage(result) for case in after.test_cases for result in case.actual_results]
        # The later run tells of each of these whether a label covers it.
        self._texts_after = {passage.content_hash for passage in (*after.passages.values(), *shown)} - {""}

    def score(self, old: TestCase, new: TestCase) -> Rescored:
        """The earlier list of a query with its later labels."""
        if old.status == "error":
            return Rescored(dict.fromkeys(old.metrics, 0.0))
        results = self._read_list(old)
        placed = [self._place_label(label) for label in new.labels]
        unknown = [rank for rank, result in enumerate(results) if self._is_unknown(result, placed)]
        shown = len(old.actual_results)
        if unknown and unknown[0] < shown:
            return Rescored(problem=EDITED)
        judgments = self._judge(results, placed)
        complete = all(label.complete for label in placed)
        known = results[: unknown[0]] if unknown else results
        ended = not unknown and len(results) < _kept_depth(old)
        ranking = [self._name(result) for result in known]
        missing = _find_missing(None if ended else len(known), complete=complete)
        names = [name for name in MEASURES if name not in missing]
        table = metrics.evaluate_all([ranking], [judgments], names)
        return Rescored(
            metrics={name: float(column[0]) for name, column in table.items()}
            | seed_figures([judgments.get(name) for name in ranking[:shown]]),
            relevant=sum(grade >= metrics.RELEVANT for grade in judgments.values()) if complete else None,
            missing=missing,
        )

    def _read_list(self, case: TestCase) -> list[StoredPassage]:
        further = [self._before.passages.get(chunk_id) for chunk_id in case.further]
        return [*map(_passage, case.actual_results), *(passage for passage in further if passage)]

    def _name(self, passage: StoredPassage) -> str:
        """What a result is judged as: its page, or its text, which may stand on several pages."""
        if self._by_page:
            return passage.document_id
        return passage.content_hash or f"{passage.document_id}:{passage.start}"

    def _place_label(self, label: StoredLabel) -> _PlacedLabel:
        earlier = self._before.label_places.get(label.key)
        if earlier is not None:
            return _PlacedLabel(label, earlier.spans, _texts(earlier, self._before), complete=True)
        later = self._after.label_places[label.key]
        if self._by_page:
            return _PlacedLabel(label, later.spans, frozenset(), complete=True)
        matches = {span.document_id: self._match_page(span.document_id) for span in later.spans}
        return _PlacedLabel(
            label,
            [span for span in later.spans if matches[span.document_id] != "unknown"],
            _texts(later, self._after),
            complete=all(match == "same chunks" for match in matches.values()),
            edited=frozenset(page for page, match in matches.items() if match == "unknown"),
        )

    def _match_page(self, document_id: str) -> PageMatch:
        if self._same_corpus:
            return "same chunks"
        versions = [report.pages.get(document_id) for report in (self._before, self._after)]
        if versions[0] is None or versions[1] is None or versions[0].text != versions[1].text:
            return "unknown"
        return "same chunks" if versions[0].chunks == versions[1].chunks else "same text"

    def _is_unknown(self, result: StoredPassage, placed: Sequence[_PlacedLabel]) -> bool:
        on_edited_page = any(result.document_id in label.edited for label in placed)
        return on_edited_page and result.content_hash not in self._texts_after

    def _judge(self, results: Sequence[StoredPassage], placed: Sequence[_PlacedLabel]) -> dict[str, int]:
        """The grade of each text, or page, that a label covers; several judges agree as they always do."""
        votes: dict[str, dict[str | None, int]] = defaultdict(dict)
        for position in placed:
            judge, grade = position.label.judge, position.label.grade
            for name in self._find_covered(results, position):
                votes[name][judge] = max(grade, votes[name].get(judge, 0))
        return {name: metrics.median_grade(vote.values()) for name, vote in votes.items()}

    def _find_covered(self, results: Sequence[StoredPassage], placed: _PlacedLabel) -> set[str]:
        """The names of the pages, or texts, that a label covers."""
        if self._by_page:
            return {span.document_id for span in placed.spans}
        overlapping = (result for result in results if any(map(result.overlaps, placed.spans)))
        return {*placed.texts, *map(self._name, overlapping)}


def _passage(result: SearchResult) -> StoredPassage:
    """A result by its place and text; one that damage has left without a span overlaps nothing."""
    return StoredPassage(
        document_id=result.document_id,
        start=-1 if result.start is None else result.start,
        end=-1 if result.end is None else result.end,
        content_hash=result.content_hash or "",
    )


def _texts(place: LabelPlace, report: ValidationReport) -> frozenset[str]:
    passages = (report.passages.get(chunk_id) for chunk_id in place.chunk_ids)
    return frozenset(passage.content_hash for passage in passages if passage)


def _kept_depth(case: TestCase) -> int:
    """How deep a list is kept; a shorter one has ended."""
    return max(case.query.top_k, KEPT_DEPTH)


def _find_missing(depth: int | None, *, complete: bool) -> dict[str, str]:
    """The measures that can't be computed, and why; a list without a depth is known to its end."""
    missing = {SPAN_RECALL: "a report does not hold the spans that it is computed from"}
    for name in MEASURES:
        measure = Measure.parse(name)
        if name in OF_SHOWN_RESULTS:
            continue
        if depth is not None and measure.cutoff > depth:
            missing[name] = f"the earlier report holds only {counted(depth, 'result', 'results')} of a list"
        elif not complete and measure.family in NEED_ALL_ANSWERS:
            missing[name] = UNKNOWN_ANSWERS
    return missing
