"""What is wrong with a value, in plain words: pydantic's own are for those who wrote the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import InvalidInput
from ...identity import shorten

QUOTED = 60
"""How much of a value is quoted."""

_WORDS: Mapping[str, str] = {
    "extra_forbidden": "there is no such field",
    "missing": "must be given",
    "model_type": "must be a JSON object",
    "model_attributes_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
    "list_type": "must be a list",
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
    "greater_than_equal": "must be at least {ge:g}",
    "less_than_equal": "must be at most {le:g}",
}
"""What is said of each kind of mistake; the limits come from the mistake itself."""


def told(error: Mapping[str, Any]) -> str:
    """Which field, what is wrong with it, and what it may be."""
    context = error.get("ctx", {})
    refused = context.get("error")
    if isinstance(refused, InvalidInput):
        return str(refused)
    # The first step says where it was looked for: body, query or path.
    place = ".".join(shorten(str(step), 100) for step in error["loc"][1:])
    if error["type"] == "json_invalid":
        return f"body: is not JSON: {refused} at character {place}"
    if error["type"] == "model_attributes_type" and not place:
        return "body: must be a JSON object, sent with Content-Type: application/json"
    return f"{place or 'body'}: {_wrong(error['type'], context, error)}"


def _wrong(kind: str, context: Mapping[str, Any], error: Mapping[str, Any]) -> str:
    if kind in _WORDS:
        return _WORDS[kind].format(**context)
    parts = "characters" if kind.startswith("string") else "entries"
    if kind in ("string_too_short", "too_short"):
        least = context["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {least} {parts}"
    if kind in ("string_too_long", "too_long"):
        return f"has {len(error['input'])} {parts}; it must have at most {context['max_length']}"
    if kind == "literal_error":
        expected = str(context["expected"]).replace("'", "")
        return f"must be {expected}, not {shorten(repr(error['input']), QUOTED)}"
    if kind == "value_error":
        return str(context["error"])
    return "is not what it may be; the manual at /docs describes it"
