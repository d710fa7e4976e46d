"""Texts for people: counts, lists, and explanations of pydantic's errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..identity import shorten

LIST_LIMIT = 5
"""How many names a list in a message has by default."""

MAX_QUOTE = 60
"""How many characters of a value a message quotes."""

MAX_DIGITS = 6

_EXPLANATIONS: Mapping[str, str] = {
    "extra_forbidden": "there is no such field",
    "missing": "must be given",
    "model_type": "must be an object with named fields",
    "model_attributes_type": "must be an object with named fields",
    "dict_type": "must be an object with named fields",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "string_type": "must be text",
    "path_type": "must be a path",
    "string_unicode": "contains half of a surrogate pair, which is not text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be at least {ge:g}",
    "less_than": "must be less than {lt:g}",
    "less_than_equal": "must be at most {le:g}",
}
"""The explanation of each type of pydantic error; the error supplies the limits."""


def explain_error(error: Mapping[str, Any]) -> str:
    """Explain a pydantic error to somebody who has not seen the model.

    Args:
        error: One of `ValidationError.errors()`. With `include_input=False` the explanation does not quote
            the value, which may be a secret.

    Returns:
        What the value must be, such as "must be at most 20".
    """
    kind, context = error["type"], error.get("ctx", {})
    if kind in _EXPLANATIONS:
        return _EXPLANATIONS[kind].format(**context)
    parts = "characters" if kind.startswith("string") else "entries"
    if kind in ("string_too_short", "too_short"):
        least = context["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {least} {parts}"
    if kind in ("string_too_long", "too_long"):
        size = f"has {len(error['input'])} {parts}; it " if "input" in error else ""
        return f"{size}must have at most {context['max_length']}{'' if size else f' {parts}'}"
    if kind == "literal_error":
        expected = str(context["expected"]).replace("'", "")
        quote = f", not {shorten(repr(error['input']), MAX_QUOTE)}" if "input" in error else ""
        return f"must be {expected}{quote}"
    if kind == "value_error":
        return str(context["error"])
    return str(error["msg"]).replace("Input should", "must")


def format_count(count: int, singular: str, plural: str = "") -> str:
    """Format a count with its noun: `1 page`, `1,200 pages`; the plural adds an s unless given."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


def count_queries(count: int) -> str:
    """Format a number of queries: `1 query`, `1,200 queries`."""
    return format_count(count, "query", "queries")


def format_list(names: Sequence[str], limit: int = LIST_LIMIT, separator: str = ", ") -> str:
    """Join the first `limit` names, followed by how many more there are: `a, b and 3 more`."""
    remainder = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return separator.join(names[:limit]) + remainder


def limit_lines(lines: list[str], most: int, singular: str, plural: str = "") -> list[str]:
    """Return at most this many lines; a further line counts the others: `and 3 more pages`."""
    if len(lines) <= most:
        return lines
    return [*lines[:most], f"and {format_count(len(lines) - most, singular, plural)}"]


def format_apart(form: Callable[[float, int], str], value: float, limit: float, digits: int) -> str:
    """Format a value with enough digits to tell it from its limit: 0.7996 missed 0.80, so it is not `0.80`.

    Args:
        form: Formats a number with a number of digits.
        value: The number to format.
        limit: The number that it was compared with.
        digits: The number of digits to start with.
    """
    while digits < MAX_DIGITS and value != limit and form(value, digits) == form(limit, digits):
        digits += 1
    return form(value, digits)
