"""Decide the verdict of a run: PASS, FAIL, or INVALID where it cannot be judged, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from .._internal.messages import format_apart, format_count, format_list
from ..types import NO_RERANKER
from . import preflight
from .acceptance_checks import AcceptanceCheck
from .criteria import Criteria, Criterion
from .golden.golden_set import GoldenSet
from .report_defaults import Verdict
from .scoring import Case

SUCCESS = "success@5"
PROPOSED_SUCCESS = 0.8
"""The share of queries with an answer among their first five results: the share seed 000 requires of P@5."""
PROPOSED_NDCG = 0.5
ANSWERABLE = " (answerable)"


@dataclass(frozen=True, slots=True)
class VerdictInput:
    """Everything that the verdict depends on."""

    golden: GoldenSet
    criteria: Criteria
    cases: Sequence[Case]
    answerable: Sequence[Case]
    """The cases that the ranking criteria are judged by."""
    ranking: Sequence[Criterion]
    """The criteria of the ranking: P@5, MRR and further means."""
    further: Sequence[Criterion]
    """The other criteria: metadata, hashes, latency, the audit."""
    checks: Sequence[AcceptanceCheck]
    lost_labels: int
    ceiling: float
    """The highest share of the answerable queries that can reach the target P@5."""


def decide_verdict(findings: VerdictInput) -> tuple[Verdict, str]:
    """Decide the verdict, and explain it in a sentence."""
    for find_obstacle in OBSTACLES:
        if obstacle := find_obstacle(findings):
            return "INVALID", obstacle
    criteria = [*findings.ranking, *findings.further]
    failed = [
        f"{criterion.name}: {criterion.value:.3g} (target: {_format_bound(criterion)})"
        for criterion in criteria
        if criterion.passed is False
    ]
    if findings.criteria.strict:
        failed += [
            f"{check.name} (target: {check.target})" for check in findings.checks if check.passed is False
        ]
    headline = write_headline(findings.ranking, findings.criteria)
    return ("FAIL", f"{headline} Not met: {'; '.join(failed)}.") if failed else ("PASS", headline)


def write_headline(ranking: Sequence[Criterion], criteria: Criteria) -> str:
    """Name each judged criterion of the ranking, with its value and its target."""
    sentences = []
    for criterion in ranking:
        if criterion.name.startswith("queries with"):
            reached = round(criterion.value * criterion.n)
            share = format_apart(_format_share, criterion.value, criterion.target, 0)
            sentences.append(
                f"{reached}/{criterion.n} answerable queries ({share}) achieved precision@5 >= "
                f"{criteria.precision_at_5:.2f}."
            )
        else:
            name = criterion.name.removesuffix(ANSWERABLE) + ANSWERABLE
            value = format_apart(_format_mean, criterion.value, criterion.target, 2)
            reaches = "reaches" if criterion.passed else "misses"
            sentences.append(f"{name} {value} {reaches} the target {_format_target(criterion.target)}.")
    return " ".join(sentences)


def _find_failed_searches(findings: VerdictInput) -> str | None:
    outcomes = [case.outcome for case in findings.cases if case.outcome.refusal is None]
    if outcomes and all(outcome.error for outcome in outcomes):
        return f"every search failed: {outcomes[0].error}"
    # Without the deep rankings, measures beyond `top_k` would count the missing results as not found.
    if errors := [outcome.deep_error for outcome in outcomes if outcome.deep_error]:
        rankings = format_count(len(errors), "deep ranking", "deep rankings")
        return f"{rankings} could not be read: {errors[0]}"
    return None


def _find_missing_reranker(findings: VerdictInput) -> str | None:
    """Check that most searches that should be reranked were: without it, another ranking is judged."""
    answers = [case.outcome.answer for case in findings.cases if case.outcome.answer]
    missing = sum(NO_RERANKER in answer.notes for answer in answers)
    reranked = sum(answer.rerank_share > 0 for answer in answers)
    if missing <= reranked:
        return None
    return (
        f"the reranker did not answer in {missing} of {missing + reranked} searches, so the ranking with it "
        "can't be judged: `pertinent doctor` says why. To judge the ranking without it, use --no-rerank"
    )


def _find_missing_labels(findings: VerdictInput) -> str | None:
    if not (unlabeled := preflight.list_unlabeled(findings.golden)):
        return None
    names = format_list([query.id for query in unlabeled])
    pronoun = "it" if len(unlabeled) == 1 else "them"
    return f"no label says what answers {names}: label {pronoun}, or mark {pronoun} `answerable: false`"


def _find_lost_labels(findings: VerdictInput) -> str | None:
    """Check that few enough labels are lost, and that `lost_labels` does not allow too many.

    Several queries can share a lost label, and judges who differ can leave a query without a relevant
    passage. So the queries without a valid label are counted, too.
    """
    allowed = findings.criteria.lost_labels
    if findings.lost_labels > allowed:
        return (
            f"{format_count(findings.lost_labels, 'label is', 'labels are')} lost: correct the golden set, "
            "or allow as many in its criteria (`lost_labels`)"
        )
    scored = [case for case in findings.cases if case.query.scored]
    unjudged = len(scored) - len(findings.answerable)
    if unjudged > allowed or 2 * unjudged > len(scored):
        return (
            f"{unjudged} of {len(scored)} answerable queries have no valid label of a relevant passage, so "
            "they can't be judged: correct their labels"
        )
    most = len(scored) // 2 + 1
    sizes = sorted(sum(label.grade > 0 for label in case.query.labels) for case in scored)
    if scored and allowed >= (enough := sum(sizes[:most])):
        return (
            f"`lost_labels: {allowed}` allows most of the {len(scored)} answerable queries to lose all their "
            f"labels, so a PASS would mean nothing: set it below {enough}"
        )
    return None


def _find_nothing_to_measure(findings: VerdictInput) -> str | None:
    return (
        None
        if findings.answerable
        else "the golden set has no answerable query, so there is nothing to measure"
    )


def _find_empty_criteria(findings: VerdictInput) -> str | None:
    """Check that some criterion depends on the ranking."""
    if findings.criteria.depends_on_ranking:
        return None
    page = findings.golden.unit == "page"
    proposal = {"ndcg@10": PROPOSED_NDCG} if page else {SUCCESS: PROPOSED_SUCCESS, "mrr": Criteria().mrr}
    return (
        "no criterion depends on the ranking, so a PASS would mean nothing. Set some: "
        f"{_format_proposal(proposal)}"
    )


def _find_unreachable_precision(findings: VerdictInput) -> str | None:
    """Check that the labels allow the required P@5 (rule 25 in docs/seeds.md)."""
    criteria, cases = findings.criteria, findings.answerable
    if not criteria.judges_precision or criteria.can_be_met(findings.ceiling):
        return None
    able = round(findings.ceiling * len(cases))
    success, mrr = (fmean(case.metrics[name] for case in cases) for name in (SUCCESS, "rr_best"))
    proposal: dict[str, float] = {"queries_reaching": 0, **criteria.required_means}
    if not criteria.required_means:
        proposal[SUCCESS] = PROPOSED_SUCCESS
    if criteria.mrr:
        proposal["mrr"] = criteria.mrr
    return (
        f"precision@5 can't be judged with these labels: at most {able}/{len(cases)} answerable queries "
        f"({findings.ceiling:.0%}) can reach {criteria.precision_at_5:.2f}, and "
        f"{criteria.queries_reaching:.0%} must. What can be judged: {SUCCESS} {success:.2f}, "
        f"MRR{ANSWERABLE} {mrr:.2f}. Set these criteria instead: {_format_proposal(proposal)}"
    )


OBSTACLES = (
    _find_failed_searches,
    _find_missing_reranker,
    _find_missing_labels,
    _find_lost_labels,
    _find_nothing_to_measure,
    _find_empty_criteria,
    _find_unreachable_precision,
)
"""What makes a run INVALID; the first to be corrected comes first."""


def _format_proposal(proposal: dict[str, float]) -> str:
    """Write criteria as command line options, and as a golden set has them."""
    flags = " ".join(f"--require {name}={value:g}" for name, value in proposal.items())
    own = [f"{name}: {value:g}" for name, value in proposal.items() if name in Criteria.model_fields]
    means = [f"{name}: {value:g}" for name, value in proposal.items() if name not in Criteria.model_fields]
    entries = ", ".join([*own, *([f"at_least: {{{', '.join(means)}}}"] if means else [])])
    return f"`{flags}` of `pertinent validate`, or `criteria: {{{entries}}}` in the golden set."


def _format_bound(criterion: Criterion) -> str:
    comparison = "" if criterion.comparison == "exactly" else f"{criterion.comparison} "
    return f"{comparison}{criterion.target:g}"


def _format_share(value: float, digits: int) -> str:
    return f"{value:.{digits}%}"


def _format_target(target: float) -> str:
    return f"{target:.2f}" if round(target, 2) == target else f"{target:g}"


def _format_mean(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"
