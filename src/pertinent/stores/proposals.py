"""What the sides of an index propose for a query, put together: the same for every store that has both."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Generic, TypeVar

from ..ports import Worth
from ..types import Candidates, PointId

DENSE = "dense"
LEXICAL = "lexical"

Key = TypeVar("Key", bound=Hashable)


class Proposals(Generic[Key]):
    """Points and their scores on each side, by a key that is quick to look up."""

    def __init__(self, vector: object, text: object, by: Collection[str], limit: int) -> None:
        """For a query by vector, text or both; the sides named in `by` propose up to `limit` points each."""
        self._sides = [side for side, given in ((DENSE, vector), (LEXICAL, text)) if given is not None]
        self._by = by
        self._limit = limit
        self._points: dict[Key, PointId] = {}
        self._scores: dict[str, dict[Key, float]] = {DENSE: {}, LEXICAL: {}}

    def add(self, side: str, keys: Sequence[Key], points: Sequence[PointId], scores: Sequence[float]) -> None:
        """What a side has found."""
        self._points.update(zip(keys, points, strict=True))
        self._scores[side].update(zip(keys, scores, strict=True))

    def keep(self, worth: Worth) -> None:
        """Leave out what is not worth a further question."""
        self._points = {key: self._points[key] for key in worth(self._scores)}

    def missing(self, side: str) -> list[PointId]:
        """The points whose score on this side must be asked for."""
        known = self._scores[side]
        if side == LEXICAL and side in self._by and len(known) < self._limit:
            # These are all that share a word with the query.
            return []
        return [point for key, point in self._points.items() if key not in known]

    def candidates(self) -> Candidates:
        """The points with their scores; one that no answer gave is 0.

        A text of stop words alone asks nothing of the lexical side: all score 0 there.
        """
        columns = {side: [self._scores[side].get(key, 0.0) for key in self._points] for side in self._sides}
        return Candidates(list(self._points.values()), columns.get(DENSE), columns.get(LEXICAL))
