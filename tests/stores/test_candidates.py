"""Candidates do not depend on the order in which a store keeps its points."""

from __future__ import annotations

import random
from collections.abc import Sequence
from uuid import UUID

import pytest

from pertinent.stores.candidates import LEXICAL, TIE_MARGIN, PointScores, SideQuery, gather_candidates

LIMIT = 50


@pytest.mark.parametrize("seed", range(5))
def test_points_with_equal_bm25_are_proposed_by_id(seed: int) -> None:
    better = {UUID(int=1000 + number): 2.0 + number for number in range(LIMIT - 10)}
    # Stores add up the weights of words in different orders.
    equal = {UUID(int=number): 1.0 + number % 2 * 1e-9 for number in range(1, 11 + TIE_MARGIN)}
    stored = [*(better | equal).items()]
    random.Random(seed).shuffle(stored)  # noqa: S311 - no secret

    def ask(queries: Sequence[SideQuery]) -> list[PointScores]:
        return [
            dict(sorted(stored, key=lambda point: -round(point[1], 6))[: query.limit]) for query in queries
        ]

    candidates = gather_candidates(ask, {LEXICAL: "words"}, [LEXICAL], LIMIT)
    assert set(candidates.point_ids) == {*better, *sorted(equal)[:10]}
