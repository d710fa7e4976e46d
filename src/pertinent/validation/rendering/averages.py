"""Seed 000's means, over the answerable queries and over all queries."""

from __future__ import annotations

from typing import NamedTuple

from ..report import ValidationReport

TITLE = "Means over the answerable queries and over all queries"


class Average(NamedTuple):
    """A mean over the queries that the verdict judges, and over all test cases."""

    name: str
    answerable: float
    every_query: float


def list_averages(report: ValidationReport) -> list[Average]:
    """List the means that a report has of both kinds."""
    return [
        Average("mean P@5", report.avg_precision_at_5_answerable, report.avg_precision_at_5),
        Average("MRR", report.mrr_answerable, report.mrr),
        Average("MRR, first relevant", report.mrr_first_relevant_answerable, report.mrr_first_relevant),
    ]
