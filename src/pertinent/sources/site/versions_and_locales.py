"""Versions and translations of the same pages, of which only one is indexed unless others are wanted.

Versions are recognised by addresses: `/docs/next/intro` is another version where `/docs/intro` exists
too, and half of the pages below `/docs/next` have such a twin. Where all pages have a version in their
path (`/stable/intro`, `/1.0/intro`), the one that readers see first is chosen by its name. Where links are
followed, only pages that answered count, and the last decision falls at the end of the crawl.
Translations are those that a sitemap names. Pages themselves tell more: the version that Docusaurus
writes, where the twin declares another one, and the language of the HTML where a step of the path has the
same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from .page_filter import ALL, PageFilter, primary_language

Kind = Literal["version", "locale"]
UrlPath = tuple[str, ...]
"""The steps of a path."""

MIN_SHARED_PAGES = 3
"""How many pages two versions must share for a decision, before all pages that links lead to are known."""
_SEARCH_GROWTH = 0.1
"""The share by which the number of linked pages must grow before versions are searched again."""
MAX_DEPTH = 4
"""How many steps below the start a version or a language may be."""

_VERSION_NAMES = (
    "stable",
    "latest",
    "current",
    "main",
    "master",
    "trunk",
    "develop",
    "dev",
    "next",
    "canary",
    "nightly",
)
"""In order of preference; numbers come before `main`."""
_VERSION_NUMBER = re.compile(r"v?\d+(\.(\d+|x))*([-.]?(alpha|beta|rc|pre|dev|next)[-.\d]*)?", re.IGNORECASE)
_INTEGER = re.compile(r"\d+")
_LOCALE = re.compile(r"[a-z]{2}([-_]([a-z]{2}|[a-z]{4}|\d{3}))?", re.IGNORECASE)


class Translation(NamedTuple):
    """What a sitemap says about a page that is a translation of another."""

    language: str
    original_url: str
    """The page that readers of all other languages see."""


class Edition(NamedTuple):
    """A version or a translation: the pages below one prefix."""

    kind: Kind
    name: str


class Editions:
    """Knows which addresses are of another version or language than the one that readers see first.

    `scope_path` is the path that all pages of the crawl are below.
    """

    def __init__(self, scope_path: str, page_filter: PageFilter) -> None:
        self._scope = _split_path(scope_path)
        self._requested: Mapping[Kind, frozenset[str]] = {
            "version": frozenset(map(str.lower, page_filter.versions)),
            "locale": frozenset(map(str.lower, page_filter.locales)),
        }
        self._editions: dict[UrlPath, Edition] = {}
        self._listed: set[UrlPath] = set()
        """The pages that a sitemap lists."""
        self._linked: set[UrlPath] = set()
        """The pages that were linked and answered."""
        self._next_search = 0
        """How many linked pages must be known before versions are searched again."""
        self._declared: dict[UrlPath, str] = {}
        """The version that each page declares."""
        self._prefixes_awaiting_twin: dict[UrlPath, set[UrlPath]] = defaultdict(set)
        """Version prefixes that are decided when the twin, whose path is the key, declares its version."""
        self._languages: dict[str, str] = {}
        self._existing: set[tuple[Kind, str]] = set()
        self.language = ""
        """The language of the first page of the crawl, once it is known."""

    def learn_from_sitemap(self, urls: Iterable[str], translations: Mapping[str, Translation]) -> None:
        """Learn from all pages that a sitemap lists, and which of them are translations."""
        self._listed = {self._path_in_scope(url) for url in urls}
        self._editions |= _find_versions(self._listed)
        for url, (language, original_url) in translations.items():
            if self._path_in_scope(original_url) in self._listed:
                self._languages[url] = language

    def learn_from_answer(self, url: str) -> None:
        """Learn from a linked page that answered."""
        self._linked.add(self._path_in_scope(url))
        if len(self._linked) > self._next_search:
            self._next_search = int(len(self._linked) * (1 + _SEARCH_GROWTH))
            editions = _find_versions(self._linked, MIN_SHARED_PAGES, min_twins=MIN_SHARED_PAGES)
            for prefix, edition in editions.items():
                # A chapter has a plain number, too, and its further pages may have no twin.
                if not _INTEGER.fullmatch(edition.name):
                    self._editions.setdefault(prefix, edition)

    def may_be_version(self, url: str, version: str) -> bool:
        """Whether a page may turn out to be of another version, once all pages are known.

        `version` is the one that Docusaurus writes into the page.
        """
        steps = self._path_in_scope(url)[:MAX_DEPTH]
        return version in steps or any(map(_looks_like_version, steps))

    def decide_versions(self) -> None:
        """Find the versions among all pages that links lead to."""
        self._editions |= _find_versions(self._linked, MIN_SHARED_PAGES)

    def learn_from_page(self, url: str, *, language: str, version: str) -> None:
        """Learn from the language of a page's HTML and from its Docusaurus version.

        A page at the twin's address is no proof: it may be a client-side redirect or a soft 404.
        """
        path = self._path_in_scope(url)
        version_name = "next" if version == "current" else version
        for depth, step in enumerate(path[:MAX_DEPTH]):
            prefix, twin = path[: depth + 1], path[:depth] + path[depth + 1 :]
            if step and step == version_name:
                if twin in self._listed or self._declared.get(twin, version_name) != version_name:
                    self._editions.setdefault(prefix, Edition("version", step))
                else:
                    self._prefixes_awaiting_twin[twin].add(prefix)
            elif self._is_translation(step, language):
                self._editions.setdefault(prefix, Edition("locale", step))
        if version_name:
            self._declared[path] = version_name
            for prefix in self._prefixes_awaiting_twin.pop(path, ()):
                if prefix[-1] != version_name:
                    self._editions.setdefault(prefix, Edition("version", prefix[-1]))

    def _is_translation(self, step: str, language: str) -> bool:
        """Whether a step of the path of a page names its language, and the site has another one."""
        page_language, site_language = primary_language(language), primary_language(self.language)
        is_other = bool(page_language and site_language) and page_language != site_language
        return is_other and bool(_LOCALE.fullmatch(step)) and primary_language(step) == page_language

    def sort_rank(self, url: str) -> int:
        """Orders the pages of a sitemap: those that may be translations last, English first of those."""
        steps = [step for step in self._path_in_scope(url)[:MAX_DEPTH] if _LOCALE.fullmatch(step)]
        if not steps:
            return 0
        return 1 if primary_language(steps[0]) == "en" else 2

    def edition_prefix(self, url: str) -> UrlPath | None:
        """The path below which a page is of another edition, wanted or not."""
        return next(self._edition_prefixes(url), None)

    def is_unwanted(self, url: str) -> bool:
        """Whether a page is of another edition that was not requested."""
        if self._editions and not all(
            self._is_requested(self._editions[prefix]) for prefix in self._edition_prefixes(url)
        ):
            return True
        language = self._languages.get(url)
        return language is not None and not self._is_requested(Edition("locale", language))

    def missing_requests(self) -> list[tuple[Kind, str]]:
        """The requested versions and languages that no page is of: maybe a typing error."""
        requested = {(kind, name) for kind, names in self._requested.items() for name in names - {ALL}}
        return sorted(requested - self._existing)

    def _edition_prefixes(self, url: str) -> Iterator[UrlPath]:
        path = self._path_in_scope(url)
        for end in range(1, min(len(path), MAX_DEPTH) + 1):
            if path[:end] in self._editions:
                yield path[:end]

    def _is_requested(self, edition: Edition) -> bool:
        names = self._requested[edition.kind]
        self._existing.add((edition.kind, edition.name.lower()))
        return ALL in names or edition.name.lower() in names

    def _path_in_scope(self, url: str) -> UrlPath:
        return _split_url_path(url)[len(self._scope) :]


@lru_cache(maxsize=2**16)
def _split_url_path(url: str) -> UrlPath:
    """The steps of a url's path; cached, since a crawl looks at each page several times."""
    return _split_path(urlsplit(url).path)


