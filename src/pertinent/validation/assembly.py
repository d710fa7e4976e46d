"""Judged queries to a report: the criteria with their intervals, the means, and the verdict."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from . import integrity, preflight
from .acceptance import Check
from .criteria import Criteria, Criterion
from .diagnosis import Diagnosis
from .golden import GoldenSet, fingerprint
from .insights import insights
from .judging import Case
from .labels import ResolvedQuery
from .metrics import evaluate_all
from .options import Options
from .phrases import counted, listed, queries
from .report import Golden, LabelFault, Latency, Mean, TestCase, ValidationReport, Verdict
from .statistics import Latencies, intervals, latency_summary, wilson
from .stored_labels import store_label_places, store_pages, store_passages
from .subject import PageView, Subject

SEED = 20251216
"""Of the bootstrap: the same run has the same intervals."""


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
        """What the means are of; a query whose answers are all lost can't be judged."""
        return [case for case in self.cases if case.query.scored and not case.lost]

    def report(
        self, found: list[Check], diagnoses: Sequence[Diagnosis | None], audit: list[str] | None
    ) -> ValidationReport:
        latency = latency_summary([case.outcome.latency_ms for case in self.cases])
        results = [hit.chunk for case in self.cases for hit in case.outcome.shown]
        rates = (integrity.completeness(results), integrity.hash_rate(results))
        criteria = self._criteria(latency, rates, audit)
        faults = preflight.faults(self.golden, self.resolved)
        verdict, reason = self._verdict(criteria, found, sum(one.status == "lost" for _, one in faults))
        values = {name: _values(self.scored, name) for name in ("p@5", "rr_best", "rr")}
        return ValidationReport(
            timestamp=self.started,
            total_queries=len(self.cases),
            avg_precision_at_5=_mean(values["p@5"]),
            mrr=_mean(values["rr_best"]),
            avg_latency_ms=latency.mean if latency else 0.0,
            p95_latency_ms=latency.p95 if latency else 0.0,
            p99_latency_ms=latency.p99 if latency else 0.0,
            metadata_completeness_rate=rates[0],
            hash_validation_pass_rate=rates[1],
            test_cases=[TestCase.of(case, why) for case, why in zip(self.cases, diagnoses, strict=True)],
            summary=f"{verdict}: {reason}{self._partly()}",
            issues=[
                *integrity.faults(results),
                *(audit or ()),
                *insights(self.golden, self.cases, diagnoses, found, latency),
            ],
            verdict=verdict,
            mrr_first_relevant=_mean(values["rr"]),
            criteria=criteria,
            checks=found,
            metrics=self._metrics(),
            latency=Latency(**asdict(latency)) if latency else None,
            golden=self._golden(),
            preflight=preflight.notes(self.golden, self.resolved, self.criteria),
            label_faults=[
                LabelFault(query=query.id, place=one.label.place, status=one.status, detail=one.detail)  # type: ignore[arg-type]  # never exact
                for query, one in faults
            ],
            audit=audit,
            fingerprints=self._fingerprints(),
            options={**asdict(self.options), "criteria": self.criteria.model_dump()},
            label_places=store_label_places(self.cases),
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

    def _criteria(
        self, latency: Latencies | None, rates: tuple[float, float], audit: list[str] | None
    ) -> list[Criterion]:
        wanted = self.criteria
        p95 = latency.p95 if latency else 0.0
        results = sum(len(case.outcome.shown) for case in self.cases)
        criteria = [
            *self._means_wanted(),
            _rate("metadata completeness", wanted.metadata_completeness, rates[0], results),
            _rate("hash validation", wanted.hash_validation, rates[1], results),
            Criterion(
                name="p95 latency (ms)",
                wanted=wanted.p95_latency_ms,
                value=p95,
                passed=p95 < wanted.p95_latency_ms,
                n=latency.n if latency else 0,
                detail=_percentile_detail(latency),
            ),
        ]
        if audit is not None:
            chunks = sum(len(page.chunks) for page in self.pages)
            said = "faults in anything that is stored"
            count = len(audit)
            criteria.append(
                Criterion(name="audit", wanted=0, value=count, passed=not count, n=chunks, detail=said)
            )
        return criteria

    def _means_wanted(self) -> list[Criterion]:
        """The means that something is asked of; their intervals come from the same resamples."""
        wanted = self.criteria
        reaching = [float(value >= wanted.precision_at_5 - 1e-9) for value in _values(self.scored, "p@5")]
        asked = [
            (f"queries with P@5 ≥ {wanted.precision_at_5:.2f}", wanted.queries_reaching, reaching),
            ("MRR", wanted.mrr, _values(self.scored, "rr_best")),
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
                passed=bool(found) and found[name].mean >= least - 1e-9,
                low=found[name].low if found else None,
                high=found[name].high if found else None,
                n=len(values),
                detail="over the queries that have an answer"
                + (", Wilson's interval" if name in shares else ""),
            )
            for name, least, values in asked
            if least > 0
        ]

    def _verdict(
        self, criteria: Sequence[Criterion], found: Sequence[Check], lost: int
    ) -> tuple[Verdict, str]:
        asked = [case.outcome for case in self.cases if case.outcome.refusal is None]
        if asked and all(outcome.error for outcome in asked):
            return "INVALID", f"every search failed: {asked[0].error}"
        if unread := [outcome.unread for outcome in asked if outcome.unread]:
            # Measures that look further than a caller does would count what is missing as not found.
            return "INVALID", f"{counted(len(unread), 'list', 'lists')} could not be read on: {unread[0]}"
        if not self.scored:
            return "INVALID", "no query has an answer, so there is nothing to measure"
        if bare := preflight.unlabelled(self.golden):
            return "INVALID", (
                f"no label says what answers {listed(bare)}: label {'it' if len(bare) == 1 else 'them'}, or "
                "say `answerable: false`"
            )
        if lost > self.criteria.lost_labels:
            point = counted(lost, "label points", "labels point")
            return "INVALID", (
                f"{point} at nothing: mend the golden set, or allow so many in its criteria (lost_labels)"
            )
        failed = [f"{one.name} is {one.value:.3g}, not {_bound(one)}" for one in criteria if not one.passed]
        if self.criteria.strict:
            failed += [f"{one.name}: not as wanted ({one.wanted})" for one in found if not one.passed]
        told = self._told()
        return ("FAIL", f"{told} Not met: {'; '.join(failed)}.") if failed else ("PASS", told)

    def _told(self) -> str:
        """The main figures in a sentence."""
        if self.golden.unit == "page":
            names = {"ndcg@10": "nDCG@10", "rr": "MRR", "recall@10": "recall@10", "success@5": "success@5"}
            figures = [f"{said} {_mean(_values(self.scored, name)):.3f}" for name, said in names.items()]
            return f"{', '.join(figures)} over {queries(len(self.scored))}."
        wanted = self.criteria
        values = _values(self.scored, "p@5")
        reached = sum(value >= wanted.precision_at_5 - 1e-9 for value in values)
        mrr = _mean(_values(self.scored, "rr_best"))
        return (
            f"{reached}/{len(values)} queries ({reached / len(values):.0%}) achieved precision@5 >= "
            f"{wanted.precision_at_5:.2f}. MRR {mrr:.2f} {'reaches' if mrr >= wanted.mrr else 'misses'} "
            f"the target {wanted.mrr:.2f}."
        )

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

    def _golden(self) -> Golden:
        return Golden(
            name=self.golden.name,
            queries=len(self.golden.queries),
            scored=len(self.scored),
            labels=sum(len(query.labels) for query in self.golden.queries),
            unit=self.golden.unit,
            answer_threshold=self.golden.answer_threshold,
            path=self.options.path,
            ceiling=preflight.ceiling(self.golden, self.resolved, self.criteria),
        )

    def _fingerprints(self) -> dict[str, str]:
        corpus = hashlib.sha256()
        for page in sorted(self.pages, key=lambda page: page.document_id):
            for chunk in page.chunks:
                corpus.update(f"{chunk.chunk_id}\0{chunk.content_hash}\0".encode())
        facts = {"golden": fingerprint(self.golden), "corpus": corpus.hexdigest(), **self.subject.facts()}
        answered = next((case.outcome.answer for case in self.cases if case.outcome.answer), None)
        return {**facts, "ranking": answered.ranking} if answered else facts


