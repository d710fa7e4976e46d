"""Versions and translations of the same pages, of which only one is indexed unless others are wanted.

Versions are recognised by addresses: `/docs/next/intro` is another version where `/docs/intro` exists
too, and half of the pages below `/docs/next` have such a twin. Where all pages have a version in their
path (`/stable/intro`, `/1.0/intro`), the one that readers see first is chosen by its name. Where links are
followed, only pages that answered count, and the last decision falls at the end of the crawl.
Translations are those that a sitemap names. Pages themselves tell more: the version that Docusaurus
writes, and the language of the HTML where a step of the path has the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
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


class _SharedPage(NamedTuple):
    """A page that several versions may have: the path above the version, and the path below it."""

    parent: UrlPath
    below: UrlPath


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
        self._paths: set[UrlPath] = set()
        """The pages that a sitemap lists, or that were linked and answered."""
        self._declared: dict[UrlPath, set[UrlPath]] = defaultdict(set)
        """The prefixes of versions that pages declare, by the path of a twin that has not answered yet."""
        self._linked_versions = _LinkedVersions()
        self._languages: dict[str, str] = {}
        self._existing: set[tuple[Kind, str]] = set()
        self.language = ""
        """The language of the first page of the crawl, once it is known."""

    def learn_from_sitemap(self, urls: Iterable[str], translations: Mapping[str, Translation]) -> None:
        """Learn from all pages that a sitemap lists, and which of them are translations."""
        self._paths = {self._path_in_scope(url) for url in urls}
        self._editions |= _find_versions(self._paths)
        for url, (language, original_url) in translations.items():
            if self._path_in_scope(original_url) in self._paths:
                self._languages[url] = language

    def learn_from_answer(self, url: str) -> None:
        """Learn from a linked page that answered."""
        path = self._path_in_scope(url)
        self._paths.add(path)
        for prefix in (*self._declared.pop(path, ()), *self._linked_versions.add(path)):
            self._editions.setdefault(prefix, Edition("version", prefix[-1]))

    def may_be_version(self, url: str, version: str) -> bool:
        """Whether a page may turn out to be of another version, once all pages are known.

        `version` is the one that Docusaurus writes into the page.
        """
        steps = self._path_in_scope(url)[:MAX_DEPTH]
        return version in steps or any(map(_looks_like_version, steps))

    def decide_versions(self) -> None:
        """Find the versions among all pages that links lead to."""
        self._editions |= _find_versions(self._linked_versions.paths, MIN_SHARED_PAGES)

    def learn_from_page(self, url: str, *, language: str, version: str) -> None:
        """Learn from the language of a page's HTML and from its Docusaurus version."""
        path = self._path_in_scope(url)
        for depth, step in enumerate(path[:MAX_DEPTH]):
            edition = self._match_step(step, language, version)
            twin = path[:depth] + path[depth + 1 :]
            if edition and (edition.kind == "locale" or twin in self._paths):
                self._editions.setdefault(path[: depth + 1], edition)
            elif edition:
                self._declared[twin].add(path[: depth + 1])

    def _match_step(self, step: str, language: str, version: str) -> Edition | None:
        """Return the edition that a step of the path names, according to the page itself."""
        if version and step == ("next" if version == "current" else version):
            return Edition("version", step)
        page_language, site_language = primary_language(language), primary_language(self.language)
        is_translation = page_language and site_language and page_language != site_language
        if is_translation and _LOCALE.fullmatch(step) and primary_language(step) == page_language:
            return Edition("locale", step)
        return None

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


class _LinkedVersions:
    """Finds versions page by page, where links are followed; its time is linear in their number."""

    def __init__(self) -> None:
        self.paths: set[UrlPath] = set()
        self._page_counts: Counter[UrlPath] = Counter()
        """How many pages are below each prefix that looks like a version."""
        self._twin_counts: Counter[UrlPath] = Counter()
        """How many of them exist without the version, too."""
        self._shared_counts: Counter[tuple[UrlPath, UrlPath]] = Counter()
        """How many pages a version has in common with a preferred one beside it, by both prefixes."""
        self._prefixes: dict[_SharedPage, list[UrlPath]] = defaultdict(list)
        """The prefixes of the versions that have a page."""
        self._preferred: dict[_SharedPage, UrlPath] = {}
        """The preferred one of them, without plain numbers."""

    def add(self, path: UrlPath) -> list[UrlPath]:
        """Add a page; return the prefixes that it shows to be of another version."""
        if path in self.paths:
            return []
        self.paths.add(path)
        versions = []
        for depth in range(min(MAX_DEPTH, len(path))):
            parent, prefix, below = path[:depth], path[: depth + 1], path[depth + 1 :]
            for version in self._prefixes.get(_SharedPage(parent, path[depth:]), ()):
                self._twin_counts[version] += 1
                versions += [version] if self._has_twins(version) else []
            if below and _looks_like_version(path[depth]):
                self._page_counts[prefix] += 1
                self._twin_counts[prefix] += parent + below in self.paths
                self._prefixes[_SharedPage(parent, below)].append(prefix)
                versions += self._compare(prefix, _SharedPage(parent, below))
        # A chapter has a plain number, too, and its further pages may have no twin.
        return [version for version in versions if not _INTEGER.fullmatch(version[-1])]

    def _compare(self, prefix: UrlPath, page: _SharedPage) -> list[UrlPath]:
        """Compare a version with no version, and with the preferred one of those that have the page."""
        versions = [prefix] if self._has_twins(prefix) else []
        if _INTEGER.fullmatch(prefix[-1]):
            return versions
        rival = self._preferred.setdefault(page, prefix)
        if rival == prefix:
            return versions
        better, worse = sorted((rival, prefix), key=lambda version: _preference(version[-1]))
        self._preferred[page] = better
        self._shared_counts[worse, better] += 1
        return [*versions, worse] if self._are_alike((worse, better)) else versions

    def _has_twins(self, prefix: UrlPath) -> bool:
        twins = self._twin_counts[prefix]
        return twins >= MIN_SHARED_PAGES and 2 * twins >= self._page_counts[prefix]

    def _are_alike(self, pair: tuple[UrlPath, UrlPath]) -> bool:
        shared = self._shared_counts[pair]
        return shared >= MIN_SHARED_PAGES and 2 * shared >= min(self._page_counts[prefix] for prefix in pair)


@lru_cache(maxsize=2**16)
def _split_url_path(url: str) -> UrlPath:
    """The steps of a url's path; cached, since a crawl looks at each page several times."""
    return _split_path(urlsplit(url).path)


def _split_path(path: str) -> UrlPath:
    return tuple(path.strip("/").split("/")) if path.strip("/") else ()


def _looks_like_version(step: str) -> bool:
    return step.lower() in _VERSION_NAMES or bool(_VERSION_NUMBER.fullmatch(step))


def _find_versions(paths: Collection[UrlPath], min_shared: int = 1) -> dict[UrlPath, Edition]:
    """The prefixes of versions: those below which half of the pages, or more, have a twin elsewhere.

    Versions side by side must share at least `min_shared` pages.
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
            if 2 * sum(parent + page in paths for page in pages) >= len(pages):
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
