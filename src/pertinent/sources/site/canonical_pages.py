"""The pages that a crawl gives: each once, under its canonical url, with its slug and id."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import astuple, replace
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from ... import identity
from ...types import FrontMatter, LazyPage, Page
from .addresses import page_path
from .crawl_spool import CrawlSpool, SpooledPage
from .docusaurus_slugs import DocusaurusSlugs
from .parsing import ParsedPage

MAX_ALIASES = 50
"""How many pages may name the same canonical page.

If there are more, or if their titles differ, a wrong template is to blame, and they are all indexed.
"""
MAX_IDENTICAL = 5
"""How many pages may have the same text; if there are more, they must not be most of all pages."""


class _WaitingPage(NamedTuple):
    url: str
    title: str
    spooled: SpooledPage


class CanonicalPages:
    """Turns parsed pages into pages of the source, and leaves out those that name another as canonical.

    `scope_path` is the path that all pages of the crawl are below. Pages that wait are in the `spool`.
    """

    def __init__(self, scope_path: str, spool: CrawlSpool) -> None:
        self._spool = spool
        self._slugs = DocusaurusSlugs(unquote(scope_path))
        self._titles: dict[str, str] = {}
        self._texts: Counter[int] = Counter()
        self._seen_front_matter: set[Hashable] = set()
        self._failed_titles: dict[str, str] = {}
        self._without_slug: dict[str, _WaitingPage] = {}
        self._aliases: dict[str, list[_WaitingPage]] = defaultdict(list)
        self._alias_titles: dict[str, list[str]] = defaultdict(list)
        """The titles of the pages that name each canonical page, with those of pages that failed."""

    def __len__(self) -> int:
        """How many pages were given so far."""
        return len(self._titles)

    def __contains__(self, url: str) -> bool:
        return url in self._titles

    @property
    def identical(self) -> int:
        """How many pages have the same text, where these are most of all pages; else 0."""
        count = max(self._texts.values(), default=0)
        return count if count > MAX_IDENTICAL and 2 * count > len(self._titles) else 0

    def add(self, url: str, page: ParsedPage) -> Iterator[LazyPage]:
        """Give a page now or, where its slug depends on other pages, in `remaining`."""
        slug = self._slugs.slug(_decoded_path(url), page.docusaurus_id, page.language)
        if slug is None:
            self._without_slug[url] = self._hold_back(url, page)
        else:
            yield self._make_page(url, slug, page)

    def add_alias(self, url: str, page: ParsedPage, canonical: str) -> None:
        """Hold back a page that names another as canonical, until it is known whether that exists."""
        self._aliases[canonical].append(self._hold_back(url, page))
        self._alias_titles[canonical].append(page.title)

    def _hold_back(self, url: str, page: ParsedPage) -> _WaitingPage:
        return _WaitingPage(url, page.title, self._spool.add(page))

    def add_failed(self, url: str, page: ParsedPage, canonical: str | None) -> None:
        """Learn from the cached version of a page that failed and stays indexed.

        Other pages need its base path and its title: for their slugs, and to decide whether they are aliases.
        """
        if page.docusaurus_id:
            self._slugs.learn(_decoded_path(url), page.docusaurus_id, page.language)
        if canonical:
            self._alias_titles[canonical].append(page.title)
        else:
            self._failed_titles[url] = page.title

    def remaining(self) -> Iterator[LazyPage | Sequence[str]]:
        """Yield the pages that had to wait for all others.

        The urls of pages that are left to their canonical page come as a sequence.
        """
        for canonical, aliases in self._aliases.items():
            title = self._title(canonical)
            if title is not None and _are_aliases(self._alias_titles[canonical], title):
                yield [alias.url for alias in aliases]
                continue
            for alias in aliases:
                yield from self.add(alias.url, self._spool.read(alias.spooled))
        for url, waiting in self._without_slug.items():
            page = self._spool.read(waiting.spooled)
            if page.docusaurus_id:
                slug = self._slugs.deferred_slug(_decoded_path(url), page.docusaurus_id, page.language)
                yield self._make_page(url, slug, page)

    def _title(self, url: str) -> str | None:
        """The title of a page; None where there is no such page."""
        if page := self._without_slug.get(url):
            return page.title
        return self._titles.get(url, self._failed_titles.get(url))

    def _make_page(self, url: str, slug: str, page: ParsedPage) -> LazyPage:
        self._titles[url] = page.title
        self._texts[hash(page.content)] += 1
        return _lazy_page(url, slug, replace(page, front_matter=self._drop_shared(page.front_matter)))

    def _drop_shared(self, front_matter: FrontMatter) -> FrontMatter:
        """Drop a description and keywords that an earlier page has too: they describe the site."""
        description, keywords = front_matter.description, front_matter.keywords
        unseen = {description, keywords} - self._seen_front_matter
        self._seen_front_matter |= unseen
        return replace(
            front_matter,
            description=description if description in unseen else "",
            keywords=keywords if keywords in unseen else (),
        )


def _are_aliases(titles: Sequence[str], canonical_title: str) -> bool:
    """Whether pages with these titles may be other addresses of the one that they name as canonical."""
    return len(titles) <= MAX_ALIASES and len({*titles} - {canonical_title}) <= 1


def _decoded_path(url: str) -> str:
    return unquote(urlsplit(url).path)


def _lazy_page(url: str, slug: str, parsed: ParsedPage) -> LazyPage:
    """The page with a hash of all that it is made of; its text is unpacked only when it is needed."""
    kind = "docusaurus-page" if parsed.is_docusaurus else "web-page"
    document_id = identity.document_id(url, slug)
    about = json.dumps(astuple(parsed.front_matter)) if parsed.front_matter != FrontMatter() else ""
    page_hash = sha256("\0".join((url, slug, kind, parsed.title, about)).encode() + parsed.content)

    def build_page() -> Page:
        text, sections = parsed.unpack_content()
        return Page(
            document_id=document_id,
            url=url,
            title=parsed.title,
            source_path=page_path(url),
            slug=slug,
            source_type=kind,
            text=text,
            sections=sections,
            front_matter=parsed.front_matter,
        )

    return LazyPage(document_id, page_hash.hexdigest(), build_page)
