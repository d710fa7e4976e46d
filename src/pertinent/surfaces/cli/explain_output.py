"""The output of `pertinent search --explain`: stages against their budgets, scores, excluded hits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .search_output import INDENT, format_scores, print_hit_heading
from .terminal import make_table, one_line, symbol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ...types import Answer, Hit

BUDGETS_MS: Final[Mapping[str, float]] = {"embedded": 2000, "searched": 1000, "formatted": 50}
"""Seed 001's time limits for the stages of a query."""

STAGES: Final[Mapping[str, str]] = {
    "received": "check the query",
    "embedded": "embed the query",
    "searched": "fetch candidates by meaning and by words, and rank them",
    "reranked": "read the best with the reranker",
    "filtered": "apply threshold, --per-page and --top-k",
    "formatted": "format the answer",
    "returned": "write it to stdout",
}


def score_formula(answer: Answer) -> str:
    """Return the formula of the score for this ranking, with the reranker if there was one."""
    from ...search.ranking import FORMULAS

    formula, share = FORMULAS[answer.ranking], answer.rerank_share
    return f"{1 - share:g} × base + {share:g} × rerank, where base = {formula}" if share else formula


def print_explanation(out: Console, answer: Answer, stages: Mapping[str, float], opening_ms: float) -> None:
    """Print the stages, the formula of the score, notes, and excluded hits with the reason for each."""
    from rich.padding import Padding
    from rich.text import Text

    out.print()
    out.print(Text("Explanation", style="bold"))
    out.print(_make_stage_table(stages, opening_ms))
    out.print(f"score ({answer.algorithm}) = {score_formula(answer)}")
    for note in answer.notes:
        out.print(Text(one_line(note), style="yellow"))
    if answer.excluded:
        out.print()
        out.print(Text("Excluded, best first", style="bold"))
    for excluded in answer.excluded:
        print_hit_heading(out, "", excluded.hit)
        reason = Text(f"{format_scores(excluded.hit.scores)}; {excluded.reason}", style="dim")
        out.print(Padding(reason, (0, 0, 0, INDENT)))


def _make_stage_table(stages: Mapping[str, float], opening_ms: float) -> Table:
    from rich.text import Text

    table = make_table("stage", ">ms", ">budget", "")
    description = Text("load model and stores, once per process", style="dim")
    table.add_row("opened", f"{opening_ms:.1f}", "", description)
    for stage, ms in stages.items():
        budget = BUDGETS_MS.get(stage)
        comparison = "" if budget is None else _compare_to_budget(ms, budget)
        table.add_row(stage, f"{ms:.1f}", comparison, Text(STAGES.get(stage, ""), style="dim"))
    return table


def _compare_to_budget(ms: float, budget: float) -> Text:
    from rich.text import Text

    if ms < budget:
        return Text(f"< {budget:g} {symbol('✓', 'ok')}", style="green")
    return Text(f"< {budget:g} {symbol('✗', 'over')}", style="red")


def explain_as_dict(answer: Answer, stages: Mapping[str, float], opening_ms: float) -> dict[str, Any]:
    """Return the explanation as JSON-ready data."""
    return {
        "opening_ms": round(opening_ms, 3),
        "stages_ms": {stage: round(ms, 3) for stage, ms in stages.items()},
        "budgets_ms": dict(BUDGETS_MS),
        "score": score_formula(answer),
        "hits": [_scores_as_dict(hit) for hit in answer.hits],
        "left_out": [
            _scores_as_dict(excluded.hit) | {"reason": excluded.reason} for excluded in answer.excluded
        ],
        "notes": list(answer.notes),
    }


def _scores_as_dict(hit: Hit) -> dict[str, Any]:
    from ...search.ranking import weigh_features

    added = {"added": weigh_features(hit.scores)} if hit.scores.page is not None else {}
    return {
        "chunk_id": hit.chunk.chunk_id,
        "citation": hit.chunk.citation,
        "score": hit.score,
        "scores": hit.scores._asdict(),
        **added,
    }
