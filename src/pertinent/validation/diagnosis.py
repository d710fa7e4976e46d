"""Diagnose failed queries: why each relevant passage is not among the first five results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict

from .._internal.messages import format_count
from ..types import Chunk, Filters, Hit
from .golden.golden_set import QueryFilters, Unit
from .integrity import find_repeated_chunks
from .runner import DEPTH, QueryRunner
from .scoring import TOP, Case, finite_or_none, result_ids

FailureKind = Literal[
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

NEXT_STEPS: Mapping[FailureKind, str] = {
    "error": "read the error, run `pertinent doctor`, then validate again",
    "refused": "change the query so that it is accepted, or set `query_type: edge`",
    "false_answer": "raise the threshold (`pertinent calibrate` shows what that costs), or label the passage "
    "if it is an answer",
    "lost_labels": "correct its labels: the text they point at has moved or is gone",
    "not_indexed": "run `pertinent doctor`, then `pertinent index` again",
    "changed": "run `pertinent doctor --repair`: the text in the index differs from the catalog",
    "filtered_out": "change the query's filters, or its labels",
    "below_threshold": "lower the threshold; `pertinent calibrate` proposes one",
    "crowded_out": "remove the repeated text from the source",
    "outranked": "judge the results above it with `pertinent label`; if they are not relevant, try another "
    "ranking or model",
    "not_found": "check that the label is right; if it is, the wording of query and passage differs too "
    "much, and another model may help",
    "unjudged": "judge these results with `pertinent label`; if they are not relevant, try another ranking "
    "or model",
    "few_labels": "label every relevant passage with `pertinent label`",
    "other": "compare its results with its `expected_criteria`, and correct what is wrong",
}
"""What to do about a failed query, by the main reason for its failure."""

MAX_MISSES = 5
"""How many missed passages of a query are explained."""


class Rival(BaseModel):
    """A result that is not relevant, and ranked above a missed passage."""

    model_config = ConfigDict(frozen=True)

    rank: int
    chunk_id: str
    title: str
    score: float | None
    cosine: float | None
    lexical: float | None
    label: int | None


class Miss(BaseModel):
    """A relevant passage that is not among the first five results."""

    model_config = ConfigDict(frozen=True)

    chunk_id: str
    title: str
    grade: int
    kind: FailureKind
    detail: str
    rank: int | None = None
    score: float | None = None
    cosine: float | None = None
    lexical: float | None = None


class Diagnosis(BaseModel):
    """Why a query failed: the main reason, and the reason for each missed passage."""

    model_config = ConfigDict(frozen=True)

    kind: FailureKind
    detail: str
    misses: list[Miss] = []
    rivals: list[Rival] = []
    """The results among the first five that are not relevant."""
    unjudged: int = 0
    """How many of the first five results nobody has judged."""


class FailureAnalyzer:
    """Finds out why queries failed, with a further search where a filter may be the cause."""

    def __init__(self, runner: QueryRunner, chunks: Mapping[str, Chunk], answer_threshold: float) -> None:
        self._runner = runner
        self._chunks = chunks
        self._answer_threshold = answer_threshold

    def diagnose(self, case: Case) -> Diagnosis | None:
        """Diagnose a case; None for one that passed."""
        if case.passed:
            return None
        outcome = case.outcome
        if message := outcome.error or outcome.refusal:
            return Diagnosis(kind="error" if outcome.error else "refused", detail=message)
        if not case.query.answerable and any(hit.score >= self._answer_threshold for hit in outcome.results):
            return Diagnosis(
                kind="false_answer", detail="; ".join(case.complaints), rivals=_list_rivals(case)
            )
        if not case.query.scored or case.enough:
            # Enough relevant results were found, so a missed passage is not the reason.
            return Diagnosis(kind="other", detail="; ".join(case.complaints))
        if case.lost:
            return Diagnosis(kind="lost_labels", detail="every label of a relevant passage is lost")
        return self._diagnose_ranking(case)

    def _diagnose_ranking(self, case: Case) -> Diagnosis:
        misses = self._list_misses(case)
        unjudged = sum(label is None for label in case.labels[:TOP])
        kind, detail = _find_main_reason(case, misses, unjudged)
        return Diagnosis(
            kind=kind, detail=detail, misses=misses, rivals=_list_rivals(case), unjudged=unjudged
        )

    def _list_misses(self, case: Case) -> list[Miss]:
        missed = self._group_missed_ids(case)
        if not missed:
            return []
        chunk_ids = [name for copies in missed for name in copies if name in self._chunks]
        absent = {*chunk_ids} - self._runner.target.find_indexed(chunk_ids)
        deep = case.outcome.deep
        unfiltered = deep if case.query.filters == QueryFilters() else self._search_without_filters(case)
        misses = [
            self._explain_miss(case, copies, deep, unfiltered, indexed=not absent.issuperset(copies))
            for copies in missed
        ]
        return sorted(misses, key=lambda miss: (-miss.grade, miss.rank or DEPTH + 1))[:MAX_MISSES]

    def _group_missed_ids(self, case: Case) -> list[list[str]]:
        """Group the relevant ids that are not among the first five: the copies of a text are one group."""
        first = {self._text_key(name) for name in result_ids(case.outcome.results[:TOP], self._runner.unit)}
        copies: dict[str, list[str]] = defaultdict(list)
        for name, grade in case.resolved.judgments.items():
            if grade and self._text_key(name) not in first:
                copies[self._text_key(name)].append(name)
        return list(copies.values())

    def _text_key(self, name: str) -> str:
        """Return a chunk's text, since a search shows each text once; a page is its own key."""
        return self._chunks[name].text if name in self._chunks else name

    def _search_without_filters(self, case: Case) -> tuple[Hit, ...]:
        query = case.query.model_copy(update={"filters": QueryFilters()})
        return self._runner.fetch_deep_ranking(replace(case.outcome, query=query)).deep

    def _explain_miss(
        self,
        case: Case,
        copies: Sequence[str],
        deep: Sequence[Hit],
        unfiltered: Sequence[Hit],
        *,
        indexed: bool,
    ) -> Miss:
        unit = self._runner.unit
        ranked = _find_rank(deep, copies, unit)
        without_filters = ranked or _find_rank(unfiltered, copies, unit)
        name = result_ids([without_filters[1]], unit)[0] if without_filters else copies[0]
        chunk = self._chunks.get(name)
        title = chunk.breadcrumb if chunk else case.resolved.external_ids.get(name, name)

        def miss(kind: FailureKind, detail: str, rank: int | None = None, hit: Hit | None = None) -> Miss:
            parts = hit.scores if hit else None
            return Miss(
                chunk_id=name,
                title=title,
                grade=case.resolved.judgments[name],
                kind=kind,
                detail=detail,
                rank=rank,
                score=finite_or_none(hit.score) if hit else None,
                cosine=finite_or_none(parts.cosine) if parts else None,
                lexical=finite_or_none(parts.lexical) if parts else None,
            )

        if not indexed:
            return miss("not_indexed", "it is in the catalog, but not in the index")
        if ranked is None:
            if without_filters is not None:
                names = ", ".join(_list_filter_names(case.query.filters.to_filters()))
                return miss("filtered_out", f"the query's filter on {names} excludes it", *without_filters)
            among = f"first {DEPTH}" if len(deep) >= DEPTH else f"{len(deep)}"
            return miss("not_found", f"it is not among the {among} results")
        rank, hit = ranked
        if chunk is not None and hit.chunk.text != chunk.text and self._runner.unit == "passage":
            return miss("changed", "its text in the index differs from the catalog", rank, hit)
        threshold = self._runner.threshold
        if hit.score < threshold:
            return miss(
                "below_threshold", f"it scores {hit.score:.3f}, below the threshold {threshold:g}", rank, hit
            )
        cause = f", and top_k is {case.query.top_k}" if rank <= TOP else _explain_low_score(hit, deep)
        return miss("outranked", f"it is at rank {rank}{cause}", rank, hit)


