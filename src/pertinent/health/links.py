"""Checking links: whether each stored `url#anchor` exists on its site."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple
from urllib.parse import unquote

from .._internal.messages import format_list
from ..errors import NotFound, SourceError
from .audit import REMEDY_INDEX, Finding

CONCURRENCY = 8
"""How many pages are requested at a time."""

ReadAnchors = Callable[[str], Collection[str]]
"""Returns the anchors of the page at a url; raises NotFound if it is gone, SourceError if that is unknown."""

LinkProblem = Literal["page gone", "anchor missing", "not reached"]


class BrokenLink(NamedTuple):
    """A link to a page or anchor that does not exist, or that could not be checked."""

    url: str
    anchor: str
    kind: LinkProblem
    problem: str

    @property
    def address(self) -> str:
        """The url with its anchor."""
        return f"{self.url}#{self.anchor}" if self.anchor else self.url


def group_web_citations(citations: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the anchors by url, for urls on the web."""
    pages: dict[str, set[str]] = defaultdict(set)
    for url, anchor in citations:
        if url.startswith(("http://", "https://")):
            pages[url].add(anchor)
    return {url: sorted(anchors) for url, anchors in sorted(pages.items())}


def find_broken_links(
    pages: Mapping[str, Sequence[str]],
    read_anchors: ReadAnchors,
    *,
    on_page: Callable[[], None] = lambda: None,
) -> list[BrokenLink]:
    """Request each page once, and return the links that are broken or could not be checked.

    Args:
        pages: The anchors to check, by url.
        read_anchors: Requests a page and returns its anchors.
        on_page: Called after each page.
    """
    broken: list[BrokenLink] = []
    with ThreadPoolExecutor(CONCURRENCY, thread_name_prefix="links") as pool:
        for problems in pool.map(lambda url: _check_page(url, pages[url], read_anchors), pages):
            broken += problems
            on_page()
    return broken


def _check_page(url: str, anchors: Iterable[str], read_anchors: ReadAnchors) -> list[BrokenLink]:
    try:
        existing = read_anchors(url)
    except NotFound as error:
        return [BrokenLink(url, "", "page gone", str(error))]
    except SourceError as error:
        return [BrokenLink(url, "", "not reached", str(error))]
    return [
        BrokenLink(url, anchor, "anchor missing", f"the page has no #{anchor}")
        for anchor in anchors
        if anchor and anchor not in existing and unquote(anchor) not in existing
    ]


_REMEDIES: Mapping[LinkProblem, str] = {
    "page gone": f"{REMEDY_INDEX}. If the finding stays, the site has the page only with `/` or "
    "`/index.html` at the end of its address: redirect this address there",
    "anchor missing": REMEDY_INDEX,
    "not reached": "run this again when the site answers",
}


def describe_broken_links(broken: Iterable[BrokenLink]) -> Iterator[Finding]:
    """Yield a finding for each broken link, and one for all pages unreachable for the same reason."""
    unreached: dict[str, list[str]] = defaultdict(list)
    for link in broken:
        if link.kind == "not reached":
            unreached[link.problem].append(link.address)
        else:
            yield Finding(f"{link.address}: {link.problem}", _REMEDIES[link.kind])
    for problem, addresses in unreached.items():
        yield Finding(f"{format_list(addresses, 1)}: {problem}", _REMEDIES["not reached"])
