"""Why a query failed: for each passage that should have been found, what became of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ..limits import ENGINE
from ..types import Chunk, Filters, Hit
from .golden.golden_set import QueryFilters, Unit
from .integrity import repeated
from .runner import Retrieval
from .scoring import TOP, Case, finite, found_ids

Kind = Literal[
    "error",
    "refused",
    "false_answer",
    "lost_labels",
    "not_indexed",
    "changed",
    "filtered_out",
    "below_threshold",
    "crowded_out",
    "outranked",
    "not_found",
    "unjudged",
    "few_labels",
    "other",
]

NEXT_STEPS: Mapping[Kind, str] = {
    "error": "look at the error, run `pertinent doctor`, then validate again",
    "refused": "change the query so that it is accepted, or make it `query_type: edge`",
    "false_answer": "raise the threshold (`pertinent calibrate` shows what that costs), or label the passage "
    "if it is an answer",
    "lost_labels": "point its labels at where the text stands now",
    "not_indexed": "run `pertinent doctor`, then `pertinent index` again",
    "changed": "run `pertinent doctor --repair`: the index holds another text than the catalog",
    "filtered_out": "change the query's filters, or its labels",
    "below_threshold": "lower the threshold; `pertinent calibrate` proposes one",
    "crowded_out": "remove the repeated text from the source",
    "outranked": "judge the results above it with `pertinent label`; if they are no answers, try another "
    "ranking or another model",
    "not_found": "check that the label is right; if so, query and passage are worded too differently, and "
    "another model may help",
    "unjudged": "judge these results with `pertinent label`; if they are no answers, try another ranking or "
    "another model",
    "few_labels": "label every passage that answers it with `pertinent label`",
    "other": "compare its results with its `expected_criteria`, and mend what is wrong",
}
"""What to do about a failed query, by the main reason of its failure."""

DEEP = ENGINE.top_k_max
MISSED = 5
"""How many of the passages that were missed are explained for a query."""


class Rival(BaseModel):
    """A result that stood above a passage that should have been found."""

    model_config = ConfigDict(frozen=True)

    rank: int
    chunk_id: str
    title: str
    score: float | None
    cosine: float | None
    lexical: float | None
    label: int | None


class Miss(BaseModel):
    """A passage that answers, and was not among the first five."""

    model_config = ConfigDict(frozen=True)

    chunk_id: str
    title: str
    grade: int
    kind: Kind
    detail: str
    rank: int | None = None
    score: float | None = None
    cosine: float | None = None
    lexical: float | None = None


class Diagnosis(BaseModel):
    """Why a query failed: the main reason, in a word and in a sentence, and what became of each passage."""

    model_config = ConfigDict(frozen=True)

    kind: Kind
    detail: str
    misses: list[Miss] = []
    rivals: list[Rival] = []
    """The results of no use among the first five, which stood in the place of what was missed."""
    unjudged: int = 0
    """How many of the first five nobody has judged."""


class Doctor:
    """Looks into failed queries, with a deeper search where that tells more."""

    def __init__(self, retrieval: Retrieval, chunks: Mapping[str, Chunk], answer_threshold: float) -> None:
        self._retrieval = retrieval
        self._chunks = chunks
        self._answer_threshold = answer_threshold

    def diagnose(self, case: Case) -> Diagnosis | None:
        """The reason; None for a query that passed."""
        if case.passed:
            return None
        outcome = case.outcome
        if said := outcome.error or outcome.refusal:
            return Diagnosis(kind="error" if outcome.error else "refused", detail=said)
        if not case.query.answerable and any(hit.score >= self._answer_threshold for hit in outcome.shown):
            return Diagnosis(kind="false_answer", detail="; ".join(case.complaints), rivals=_rivals(case))
        if not case.query.scored or case.enough:
            # What was not found among the first five is then no reason.
            return Diagnosis(kind="other", detail="; ".join(case.complaints))
        if case.lost:
            return Diagnosis(kind="lost_labels", detail="every label that would answer it is lost")
        return self._retrieval_failure(case)

    def _retrieval_failure(self, case: Case) -> Diagnosis:
        misses = self._misses(case)
        unjudged = sum(label is None for label in case.labels[:TOP])
        kind, detail = _main_reason(case, misses, unjudged)
        return Diagnosis(kind=kind, detail=detail, misses=misses, rivals=_rivals(case), unjudged=unjudged)

    def _misses(self, case: Case) -> list[Miss]:
        wanted = self._wanted(case)
        if not wanted:
            return []
        known = [one for copies in wanted for one in copies if one in self._chunks]
        absent = {*known} - self._retrieval.subject.indexed(known)
        deep = case.outcome.deep
        unfiltered = deep if case.query.filters == QueryFilters() else self._without_filters(case)
        misses = [
            self._miss(case, copies, deep, unfiltered, there=not absent.issuperset(copies))
            for copies in wanted
        ]
        return sorted(misses, key=lambda miss: (-miss.grade, miss.rank or DEEP + 1))[:MISSED]

    def _wanted(self, case: Case) -> list[list[str]]:
        """What is relevant and not among the first five: each text once, with its copies on other pages."""
        first = {self._text(one) for one in found_ids(case.outcome.shown[:TOP], self._retrieval.unit)}
        copies: dict[str, list[str]] = defaultdict(list)
        for one, grade in case.resolved.judgments.items():
            if grade and self._text(one) not in first:
                copies[self._text(one)].append(one)
        return list(copies.values())

    def _text(self, one: str) -> str:
        """What tells a text from others: a search shows it once, from whichever page. A page is itself."""
        return self._chunks[one].content_hash if one in self._chunks else one

    def _without_filters(self, case: Case) -> tuple[Hit, ...]:
        query = case.query.model_copy(update={"filters": QueryFilters()})
        return self._retrieval.read_on(replace(case.outcome, query=query)).deep

    def _miss(
        self,
        case: Case,
        copies: Sequence[str],
        deep: Sequence[Hit],
        unfiltered: Sequence[Hit],
        *,
        there: bool,
    ) -> Miss:
        unit = self._retrieval.unit
        found = _place(deep, copies, unit)
        elsewhere = found or _place(unfiltered, copies, unit)
        wanted = found_ids([elsewhere[1]], unit)[0] if elsewhere else copies[0]
        chunk = self._chunks.get(wanted)
        title = chunk.breadcrumb if chunk else case.resolved.external_ids.get(wanted, wanted)

        def miss(kind: Kind, detail: str, rank: int | None = None, hit: Hit | None = None) -> Miss:
            parts = hit.scores if hit else None
            return Miss(
                chunk_id=wanted,
                title=title,
                grade=case.resolved.judgments[wanted],
                kind=kind,
                detail=detail,
                rank=rank,
                score=finite(hit.score) if hit else None,
                cosine=finite(parts.cosine) if parts else None,
                lexical=finite(parts.lexical) if parts else None,
            )

        if not there:
            return miss("not_indexed", "it is in the catalog, but the index does not have it")
        if found is None:
            if elsewhere is not None:
                names = ", ".join(_named(case.query.filters.to_filters()))
                return miss("filtered_out", f"the query's filter on {names} keeps it out", *elsewhere)
            among = f"first {DEEP}" if len(deep) >= DEEP else f"{len(deep)}"
            return miss("not_found", f"it is not among the {among} results")
        rank, hit = found
        if chunk is not None and hit.chunk.text != chunk.text and self._retrieval.unit == "passage":
            return miss("changed", "the index has another text than the catalog", rank, hit)
        threshold = self._retrieval.threshold
        if hit.score < threshold:
            return miss(
                "below_threshold", f"it scores {hit.score:.3f}, below the threshold {threshold:g}", rank, hit
            )
        why = f", and top_k is {case.query.top_k}" if rank <= TOP else _weaker(hit, deep)
        return miss("outranked", f"it stands at rank {rank}{why}", rank, hit)


def _place(hits: Sequence[Hit], wanted: Sequence[str], unit: Unit) -> tuple[int, Hit] | None:
    """The rank and the hit of the first of what is wanted."""
    ids = found_ids(hits, unit)
    return next(((rank, hits[rank - 1]) for rank, one in enumerate(ids, start=1) if one in wanted), None)


def _named(filters: Filters) -> list[str]:
    return [
        name
        for name in ("document_id", "section", "url", "source_type")
        if getattr(filters, name) is not None
    ]


def _weaker(hit: Hit, above: Sequence[Hit]) -> str:
    """Which part of the score holds it back, beside the fifth result."""
    if len(above) < TOP:
        return ""
    fifth = above[TOP - 1]
    gaps = {
        "its meaning is nearer to other passages": (fifth.scores.cosine or 0) - (hit.scores.cosine or 0),
        "it shares fewer of the query's words": (fifth.scores.lexical or 0) - (hit.scores.lexical or 0),
    }
    reason, gap = max(gaps.items(), key=lambda pair: pair[1])
    return f": {reason} than the fifth result (by {gap:.2f})" if gap > 0 else ""


def _rivals(case: Case) -> list[Rival]:
    shown = zip(case.outcome.shown[:TOP], case.labels[:TOP], strict=True)
    return [
        Rival(
            rank=rank,
            chunk_id=hit.chunk.chunk_id,
            title=hit.chunk.breadcrumb,
            score=finite(hit.score),
            cosine=finite(hit.scores.cosine),
            lexical=finite(hit.scores.lexical),
            label=label,
        )
        for rank, (hit, label) in enumerate(shown, start=1)
        if not label
    ]


_CERTAIN: Mapping[Kind, str] = {
    "not_indexed": "missing from the index",
    "changed": "changed in the index",
    "filtered_out": "kept out by the query's own filter",
    "below_threshold": "below the threshold",
}
"""Reasons that need no weighing, and how they are said."""


def _nearest_rank(misses: Sequence[Miss]) -> str:
    """Say where the first labelled passage stands that is not among the first five."""
    ranks = [miss.rank for miss in misses if miss.rank is not None]
    return f"; the next labelled passage stands at rank {min(ranks)}" if ranks else ""


def _main_reason(case: Case, misses: Sequence[Miss], unjudged: int) -> tuple[Kind, str]:
    relevant = sum(bool(label) for label in case.labels[:TOP])
    twice = repeated([hit.chunk for hit in case.outcome.shown[:TOP]])
    certain = Counter(miss.kind for miss in misses if miss.kind in _CERTAIN)
    if certain:
        kind = certain.most_common(1)[0][0]
        names = ", ".join(miss.title for miss in misses if miss.kind == kind)
        return kind, f"{_CERTAIN[kind]}: {names}"
    if twice:
        return "crowded_out", f"{len(twice)} of the first {TOP} results repeat another one"
    if unjudged and relevant + unjudged >= case.needed:
        return "unjudged", f"{unjudged} of the first {TOP} results are unjudged{_nearest_rank(misses)}"
    if not misses:
        return "few_labels", f"{case.relevant} passages are labelled as an answer, and it takes {case.needed}"
    usual = Counter(miss.kind for miss in misses).most_common(1)[0][0]
    nearest = min(misses, key=lambda miss: miss.rank or DEEP + 1)
    return usual, f"{nearest.title}: {nearest.detail}"
