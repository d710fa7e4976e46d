"""One visit of a crawl: fetch and parse a page, unless the cache still has it. Runs on many threads."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from .crawl_cache import CachedResponse, CrawlCache
from .fetch import Fetcher
from .frontier import QueuedPage
from .parsing import NotHtml, ParsedPage, parse_page, serialize_page
from .responses import ExternalRedirect, FetchFailed, PageGone, Response
from .scope import SiteScope

_ROBOTS_TAG = "x-robots-tag"
_PARSED_HEADERS = ("content-type", _ROBOTS_TAG)
"""The headers that decide, together with the body, what a page is parsed to."""


@dataclass(frozen=True, slots=True)
class VisitResult:
    """The result of a visit: a parsed page, that the page has not changed, or why there is neither."""

    address: str = ""
    """The address of the page, after redirects."""
    url: str = ""
    """The url of the page at that address."""
    page: ParsedPage | None = None
    serialized_page: bytes = b""
    response: CachedResponse | None = None
    """How to request the page the next time."""
    unchanged: bool = False
    gone: bool = False
    reason: str = ""
    no_answer: bool = False
    """Whether the site did not answer."""
    not_a_page: bool = False
    """Whether the answer says that it is no page of the site: another type, or a redirect to another host."""


@dataclass(frozen=True, slots=True)
class PageVisitor:
    """Visits the pages of one site."""

    scope: SiteScope
    fetcher: Fetcher
    cache: CrawlCache
    with_links: bool
    """Whether links are to be read too."""

    def visit(self, queued: QueuedPage) -> VisitResult:
        """Fetch and parse a page; the result contains any error."""
        try:
            return self._visit(queued)
        except PageGone as error:
            return VisitResult(gone=True, reason=str(error))
        except FetchFailed as error:
            not_a_page = isinstance(error, ExternalRedirect)
            return VisitResult(reason=str(error), no_answer=error.no_answer, not_a_page=not_a_page)
        except NotHtml as error:
            return VisitResult(reason=str(error), not_a_page=error.declared)

    def answers(self, address: str) -> bool:
        """Whether the site answers at an address, with any status."""
        try:
            self.fetcher.get(address)
        except PageGone:
            return True
        except FetchFailed as error:
            return not error.no_answer
        return True

    def _visit(self, queued: QueuedPage) -> VisitResult:
        cache = self.cache
        if cache.was_fetched_in_this_crawl(queued.url):
            return VisitResult(queued.address, queued.url, unchanged=True)

        def url_of(address: str) -> str:
            return queued.url if address == queued.address else self.scope.public_url(address) or address

        response = self.fetcher.get(
            queued.address, lambda address: cache.conditional_headers(url_of(address))
        )
        if response.not_modified and _ROBOTS_TAG in response.headers:
            # Pages with this header are cached without validators, so the header is new.
            response = self.fetcher.get(queued.address)
        url = url_of(response.address)
        if response.not_modified:
            return VisitResult(response.address, url, unchanged=True)
        headers, digest = response.headers, _hash_response(response)
        now = time.time()
        cacheable = CachedResponse(*_validators(headers), digest, now, now, response.address)
        if cache.has_same_body(url, digest):
            return VisitResult(response.address, url, response=cacheable, unchanged=True)
        page = parse_page(
            response.body,
            headers,
            response.address,
            with_links=self.with_links,
            accepts_link=self.scope.serves,
        )
        return VisitResult(response.address, url, page, serialize_page(page), cacheable)


def _hash_response(response: Response) -> bytes:
    """Hash all of a response that the parsed page depends on."""
    headers = "\n".join(response.headers.get(name, "") for name in _PARSED_HEADERS)
    return blake2b(headers.encode() + b"\n\n" + response.body, digest_size=16).digest()


def _validators(headers: Mapping[str, str]) -> tuple[str, str]:
    """The ETag and Last-Modified of a page.

    A page with an X-Robots-Tag has none: "not modified" would not say that the header is gone.
    """
    if _ROBOTS_TAG in headers:
        return "", ""
    return headers.get("etag", ""), headers.get("last-modified", "")
