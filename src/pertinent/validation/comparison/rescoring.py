"""Score the lists of a baseline report again, with the labels of the current report.

A label in both golden sets is where the baseline found it. A new label is where the current run found it, if
the page has the same text in both runs. On an edited page a result is recognised only by its text. If a
result can't be recognised, the query is not scored, and the reason says so: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ..._internal.messages import format_count
from .. import metrics
from ..integrity import hash_text
from ..labels.votes import Vote, merge_votes
from ..metrics import MEASURES, SPAN_RECALL, Measure
from ..report import SearchResult, TestCase, ValidationReport
from ..scoring import evaluate_lists, label_ranking, measures_results, seed_figures
from .stored_labels import STORED_DEPTH, LabelLocation, StoredLabel, StoredPassage, StoredSpan

NEED_ALL_ANSWERS = {"recall", "rcap", "map", "ndcg"}
"""The families of measures that compare a list with all passages that answer the query."""

EDITED = (
    "their pages were edited or split into other chunks, and the reports do not say whether these results "
    "have the new labels"
)

UNKNOWN_ANSWERS = "the earlier report does not say how many of its passages have the new labels"

PageMatch = Literal["same chunks", "same text", "unknown"]


@dataclass(frozen=True, slots=True)
class ListScores:
    """The measures of a list of the baseline, by the current labels."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    relevant: int | None = None
    """How many passages answer the query; None if the report does not tell."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """The measures that can't be computed, and why."""
    problem: str | None = None
    """Why nothing can be computed."""


@dataclass(frozen=True, slots=True)
class _LocatedLabel:
    """A current label, located in the baseline run."""

    vote: Vote
    spans: Sequence[StoredSpan]
    texts: frozenset[str]
    """The hashes of the chunks that cover it."""
    complete: bool
    """Whether these are all chunks of the baseline that cover it."""
    edited: frozenset[str] = frozenset()
    """Pages that may have been edited, so that spans on them mean nothing in the baseline."""


