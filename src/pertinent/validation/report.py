"""The report of a validation, with seed 000's fields."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

from pydantic import Field, JsonValue, model_validator

from ..errors import InvalidInput
from ..types import Hit
from . import integrity, report_defaults
from .acceptance_checks import AcceptanceCheck
from .comparison.stored_labels import (
    LabelLocation,
    PageVersion,
    StoredLabel,
    StoredPassage,
    list_further_chunks,
    store_labels,
)
from .criteria import Criterion
from .diagnosis import Diagnosis
from .golden.golden_set import ANSWER_THRESHOLD, Category, ExpectedCriteria, QueryFilters, QueryType, Unit
from .golden.short_forms import derive_id
from .report_defaults import Verdict
from .report_fields import (
    Count,
    Hash,
    Milliseconds,
    Rank,
    Rate,
    RelevanceLabel,
    ReportPart,
    Text,
    Time,
    TopK,
)
from .scoring import Case, finite_or_none

CaseStatus = Literal["passed", "failed", "error", "refused"]


class Query(ReportPart):
    """Seed 000's Query, with further fields of our golden sets."""

    text: str
    top_k: TopK = 5
    query_type: QueryType
    id: str = Field(default_factory=lambda fields: derive_id(fields.get("text", "")))
    category: Category | None = None
    answerable: bool = True
    paraphrase_group: str | None = None
    filters: QueryFilters = QueryFilters()


SeedField = Literal["similarity_score", "content", "url", "title", "chunk_index", "timestamp", "content_hash"]


class SearchResult(ReportPart):
    """Seed 000's SearchResult.

    A field that is missing in the store, or that the seed forbids, is null, and `damaged` names it. So a
    report over damaged data can be written, and its rates can be recomputed.
    """

    similarity_score: Rate | None
    content: Text | None
    url: Text | None
    title: Text | None
    chunk_index: Count | None
    timestamp: Time | None
    content_hash: Hash | None
    chunk_id: str = ""
    document_id: str = ""
    section: str = ""
    anchor: str = ""
    start: int | None = None
    end: int | None = None
    cosine: float | None = None
    lexical: float | None = None
    damaged: list[SeedField] = Field(default_factory=list, description="Which of the seed's fields are null")

    @model_validator(mode="after")
    def _check_damaged(self) -> Self:
        for name in get_args(SeedField):
            if getattr(self, name) is None and name not in self.damaged:
                raise InvalidInput(name, "must not be null, unless `damaged` names it")
            if getattr(self, name) is not None and name in self.damaged:
                raise InvalidInput(name, "must be null, since `damaged` names it")
        return self

    @classmethod
    def from_hit(cls, hit: Hit) -> SearchResult:
        """Convert a hit to seed 000's fields."""
        chunk = hit.chunk
        start, end = chunk.span
        damaged: list[Any] = list(integrity.find_damage(chunk))
        stored = integrity.seed_fields(chunk)
        score = hit.score if 0.0 <= hit.score <= 1.0 else None
        return cls(
            similarity_score=score,
            **{name: None if name in damaged else value for name, value in stored.items()},
            damaged=damaged if score is not None else ["similarity_score", *damaged],
            chunk_id=chunk.chunk_id,
            document_id=chunk.document_id,
            section=chunk.section,
            anchor=chunk.anchor,
            start=start,
            end=end,
            cosine=finite_or_none(hit.scores.cosine),
            lexical=finite_or_none(hit.scores.lexical),
        )


class TestCase(ReportPart):
    """Seed 000's TestCase: a query with its results, labels and measures."""

    __test__ = False  # pytest would take it for one of its own

    query: Query
    expected_criteria: ExpectedCriteria
    actual_results: list[SearchResult]
    relevance_labels: list[RelevanceLabel]
    precision_at_k: Rate
    rank_of_best: Rank | None = None
    judged: list[bool] = Field(
        default_factory=report_defaults.default_judged,
        description="Whether each result was judged; if not, its label is 0",
    )
    metrics: dict[str, Rate] = Field(default_factory=report_defaults.default_metrics)
    latency_ms: Milliseconds = 0.0
    status: CaseStatus = Field(default_factory=report_defaults.default_status)
    complaints: list[str] = Field(default=[])
    error: str | None = None
    diagnosis: Diagnosis | None = None
    relevant: int = Field(
        default_factory=report_defaults.default_relevant,
        ge=0,
        description="How many passages are labelled as relevant; where there are none, the query is left out "
        "of the `_answerable` means",
    )
    labels: list[StoredLabel] = Field(default=[])
    further: list[str] = Field(
        default=[], description="The chunks that follow the results up to rank 10; see `passages`"
    )

    @model_validator(mode="after")
    def _check_labels(self) -> Self:
        results = len(self.actual_results)
        for name in ("relevance_labels", "judged"):
            if (entries := len(getattr(self, name))) != results:
                raise InvalidInput(
                    name, f"must have one entry for each of the {results} results, not {entries}"
                )
        return self

    @property
    def has_passed(self) -> bool:
        """Whether the query did what was expected of it; a refusal may be what was expected."""
        return self.status in ("passed", "refused")

    @classmethod
    def from_case(cls, case: Case, diagnosis: Diagnosis | None) -> TestCase:
        """Convert a judged query to seed 000's fields."""
        query, outcome = case.query, case.outcome
        return cls(
            query=Query(**query.model_dump(include=set(Query.model_fields))),
            expected_criteria=query.expected_criteria,
            actual_results=[SearchResult.from_hit(hit) for hit in outcome.results],
            relevance_labels=[label or 0 for label in case.labels],
            precision_at_k=case.precision_at_k,
            rank_of_best=case.rank_of_best,
            judged=[label is not None for label in case.labels],
            metrics=dict(case.metrics),
            latency_ms=outcome.latency_ms,
            status=_status_of(case),
            complaints=list(case.complaints),
            error=outcome.error or outcome.refusal,
            diagnosis=diagnosis,
            relevant=case.relevant,
            labels=store_labels(case.resolved),
            further=[chunk.chunk_id for chunk in list_further_chunks(outcome)],
        )


