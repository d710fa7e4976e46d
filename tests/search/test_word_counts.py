"""Counting words for the vocabulary."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pertinent.identity import is_storable
from pertinent.search.word_counts import LONGEST_WORD, count_words
from pertinent.types import WordCounts


def test_heading_of_a_section_counts_once_however_many_chunks_it_has() -> None:
    passages = [("a", "Arms › Joints", "one"), ("a", "Arms › Joints", "two"), ("b", "Joints", "three")]
    counts = count_words({"a": "Robots", "b": "Robots"}, passages)
    assert counts["joints"] == WordCounts(titles=0, headings=2, texts=3)
    assert counts["arms"] == WordCounts(titles=0, headings=0, texts=2)
    assert counts["robots"] == WordCounts(titles=2, headings=0, texts=3)


def test_word_counts_once_for_each_chunk() -> None:
    assert count_words({"a": ""}, [("a", "", "Joint joint JOINT")]) == {"joint": WordCounts(0, 0, 1)}


@given(st.text(st.characters(), max_size=200))
def test_every_counted_word_can_be_stored(text: str) -> None:
    for word in count_words({"a": text}, [("a", text, text)]):
        assert is_storable(word)
        assert 0 < len(word) <= LONGEST_WORD