def _find_rank(hits: Sequence[Hit], names: Sequence[str], unit: Unit) -> tuple[int, Hit] | None:
    """Return the rank and the hit of the first result with one of these ids."""
    ids = result_ids(hits, unit)
    return next(((rank, hits[rank - 1]) for rank, name in enumerate(ids, start=1) if name in names), None)


def _list_filter_names(filters: Filters) -> list[str]:
    return [
        name
        for name in ("document_id", "section", "url", "source_type")
        if getattr(filters, name) is not None
    ]


def _explain_low_score(hit: Hit, above: Sequence[Hit]) -> str:
    """Say which feature of the score is lower than that of the fifth result, by the most."""
    if len(above) < TOP:
        return ""
    fifth = above[TOP - 1].scores
    gaps = {
        "its meaning is less similar to the query": (fifth.cosine or 0) - (hit.scores.cosine or 0),
        "it shares fewer of the query's words": (fifth.lexical or 0) - (hit.scores.lexical or 0),
        "its page matches the query less": (fifth.page or 0) - (hit.scores.page or 0),
    }
    reason, gap = max(gaps.items(), key=lambda pair: pair[1])
    return f": {reason} than the fifth result (by {gap:.2f})" if gap > 0 else ""


def _list_rivals(case: Case) -> list[Rival]:
    results = zip(case.outcome.results[:TOP], case.labels[:TOP], strict=True)
    return [
        Rival(
            rank=rank,
            chunk_id=hit.chunk.chunk_id,
            title=hit.chunk.breadcrumb,
            score=finite_or_none(hit.score),
            cosine=finite_or_none(hit.scores.cosine),
            lexical=finite_or_none(hit.scores.lexical),
            label=label,
        )
        for rank, (hit, label) in enumerate(results, start=1)
        if not label
    ]


