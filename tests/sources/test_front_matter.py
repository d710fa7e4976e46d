"""Front matter of a page: what only repeats the page is dropped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources import front_matter as module
from pertinent.sources.front_matter import clean_front_matter, split_keywords
from pertinent.types import FRONT_MATTER_MAX, FrontMatter


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("A joint turns.", ""),
        ("A `joint` *turns*", ""),
        ("a joint", ""),
        ("A joint turn", "A joint turn"),  # other words than those of the text
        ("How joints turn", "How joints turn"),
        ("", ""),
    ],
)
def test_description_that_stands_in_the_text_is_dropped(description: str, expected: str) -> None:
    text = "# Joints\n\nA joint turns. It has limits."
    assert clean_front_matter(FrontMatter(description), "Joints", text).description == expected


@given(st.lists(st.sampled_from("ab"), max_size=12), st.lists(st.sampled_from("ab"), min_size=1, max_size=4))
def test_description_is_found_wherever_it_stands(words: list[str], description: list[str]) -> None:
    text, phrase = " ".join(words), " ".join(description)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WORD_BATCH", 1)
        remaining = clean_front_matter(FrontMatter(phrase), "", text).description
    assert (remaining == "") == (f" {phrase} " in f" {text} ")


@pytest.mark.parametrize(("label", "expected"), [("Use `joints`", ""), ("Joints", "Joints"), ("", "")])
def test_label_that_is_the_title_is_dropped(label: str, expected: str) -> None:
    assert clean_front_matter(FrontMatter(sidebar_label=label), "Use joints", "").sidebar_label == expected


def test_keywords_and_tags_stay() -> None:
    front_matter = FrontMatter("", ("joint",), ("joint",), "")
    assert clean_front_matter(front_matter, "joint", "joint") == front_matter


names = st.lists(st.text("ab", max_size=700), max_size=5).map(tuple)


@given(st.text("ab", max_size=700), names, names, st.text("ab", max_size=700))
def test_long_fields_are_cut_to_what_can_be_searched(
    description: str, keywords: tuple[str, ...], tags: tuple[str, ...], label: str
) -> None:
    front_matter = FrontMatter(description, keywords, tags, label)
    shortened = clean_front_matter(front_matter, "", "")
    assert shortened.text_above(0) == front_matter.text_above(0)
    fields = (shortened.description, *shortened.keywords, *shortened.tags, shortened.sidebar_label)
    assert sum(map(len, fields)) <= 6 * FRONT_MATTER_MAX


def test_keywords_are_split_at_commas() -> None:
    assert split_keywords(["a, b", " c  d ", "", "a"]) == ("a", "b", "c d")
