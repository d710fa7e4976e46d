"""What a report's queries are, and how well they did."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..acceptance_checks import Check
from ..criteria import Criterion
from ..diagnosis import NEXT_STEPS
from ..report import TestCase, ValidationReport
from . import words


def is_good(case: TestCase) -> bool:
    """Whether it did what was expected of it."""
    return case.status in ("passed", "refused")


def state_of(judged: Check | Criterion) -> str:
    """Whether a check or a criterion is met; a check without a value has nothing to check."""
    return words.STATES[None if judged.value is None else judged.passed]


def reason(case: TestCase) -> str:
    """Why the query failed, in a sentence."""
    if case.diagnosis is not None:
        return f"{words.REASONS[case.diagnosis.kind]}: {case.diagnosis.detail}"
    return "; ".join(case.complaints) or case.error or case.status


def next_step(case: TestCase) -> str:
    """What to do about a failed query; nothing where it passed, or was not diagnosed."""
    return NEXT_STEPS[case.diagnosis.kind] if case.diagnosis else ""


def precision_at_5(case: TestCase) -> float:
    """P@5, whatever the query's own k is."""
    found = case.metrics.get("p@5", case.precision_at_k)
    return min(max(found, 0.0), 1.0) if math.isfinite(found) else 0.0


def is_strict(report: ValidationReport) -> bool:
    """Whether the acceptance checks count in the verdict too."""
    return bool(_criterion(report, "strict"))


def wanted_precision(report: ValidationReport) -> float | None:
    """The P@5 that each query should reach, if the report says."""
    found = _criterion(report, "precision_at_5")
    return float(found) if isinstance(found, int | float) and 0 <= found <= 1 else None


def _criterion(report: ValidationReport, name: str) -> Any:
    criteria = report.options.get("criteria")
    return criteria.get(name) if isinstance(criteria, Mapping) else None
