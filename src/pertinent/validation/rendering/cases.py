"""What a report's queries are, and how well they did."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..report import TestCase, ValidationReport


def is_scored(case: TestCase) -> bool:
    """Whether it counts in the means: it has an answer, and is no edge case."""
    return case.query.answerable and case.query.query_type != "edge"


def is_good(case: TestCase) -> bool:
    """Whether it did what was expected of it."""
    return case.status in ("passed", "refused")


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
