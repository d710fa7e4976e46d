"""Summarise a failed query of a report: why it failed, and what to do next."""

from __future__ import annotations

import math

from ..diagnosis import NEXT_STEPS
from ..report import TestCase
from . import display_names


def explain_failure(case: TestCase) -> str:
    """Say in a sentence why the query failed."""
    if case.diagnosis is not None:
        return f"{display_names.REASONS[case.diagnosis.kind]}: {case.diagnosis.detail}"
    return "; ".join(case.complaints) or case.error or case.status


def next_step(case: TestCase) -> str:
    """Say what to do about a failed query; empty where it passed or was not diagnosed."""
    return NEXT_STEPS[case.diagnosis.kind] if case.diagnosis else ""


def describe_failure(case: TestCase) -> list[str]:
    """Describe why a query failed in lines: complaints, reason, next step and missed passages."""
    lines = [*case.complaints]
    if case.diagnosis is not None:
        lines += [explain_failure(case), f"next: {next_step(case)}"]
        lines += [
            f"missed (label {miss.grade}): {miss.title}: {miss.detail}" for miss in case.diagnosis.misses
        ]
    return lines


def precision_at_5(case: TestCase) -> float:
    """Return P@5, whatever the query's own `top_k` is."""
    precision = case.metrics.get("p@5", case.precision_at_k)
    return min(max(precision, 0.0), 1.0) if math.isfinite(precision) else 0.0
