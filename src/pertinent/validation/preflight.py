"""Check a golden set before its verdict is read: lost labels, impossible targets, duplicates, size."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from urllib.parse import urldefrag

from .._internal.messages import count_queries, format_count, format_list
from . import metrics
from .criteria import Criteria
from .golden.golden_set import GoldenQuery, GoldenSet, Label
from .labels.resolve import ResolvedLabel, ResolvedQuery
from .labels.votes import merge_by_judge
from .statistics import half_width

MAX_NAMED = 10
"""How many queries or labels of a kind are named."""
MAX_LOST = 100
"""How many lost labels and unlabelled queries are named: enough to correct them in one go."""
MAX_UNGROUPED = 3
"""How many labels on a page with the same fault have a line each; more are described in one."""
PRECISE = 0.1
"""An interval wider than this to either side leaves much open."""

FaultyLabel = tuple[GoldenQuery, ResolvedLabel]
"""A label that moved or was lost, with its query."""


def list_notes(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery], criteria: Criteria) -> list[str]:
    """List what a reader should know about the golden set, most important first."""
    return [
        *_note_label_faults(golden, resolved),
        *_note_ceilings(golden, resolved, criteria),
        *_note_unlabeled(golden),
        *_note_unjudged(golden),
        *_note_duplicates(golden),
        *_note_overridden_zeros(golden, resolved),
        *_note_whole_pages(golden, resolved),
        *_note_size(golden),
    ]


def precision_ceiling(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery], criteria: Criteria) -> float:
    """Return the highest share of answerable queries that can reach the target P@5 with these labels."""
    ceilings = [_query_ceiling(query, resolved) for query in golden.queries if query.scored]
    able = [ceiling >= criteria.precision_at_5 - 1e-9 for ceiling in ceilings if ceiling]
    return fmean(able) if able else 0.0


def can_judge_precision(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery], criteria: Criteria) -> bool:
    """Return whether P@5 is required, and enough queries can reach it (rule 25 in docs/seeds.md)."""
    return criteria.judges_precision and criteria.can_be_met(precision_ceiling(golden, resolved, criteria))


def _query_ceiling(query: GoldenQuery, resolved: Mapping[str, ResolvedQuery]) -> float:
    """The highest P@5 that the query's labels and its `top_k` allow; 0 where no label is valid."""
    return min(metrics.ceiling(resolved[query.id].text_grades, 5), query.top_k / 5)


def list_label_faults(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery]) -> list[FaultyLabel]:
    """List every label that moved or was lost, with its query; a label that several queries share, once."""
    seen: set[Label] = set()
    faults = []
    for query in golden.queries:
        for label in resolved[query.id].labels:
            if label.status != "exact" and label.label not in seen:
                seen.add(label.label)
                faults.append((query, label))
    return faults


def _note_label_faults(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery]) -> list[str]:
    notes: list[str] = []
    faults = list_label_faults(golden, resolved)
    for status in ("lost", "ambiguous", "relocated"):
        groups = _group_by_page([(query, label) for query, label in faults if label.status == status])
        limit = MAX_LOST if status == "lost" else MAX_NAMED
        notes += map(_describe_faults, groups[:limit])
        if remaining := sum(map(len, groups[limit:])):
            count = format_count(remaining, f"more label is {status}", f"more labels are {status}")
            notes.append(f"and {count}")
    return notes


def _group_by_page(faults: Sequence[FaultyLabel]) -> list[list[FaultyLabel]]:
    """Group the faults of a page if there are many, as when it is gone; others are groups of one."""
    by_page: dict[str, list[FaultyLabel]] = defaultdict(list)
    for query, label in faults:
        by_page[_page_of(label.label)].append((query, label))
    groups = []
    for page, entries in by_page.items():
        groups += [entries] if page and len(entries) > MAX_UNGROUPED else [[entry] for entry in entries]
    return groups


def _describe_faults(faults: Sequence[FaultyLabel]) -> str:
    label = faults[0][1]
    names = [_name(query.id, fault.label.line) for query, fault in faults]
    if len(faults) == 1:
        return f"a label of {names[0]} is {label.status}: {label.label.location} ({label.detail})"
    details = format_list(list(dict.fromkeys(fault.detail for _, fault in faults)), MAX_UNGROUPED, "; ")
    return (
        f"{len(faults):,} labels on {_page_of(label.label)} are {label.status}: "
        f"{format_list(names, MAX_LOST)} ({details})"
    )


