"""Checks of values from callers: the ranges of each API, and the messages about violations."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from datetime import datetime
from typing import get_args

from .errors import InvalidInput
from .types import Ranking, SearchOptions

_SURROGATE = re.compile("[\ud800-\udfff]")

_ISO_8601 = re.compile(r"[0-9W-]+(T[0-9:.,+Z-]+)?")
_SHA256 = re.compile("[0-9a-fA-F]{64}")

EXAMPLE_TIME = "2026-01-31T09:30:00Z"
"""The time that messages give as an example."""

MAX_QUOTE = 60
"""How many characters of a value a message quotes."""

RANKINGS: tuple[Ranking, ...] = get_args(Ranking)

MAX_NEIGHBORS = 100
"""How many neighbours of a chunk can be requested on each side."""

MIN_SNIPPET, MAX_SNIPPET = 50, 2000
"""How many characters a snippet can be limited to."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The ranges of one API, and its names of the fields."""

    query_max: int
    top_k_max: int
    query: str = "query_text"
    top_k: str = "top_k"
    threshold: str = "threshold"

    def check_query(self, text: object) -> str:
        """Return the query; raise InvalidInput if it is not text, empty or too long."""
        query = check_string(self.query, text)
        if not query.strip():
            raise InvalidInput(self.query, f"must not be empty; give 1 to {self.query_max} characters")
        if len(query) > self.query_max:
            raise InvalidInput(self.query, f"has {len(query)} characters; it must have 1 to {self.query_max}")
        return query

    def check_typed(self, text: object) -> str:
        """Return what was typed so far, which may be empty; raise InvalidInput if it is too long."""
        typed = check_string(self.query, text)
        if len(typed) > self.query_max:
            raise InvalidInput(
                self.query, f"has {len(typed)} characters; it must have at most {self.query_max}"
            )
        return typed

    def check_top_k(self, value: object) -> int:
        """Return the value; raise InvalidInput unless it is a whole number from 1 to the limit."""
        return check_count(self.top_k, value, self.top_k_max)

    def check_threshold(self, value: object) -> float:
        """Return the value; raise InvalidInput unless it is a number from 0.0 to 1.0."""
        return check_share(self.threshold, value)


LONGEST_MESSAGE = 500
"""The longest error message, in characters: it may quote what a caller sent or another program answered."""

ENGINE = Limits(query_max=2000, top_k_max=100, query="text")
SUGGESTIONS = Limits(query_max=2000, top_k_max=50, query="prefix", top_k="limit")
AGENTS = Limits(query_max=2000, top_k_max=20, query="query")
DOCSEARCH = Limits(query_max=2000, top_k_max=100, query="query", top_k="hitsPerPage")
RETRIEVAL_TESTING = Limits(query_max=2000, top_k_max=20)
RETRIEVAL_LAYER = Limits(query_max=1000, top_k_max=100, query="query", top_k="limit")
RETRIEVAL_API = Limits(query_max=500, top_k_max=20, query="query")
RETRIEVAL_IMPLEMENTATION = Limits(
    query_max=2000, top_k_max=100, query="query_text", threshold="similarity_threshold"
)


def check_count(field: str, value: object, maximum: int, minimum: int = 1) -> int:
    """Return the value; raise InvalidInput unless it is a whole number from `minimum` to `maximum`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(field, f"must be a whole number from {minimum} to {maximum}, not {value!r}")
    if not minimum <= value <= maximum:
        raise InvalidInput(field, f"must be between {minimum} and {maximum}, not {value}")
    return value


def check_at_least(field: str, value: object, minimum: int) -> int:
    """Return the value; raise InvalidInput unless it is a whole number of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(field, f"must be a whole number of at least {minimum}, not {_quote(value)}")
    if value < minimum:
        raise InvalidInput(field, f"must be at least {minimum}, not {value}")
    return value


def check_share(field: str, value: object) -> float:
    """Return the value; raise InvalidInput unless it is a number from 0.0 to 1.0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(field, f"must be a number from 0.0 to 1.0, not {_quote(value)}")
    # False for NaN too.
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(field, f"must be between 0.0 and 1.0, not {str(value)[:20]}")
    return float(value)


def check_duration(field: str, value: object) -> float:
    """Return the value; raise InvalidInput unless it is a finite number of milliseconds, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(field, f"must be a number, 0 or more, not {_quote(value)}")
    if not 0.0 <= value <= sys.float_info.max:
        raise InvalidInput(field, f"must be finite and 0 or more, not {str(value)[:20]}")
    return float(value)


def check_string(field: str, value: object) -> str:
    """Return the value; raise InvalidInput unless it is text that can be encoded. It may be empty."""
    if not isinstance(value, str):
        raise InvalidInput(field, f"must be text, not {_quote(value)}")
    if _SURROGATE.search(value):
        raise InvalidInput(field, "contains half of a surrogate pair, which is not text")
    return value


def check_text(field: str, value: object) -> str:
    """Text that is neither empty nor white space."""
    text = check_string(field, value)
    if not text.strip():
        raise InvalidInput(field, "must not be empty")
    return text


def check_time(field: str, value: object) -> str:
    """Return the value; raise InvalidInput unless it is a time in ISO 8601."""
    if not is_iso_8601(text := check_text(field, value)):
        raise InvalidInput(field, f"must be a time in ISO 8601, such as {EXAMPLE_TIME}, not {_quote(text)}")
    return text


def is_iso_8601(text: str) -> bool:
    """Whether a text is a date, or a date and a time, in ISO 8601."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    # Python accepts any character in place of the T.
    return _ISO_8601.fullmatch(text) is not None


def check_hash(field: str, value: object) -> str:
    """Return the value; raise InvalidInput unless it is a SHA-256 of 64 hex digits."""
    if not _SHA256.fullmatch(text := check_text(field, value)):
        raise InvalidInput(field, f"must be a SHA-256 of 64 hex digits, not {_quote(text)}")
    return text


def _quote(value: object) -> str:
    return repr(value)[:MAX_QUOTE]


def check_ranking(value: object) -> Ranking:
    """Return the value; raise InvalidInput unless it is the name of a ranking."""
    for ranking in RANKINGS:
        if value == ranking:
            return ranking
    raise InvalidInput("ranking", f"must be one of {', '.join(RANKINGS)}, not {value!r}")


def check_options(options: SearchOptions) -> SearchOptions:
    """Return the options; raise InvalidInput if one is outside the engine's limits."""
    if options.ranking is not None:
        check_ranking(options.ranking)
    if options.per_page is not None:
        check_count("per_page", options.per_page, ENGINE.top_k_max)
    if options.fallback not in (None, "lexical"):
        raise InvalidInput("fallback", f"must be lexical, not {options.fallback!r}")
    if not isinstance(options.rerank, bool | None):
        raise InvalidInput("rerank", f"must be true or false, not {_quote(options.rerank)}")
    top_k, threshold = ENGINE.check_top_k(options.top_k), ENGINE.check_threshold(options.threshold)
    return replace(options, top_k=top_k, threshold=threshold)
