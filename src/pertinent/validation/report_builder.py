"""Build a report from judged queries: criteria with their intervals, means, verdict and issues."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import NamedTuple

from .._internal.messages import count_queries, limit_lines
from ..types import DamagedPoint
from . import integrity, preflight
from .acceptance_checks import AcceptanceCheck
from .comparison.stored_labels import store_label_locations, store_pages, store_passages
from .criteria import Criteria, Criterion
from .diagnosis import Diagnosis
from .golden.golden_set import GoldenSet, fingerprint_golden
from .issues import list_issues
from .labels.resolve import ResolvedQuery
from .metrics import mean_reciprocal_rank
from .options import ValidationOptions
from .report import GoldenSummary, LabelFault, Latency, Mean, TestCase, ValidationReport
from .scoring import Case
from .statistics import LatencySummary, intervals, latency_summary, wilson_interval
from .target import PageView, ValidationTarget
from .verdict import VerdictInput, decide_verdict

SEED = 20251216
"""The seed of the bootstrap: the same run has the same intervals."""


class SeedMeans(NamedTuple):
    """Seed 000's means over a group of queries."""

    precision_at_5: float
    mrr: float
    mrr_first_relevant: float

    @classmethod
    def from_cases(cls, cases: Sequence[Case]) -> SeedMeans:
        """Compute the means from the results; 0 where there are no queries."""
        return cls(
            fmean(_values(cases, "p@5")) if cases else 0.0,
            mean_reciprocal_rank([case.rank_of_best for case in cases]),
            mean_reciprocal_rank([case.rank_of_first_relevant for case in cases]),
        )