class Rescorer:
    """Scores lists of a baseline report with the labels of the current one."""

    def __init__(self, baseline: ValidationReport, current: ValidationReport) -> None:
        self._baseline, self._current = baseline, current
        self._by_page = current.golden.unit == "page"
        corpora = [report.fingerprints.get("corpus") for report in (baseline, current)]
        self._same_corpus = corpora[0] is not None and corpora[0] == corpora[1]
        results = [_to_passage(result) for case in current.test_cases for result in case.actual_results]
        passages = (*current.passages.values(), *results)
        self._current_texts = {passage.content_hash for passage in passages} - {""}

    def score(self, old: TestCase, new: TestCase) -> ListScores:
        """Score the baseline's list of a query with its current labels."""
        if old.status == "error":
            return ListScores(dict.fromkeys(old.metrics, 0.0))
        results = self._list_results(old)
        labels = [self._locate_label(label) for label in new.labels]
        unknown = [rank for rank, result in enumerate(results) if self._is_unknown(result, labels)]
        visible = len(old.actual_results)
        if unknown and unknown[0] < visible:
            return ListScores(problem=EDITED)
        judgments = self._judge(results, labels)
        complete = all(label.complete for label in labels)
        recognized = results[: unknown[0]] if unknown else results
        # A list that is shorter than what reports store has ended.
        is_whole_list = not unknown and len(results) < max(old.query.top_k, STORED_DEPTH)
        ranking = [self._judged_id(result) for result in recognized]
        missing = _find_missing(None if is_whole_list else len(recognized), complete=complete)
        names = [name for name in MEASURES if name not in missing]
        table = evaluate_lists([ranking[:visible]], [ranking], [judgments], names)
        return ListScores(
            metrics={name: float(column[0]) for name, column in table.items()}
            | seed_figures(label_ranking(ranking[:visible], judgments)),
            relevant=sum(grade >= metrics.RELEVANT for grade in judgments.values()) if complete else None,
            missing=missing,
        )

    def _list_results(self, case: TestCase) -> list[StoredPassage]:
        further = [self._baseline.passages.get(chunk_id) for chunk_id in case.further]
        return [*map(_to_passage, case.actual_results), *(passage for passage in further if passage)]

    def _judged_id(self, passage: StoredPassage) -> str:
        """What a result is judged by: its page, or its text, which several pages may share."""
        if self._by_page:
            return passage.document_id
        return passage.content_hash or f"{passage.document_id}:{passage.start}"

    def _locate_label(self, label: StoredLabel) -> _LocatedLabel:
        old = self._baseline.label_locations.get(label.key)
        if old is not None:
            vote = Vote(label.judge, old.specificity, label.grade)
            return _LocatedLabel(vote, old.spans, _texts_at(old, self._baseline), complete=True)
        new = self._current.label_locations[label.key]
        vote = Vote(label.judge, new.specificity, label.grade)
        if self._by_page:
            return _LocatedLabel(vote, new.spans, frozenset(), complete=True)
        matches = {span.document_id: self._match_page(span.document_id) for span in new.spans}
        return _LocatedLabel(
            vote,
            [span for span in new.spans if matches[span.document_id] != "unknown"],
            _texts_at(new, self._current),
            complete=all(match == "same chunks" for match in matches.values()),
            edited=frozenset(page for page, match in matches.items() if match == "unknown"),
        )

    def _match_page(self, document_id: str) -> PageMatch:
        if self._same_corpus:
            return "same chunks"
        old, new = (report.pages.get(document_id) for report in (self._baseline, self._current))
        if old is None or new is None or old.text != new.text:
            return "unknown"
        return "same chunks" if old.chunks == new.chunks else "same text"

    def _is_unknown(self, result: StoredPassage, labels: Sequence[_LocatedLabel]) -> bool:
        on_edited_page = any(result.document_id in label.edited for label in labels)
        return on_edited_page and result.content_hash not in self._current_texts

    def _judge(self, results: Sequence[StoredPassage], labels: Sequence[_LocatedLabel]) -> dict[str, int]:
        """The grade of each text, or page, that a label covers."""
        return merge_votes(
            (judged_id, located.vote)
            for located in labels
            for judged_id in self._find_covered(results, located)
        )

    def _find_covered(self, results: Sequence[StoredPassage], label: _LocatedLabel) -> set[str]:
        """The ids of the pages, or texts, that a label covers."""
        if self._by_page:
            return {span.document_id for span in label.spans}
        overlapping = (result for result in results if any(map(result.overlaps, label.spans)))
        return {*label.texts, *map(self._judged_id, overlapping)}


def _to_passage(result: SearchResult) -> StoredPassage:
    """Convert a result; one that damage has left without a span overlaps nothing."""
    return StoredPassage(
        document_id=result.document_id,
        start=-1 if result.start is None else result.start,
        end=-1 if result.end is None else result.end,
        content_hash=hash_text(result.content) if result.content else "",
    )


def _texts_at(location: LabelLocation, report: ValidationReport) -> frozenset[str]:
    passages = (report.passages.get(chunk_id) for chunk_id in location.chunk_ids)
    return frozenset(passage.content_hash for passage in passages if passage)


def _find_missing(depth: int | None, *, complete: bool) -> dict[str, str]:
    """Find the measures that can't be computed, and why.

    Args:
        depth: How many results of the list are recognised; None if the list is complete.
        complete: Whether all passages that answer the query are known.
    """
    missing = {SPAN_RECALL: "a report does not have the spans that it is computed from"}
    for name in MEASURES:
        measure = Measure.parse(name)
        if depth is not None and measure.cutoff > depth and not measures_results(name):
            missing[name] = (
                f"the earlier report has only {format_count(depth, 'result', 'results')} of each query"
            )
        elif not complete and measure.family in NEED_ALL_ANSWERS:
            missing[name] = UNKNOWN_ANSWERS
    return missing