def _values(cases: Sequence[Case], name: str) -> list[float]:
    known = all(name in case.metrics for case in cases)
    if known:
        return [case.metrics[name] for case in cases]
    table = evaluate_all([case.ranking for case in cases], [case.resolved.texts for case in cases], [name])
    return [float(value) for value in table[name]]


def _means(cases: Sequence[Case]) -> dict[str, Mean]:
    table = {name: np.array([case.metrics[name] for case in cases]) for name in cases[0].metrics}
    return {name: Mean(**asdict(one)) for name, one in intervals(table, seed=SEED).items()}


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def _rate(name: str, wanted: float, value: float, n: int) -> Criterion:
    return Criterion(
        name=name, wanted=wanted, value=value, passed=value >= wanted, n=n, detail="of the retrieved results"
    )


def _percentile_detail(latency: Latencies | None) -> str:
    if latency is None:
        return "nothing was measured"
    if latency.p95_is_maximum:
        return f"of {queries(latency.n)}: with so few it is the maximum"
    return f"of {queries(latency.n)}, {latency.method} method"


def _bound(criterion: Criterion) -> str:
    if criterion.name.startswith("p95"):
        return f"below {criterion.wanted:g}"
    return (
        f"{criterion.wanted:g}"
        if criterion.name in ("audit", "baseline")
        else f"at least {criterion.wanted:g}"
    )