@dataclass(frozen=True, slots=True)
class ReportBuilder:
    """Everything that a report is built from."""

    target: ValidationTarget
    golden: GoldenSet
    options: ValidationOptions
    criteria: Criteria
    started: str
    pages: Sequence[PageView]
    resolved: Mapping[str, ResolvedQuery]
    cases: Sequence[Case]

    @property
    def scored(self) -> list[Case]:
        """The answerable queries that the verdict judges (rule 13 in docs/seeds.md).

        A query whose labels of relevant passages are lost or outvoted can't be judged.
        """
        return [case for case in self.cases if case.query.scored and case.relevant]

    def build(
        self, checks: list[AcceptanceCheck], diagnoses: Sequence[Diagnosis | None], audit: list[str] | None
    ) -> ValidationReport:
        """Build the report.

        Args:
            checks: The acceptance checks.
            diagnoses: The diagnosis of each case; None for a case that passed.
            audit: The faults that the audit found; None where it was not run.
        """
        latency = latency_summary([case.outcome.latency_ms for case in self.cases])
        results = [hit.chunk for case in self.cases for hit in case.outcome.results]
        damaged = _list_damaged_points(self.cases)
        mismatches = integrity.find_mismatches(results, self.pages)
        wrong_slices = integrity.find_wrong_slices(self.pages)
        rates = (integrity.completeness(results), integrity.hash_rate(results))
        ceiling = preflight.precision_ceiling(self.golden, self.resolved, self.criteria)
        ranking = self._judge_ranking(ceiling)
        further = self._judge_further(latency, rates, len(damaged), len(mismatches), len(wrong_slices), audit)
        faults = preflight.list_label_faults(self.golden, self.resolved)
        findings = VerdictInput(
            golden=self.golden,
            criteria=self.criteria,
            cases=self.cases,
            answerable=self.scored,
            ranking=ranking,
            further=further,
            checks=checks,
            lost_labels=sum(label.status == "lost" for _, label in faults),
            ceiling=ceiling,
        )
        verdict, reason = decide_verdict(findings)
        every_query, answerable = SeedMeans.from_cases(self.cases), SeedMeans.from_cases(self.scored)
        return ValidationReport(
            timestamp=self.started,
            total_queries=len(self.cases),
            avg_precision_at_5=every_query.precision_at_5,
            mrr=every_query.mrr,
            avg_latency_ms=latency.mean if latency else 0.0,
            p95_latency_ms=latency.p95 if latency else 0.0,
            p99_latency_ms=latency.p99 if latency else 0.0,
            metadata_completeness_rate=rates[0],
            hash_validation_pass_rate=rates[1],
            test_cases=[
                TestCase.from_case(case, diagnosis)
                for case, diagnosis in zip(self.cases, diagnoses, strict=True)
            ],
            summary=f"{verdict}: {reason}{self._note_limit()}",
            issues=[
                *integrity.describe_damaged_points(damaged),
                *integrity.describe_faults(results),
                *limit_lines(mismatches, integrity.MAX_MISMATCHES, "more such result"),
                *integrity.describe_wrong_slices(wrong_slices),
                *(audit or ()),
                *list_issues(self.golden, self.cases, diagnoses, checks, latency),
            ],
            verdict=verdict,
            avg_precision_at_5_answerable=answerable.precision_at_5,
            mrr_answerable=answerable.mrr,
            mrr_first_relevant=every_query.mrr_first_relevant,
            mrr_first_relevant_answerable=answerable.mrr_first_relevant,
            criteria=[*ranking, *further],
            checks=checks,
            metrics=self._compute_metrics(),
            latency=Latency(**asdict(latency)) if latency else None,
            golden=self._summarize_golden(ceiling),
            preflight=preflight.list_notes(self.golden, self.resolved, self.criteria),
            label_faults=[
                LabelFault(
                    query=query.id,
                    location=label.label.location,
                    status=label.status,  # type: ignore[arg-type]  # never exact
                    detail=label.detail,
                )
                for query, label in faults
            ],
            audit=audit,
            fingerprints=self._collect_fingerprints(),
            options={**asdict(self.options), "criteria": self.criteria.model_dump()},
            label_locations=store_label_locations(self.cases),
            passages=store_passages(self.cases, self.pages),
            # Where pages are judged, results are identified by their page: no text is compared.
            pages=store_pages(self.cases, self.pages) if self.golden.unit == "passage" else {},
        )

    def _note_limit(self) -> str:
        limit = self.options.limit
        if limit is None:
            return ""
        first = "query of the golden set was" if limit == 1 else f"{limit:,} queries of the golden set were"
        return f" Only the first {first} run."

    def _judge_further(
        self,
        latency: LatencySummary | None,
        rates: tuple[float, float],
        damaged: int,
        mismatches: int,
        wrong_slices: int,
        audit: list[str] | None,
    ) -> list[Criterion]:
        """Judge metadata, hashes and latency; also faults of points, results and chunks, and the audit."""
        required = self.criteria
        p95 = latency.p95 if latency else 0.0
        results = sum(len(case.outcome.results) for case in self.cases)
        chunks = sum(len(page.chunks) for page in self.pages)
        criteria = [
            _judge_rate("metadata completeness", required.metadata_completeness, rates[0], results),
            _judge_rate("hash validation", required.hash_validation, rates[1], results),
            Criterion(
                name="p95 latency (ms)",
                target=required.p95_latency_ms,
                value=p95,
                passed=p95 < required.p95_latency_ms if latency else None,
                n=latency.n if latency else 0,
                detail=f"interpolated from {count_queries(latency.n)}" if latency else "no query was run",
            ),
        ]
        if damaged:
            detail = "points that searches left out of their results"
            criteria.append(_judge_count("damaged points", damaged, results, detail))
        if mismatches:
            detail = "results that differ from the pages that the pipeline lists"
            criteria.append(_judge_count("results unlike their page", mismatches, results, detail))
        if wrong_slices:
            detail = "listed chunks with another text than their page has at their span"
            criteria.append(_judge_count("chunks unlike their page", wrong_slices, chunks, detail))
        if audit is not None:
            criteria.append(_judge_count("audit", len(audit), chunks, "faults in the stored data"))
        return criteria

    def _judge_ranking(self, ceiling: float) -> list[Criterion]:
        """Judge the means that have a target; their intervals come from the same resamples.

        P@5 is not judged where the labels allow too few queries to reach it (rule 25 in docs/seeds.md).
        """
        required = self.criteria
        reaching = [float(value >= required.precision_at_5 - 1e-9) for value in _values(self.scored, "p@5")]
        share = f"queries with P@5 ≥ {required.precision_at_5:.2f}"
        unreachable = None if required.can_be_met(ceiling) else share
        columns = [
            (share, required.queries_reaching if required.judges_precision else 0.0, reaching),
            ("MRR (answerable)", required.mrr, _values(self.scored, "rr_best")),
            *((name, least, _values(self.scored, name)) for name, least in required.at_least.items()),
        ]
        means = intervals({name: values for name, _, values in columns}, seed=SEED)
        shares = [name for name in means if name.startswith(("queries with", "success@"))]
        means |= {
            name: wilson_interval(round(means[name].mean * means[name].n), means[name].n) for name in shares
        }
        return [
            Criterion(
                name=name,
                target=least,
                value=means[name].mean if means else 0.0,
                passed=means[name].mean >= least - 1e-9 if means and name != unreachable else None,
                low=means[name].low if means else None,
                high=means[name].high if means else None,
                n=len(values),
                detail="over the answerable queries"
                + (", Wilson interval" if name in shares else "")
                + (
                    f"; not judged, since the labels allow at most {ceiling:.0%}"
                    if name == unreachable
                    else ""
                ),
            )
            for name, least, values in columns
            if least > 0
        ]

    def _compute_metrics(self) -> dict[str, dict[str, Mean]]:
        """Compute the means of all measures over all queries, by type and by category."""
        groups: dict[str, list[Case]] = defaultdict(list)
        for case in self.scored:
            kind, category = case.query.query_type, case.query.category
            groups["all"].append(case)
            groups[f"type:{kind}"].append(case)
            if category:
                groups[f"category:{category}"].append(case)
                groups[f"type:{kind}/category:{category}"].append(case)
        return {name: _compute_means(cases) for name, cases in groups.items()}

    def _summarize_golden(self, ceiling: float) -> GoldenSummary:
        return GoldenSummary(
            name=self.golden.name,
            queries=len(self.golden.queries),
            scored=len(self.scored),
            labels=sum(len(query.labels) for query in self.golden.queries),
            unit=self.golden.unit,
            answer_threshold=self.golden.answer_threshold,
            path=self.options.path,
            ceiling=ceiling,
        )

    def _collect_fingerprints(self) -> dict[str, str]:
        """Identify the golden set, the corpus and the pipeline."""
        corpus = hashlib.sha256()
        for page in sorted(self.pages, key=lambda page: page.document_id):
            for chunk in page.chunks:
                corpus.update(f"{chunk.chunk_id}\0{integrity.hash_text(chunk.text)}\0".encode())
        facts = {
            "golden": fingerprint_golden(self.golden),
            "corpus": corpus.hexdigest(),
            **self.target.describe_pipeline(),
        }
        answers = [case.outcome.answer for case in self.cases if case.outcome.answer]
        if not answers:
            return facts
        reranked = sum(answer.rerank_share > 0 for answer in answers)
        if not reranked:
            facts.pop("reranker", None)
        elif reranked < len(answers):
            facts["reranker"] += f" (in {reranked} of {len(answers)} searches)"
        return {**facts, "ranking": answers[0].ranking}


def _list_damaged_points(cases: Sequence[Case]) -> list[DamagedPoint]:
    """List the points that searches left out, each once."""
    points = [point for case in cases if case.outcome.answer for point in case.outcome.answer.damaged]
    return list({point.point_id: point for point in points}.values())


def _values(cases: Sequence[Case], name: str) -> list[float]:
    return [case.metrics[name] for case in cases]


def _compute_means(cases: Sequence[Case]) -> dict[str, Mean]:
    table = {name: _values(cases, name) for name in cases[0].metrics}
    return {name: Mean(**asdict(interval)) for name, interval in intervals(table, seed=SEED).items()}


def _judge_rate(name: str, target: float, value: float, n: int) -> Criterion:
    return Criterion(
        name=name,
        target=target,
        value=value,
        passed=value >= target if n else None,
        n=n,
        detail="of the retrieved results",
    )


def _judge_count(name: str, count: int, n: int, detail: str) -> Criterion:
    return Criterion(name=name, target=0, value=count, passed=not count, n=n, detail=detail)
