"""Check that the answer of a service is that of the requested search."""

from __future__ import annotations

from .._internal.messages import format_count
from ..identity import shorten
from ..search.notes import NO_LEXICAL
from ..stores.payload import matches_filters
from ..types import Answer, SearchOptions

MAX_QUOTED = 80
"""How many characters of a query or an address are quoted."""


def describe_mismatch(text: str, options: SearchOptions, answer: Answer) -> str:
    """Describe how an answer differs from the requested search; empty if it matches."""
    differences = _list_differences(text, options, answer)
    return f"for {_quote(text)}, {'; '.join(differences)}" if differences else ""


def _list_differences(text: str, options: SearchOptions, answer: Answer) -> list[str]:
    """Describe each difference. The request bypassed the cache, so a cached answer is one."""
    fields: dict[str, tuple[object, object]] = {
        "query_text": (text, answer.query),
        "top_k": (options.top_k, answer.top_k),
        "similarity_threshold": (options.threshold, answer.threshold),
    }
    # A collection without words answers `hybrid` by meaning alone, and notes it.
    if options.ranking is not None and NO_LEXICAL not in answer.notes:
        fields["ranking"] = (options.ranking, answer.ranking)
    differences = [
        f"{name} is {_quote(actual)} instead of {_quote(requested)}"
        for name, (requested, actual) in fields.items()
        if actual != requested
    ]
    if options.rerank is False and answer.rerank_share:
        differences.append("results are reranked")
    outside = [hit.chunk.citation for hit in answer.hits if not matches_filters(hit.chunk, options.filters)]
    if outside:
        results = format_count(len(outside), "result is", "results are")
        differences.append(f"{results} outside its filters, such as {shorten(outside[0], MAX_QUOTED)}")
    if answer.cached:
        differences.append("it came from the cache")
    return differences


def _quote(field: object) -> str:
    return shorten(repr(field), MAX_QUOTED)
