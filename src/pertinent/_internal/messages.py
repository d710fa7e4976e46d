"""What is wrong with a value, in plain words: pydantic's own are for those who wrote the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..identity import shorten

QUOTED = 60
"""How much of a value is quoted."""

_WORDS: Mapping[str, str] = {
    "extra_forbidden": "there is no such field",
    "missing": "must be given",
    "model_type": "must be an object with named fields",
    "model_attributes_type": "must be an object with named fields",
    "dict_type": "must be an object with named fields",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "string_type": "must be text",
    "string_unicode": "holds half of a surrogate pair, which is not text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number that is finite",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
}
"""What is said of each kind of mistake; the limits come from the mistake itself."""


def wrong(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, and what it may be, from one of pydantic's errors.

    The value is quoted only where the error holds it: where it may be a secret, leave it out.
    """
    kind, context = error["type"], error.get("ctx", {})
    if kind in _WORDS:
        return _WORDS[kind].format(**context)
    parts = "characters" if kind.startswith("string") else "entries"
    if kind in ("string_too_short", "too_short"):
        least = context["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {least} {parts}"
    if kind in ("string_too_long", "too_long"):
        has = f"has {len(error['input'])} {parts}; it " if "input" in error else ""
        return f"{has}must have at most {context['max_length']}{'' if has else f' {parts}'}"
    if kind == "literal_error":
        expected = str(context["expected"]).replace("'", "")
        instead = f", not {shorten(repr(error['input']), QUOTED)}" if "input" in error else ""
        return f"must be {expected}{instead}"
    if kind == "value_error":
        return str(context["error"])
    return str(error["msg"]).replace("Input should", "must")
