"""Do the citations hold? Every stored `url#anchor` against the ids that its page has on the site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple
from urllib.parse import unquote

from ..errors import NotFound, SourceError

AT_ONCE = 8

AnchorsOf = Callable[[str], Collection[str]]
"""The ids of the page at a url; raises NotFound where it is gone, SourceError where nobody can tell."""

Kind = Literal["page gone", "anchor missing", "not reached"]


class BrokenLink(NamedTuple):
    """A citation that does not hold, or that could not be checked."""

    url: str
    anchor: str
    kind: Kind
    problem: str

    @property
    def address(self) -> str:
        return f"{self.url}#{self.anchor}" if self.anchor else self.url


def on_the_web(citations: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The anchors cited on each page, of those pages that have an address on the web."""
    pages: dict[str, set[str]] = defaultdict(set)
    for url, anchor in citations:
        if url.startswith(("http://", "https://")):
            pages[url].add(anchor)
    return {url: sorted(anchors) for url, anchors in sorted(pages.items())}


def check(
    pages: Mapping[str, Sequence[str]],
    anchors_of: AnchorsOf,
    *,
    told: Callable[[], None] = lambda: None,
) -> list[BrokenLink]:
    """The citations, as anchors by url, that don't hold, page by page; each page is asked for once.

    `told` is called after each page. A page that can't be reached says nothing about its anchors, and
    is one problem of its own kind.
    """

    def broken(url: str) -> list[BrokenLink]:
        return list(_broken(url, pages[url], anchors_of))

    found = []
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="links") as pool:
        for problems in pool.map(broken, pages):
            found += problems
            told()
    return found


def _broken(url: str, anchors: Iterable[str], anchors_of: AnchorsOf) -> Iterator[BrokenLink]:
    try:
        there = anchors_of(url)
    except NotFound as error:
        yield BrokenLink(url, "", "page gone", str(error))
        return
    except SourceError as error:
        yield BrokenLink(url, "", "not reached", str(error))
        return
    for anchor in anchors:
        if anchor and anchor not in there and unquote(anchor) not in there:
            yield BrokenLink(url, anchor, "anchor missing", f"the page has no #{anchor}")
