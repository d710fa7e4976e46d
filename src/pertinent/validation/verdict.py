"""The verdict of a run: PASS, FAIL, or INVALID where nothing can be said, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from .._internal.messages import format_apart, format_count, format_list
from . import preflight
from .acceptance_checks import Check
from .criteria import Criteria, Criterion
from .defaults import Verdict
from .golden.golden_set import GoldenSet
from .scoring import Case

SUCCESS = "success@5"
PROPOSED_SUCCESS = 0.8
"""The share of queries with an answer among their first five results: as many as seed 000 asks of P@5."""
PROPOSED_NDCG = 0.5
ANSWERABLE = " (answerable)"


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a verdict rests on."""

    golden: GoldenSet
    criteria: Criteria
    cases: Sequence[Case]
    answerable: Sequence[Case]
    """The cases that the criteria of the ranking are judged by."""
    ranking: Sequence[Criterion]
    """What is asked of the ranking: P@5, MRR and further means."""
    further: Sequence[Criterion]
    """What is asked beyond that: metadata, hashes, latency, the audit."""
    checks: Sequence[Check]
    lost_labels: int
    ceiling: float
    """The highest share of the answerable queries that could reach the wanted P@5."""


def decide(findings: Findings) -> tuple[Verdict, str]:
    """Judge the findings, and give the reason in words."""
    for find_obstacle in OBSTACLES:
        if obstacle := find_obstacle(findings):
            return "INVALID", obstacle
    criteria = [*findings.ranking, *findings.further]
    failed = [
        f"{criterion.name} is {criterion.value:.3g}, not {_format_bound(criterion)}"
        for criterion in criteria
        if criterion.passed is False
    ]
    if findings.criteria.strict:
        failed += [
            f"{check.name}: not as wanted ({check.wanted})"
            for check in findings.checks
            if check.passed is False
        ]
    headline = write_headline(findings.ranking, findings.criteria)
    return ("FAIL", f"{headline} Not met: {'; '.join(failed)}.") if failed else ("PASS", headline)


def write_headline(ranking: Sequence[Criterion], criteria: Criteria) -> str:
    """Name each criterion of the ranking that was judged, with its figure and its target."""
    sentences = []
    for criterion in ranking:
        if criterion.name.startswith("queries with"):
            reached = round(criterion.value * criterion.n)
            share = format_apart(_format_share, criterion.value, criterion.wanted, 0)
            sentences.append(
                f"{reached}/{criterion.n} answerable queries ({share}) achieved precision@5 >= "
                f"{criteria.precision_at_5:.2f}."
            )
        else:
            name = criterion.name.removesuffix(ANSWERABLE) + ANSWERABLE
            value = format_apart(_format_mean, criterion.value, criterion.wanted, 2)
            reaches = "reaches" if criterion.passed else "misses"
            sentences.append(f"{name} {value} {reaches} the target {_format_target(criterion.wanted)}.")
    return " ".join(sentences)


def _find_failed_searches(findings: Findings) -> str | None:
    outcomes = [case.outcome for case in findings.cases if case.outcome.refusal is None]
    if outcomes and all(outcome.error for outcome in outcomes):
        return f"every search failed: {outcomes[0].error}"
    # Measures that look further than a caller does would count what is missing as not found.
    if unread := [outcome.unread for outcome in outcomes if outcome.unread]:
        return f"{format_count(len(unread), 'list', 'lists')} could not be read on: {unread[0]}"
    return None


def _find_missing_labels(findings: Findings) -> str | None:
    if not (unlabelled := preflight.unlabelled(findings.golden)):
        return None
    return (
        f"no label says what answers {format_list(unlabelled)}: label "
        f"{'it' if len(unlabelled) == 1 else 'them'}, or say `answerable: false`"
    )


