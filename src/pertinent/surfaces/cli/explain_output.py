"""How an answer came about: its stages against their budgets, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from .search_output import INDENT, components, print_head
from .terminal import one_line, sign

if TYPE_CHECKING:
    from rich.console import Console

    from ...types import Answer, Hit

BUDGETS_MS: Final[Mapping[str, float]] = {"embedded": 2000, "searched": 1000, "formatted": 50}
"""Seed 001's limits on the time of a stage."""

MEANING: Final[Mapping[str, str]] = {
    "received": "the query was checked",
    "embedded": "the query became a vector",
    "searched": "both sides of the index proposed candidates",
    "filtered": "ranked; threshold, per page and top k applied",
    "formatted": "laid out for reading",
    "returned": "written out",
}


def formula(answer: Answer) -> str:
    """What the score of this ranking is."""
    from ...search.ranking import COSINE_SHARES

    share = COSINE_SHARES["hybrid"]
    hybrid = f"{share:g} × cosine + {1 - share:g} × lexical"
    return {"hybrid": hybrid, "dense": "cosine", "lexical": "lexical"}[answer.ranking]


def print_explanation(out: Console, answer: Answer, stages: Mapping[str, float], opening_ms: float) -> None:
    """Stages, score, and what was left out and why."""
    from rich.padding import Padding
    from rich.text import Text

    out.print()
    out.print(Text("How this came about", style="bold"))
    out.print(_stages(stages, opening_ms))
    out.print(f"score ({answer.algorithm}) = {formula(answer)}")
    for note in answer.notes:
        out.print(Text(one_line(note), style="yellow"))
    if answer.excluded:
        out.print()
        out.print(Text("Left out, best first", style="bold"))
    for one in answer.excluded:
        print_head(out, "", one.hit)
        why = Text(f"{components(one.hit.scores)}; {one.reason}", style="dim")
        out.print(Padding(why, (0, 0, 0, INDENT)))


def _stages(stages: Mapping[str, float], opening_ms: float) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("stage", no_wrap=True)
    table.add_column("ms", justify="right", no_wrap=True)
    table.add_column("budget", justify="right", no_wrap=True)
    table.add_column("")
    table.add_row("opened", f"{opening_ms:.1f}", "", Text("model and stores, once a process", style="dim"))
    for stage, ms in stages.items():
        budget = BUDGETS_MS.get(stage)
        table.add_row(
            stage,
            f"{ms:.1f}",
            "" if budget is None else _against(ms, budget),
            Text(MEANING.get(stage, ""), style="dim"),
        )
    return table


def _against(ms: float, budget: float) -> Any:
    from rich.text import Text

    if ms < budget:
        return Text(f"< {budget:g} {sign('✓', 'ok')}", style="green")
    return Text(f"< {budget:g} {sign('✗', 'over')}", style="red")


def explanation(answer: Answer, stages: Mapping[str, float], opening_ms: float) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "opening_ms": round(opening_ms, 3),
        "stages_ms": {stage: round(ms, 3) for stage, ms in stages.items()},
        "budgets_ms": dict(BUDGETS_MS),
        "score": formula(answer),
        "hits": [_scored(hit) for hit in answer.hits],
        "left_out": [_scored(one.hit) | {"reason": one.reason} for one in answer.excluded],
        "notes": list(answer.notes),
    }


def _scored(hit: Hit) -> dict[str, Any]:
    return {
        "chunk_id": hit.chunk.chunk_id,
        "citation": hit.chunk.citation,
        "score": hit.score,
        "scores": {"cosine": hit.scores.cosine, "lexical": hit.scores.lexical},
    }
