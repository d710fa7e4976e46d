"""Lists that name things instead of explaining them: links, titles, keywords.

"Further reading" repeats the titles of other pages, and so matches the questions that those pages answer. The
ranking `hybrid` lets such a list count less, the more of a passage it is.
"""

from __future__ import annotations

import re

LINK_DISCOUNT = 0.4
"""How much less a list item counts that has nothing but links."""

BARE_DISCOUNT = 0.1
"""How much less any other list item counts that has no sentence."""

_ITEM_OR_FENCE = re.compile(r"^[ \t]*[-*+][ \t]+(.+)$|^[ \t]*(?:```|~~~)", re.MULTILINE)
_LINK = re.compile(r"\[[^\[\]\n]*\]\([^()\s]*\)")
_WORD_CHARACTER = re.compile(r"\w")
_SENTENCE_ENDS = (".", "!", ":", ";", ",", "…", "。", "！")
_CLOSING = " \t*_`)\"'”’"


def measure_discount(text: str) -> float:
    r"""Return how much less a passage counts for its bare lists: from 0 to the discount of links.

    Numbered lists are not discounted, since they are steps, nor is code that looks like a list.

    Examples:
        >>> measure_discount("- A store holds the state.\n- A reducer computes it.")
        0.0
        >>> round(measure_discount("- Stores\n- Reducers"), 2)
        0.09
        >>> round(measure_discount("- [Stores](store.md)\n- [Reducers](reducers.md)"), 2)
        0.39
    """
    discounted = 0.0
    in_code = False
    for match in _ITEM_OR_FENCE.finditer(text):
        if match[1] is None:
            in_code = not in_code
        elif not in_code:
            discounted += len(match[0]) * _discount_item(match[1])
    # Rounding may lead a little out of the range.
    return min(discounted / len(text), LINK_DISCOUNT) if discounted else 0.0


def _discount_item(item: str) -> float:
    if "](" in item and not _WORD_CHARACTER.search(_LINK.sub("", item)):
        return LINK_DISCOUNT
    has_sentence = ". " in item or item.rstrip(_CLOSING).endswith(_SENTENCE_ENDS)
    return 0.0 if has_sentence else BARE_DISCOUNT
