"""What the sides of an index propose for a query, put together: the same for every store that has both."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import Generic, TypeVar

from ..ports import Worth
from ..types import Candidates, PointId

DENSE = "dense"
LEXICAL = "lexical"

Key = TypeVar("Key", bound=Hashable)


class Proposals(Generic[Key]):
    """Points and their scores on each side, by a key that is quick to look up."""

    def __init__(self, by: Collection[str], limit: int) -> None:
        """`by`: the sides that propose; `limit`: how many points each of them may."""
        self._by = by
        self._limit = limit
        self._points: dict[Key, PointId] = {}
        self._scores: dict[str, dict[Key, float]] = {DENSE: {}, LEXICAL: {}}

    def add(self, side: str, keys: Sequence[Key], points: Sequence[PointId], scores: Sequence[float]) -> None:
        """What a side has found."""
        self._points.update(zip(keys, points, strict=True))
        self._scores[side].update(zip(keys, scores, strict=True))

    def keep(self, worth: Worth, sides: Collection[str]) -> None:
        """Leave out what is not worth a further question."""
        keys = list(self._points)
        worthy = worth(self.candidates(sides, missing=math.nan))
        self._points = {keys[place]: self._points[keys[place]] for place in worthy}

    def missing(self, side: str) -> list[PointId]:
        """The points whose score on this side must be asked for."""
        known = self._scores[side]
        if side == LEXICAL and side in self._by and len(known) < self._limit:
            # These are all that share a word with the query.
            return []
        return [point for key, point in self._points.items() if key not in known]

    def candidates(self, sides: Collection[str], missing: float = 0.0) -> Candidates:
        """The points with their scores on these sides; one that no answer gave is `missing`."""
        columns = {side: [self._scores[side].get(key, missing) for key in self._points] for side in sides}
        return Candidates(list(self._points.values()), columns.get(DENSE), columns.get(LEXICAL))


def sides_of(vector: object, text: object) -> list[str]:
    """The sides on which a query can be scored at all."""
    return [side for side, given in ((DENSE, vector), (LEXICAL, text)) if given is not None]
