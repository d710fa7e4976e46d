"""Cosines of different models on one scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.embedders.bge import load_bge
from pertinent.embedders.local import LocalEmbedder
from pertinent.ports import Vector
from pertinent.search.bm25 import Bm25
from pertinent.search.cosine_scale import (
    KNOWN_SCALES,
    MIN_SAMPLE,
    TYPICAL_DEVIATION,
    TYPICAL_MEAN,
    CosineScale,
    estimate_scale,
)
from pertinent.search.engine import Engine
from pertinent.settings import Settings
from pertinent.stores.edge import EdgeIndex
from pertinent.testing.embedder import HashedWords
from pertinent.testing.index_suite import entries
from pertinent.testing.pages import page
from pertinent.types import SearchOptions
from pertinent.workspace.workspace import Workspace


def random_vectors(count: int, narrowing: float = 0.0) -> list[Vector]:
    """Unit vectors; with a narrowing, a common component brings all cosines close to 1."""
    random = np.random.default_rng(3)
    vectors = random.normal(size=(count, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.hstack([vectors, np.full((count, 1), narrowing)])
    return list((vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32))


def all_cosines(vectors: Sequence[Vector]) -> Vector:
    matrix = np.stack(vectors)
    cosines: Vector = (matrix @ matrix.T)[np.triu_indices(len(matrix), 1)]
    return cosines


def test_the_default_model_has_plain_cosines() -> None:
    assert KNOWN_SCALES[Settings().embedder] == CosineScale()


def test_scale_of_bge_gives_its_cosines_the_range_of_the_default_model() -> None:
    queries = [
        "How do nodes communicate?",
        "What limits a revolute joint?",
        "Which sensor measures distance?",
    ]
    passages = [
        "Nodes exchange messages over topics, and call services of other nodes.",
        "A revolute joint has a lower and an upper limit for its angle.",
        "A lidar measures distances by the time that its light takes to return.",
    ]
    related, unrelated = {}, {}
    for embedder in (LocalEmbedder.load_minilm(), load_bge()):
        cosines = (
            np.stack(embedder.embed_queries(queries)) @ np.stack([*embedder.embed_documents(passages)]).T
        )
        spread = KNOWN_SCALES[embedder.name].apply(cosines.astype(np.float64))
        related[embedder.model] = spread.diagonal().mean()
        unrelated[embedder.model] = spread[~np.eye(len(queries), dtype=bool)].mean()
    assert related["bge-small-en-v1.5"] == pytest.approx(related["all-MiniLM-L6-v2"], abs=0.15)
    assert unrelated["bge-small-en-v1.5"] == pytest.approx(unrelated["all-MiniLM-L6-v2"], abs=0.1)


@pytest.mark.parametrize("narrowing", [0.0, 1.0, 3.0])
def test_estimated_scale_gives_the_cosines_of_passages_the_typical_mean_and_deviation(
    narrowing: float,
) -> None:
    vectors = random_vectors(100, narrowing)
    scale = estimate_scale(vectors)
    spread = scale.factor * all_cosines(vectors) + scale.shift
    assert spread.mean() == pytest.approx(TYPICAL_MEAN, abs=1e-3)
    assert spread.std() == pytest.approx(TYPICAL_DEVIATION, abs=1e-3)


def test_models_that_differ_only_in_their_range_have_the_same_spread_cosines() -> None:
    wide, narrow = random_vectors(100), random_vectors(100, narrowing=2.0)
    spread = [
        estimate_scale(vectors).apply(all_cosines(vectors).astype(np.float64)) for vectors in (wide, narrow)
    ]
    assert spread[0] == pytest.approx(spread[1], abs=1e-3)


def test_too_few_or_equal_vectors_leave_the_cosines_plain() -> None:
    assert estimate_scale(random_vectors(MIN_SAMPLE - 1)) == CosineScale()
    assert estimate_scale(random_vectors(1) * 50) == CosineScale()


def test_vectors_without_a_direction_do_not_count() -> None:
    vectors = random_vectors(50)
    empty = np.zeros_like(vectors[0])
    assert estimate_scale([*vectors, empty]) == estimate_scale(vectors)
    assert estimate_scale([empty] * 50) == CosineScale()


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(0.1, 20), st.floats(-10, 10))
def test_a_scale_keeps_the_order_and_stays_in_0_to_1(
    first: float, second: float, factor: float, shift: float
) -> None:
    scale = CosineScale(factor, shift)
    low, high = scale.apply(np.array(sorted((first, second))))
    assert 0.0 <= low <= high <= 1.0


class NarrowHashedWords(HashedWords):
    """Hashed words with a common component, which brings all cosines close to 1."""

    name = "testing:narrow-hashed-words"

    def __init__(self) -> None:
        super().__init__(dimension=65)

    def _embed(self, text: str) -> Vector:
        words = HashedWords()._embed(text)
        return np.append(words, np.float32(2.0)) / np.float32(math.sqrt(5.0))


def test_a_model_of_narrow_cosines_gives_the_hits_and_scores_of_a_wide_one(
    workspace: Workspace, tmp_path: Path
) -> None:
    pages = [
        page(
            f"page-{number}", {"": f"The {noun} of a robot.", "Use": f"How to use its {noun} and {verb} it."}
        )
        for number, (noun, verb) in enumerate(
            product(["arm", "leg", "head", "hand"], ["move", "turn", "lift"])
        )
    ]
    stored = entries(pages)
    texts = [entry.embedded_text for entry in stored]
    answers = []
    for embedder in (HashedWords(), NarrowHashedWords()):
        with closing(EdgeIndex.open(tmp_path / embedder.name, embedder.dimension, Bm25())) as index:
            index.put(stored, list(embedder.embed_documents(texts)))
            engine = Engine(embedder, index, workspace.catalog())
            answers.append(engine.search("turn the leg of a robot", SearchOptions(top_k=10)))
    wide, narrow = answers
    assert len(wide.hits) == 10
    assert [hit.chunk.chunk_id for hit in narrow.hits] == [hit.chunk.chunk_id for hit in wide.hits]
    assert [hit.score for hit in narrow.hits] == pytest.approx([hit.score for hit in wide.hits], abs=1e-3)
