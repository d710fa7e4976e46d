"""The topic of a query: which results name it, and how long that takes."""

from __future__ import annotations

import time

import pytest

from pertinent.types import Answer, Chunk, Hit, Scores
from pertinent.validation.golden.golden_set import ExpectedCriteria, GoldenQuery
from pertinent.validation.runner import QueryOutcome
from pertinent.validation.scoring import count_on_topic


def outcome_of(text: str, topic: str) -> QueryOutcome:
    """The outcome of a query with a topic, which finds a single chunk with this text."""
    query = GoldenQuery(text="how?", expected_criteria=ExpectedCriteria(expected_topic=topic))
    chunk = Chunk("c", "page", "https://book.example/", "", "", "", 0, 0, len(text), text, "", "", "", "")
    answer = Answer(
        "how?", "hybrid", (Hit(chunk, 0.9, Scores(0.9, None), 1),), 5, 0.0, "2026-01-01T00:00:00Z"
    )
    return QueryOutcome(query, 1.0, answer)


@pytest.mark.parametrize(
    ("text", "count"),
    [("A knee.", 1), ("C++ code", 1), ("two knees", 0), ("objective-c+", 0)],
)
def test_topic_is_named_by_whole_words_in_any_case(text: str, count: int) -> None:
    assert count_on_topic(outcome_of(text, "KNEE, c++")) == count


def test_topic_of_very_many_terms_is_checked_in_a_moment() -> None:
    """A golden set is data from anybody, and many of its queries can share a topic."""
    outcome = outcome_of("word of it " * 180, ", ".join(f"word{number} of it" for number in range(10_000)))
    started = time.process_time()
    assert count_on_topic(outcome) == 0
    assert time.process_time() - started < 3
