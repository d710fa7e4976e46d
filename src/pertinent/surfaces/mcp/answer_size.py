"""The size of an answer: how many tokens it has at most, and cutting it to a limit.

Each agent has its own tokenizer, so tokens are estimated from the bytes of the JSON that is sent. Three bytes
are about one token in code and in Chinese; English has four or more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import BaseModel

BYTES_PER_TOKEN = 3

RESERVED_TOKENS = 400
"""What an answer may have beside its list or its text: names of fields, and a note."""

_CUT = " […]"


def count_tokens(value: Any) -> int:
    """Estimate how many tokens a value has as JSON; the estimate is rather too high than too low."""
    content = value.model_dump() if isinstance(value, BaseModel) else value
    return math.ceil(len(orjson.dumps(content)) / BYTES_PER_TOKEN)


def count_fitting(items: Sequence[BaseModel], max_tokens: int) -> int:
    """Return how many of the items fit, from the first on."""
    total = 0
    for number, item in enumerate(items):
        total += count_tokens(item)
        if total > max_tokens:
            return number
    return len(items)


def cut_text(text: str, max_tokens: int) -> str:
    """Return the text, cut at its end if it has more tokens."""
    cut, length = text, len(text)
    while length and (size := count_tokens(cut)) > max_tokens:
        length = min(length - 1, max(0, length * max_tokens // size))
        cut = text[:length].rstrip() + _CUT
    return cut
