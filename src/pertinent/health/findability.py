"""Check that searches find stored chunks.

The graph of vectors, the 8-bit vectors or the word lists may be damaged although every point can be read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from .._internal.messages import format_count, format_list
from ..identity import point_id
from ..ports import VectorIndex
from ..search.bm25 import Bm25
from ..search.terms import words
from ..types import Chunk, Filters
from .audit import MAX_NAMED, REMEDY_REINDEX, Finding, Inventory

SAMPLE_SIZE = 50
"""How many chunks are searched for."""
HITS_PER_SEARCH = 10
"""How many hits each search returns; a word is searched for only if no more chunks have it."""
TOLERATED_SHARE = 0.1
"""The share of the sample that may be missed: a search in the graph of vectors is approximate."""
MIN_NEAREST_FOUND = 3
"""How many of the ten nearest chunks a search by vector must find.

In a healthy index it finds at least eight of them for nearly every chunk; with binary vectors, four.
"""
_ROUNDING = 1e-5
"""How far the cosine of the same two vectors may differ between two searches."""


def find_unfindable_chunks(stored: Inventory, index: VectorIndex, lexical: str) -> list[Finding]:
    """Search for a sample of chunks by their own vectors and rarest words.

    Most of them must be found; the search by vector must also find some of the chunks nearest to them.

    Args:
        stored: The chunks.
        index: The index.
        lexical: How the index weights words; those of another version are not searched for.
    """
    names = sorted(stored.in_index.keys() & stored.in_catalog.keys())
    sample = [stored.in_index[name] for name in names[:: math.ceil(len(names) / SAMPLE_SIZE) or 1]]
    bm25 = Bm25.from_settings(lexical)
    by_words = _test_word_searches(stored, sample, index, bm25) if bm25.settings == lexical else iter(())
    return [
        *_make_finding("vectors", list(_test_vector_searches(sample, index)), " or what is nearest to them"),
        *_make_finding("words", list(by_words)),
    ]


def _test_vector_searches(sample: Sequence[Chunk], index: VectorIndex) -> Iterator[tuple[Chunk, bool]]:
    """Yield each chunk with whether the search by its vector finds what an exact search finds.

    Cosines are compared, not points: which of several equal vectors a search lists is chance.
    """
    vectors = index.vectors([point_id(chunk.chunk_id) for chunk in sample])
    for chunk in sample:
        if (vector := vectors.get(point_id(chunk.chunk_id))) is not None:
            hits = index.candidates(vector, None, by=("dense",), limit=HITS_PER_SEARCH, filters=Filters())
            cosines = sorted(hits.cosine or (), reverse=True)
            exact = sorted(index.search_exactly(vector, HITS_PER_SEARCH).values(), reverse=True)
            nearest, farthest = exact[0] - _ROUNDING, exact[-1] - _ROUNDING
            least = min(MIN_NEAREST_FOUND, len(exact))
            yield chunk, len(cosines) >= least and cosines[0] >= nearest and cosines[least - 1] >= farthest


def _test_word_searches(
    stored: Inventory, sample: Sequence[Chunk], index: VectorIndex, bm25: Bm25
) -> Iterator[tuple[Chunk, bool]]:
    """Yield each chunk that has a rare word, with whether the search by its rarest word finds the chunk."""
    frequencies = Counter(
        term
        for chunk in stored.in_index.values()
        for term in set(bm25.document(stored.embedded_text(chunk)).indices)
    )
    # A point without its words has a finding of its own.
    weights = index.word_weights([point_id(chunk.chunk_id) for chunk in sample])
    for chunk in sample:
        terms = {word: bm25.query(word).indices for word in words(stored.embedded_text(chunk))}
        counts = {
            word: frequencies[indices[0]]
            for word, indices in terms.items()
            if len(indices) == 1 and indices[0] in weights.get(point_id(chunk.chunk_id), {})
        }
        rarest = min(counts, key=lambda word: (counts[word], word), default=None)
        if rarest is not None and counts[rarest] <= HITS_PER_SEARCH:
            hits = index.candidates(None, rarest, by=("lexical",), limit=HITS_PER_SEARCH, filters=Filters())
            yield chunk, point_id(chunk.chunk_id) in hits.point_ids


def _make_finding(side: str, searches: Sequence[tuple[Chunk, bool]], neighbors: str = "") -> list[Finding]:
    missed = sorted(chunk.chunk_id for chunk, is_found in searches if not is_found)
    if len(missed) <= TOLERATED_SHARE * len(searches):
        return []
    chunks = f"{format_count(len(missed), 'chunk')} of {len(searches):,} sampled"
    return [
        Finding(
            f"searches by {side} do not find {chunks}{neighbors}, though the index has them: "
            f"{format_list(missed, MAX_NAMED)}",
            REMEDY_REINDEX,
        )
    ]