def _page_of(label: Label) -> str:
    return label.page or urldefrag(label.url or "").url


def _name(query_id: str, line: int | None) -> str:
    return f"{query_id} (line {line})" if line else query_id


def _note_ceilings(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery], criteria: Criteria) -> list[str]:
    if not criteria.judges_precision:
        return []
    low = [
        f"{query.id} ({_query_ceiling(query, resolved):.1f})"
        for query in golden.queries
        if query.scored and _query_ceiling(query, resolved) < criteria.precision_at_5 - 1e-9
    ]
    if not low:
        return []
    notes = [
        f"{count_queries(len(low))} can't reach P@5 {criteria.precision_at_5:.2f}, since too few passages "
        "are labelled as relevant or `top_k` is too low. The highest possible P@5: "
        f"{format_list(low, MAX_NAMED)}"
    ]
    ceiling = precision_ceiling(golden, resolved, criteria)
    if not criteria.can_be_met(ceiling):
        notes.append(
            f"the criterion can't be met: at most {ceiling:.0%} of the queries can reach that P@5, but "
            f"{criteria.queries_reaching:.0%} are required"
        )
    return notes


def list_unlabeled(golden: GoldenSet) -> list[GoldenQuery]:
    """List the answerable queries without a label of a relevant passage."""
    return [
        query for query in golden.queries if query.scored and not any(label.grade for label in query.labels)
    ]


def _note_unlabeled(golden: GoldenSet) -> list[str]:
    names = [_name(query.id, query.line) for query in list_unlabeled(golden)]
    if not names:
        return []
    have = format_count(len(names), "answerable query has", "answerable queries have")
    return [f"{have} no label of a relevant passage: {format_list(names, MAX_LOST)}"]


def _note_unjudged(golden: GoldenSet) -> list[str]:
    if not golden.unjudged:
        return []
    have = format_count(golden.unjudged, "query has", "queries have")
    return [f"{have} no relevant judgment in the BEIR folder; as usual for BEIR, such queries are left out"]


def _note_duplicates(golden: GoldenSet) -> list[str]:
    texts: dict[str, list[str]] = defaultdict(list)
    for query in golden.queries:
        texts[" ".join(query.text.casefold().split())].append(query.id)
    return [
        f"these queries have the same text: {', '.join(ids)}"
        for text, ids in texts.items()
        if text and len(ids) > 1
    ]


def _note_overridden_zeros(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery]) -> list[str]:
    """Name the labels with grade 0 that are overridden for all of their passages."""
    if golden.unit == "page":
        return []
    names = []
    for query in golden.queries:
        labels = [label for label in resolved[query.id].labels if label.chunk_ids]
        grades = merge_by_judge((chunk_id, label.vote) for label in labels for chunk_id in label.chunk_ids)
        names += [
            f"{zero.label.location} of {_name(query.id, zero.label.line)}"
            for zero in labels
            if not zero.label.grade and all(grades[name][zero.label.judge] for name in zero.chunk_ids)
        ]
    if not names:
        return []
    have = format_count(len(names), "label with grade 0 has", "labels with grade 0 have")
    return [
        f"{have} no effect, since the same passages have more specific labels, or equally specific ones, "
        f"with a higher grade: {format_list(names, MAX_NAMED)}"
    ]


def _note_whole_pages(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery]) -> list[str]:
    """Name the labels that make every section of a page relevant: an anchor may have been forgotten."""
    if golden.unit == "page":
        return []
    names: dict[Label, str] = {}
    for query in golden.queries:
        judgments = resolved[query.id].judgments
        for label in resolved[query.id].labels:
            covers_page = label.covered_sections > 1 and all(map(judgments.get, label.chunk_ids))
            if label.label.grade and covers_page:
                name = _name(query.id, label.label.line)
                names.setdefault(label.label, f"{label.label.page or label.label.url} of {name}")
    if not names:
        return []
    cover = format_count(len(names), "label covers", "labels cover")
    return [
        f"{cover} all sections of a page; if only a part of it answers the question, give an anchor or a "
        f"quote: {format_list(list(names.values()), MAX_NAMED)}"
    ]


def _note_size(golden: GoldenSet) -> list[str]:
    count = sum(query.scored for query in golden.queries)
    width = half_width(count)
    if not count or width <= PRECISE:
        return []
    have = format_count(count, "query has", "queries have")
    return [
        f"only {have} an answer: a mean over so few is uncertain by about ±{width:.2f}, so smaller "
        "differences mean nothing"
    ]
