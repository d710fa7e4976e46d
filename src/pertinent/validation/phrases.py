"""Counts and lists as a reader would say them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

NAMED = 5
MOST_DIGITS = 6


def counted(n: int, one: str, many: str) -> str:
    """So many of something: 1 query, 1,200 queries."""
    return f"{n:,} {one if n == 1 else many}"


def queries(n: int) -> str:
    """So many queries."""
    return counted(n, "query", "queries")


def format_apart(form: Callable[[float, int], str], value: float, limit: float, digits: int) -> str:
    """Write the value with as many decimals as tell it from the limit: 0.7996 is not the 0.80 it missed."""
    while digits < MOST_DIGITS and value != limit and form(value, digits) == form(limit, digits):
        digits += 1
    return form(value, digits)


def listed(names: Sequence[str], most: int = NAMED, between: str = ", ") -> str:
    """The first of the names, and how many more there are."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return between.join(names[:most]) + more
