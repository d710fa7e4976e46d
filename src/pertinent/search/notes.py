"""The notes of an answer: what a reader should know about how it was found."""

from __future__ import annotations

from collections.abc import Sequence

from .._internal.messages import format_count, format_list
from ..types import DamagedPoint

NO_CATALOG = "the catalog did not answer; path, slug and title come from the index"
NO_WORDS = (
    "the catalog's list of words can't be read, so typos are not corrected and scores differ; "
    "`pertinent doctor` says what to do"
)
NO_LEXICAL = "this collection can't be searched by words; results are ranked by meaning alone"
NO_PHRASE = "no passage contains the quoted phrase; results match its words"
NO_EMBEDDER = "the embedding model did not answer; results are ranked by words alone"
NO_CHUNKS = (
    "the index has no chunks yet: run `pertinent index PATH`, or the pipeline that fills the collection"
)

DAMAGED_NAMED = 3
"""How many damaged points a note names."""


def describe_damage(damaged: Sequence[DamagedPoint]) -> tuple[str, ...]:
    """Return the note on damaged points that were left out of an answer; none where there are none."""
    if not damaged:
        return ()
    points = format_count(len(damaged), "damaged point was", "damaged points were")
    names = format_list([*map(str, damaged)], DAMAGED_NAMED, separator="; ")
    return (f"{points} left out (`pertinent doctor` says what to do): {names}",)
