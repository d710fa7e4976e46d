"""What a verdict needs: seed 000's five criteria, and whatever a golden set asks for beyond them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .._internal.messages import explain_error
from ..errors import InvalidInput
from .metrics import check_measure


class Criteria(BaseModel):
    """The limits that a run is held to; seed 000's unless a golden set says otherwise."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    precision_at_5: float = Field(default=0.80, ge=0.0, le=1.0, description="What a query's P@5 must reach")
    queries_reaching: float = Field(
        default=0.80, ge=0.0, le=1.0, description="The share of queries that must"
    )
    mrr: float = Field(default=0.70, ge=0.0, le=1.0)
    metadata_completeness: float = Field(default=1.0, ge=0.0, le=1.0)
    hash_validation: float = Field(default=1.0, ge=0.0, le=1.0)
    p95_latency_ms: float = Field(
        default=2000.0, gt=0.0, description="What the 95th percentile must stay below"
    )
    at_least: dict[str, Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]] = Field(
        default_factory=dict, description="Further means and what each must reach, such as ndcg@10: 0.6"
    )
    lost_labels: int = Field(
        default=0, ge=0, description="How many labels may be lost before there is no verdict"
    )
    strict: bool = Field(default=False, description="Whether the acceptance checks count in the verdict too")

    @property
    def judge_precision(self) -> bool:
        """Whether any query must reach a P@5."""
        return self.precision_at_5 > 0 and self.queries_reaching > 0

    def can_be_met(self, ceiling: float) -> bool:
        """Whether P@5 can be judged, where at most this share of the queries can reach it."""
        return ceiling >= self.queries_reaching - 1e-9

    @property
    def demanded_means(self) -> dict[str, float]:
        """The further means that must be above 0."""
        return {name: least for name, least in self.at_least.items() if least > 0}

    @property
    def demand_ranking(self) -> bool:
        """Whether anything is asked of the ranking."""
        return self.judge_precision or self.mrr > 0 or bool(self.demanded_means)


def merged(
    in_settings: Mapping[str, Any],
    in_golden: Criteria,
    further: Mapping[str, float] | None = None,
    *,
    strict: bool = False,
) -> Criteria:
    """The golden set's own word first, then the settings', then seed 000's.

    `further` goes before all of them: criteria by their own names, and measures for `at_least`.
    """
    found = {**in_settings, **in_golden.model_dump(exclude_unset=True)}
    for name, value in (further or {}).items():
        if name in Criteria.model_fields:
            found[name] = value
        else:
            found["at_least"] = {**found.get("at_least", {}), name: value}
    if strict:
        found["strict"] = True
    try:
        criteria = Criteria.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"criteria.{place}", explain_error(first)) from error
    for name in criteria.at_least:
        check_measure(name)
    return criteria


class Criterion(BaseModel):
    """One criterion of a verdict: what was wanted, what was found, and how sure that is."""

    model_config = ConfigDict(frozen=True)

    name: str
    wanted: float
    value: float
    passed: bool | None = Field(description="None where there is nothing to judge it by")
    low: float | None = None
    high: float | None = None
    n: int
    detail: str
