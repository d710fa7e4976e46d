"""What a golden set can and can't show, told before anybody reads a verdict off it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

from .._internal.messages import count_queries, format_count, format_list
from . import metrics
from .criteria import Criteria
from .golden.golden_set import GoldenQuery, GoldenSet, Label
from .labels.resolve import ResolvedLabel, ResolvedQuery
from .statistics import half_width

TOLD = 10
"""How many queries or labels of a kind are named."""
FAULTS_LISTED = 100
"""How many lost labels, and queries without a label, are named: all that somebody would mend at once."""
PRECISE = 0.1
"""An interval that reaches further than this to either side leaves much open."""


def notes(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery], criteria: Criteria) -> list[str]:
    """All that should be known about the golden set, most important first."""
    return [
        *_labels(golden, resolved),
        *_ceilings(golden, resolved, criteria),
        *_unlabelled(golden),
        *_duplicates(golden),
        *_size(golden),
    ]


def ceiling(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery], criteria: Criteria) -> float:
    """The highest share of answerable queries that could reach the wanted P@5 with these labels."""
    ceilings = [_ceiling(query, resolved) for query in golden.queries if query.scored]
    able = [highest >= criteria.precision_at_5 - 1e-9 for highest in ceilings if highest]
    return fmean(able) if able else 0.0


def allow_precision(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery], criteria: Criteria) -> bool:
    """Whether P@5 is asked for, and enough queries could reach it (CONTRACTS 25)."""
    return criteria.judge_precision and criteria.can_be_met(ceiling(golden, resolved, criteria))


def _ceiling(query: GoldenQuery, resolved: Mapping[str, ResolvedQuery]) -> float:
    """The highest P@5 that the query's labels and its `top_k` allow; 0 where no label holds."""
    return min(metrics.ceiling(resolved[query.id].text_grades, 5), query.top_k / 5)


def faults(
    golden: GoldenSet, resolved: Mapping[str, ResolvedQuery]
) -> list[tuple[GoldenQuery, ResolvedLabel]]:
    """Every label that is not where it was, with its query; one that several queries share comes once."""
    seen: set[Label] = set()
    found = []
    for query in golden.queries:
        for label in resolved[query.id].labels:
            if label.status != "exact" and label.label not in seen:
                seen.add(label.label)
                found.append((query, label))
    return found


def _labels(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery]) -> list[str]:
    told = []
    wrong = faults(golden, resolved)
    for status in ("lost", "ambiguous", "relocated"):
        ones = [(query, label) for query, label in wrong if label.status == status]
        limit = FAULTS_LISTED if status == "lost" else TOLD
        told += [
            f"a label of {query.id}{_line(label.label)} is {status}: {label.label.location} ({label.detail})"
            for query, label in ones[:limit]
        ]
        if len(ones) > limit:
            more = format_count(len(ones) - limit, "more label is", "more labels are")
            told.append(f"and {more} {status}")
    return told


def _line(label: Label) -> str:
    return f" (line {label.line})" if label.line else ""


def _ceilings(golden: GoldenSet, resolved: Mapping[str, ResolvedQuery], criteria: Criteria) -> list[str]:
    if not criteria.judge_precision:
        return []
    low = [
        f"{query.id} ({_ceiling(query, resolved):.1f})"
        for query in golden.queries
        if query.scored and _ceiling(query, resolved) < criteria.precision_at_5 - 1e-9
    ]
    if not low:
        return []
    able = ceiling(golden, resolved, criteria)
    told = [
        f"{count_queries(len(low))} can't reach P@5 {criteria.precision_at_5:.2f}, since too few passages "
        "are labelled as an answer or `top_k` is too low; the highest that each can reach: "
        f"{format_list(low, TOLD)}"
    ]
    if not criteria.can_be_met(able):
        told.append(
            f"the criterion can't be met: at most {able:.0%} of the queries can reach it, and "
            f"{criteria.queries_reaching:.0%} are wanted"
        )
    return told


def unlabelled(golden: GoldenSet) -> list[str]:
    """The queries that should have an answer, and have no label that says where."""
    return [
        query.id for query in golden.queries if query.scored and not any(one.grade for one in query.labels)
    ]


def _unlabelled(golden: GoldenSet) -> list[str]:
    bare = {*unlabelled(golden)}
    if not bare:
        return []
    names = [
        f"{query.id} (line {query.line})" if query.line else query.id
        for query in golden.queries
        if query.id in bare
    ]
    return [
        f"{count_queries(len(bare))} should have an answer, but no label says where: "
        f"{format_list(names, FAULTS_LISTED)}"
    ]


def _duplicates(golden: GoldenSet) -> list[str]:
    texts: dict[str, list[str]] = defaultdict(list)
    for query in golden.queries:
        texts[" ".join(query.text.casefold().split())].append(query.id)
    return [
        f"the same text is asked by {', '.join(ids)}" for text, ids in texts.items() if text and len(ids) > 1
    ]


def _size(golden: GoldenSet) -> list[str]:
    count = sum(query.scored for query in golden.queries)
    width = half_width(count)
    if not count or width <= PRECISE:
        return []
    return [
        f"only {count_queries(count)} with an answer: a mean over so few is uncertain by about ±{width:.2f}, "
        "so a smaller difference than that says nothing"
    ]
