"""The criteria of a verdict: seed 000's five, and the further means that a golden set requires."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .._internal.messages import explain_error
from ..errors import InvalidInput
from .metrics import check_measure

Comparison = Literal["at least", "below", "exactly"]

ROUNDING = 1e-9
"""How far below its target a mean may be, by rounding; a target up to this demands nothing."""

MAX_LOST = 1_000_000
"""The highest `lost_labels`: more than any golden set has."""

_EXACT = ("audit", "baseline", "damaged points", "results unlike their page", "chunks unlike their page")
"""Criteria that count faults."""


class Criteria(BaseModel):
    """The limits that a run must meet; seed 000's unless the golden set or the settings set others."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    precision_at_5: float = Field(default=0.80, ge=0.0, le=1.0, description="The P@5 that a query must reach")
    queries_reaching: float = Field(
        default=0.80, ge=0.0, le=1.0, description="The share of queries that must reach it"
    )
    mrr: float = Field(default=0.70, ge=0.0, le=1.0)
    metadata_completeness: float = Field(default=1.0, ge=0.0, le=1.0)
    hash_validation: float = Field(default=1.0, ge=0.0, le=1.0)
    p95_latency_ms: float = Field(
        default=2000.0, gt=0.0, description="The limit that the 95th percentile must stay below"
    )
    at_least: dict[str, Annotated[float, Field(ge=0.0, le=1.0)]] = Field(
        default_factory=dict,
        description="Further means and the value that each must reach, such as ndcg@10: 0.6",
    )
    lost_labels: int = Field(
        default=0, ge=0, le=MAX_LOST, description="How many labels may be lost before there is no verdict"
    )
    strict: bool = Field(default=False, description="Whether the acceptance checks count in the verdict")

    @property
    def judges_precision(self) -> bool:
        """Whether the verdict depends on P@5."""
        return min(self.precision_at_5, self.queries_reaching) > ROUNDING

    def can_be_met(self, ceiling: float) -> bool:
        """Return whether P@5 can be judged where at most this share of the queries can reach it."""
        return ceiling >= self.queries_reaching - ROUNDING

    @property
    def required_means(self) -> dict[str, float]:
        """The further means with a limit above 0."""
        return {name: least for name, least in self.at_least.items() if least > ROUNDING}

    @property
    def depends_on_ranking(self) -> bool:
        """Whether any criterion depends on the ranking."""
        # Results that were judged may all be irrelevant.
        means = [name for name in self.required_means if not name.startswith("judged@")]
        return self.judges_precision or self.mrr > ROUNDING or bool(means)


def merge_criteria(
    in_settings: Mapping[str, Any],
    in_golden: Criteria,
    further: Mapping[str, float] | None = None,
    *,
    strict: bool = False,
) -> Criteria:
    """Merge criteria: `further` first, then the golden set's, then the settings', then seed 000's.

    The means of `at_least` are merged one by one.

    Args:
        in_settings: The criteria of the settings.
        in_golden: The criteria of the golden set.
        further: Criteria by name, and measures for `at_least`, as `--require` gives them.
        strict: Whether the acceptance checks count.

    Raises:
        InvalidInput: A criterion is out of range, or a measure is unknown.
    """
    at_least = {**_create_criteria(in_settings).at_least, **in_golden.at_least}
    fields = {**in_settings, **in_golden.model_dump(exclude_unset=True), "at_least": at_least}
    for name, value in (further or {}).items():
        if name in Criteria.model_fields:
            fields[name] = value
        else:
            at_least[name] = value
    if strict:
        fields["strict"] = True
    criteria = _create_criteria(fields)
    for name in criteria.at_least:
        check_measure(name)
    return criteria


def _create_criteria(fields: Mapping[str, Any]) -> Criteria:
    try:
        return Criteria.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"criteria.{path}", explain_error(first)) from error


class Criterion(BaseModel):
    """A criterion of a verdict: its target, the measured value, and the interval of that value."""

    model_config = ConfigDict(frozen=True)

    name: str
    target: float
    value: float
    passed: bool | None = Field(description="None where it cannot be judged")
    low: float | None = None
    high: float | None = None
    n: int
    detail: str

    @property
    def comparison(self) -> Comparison:
        """How the value is compared with the target."""
        if self.name.startswith("p95"):
            return "below"
        return "exactly" if self.name in _EXACT else "at least"