def _find_lost_labels(findings: Findings) -> str | None:
    """Check that few enough labels are lost, and that few enough may be."""
    allowed = findings.criteria.lost_labels
    if findings.lost_labels > allowed:
        return (
            f"{format_count(findings.lost_labels, 'label points', 'labels point')} at nothing: mend the "
            "golden set, or allow so many in its criteria (lost_labels)"
        )
    scored = [case for case in findings.cases if case.query.scored]
    unjudged = len(scored) - len(findings.answerable)
    if 2 * unjudged > len(scored):
        return (
            f"{unjudged} of {len(scored)} answerable queries have no label that holds today, so a verdict "
            "would say nothing about most of them: mend their labels"
        )
    most = len(scored) // 2 + 1
    sizes = sorted(sum(label.grade > 0 for label in case.query.labels) for case in scored)
    if scored and allowed >= (enough := sum(sizes[:most])):
        return (
            f"`lost_labels: {allowed}` allows most of the {len(scored)} answerable queries to be lost, so a "
            f"PASS would demand nothing of them: set it below {enough}"
        )
    return None


def _find_nothing_to_measure(findings: Findings) -> str | None:
    return None if findings.answerable else "no query has an answer, so there is nothing to measure"


def _find_empty_criteria(findings: Findings) -> str | None:
    """A PASS that demands nothing of the ranking is none."""
    if findings.criteria.demand_ranking:
        return None
    page = findings.golden.unit == "page"
    proposal = {"ndcg@10": PROPOSED_NDCG} if page else {SUCCESS: PROPOSED_SUCCESS, "mrr": Criteria().mrr}
    return (
        "the criteria ask nothing of the ranking, so a PASS would mean nothing. Set some: "
        f"{_format_proposal(proposal)}"
    )


def _find_unreachable_precision(findings: Findings) -> str | None:
    """CONTRACTS 25: labels that can't meet the criterion say nothing about the retrieval."""
    criteria, cases = findings.criteria, findings.answerable
    if not criteria.judge_precision or criteria.can_be_met(findings.ceiling):
        return None
    able = round(findings.ceiling * len(cases))
    success, mrr = (fmean(case.metrics[name] for case in cases) for name in (SUCCESS, "rr_best"))
    proposal: dict[str, float] = {"queries_reaching": 0, **criteria.demanded_means}
    if not criteria.demanded_means:
        proposal[SUCCESS] = PROPOSED_SUCCESS
    if criteria.mrr:
        proposal["mrr"] = criteria.mrr
    return (
        f"the labels can't show precision@5: at most {able}/{len(cases)} answerable queries "
        f"({findings.ceiling:.0%}) can reach {criteria.precision_at_5:.2f}, and "
        f"{criteria.queries_reaching:.0%} must. What can be judged: {SUCCESS} {success:.2f}, "
        f"MRR{ANSWERABLE} {mrr:.2f}. Set such criteria instead: {_format_proposal(proposal)}"
    )


OBSTACLES = (
    _find_failed_searches,
    _find_missing_labels,
    _find_lost_labels,
    _find_nothing_to_measure,
    _find_empty_criteria,
    _find_unreachable_precision,
)
"""What makes a run INVALID, in the order of what must be mended first."""


def _format_proposal(proposal: dict[str, float]) -> str:
    """Write criteria as flags, and as they stand in a golden set."""
    flags = " ".join(f"--require {name}={value:g}" for name, value in proposal.items())
    own = [f"{name}: {value:g}" for name, value in proposal.items() if name in Criteria.model_fields]
    means = [f"{name}: {value:g}" for name, value in proposal.items() if name not in Criteria.model_fields]
    entries = ", ".join([*own, *([f"at_least: {{{', '.join(means)}}}"] if means else [])])
    return f"`{flags}`, or `criteria: {{{entries}}}` in the golden set."


def _format_bound(criterion: Criterion) -> str:
    if criterion.name.startswith("p95"):
        return f"below {criterion.wanted:g}"
    exact = criterion.name in ("audit", "baseline", "damaged points")
    return f"{criterion.wanted:g}" if exact else f"at least {criterion.wanted:g}"


def _format_share(value: float, digits: int) -> str:
    return f"{value:.{digits}%}"


def _format_target(target: float) -> str:
    return f"{target:.2f}" if round(target, 2) == target else f"{target:g}"


def _format_mean(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"