_CERTAIN: Mapping[FailureKind, str] = {
    "not_indexed": "missing from the index",
    "changed": "different in the index",
    "filtered_out": "excluded by the query's own filter",
    "below_threshold": "below the threshold",
}
"""Reasons that are certain, so that they come before all others."""


def _describe_next_rank(misses: Sequence[Miss]) -> str:
    """Give the rank of the first relevant passage that is not among the first five."""
    ranks = [miss.rank for miss in misses if miss.rank is not None]
    return f"; the next relevant passage is at rank {min(ranks)}" if ranks else ""


def _find_main_reason(case: Case, misses: Sequence[Miss], unjudged: int) -> tuple[FailureKind, str]:
    relevant = sum(bool(label) for label in case.labels[:TOP])
    repeated = find_repeated_chunks([hit.chunk for hit in case.outcome.results[:TOP]])
    certain = Counter(miss.kind for miss in misses if miss.kind in _CERTAIN)
    if certain:
        kind = certain.most_common(1)[0][0]
        names = ", ".join(miss.title for miss in misses if miss.kind == kind)
        return kind, f"{_CERTAIN[kind]}: {names}"
    if repeated:
        return "crowded_out", f"{len(repeated)} of the first {TOP} results repeat another one"
    if unjudged and relevant + unjudged >= case.needed:
        are = "is" if unjudged == 1 else "are"
        return (
            "unjudged",
            f"{unjudged} of the first {TOP} results {are} unjudged{_describe_next_rank(misses)}",
        )
    if not misses:
        passages = format_count(case.relevant, "passage is", "passages are")
        return "few_labels", f"{passages} labelled as relevant, and {case.needed} are needed"
    most_frequent = Counter(miss.kind for miss in misses).most_common(1)[0][0]
    nearest = min(misses, key=lambda miss: miss.rank or DEPTH + 1)
    return most_frequent, f"{nearest.title}: {nearest.detail}"
