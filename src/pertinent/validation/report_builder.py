"""Judged queries to a report: the criteria with their intervals, the means, and the verdict."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from .._internal.messages import count_queries
from ..types import DamagedPoint
from . import integrity, preflight
from .acceptance_checks import Check
from .comparison.stored_labels import store_label_locations, store_pages, store_passages
from .criteria import Criteria, Criterion
from .diagnosis import Diagnosis
from .golden.golden_set import GoldenSet, fingerprint_golden
from .insights import insights
from .labels.resolve import ResolvedQuery
from .metrics import mean_reciprocal_rank
from .options import Options
from .report import Golden, LabelFault, Latency, Mean, TestCase, ValidationReport
from .scoring import Case
from .statistics import Latencies, intervals, latency_summary, wilson
from .subject import PageView, Subject
from .verdict import Findings, decide

SEED = 20251216
"""Of the bootstrap: the same run has the same intervals."""


class SeedMeans(NamedTuple):
    """Seed 000's means over some of the queries."""

    precision_at_5: float
    mrr: float
    mrr_first_relevant: float

    @classmethod
    def of(cls, cases: Sequence[Case]) -> SeedMeans:
        """Compute the means from what the callers got; 0 where there are no queries."""
        return cls(
            _mean(_values(cases, "p@5")),
            mean_reciprocal_rank([case.rank_of_best for case in cases]),
            mean_reciprocal_rank([case.rank_of_first_relevant for case in cases]),
        )


