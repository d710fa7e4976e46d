"""Lists without sentences name things instead of explaining them: how much less they count."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pertinent.search.bare_lists import BARE_DISCOUNT, LINK_DISCOUNT, measure_discount

PIECES = ["- ", "* ", "1. ", "[", "]", "](", "(", ")", "word", ". ", ".", " ", "\n", "```", "!"]


@pytest.mark.parametrize(
    "text",
    [
        "- [Stores](store.md)",
        "* **[Actions](actions.md#top)**",
        "  - [Thunks](a.md), [sagas](b.md).",
        "+ ![Diagram](flow.png)",
    ],
)
def test_an_item_with_nothing_but_links_is_discounted_most(text: str) -> None:
    assert measure_discount(text) == pytest.approx(LINK_DISCOUNT)


@pytest.mark.parametrize("text", ["- Stores", "* Where should a store live?", "- Read [Stores](store.md)"])
def test_an_item_without_a_sentence_is_discounted_a_little(text: str) -> None:
    assert measure_discount(text) == pytest.approx(BARE_DISCOUNT)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A store holds the state.",
        "See [Stores](store.md)",
        "[Stores](store.md)",
        "- A store holds the state.",
        '- A store "holds the *state*."',
        "- It holds the state. So there is one",
        "- [Stores](store.md) hold the state.",
        "- 商店保存状态。",
        "1. Open the settings\n2. Choose a store",
        "```yaml\n- name\n- [a](b)\n```",
        "**Stores**",
        "---",
    ],
)
def test_sentences_steps_and_code_are_not_discounted(text: str) -> None:
    assert measure_discount(text) == 0.0


def test_an_item_after_a_code_block_is_discounted() -> None:
    assert measure_discount("```yaml\n- name\n```\n- Stores") > 0.0


def test_prose_beside_a_list_lowers_the_discount() -> None:
    links = "- [Stores](store.md)"
    assert measure_discount("x" * (3 * len(links) - 1) + "\n" + links) == pytest.approx(LINK_DISCOUNT / 4)


@example("- - ](")
@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_the_discount_is_between_0_and_that_of_links(text: str) -> None:
    assert 0.0 <= measure_discount(text) <= LINK_DISCOUNT
