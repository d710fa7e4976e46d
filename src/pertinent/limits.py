"""What each door accepts: the ranges of the five seeds, and the words in which they are refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import get_args

from .errors import InvalidInput
from .types import Ranking, SearchOptions

_SURROGATE = re.compile("[\ud800-\udfff]")

RANKINGS: tuple[Ranking, ...] = get_args(Ranking)


@dataclass(frozen=True, slots=True)
class Limits:
    """The ranges of one door, with the names that it gives to the fields."""

    query_max: int
    top_k_max: int
    query: str = "query_text"
    top_k: str = "top_k"
    threshold: str = "threshold"

    def check_query(self, text: object) -> str:
        """The query itself, or an error that says what is wrong with it."""
        if not isinstance(text, str):
            raise InvalidInput(self.query, f"must be text, not {repr(text)[:60]}")
        if not text.strip():
            raise InvalidInput(self.query, f"must not be empty; give 1 to {self.query_max} characters")
        if len(text) > self.query_max:
            raise InvalidInput(self.query, f"has {len(text)} characters; it must have 1 to {self.query_max}")
        if _SURROGATE.search(text):
            raise InvalidInput(self.query, "holds half of a surrogate pair, which is not text")
        return text

    def check_top_k(self, value: object) -> int:
        """A whole number from 1 to the door's most."""
        return check_count(self.top_k, value, self.top_k_max)

    def check_threshold(self, value: object) -> float:
        """A number from 0.0 to 1.0."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InvalidInput(self.threshold, f"must be a number from 0.0 to 1.0, not {value!r}")
        # NaN is not between anything either.
        if not 0.0 <= value <= 1.0:
            raise InvalidInput(self.threshold, f"must be between 0.0 and 1.0, not {str(value)[:20]}")
        return float(value)


ENGINE = Limits(query_max=2000, top_k_max=100, query="text")
RETRIEVAL_TESTING = Limits(query_max=2000, top_k_max=20)
RETRIEVAL_LAYER = Limits(query_max=1000, top_k_max=100, query="query", top_k="limit")
RETRIEVAL_API = Limits(query_max=500, top_k_max=20, query="query")
RETRIEVAL_IMPLEMENTATION = Limits(
    query_max=2000, top_k_max=100, query="query_text", threshold="similarity_threshold"
)


def check_count(field: str, value: object, most: int, least: int = 1) -> int:
    """A whole number from `least` to `most`."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(field, f"must be a whole number from {least} to {most}, not {value!r}")
    if not least <= value <= most:
        raise InvalidInput(field, f"must be between {least} and {most}, not {value}")
    return value


def check_ranking(value: object) -> Ranking:
    """The name of a ranking."""
    for ranking in RANKINGS:
        if value == ranking:
            return ranking
    raise InvalidInput("ranking", f"must be one of {', '.join(RANKINGS)}, not {value!r}")


def check_options(options: SearchOptions) -> SearchOptions:
    """Check the options of a search against the engine's limits; an error names the field."""
    if options.ranking is not None:
        check_ranking(options.ranking)
    if options.per_page is not None:
        check_count("per_page", options.per_page, ENGINE.top_k_max)
    if options.fallback not in (None, "lexical"):
        raise InvalidInput("fallback", f"must be lexical, not {options.fallback!r}")
    top_k, threshold = ENGINE.check_top_k(options.top_k), ENGINE.check_threshold(options.threshold)
    return replace(options, top_k=top_k, threshold=threshold)
