"""Hypothesis strategies for golden queries, from a strategy for their texts."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pertinent.validation.golden.golden_set import ExpectedCriteria, GoldenQuery, Label

IN_ONE_FOLDER = settings(
    max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def label_strategy(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Label]:
    optional = st.none() | texts
    return st.builds(
        Label,
        grade=st.integers(0, 2),
        page=texts.filter(bool),
        url=st.sampled_from([None, "https://x.org/a,b#c"]),
        anchor=st.none() | texts.filter(lambda text: bool(text.removeprefix("#").strip())),
        quote=st.none() | texts.filter(lambda text: bool(text.replace("…", "").strip())),
        chunk=optional,
        span=st.none() | st.tuples(st.integers(0, 9), st.integers(10, 99)),
        judge=optional,
        note=optional,
    )


def queries_strategy(texts: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[GoldenQuery, ...]]:
    optional = st.none() | texts
    query = st.builds(
        GoldenQuery,
        id=texts.filter(str.strip),
        text=texts,
        query_type=st.sampled_from(["specific", "broad", "paraphrase", "edge"]),
        category=st.sampled_from([None, "factual", "conceptual", "contextual"]),
        top_k=st.integers(1, 100),
        paraphrase_group=optional,
        expected_criteria=st.builds(
            ExpectedCriteria, min_score=st.none() | st.floats(0, 1), expected_topic=optional
        ),
        labels=st.lists(label_strategy(texts), max_size=3).map(tuple),
        note=optional,
    ) | st.builds(GoldenQuery, id=texts.filter(str.strip), text=texts, answerable=st.just(False))
    return st.lists(query, min_size=1, max_size=4, unique_by=lambda query: query.id).map(tuple)