def _split_path(path: str) -> UrlPath:
    return tuple(path.strip("/").split("/")) if path.strip("/") else ()


def _looks_like_version(step: str) -> bool:
    return step.lower() in _VERSION_NAMES or bool(_VERSION_NUMBER.fullmatch(step))


def _find_versions(
    paths: Collection[UrlPath], min_shared: int = 1, *, min_twins: int = 1
) -> dict[UrlPath, Edition]:
    """The prefixes of versions: those below which half of the pages, or more, have a twin elsewhere.

    There must be `min_twins` twins or more, and versions side by side must share `min_shared` pages or more.
    """
    candidates: dict[UrlPath, dict[str, set[UrlPath]]] = defaultdict(lambda: defaultdict(set))
    for path in paths:
        for depth, step in enumerate(path[: min(MAX_DEPTH, len(path) - 1)]):
            if _looks_like_version(step):
                candidates[path[:depth]][step].add(path[depth + 1 :])
    prefixes = []
    for parent, steps in candidates.items():
        siblings = {}
        for step, pages in steps.items():
            twins = sum(parent + page in paths for page in pages)
            if twins >= min_twins and 2 * twins >= len(pages):
                prefixes.append((*parent, step))
            elif not _INTEGER.fullmatch(step):
                siblings[step] = pages
        prefixes += [(*parent, step) for step in _less_preferred(siblings, min_shared)]
    return {prefix: Edition("version", prefix[-1]) for prefix in prefixes}


def _less_preferred(siblings: Mapping[str, set[UrlPath]], min_shared: int) -> list[str]:
    """Return all versions of nearly the same pages except the preferred one."""
    ordered = sorted(siblings, key=_preference)
    preferred = siblings[ordered[0]] if ordered else set()
    return [
        step
        for step in ordered[1:]
        if (shared := len(siblings[step] & preferred)) >= min_shared
        and 2 * shared >= min(len(siblings[step]), len(preferred))
    ]


def _preference(step: str) -> tuple[int, list[int]]:
    """Sorts `stable`, `latest` and `current` first, then numbers from the highest, then development."""
    name, number_rank = step.lower(), _VERSION_NAMES.index("main")
    if name in _VERSION_NAMES:
        rank = _VERSION_NAMES.index(name)
        return (rank if rank < number_rank else rank + 1, [])
    return (number_rank, [-int(number) for number in re.findall(r"\d+", name)])