def _status_of(case: Case) -> CaseStatus:
    if case.outcome.error:
        return "error"
    if not case.passed:
        return "failed"
    return "refused" if case.outcome.refusal is not None else "passed"


class Mean(ReportPart):
    """A mean of n values with its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float
    n: int


class Latency(ReportPart):
    """The latencies of the queries, in milliseconds."""

    n: int
    mean: Milliseconds
    p50: Milliseconds
    p95: Milliseconds
    p99: Milliseconds
    max: Milliseconds
    method: str


class LabelFault(ReportPart):
    """A label that was relocated, is ambiguous or is lost."""

    query: str
    location: str
    status: Literal["relocated", "ambiguous", "lost"]
    detail: str


class GoldenSummary(ReportPart):
    """The golden set that was used."""

    name: str = ""
    queries: int
    scored: int
    labels: int = 0
    unit: Unit = "passage"
    answer_threshold: float = ANSWER_THRESHOLD
    path: str | None = None
    ceiling: Rate = Field(
        default=1.0, description="The highest share of queries that can reach the target P@5"
    )


class ValidationReport(ReportPart):
    """The result of a validation: seed 000's ValidationReport, with further fields."""

    schema_version: Literal[1] = 1
    timestamp: Time
    total_queries: Count
    avg_precision_at_5: Rate = Field(description="Mean over all test cases")
    mrr: Rate = Field(description="Mean over all test cases, by `rank_of_best`")
    avg_latency_ms: Milliseconds
    p95_latency_ms: Milliseconds
    p99_latency_ms: Milliseconds
    metadata_completeness_rate: Rate
    hash_validation_pass_rate: Rate
    test_cases: list[TestCase]
    summary: str
    issues: list[str]

    verdict: Verdict = Field(default_factory=report_defaults.default_verdict)
    avg_precision_at_5_answerable: Rate = Field(
        default_factory=report_defaults.default_precision_answerable,
        description="Mean over the queries that the verdict judges: answerable, not `edge`, with a relevant "
        "passage",
    )
    mrr_answerable: Rate = Field(
        default_factory=report_defaults.default_mrr_answerable,
        description="Mean over the same queries, by `rank_of_best`",
    )
    mrr_first_relevant: Rate = Field(
        default_factory=report_defaults.default_mrr_first_relevant,
        description="Mean over all test cases, by the first relevant result",
    )
    mrr_first_relevant_answerable: Rate = Field(
        default_factory=report_defaults.default_mrr_first_relevant_answerable
    )
    criteria: list[Criterion] = Field(default=[])
    checks: list[AcceptanceCheck] = Field(default=[])
    metrics: dict[str, dict[str, Mean]] = Field(
        default={}, description="Means by group: `all`, `type:…`, `category:…` and `type:…/category:…`"
    )
    latency: Latency | None = None
    golden: GoldenSummary = Field(
        default_factory=lambda fields: GoldenSummary(
            queries=len(fields.get("test_cases", ())), scored=len(report_defaults.list_answerable(fields))
        )
    )
    preflight: list[str] = Field(default=[])
    label_faults: list[LabelFault] = Field(default=[])
    audit: list[str] | None = Field(
        default=None, description="The faults that --audit found; null where it was not run"
    )
    fingerprints: dict[str, str] = Field(default={})
    options: dict[str, JsonValue] = Field(default={})
    label_locations: dict[str, LabelLocation] = Field(
        default={}, description="Where each label points, by its key"
    )
    passages: dict[str, StoredPassage] = Field(
        default={}, description="The chunks that labels cover or `further` names"
    )
    pages: dict[str, PageVersion] = Field(
        default={}, description="Checksums of the pages of labels and results"
    )

    @model_validator(mode="after")
    def _check_totals(self) -> Self:
        if self.total_queries != len(self.test_cases):
            raise InvalidInput(
                "total_queries",
                f"must be {len(self.test_cases)}, as many as test_cases, not {self.total_queries}",
            )
        verdict = report_defaults.read_verdict(self.summary)
        if verdict is None:
            raise InvalidInput("summary", "must name the verdict: PASS, FAIL or INVALID")
        if verdict != self.verdict:
            raise InvalidInput("summary", f"must name the verdict {self.verdict}, not {verdict}")
        return self


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a report file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Pertinent validation report",
        **ValidationReport.model_json_schema(),
    }
