"""Control characters in texts of documents, which a terminal would act on instead of showing them."""

from __future__ import annotations

import re

# Control characters except tab and newline, and characters that change the direction of the text.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def remove_controls(text: str) -> str:
    """Remove the control characters of a text; what follows an escape character stays."""
    return _CONTROLS.sub("", text)