@dataclass(frozen=True, slots=True)
class Assembly:
    """All that a report is made of."""

    subject: Subject
    golden: GoldenSet
    options: Options
    criteria: Criteria
    started: str
    pages: Sequence[PageView]
    resolved: Mapping[str, ResolvedQuery]
    cases: Sequence[Case]

    @property
    def scored(self) -> list[Case]:
        """The answerable queries that the verdict judges (CONTRACTS 13).

        A query without a relevant passage, since its labels are lost or outvoted, can't be judged.
        """
        return [case for case in self.cases if case.query.scored and case.relevant]

    def report(
        self, found: list[Check], diagnoses: Sequence[Diagnosis | None], audit: list[str] | None
    ) -> ValidationReport:
        latency = latency_summary([case.outcome.latency_ms for case in self.cases])
        results = [hit.chunk for case in self.cases for hit in case.outcome.shown]
        damaged = _damaged(self.cases)
        rates = (integrity.completeness(results), integrity.hash_rate(results))
        ceiling = preflight.ceiling(self.golden, self.resolved, self.criteria)
        ranking, further = self._judge_ranking(ceiling), self._judge_further(latency, rates, audit)
        faults = preflight.faults(self.golden, self.resolved)
        findings = Findings(
            golden=self.golden,
            criteria=self.criteria,
            cases=self.cases,
            answerable=self.scored,
            ranking=ranking,
            further=further,
            checks=found,
            lost_labels=sum(label.status == "lost" for _, label in faults),
            ceiling=ceiling,
        )
        verdict, reason = decide(findings)
        every_query, answerable = SeedMeans.of(self.cases), SeedMeans.of(self.scored)
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
            test_cases=[TestCase.of(case, why) for case, why in zip(self.cases, diagnoses, strict=True)],
            summary=f"{verdict}: {reason}{self._partly()}",
            issues=[
                *integrity.damage(damaged),
                *integrity.faults(results),
                *(audit or ()),
                *insights(self.golden, self.cases, diagnoses, found, latency),
            ],
            verdict=verdict,
            avg_precision_at_5_answerable=answerable.precision_at_5,
            mrr_answerable=answerable.mrr,
            mrr_first_relevant=every_query.mrr_first_relevant,
            mrr_first_relevant_answerable=answerable.mrr_first_relevant,
            criteria=[*ranking, *further],
            checks=found,
            metrics=self._metrics(),
            latency=Latency(**asdict(latency)) if latency else None,
            golden=self._golden(ceiling),
            preflight=preflight.notes(self.golden, self.resolved, self.criteria),
            label_faults=[
                LabelFault(query=query.id, location=one.label.location, status=one.status, detail=one.detail)  # type: ignore[arg-type]  # never exact
                for query, one in faults
            ],
            audit=audit,
            fingerprints=self._fingerprints(),
            options={**asdict(self.options), "criteria": self.criteria.model_dump()},
            label_locations=store_label_locations(self.cases),
            passages=store_passages(self.cases, self.pages),
            # Where pages are judged, a result is known by its page alone.
            pages=store_pages(self.cases, self.pages) if self.golden.unit == "passage" else {},
        )

    def _partly(self) -> str:
        limit = self.options.limit
        if limit is None:
            return ""
        asked = "query of the golden set was" if limit == 1 else f"{limit:,} queries of the golden set were"
        return f" Only the first {asked} asked."

    def _judge_further(
        self, latency: Latencies | None, rates: tuple[float, float], audit: list[str] | None
    ) -> list[Criterion]:
        wanted = self.criteria
        p95 = latency.p95 if latency else 0.0
        results = sum(len(case.outcome.shown) for case in self.cases)
        criteria = [
            _rate("metadata completeness", wanted.metadata_completeness, rates[0], results),
            _rate("hash validation", wanted.hash_validation, rates[1], results),
            Criterion(
                name="p95 latency (ms)",
                wanted=wanted.p95_latency_ms,
                value=p95,
                passed=p95 < wanted.p95_latency_ms if latency else None,
                n=latency.n if latency else 0,
                detail=_percentile_detail(latency),
            ),
        ]
        if damaged := _damaged(self.cases):
            detail = "points that belong in the results, and were left out of them"
            count = len(damaged)
            criteria.append(
                Criterion(
                    name="damaged points", wanted=0, value=count, passed=False, n=results, detail=detail
                )
            )
        if audit is not None:
            chunks = sum(len(page.chunks) for page in self.pages)
            said = "faults in anything that is stored"
            count = len(audit)
            criteria.append(
                Criterion(name="audit", wanted=0, value=count, passed=not count, n=chunks, detail=said)
            )
        return criteria

    def _judge_ranking(self, ceiling: float) -> list[Criterion]:
        """Judge the means that something is asked of; their intervals come from the same resamples.

        P@5 is not judged where the labels allow too few queries to reach it (CONTRACTS 25).
        """
        wanted = self.criteria
        reaching = [float(value >= wanted.precision_at_5 - 1e-9) for value in _values(self.scored, "p@5")]
        share = f"queries with P@5 ≥ {wanted.precision_at_5:.2f}"
        unreachable = None if wanted.can_be_met(ceiling) else share
        asked = [
            (share, wanted.queries_reaching if wanted.judge_precision else 0.0, reaching),
            ("MRR (answerable)", wanted.mrr, _values(self.scored, "rr_best")),
            *((name, least, _values(self.scored, name)) for name, least in wanted.at_least.items()),
        ]
        found = intervals({name: values for name, _, values in asked}, seed=SEED) if self.scored else {}
        shares = [name for name in found if name.startswith(("queries with", "success@"))]
        found |= {name: wilson(round(found[name].mean * found[name].n), found[name].n) for name in shares}
        return [
            Criterion(
                name=name,
                wanted=least,
                value=found[name].mean if found else 0.0,
                passed=found[name].mean >= least - 1e-9 if found and name != unreachable else None,
                low=found[name].low if found else None,
                high=found[name].high if found else None,
                n=len(values),
                detail="over the queries that have an answer"
                + (", Wilson's interval" if name in shares else "")
                + (f"; not judged, the labels allow {ceiling:.0%} at most" if name == unreachable else ""),
            )
            for name, least, values in asked
            if least > 0
        ]

    def _metrics(self) -> dict[str, dict[str, Mean]]:
        groups: dict[str, list[Case]] = defaultdict(list)
        for case in self.scored:
            kind, category = case.query.query_type, case.query.category
            groups["all"].append(case)
            groups[f"type:{kind}"].append(case)
            if category:
                groups[f"category:{category}"].append(case)
                groups[f"type:{kind}/category:{category}"].append(case)
        return {name: _means(cases) for name, cases in groups.items()}

    def _golden(self, ceiling: float) -> Golden:
        return Golden(
            name=self.golden.name,
            queries=len(self.golden.queries),
            scored=len(self.scored),
            labels=sum(len(query.labels) for query in self.golden.queries),
            unit=self.golden.unit,
            answer_threshold=self.golden.answer_threshold,
            path=self.options.path,
            ceiling=ceiling,
        )

    def _fingerprints(self) -> dict[str, str]:
        corpus = hashlib.sha256()
        for page in sorted(self.pages, key=lambda page: page.document_id):
            for chunk in page.chunks:
                corpus.update(f"{chunk.chunk_id}\0{chunk.content_hash}\0".encode())
        facts = {
            "golden": fingerprint_golden(self.golden),
            "corpus": corpus.hexdigest(),
            **self.subject.facts(),
        }
        answered = next((case.outcome.answer for case in self.cases if case.outcome.answer), None)
        return {**facts, "ranking": answered.ranking} if answered else facts


def _damaged(cases: Sequence[Case]) -> list[DamagedPoint]:
    """The points that searches left out, each once."""
    points = [point for case in cases if case.outcome.answer for point in case.outcome.answer.damaged]
    return list({point.point_id: point for point in points}.values())


def _values(cases: Sequence[Case], name: str) -> list[float]:
    return [case.metrics[name] for case in cases]


def _means(cases: Sequence[Case]) -> dict[str, Mean]:
    table = {name: np.array([case.metrics[name] for case in cases]) for name in cases[0].metrics}
    return {name: Mean(**asdict(one)) for name, one in intervals(table, seed=SEED).items()}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def _rate(name: str, wanted: float, value: float, n: int) -> Criterion:
    return Criterion(
        name=name,
        wanted=wanted,
        value=value,
        passed=value >= wanted if n else None,
        n=n,
        detail="of the retrieved results",
    )


def _percentile_detail(latency: Latencies | None) -> str:
    return f"rests on {count_queries(latency.n)} (interpolated)" if latency else "nothing was measured"
