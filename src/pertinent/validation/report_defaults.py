"""Defaults for the fields that a report has beyond seed 000, computed from the seed's own fields.

So a report, or a part of one, can be built from what the seed names. Each function gets the fields that were
validated before; a field that was refused is missing there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

from .criteria import Criteria
from .metrics import mean_reciprocal_rank, precision_at_k, rank_of_first_relevant

if TYPE_CHECKING:
    from .report import TestCase

Fields = Mapping[str, Any]

Verdict = Literal["PASS", "FAIL", "INVALID"]
TOP = 5
_VERDICT = re.compile(r"\b(PASS|FAIL|INVALID)\b")


def default_judged(fields: Fields) -> list[bool]:
    """Mark every result as judged."""
    return [True for _ in fields.get("relevance_labels", ())]


def default_metrics(fields: Fields) -> dict[str, float]:
    """The two measures that the seed's verdict needs."""
    rank = fields.get("rank_of_best")
    return {"p@5": _precision_at_5(fields), "rr_best": 1.0 / rank if rank else 0.0}


def default_status(fields: Fields) -> Literal["passed", "failed"]:
    """Whether the query reaches the P@5 that the seed demands."""
    return "passed" if _precision_at_5(fields) >= Criteria().precision_at_5 else "failed"


def default_relevant(fields: Fields) -> int:
    """The number of relevant results; at least one, since a query has an answer by default."""
    labels: list[int] = fields.get("relevance_labels", [])
    return max(1, sum(label > 0 for label in labels))


def default_verdict(fields: Fields) -> Verdict:
    """The verdict that the summary names; a summary without one is refused later."""
    return read_verdict(fields.get("summary", "")) or "INVALID"


def read_verdict(summary: str) -> Verdict | None:
    """The first verdict that the summary names."""
    return next((name for name in get_args(Verdict) if _VERDICT.findall(summary)[:1] == [name]), None)


def list_answerable(fields: Fields) -> list[TestCase]:
    """The test cases that the verdict judges."""
    return [case for case in fields.get("test_cases", ()) if is_answerable(case)]


def is_answerable(case: TestCase) -> bool:
    """Whether the case counts in the verdict's means: answerable, no edge case, and labelled."""
    return case.query.answerable and case.query.query_type != "edge" and case.relevant > 0


def default_precision_answerable(fields: Fields) -> float:
    """The mean P@5 of the answerable queries."""
    values = [precision_at_k(case.relevance_labels, TOP) for case in list_answerable(fields)]
    return sum(values) / len(values) if values else 0.0


def default_mrr_answerable(fields: Fields) -> float:
    """The MRR of the answerable queries, by `rank_of_best`."""
    return mean_reciprocal_rank([case.rank_of_best for case in list_answerable(fields)])


def default_mrr_first_relevant(fields: Fields) -> float:
    """The MRR of all queries, by the first relevant result."""
    return _mrr_first_relevant(fields.get("test_cases", ()))


def default_mrr_first_relevant_answerable(fields: Fields) -> float:
    """The MRR of the answerable queries, by the first relevant result."""
    return _mrr_first_relevant(list_answerable(fields))


def _mrr_first_relevant(cases: Iterable[TestCase]) -> float:
    return mean_reciprocal_rank([rank_of_first_relevant(case.relevance_labels) for case in cases])


def _precision_at_5(fields: Fields) -> float:
    return precision_at_k(fields.get("relevance_labels", ()), TOP)
