"""Collect the candidates of both sides of an index, for every store with dense and lexical vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..types import Candidates, PointId

DENSE = "dense"
LEXICAL = "lexical"

TIE_MARGIN = 50
"""How many more points the lexical side is asked for than it proposes; many may have the same score."""

TIE_DECIMALS = 6
"""Scores that are equal up to here are ties: stores add up the weights of words in different orders."""


@dataclass(frozen=True, slots=True)
class SideQuery:
    """A query to one side of the index: its nearest points, among all points or those in `among`."""

    side: str
    limit: int
    among: tuple[PointId, ...] = ()


PointScores = dict[PointId, float]
"""Points with their raw score on one side."""


def gather_candidates(
    ask: Callable[[Sequence[SideQuery]], Sequence[PointScores]],
    queries: Mapping[str, object | None],
    by: Sequence[str],
    limit: int,
) -> Candidates:
    """Collect the best points of each side, then the scores that the other side gives them.

    Of points with the same BM25, those with the lowest ids are proposed, in whichever order they are stored.

    Args:
        ask: Sends side queries to the store in one request, and returns the scores for each.
        queries: The query for each side; None where it has no terms, so that every point scores 0.
        by: The sides that propose points; the others only score them.
        limit: How many points each side proposes.
    """
    scores: dict[str, PointScores] = {side: {} for side in queries}
    proposing = [
        SideQuery(side, limit + TIE_MARGIN if side == LEXICAL else limit)
        for side in by
        if queries.get(side) is not None
    ]
    for query, scored in zip(proposing, ask(proposing) if proposing else (), strict=True):
        scores[query.side] = _select_best(scored, limit)
    points = list(dict.fromkeys(point for scored in scores.values() for point in scored))
    missing = []
    for side, query_of_side in queries.items():
        # A lexical list below the limit holds every point that shares a word with the query.
        complete = side == LEXICAL and side in by and len(scores[side]) < limit
        unscored = tuple(point for point in points if point not in scores[side])
        if query_of_side is not None and not complete and unscored:
            missing.append(SideQuery(side, len(unscored), unscored))
    for query, scored in zip(missing, ask(missing) if missing else (), strict=True):
        scores[query.side] |= scored
    return Candidates(points, _column(scores.get(DENSE), points), _column(scores.get(LEXICAL), points))


def _select_best(scored: PointScores, limit: int) -> PointScores:
    """Return the points with the highest scores; of equal ones, those with the lowest ids."""
    if len(scored) <= limit:
        return scored
    best = sorted(scored, key=lambda point: (-round(scored[point], TIE_DECIMALS), str(point)))
    return {point: scored[point] for point in best[:limit]}


def _column(scored: PointScores | None, points: Sequence[PointId]) -> list[float] | None:
    """Return the score of each point; a point that the side did not return scores 0."""
    return None if scored is None else [scored.get(point, 0.0) for point in points]
