"""Versions and translations: which pages are another edition of pages that the site has anyway.

Versions are told by addresses first: `/docs/next/intro` is another edition where `/docs/intro` is
there too, and half of what lies below `/docs/next` has such a twin. Where no page goes without a
version (`/stable/intro`, `/1.0/intro`), the one that readers land on is chosen by its name.
Translations are those that a sitemap names as such. A page's own words tell the rest: Docusaurus's
version, and the language of its HTML where a step of its address says the same.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from .limits import ALL, Choice

Kind = Literal["version", "locale"]
Path = tuple[str, ...]

SHARED = 3
"""How many pages two versions side by side must share, where links tell of them one by one."""
DEEPEST = 4
"""How many steps below the start a version or a language may stand."""

_NAMED = (
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
_NUMBERED = re.compile(r"v?\d+(\.(\d+|x))*([-.]?(alpha|beta|rc|pre|dev|next)[-.\d]*)?", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"\d+")
_LOCALE = re.compile(r"[a-z]{2}([-_]([a-z]{2}|[a-z]{4}|\d{3}))?", re.IGNORECASE)


class Edition(NamedTuple):
    """Pages below one prefix that are other editions of pages elsewhere, and of which kind."""

    kind: Kind
    name: str


class Variants:
    """Which addresses lead to another edition than the one that readers land on."""

    def __init__(self, scope: str, choice: Choice) -> None:
        self._scope = _steps(scope)
        self._wanted: Mapping[Kind, frozenset[str]] = {
            "version": frozenset(map(str.lower, choice.versions)),
            "locale": frozenset(map(str.lower, choice.locales)),
        }
        self._editions: dict[Path, Edition] = {}
        self._known: set[Path] = set()
        self._rivals: dict[Path, dict[str, set[Path]]] = defaultdict(lambda: defaultdict(set))
        """What lies below steps that look like versions, by what stands before them."""
        self._languages: dict[str, str] = {}
        self._met: set[tuple[Kind, str]] = set()
        self.language = ""
        """The language of the page that readers land on first, where it is known."""

    def survey(self, urls: Iterable[str], alternates: Mapping[str, Mapping[str, str]]) -> None:
        """Learn from all pages that a sitemap lists; `alternates` are each page's urls by language."""
        self._known = {self._below(url) for url in urls}
        self._editions |= _versions(self._known)
        for url, others in alternates.items():
            default = others.get("x-default")
            if default and default != url and self._below(default) in self._known:
                own = next((name for name, other in others.items() if other == url), "")
                self._languages[url] = own or "x"

    def rank(self, url: str) -> int:
        """Where a page stands in line: what may be a translation comes after all else, English first."""
        steps = [step for step in self._below(url)[:DEEPEST] if _LOCALE.fullmatch(step)]
        if not steps:
            return 0
        return 1 if _primary(steps[0]) == "en" else 2

    def meet(self, url: str) -> None:
        """Learn from one more page that a link leads to."""
        path = self._below(url)
        self._known.add(path)
        for place, step in enumerate(path[:DEEPEST]):
            prefix, below = path[: place + 1], path[place + 1 :]
            if not below or not _looks_like_version(step):
                continue
            sure = step.lower() == "next" or bool(re.search(r"\d", step))
            if sure and path[:place] + below in self._known:
                self._editions[prefix] = Edition("version", step)
            elif not _PLAIN_NUMBER.fullmatch(step):
                self._compare(path[:place], step, below)

    def _compare(self, parent: Path, step: str, below: Path) -> None:
        """Learn from pages that versions side by side have in common."""
        rivals = self._rivals[parent]
        rivals[step].add(below)
        alike = {name: rests for name, rests in rivals.items() if below in rests}
        first = min(alike, key=_rank)
        for name, rests in alike.items():
            if name != first and len(rests & alike[first]) >= SHARED:
                self._editions[(*parent, name)] = Edition("version", name)

    def edition(self, url: str) -> Path | None:
        """The path below which a page is of another version, whether that was asked for or not."""
        return next(self._editions_above(url), None)

    def _editions_above(self, url: str) -> Iterator[Path]:
        path = self._below(url)
        for end in range(1, min(len(path), DEEPEST) + 1):
            if path[:end] in self._editions:
                yield path[:end]

    def unwanted(self, url: str) -> bool:
        """Whether the page at this url is another edition that nobody asked for."""
        if self._editions and not all(
            self._asked_for(self._editions[path]) for path in self._editions_above(url)
        ):
            return True
        language = self._languages.get(url)
        return language is not None and not self._asked_for(Edition("locale", language))

    def told(self, url: str, *, language: str, version: str) -> bool:
        """Whether a page turns out, by its own words, to be another edition that nobody asked for."""
        path = self._below(url)
        for place, step in enumerate(path[:DEEPEST]):
            edition = self._edition(step, language, version)
            twin = path[:place] + path[place + 1 :]
            if edition and (edition.kind == "locale" or twin in self._known):
                self._editions.setdefault(path[: place + 1], edition)
        return self.unwanted(url)

    def _edition(self, step: str, language: str, version: str) -> Edition | None:
        if version and step == ("next" if version == "current" else version):
            return Edition("version", step)
        tongue, ours = _primary(language), _primary(self.language)
        if tongue and ours and tongue != ours and _LOCALE.fullmatch(step) and _primary(step) == tongue:
            return Edition("locale", step)
        return None

    def _asked_for(self, edition: Edition) -> bool:
        wanted = self._wanted[edition.kind]
        self._met.add((edition.kind, edition.name.lower()))
        return ALL in wanted or edition.name.lower() in wanted

    def never_met(self) -> list[tuple[Kind, str]]:
        """What was asked for that no page is of: a slip of the pen, maybe."""
        asked = {(kind, name) for kind, names in self._wanted.items() for name in names - {ALL}}
        return sorted(asked - self._met)

    def _below(self, url: str) -> Path:
        return _steps_of(url)[len(self._scope) :]


@lru_cache(maxsize=2**16)
def _steps_of(url: str) -> Path:
    """The steps of a url's path; each page of a crawl is looked at several times."""
    return _steps(urlsplit(url).path)


def _steps(path: str) -> Path:
    return tuple(path.strip("/").split("/")) if path.strip("/") else ()


def _primary(language: str) -> str:
    return re.split(r"[-_]", language.lower())[0]


def _looks_like_version(step: str) -> bool:
    return step.lower() in _NAMED or bool(_NUMBERED.fullmatch(step))


def _versions(paths: Collection[Path]) -> dict[Path, Edition]:
    """The prefixes below which half of the pages, or more, stand elsewhere too."""
    below: dict[Path, dict[str, set[Path]]] = defaultdict(lambda: defaultdict(set))
    for path in paths:
        for place, step in enumerate(path[: min(DEEPEST, len(path) - 1)]):
            if _looks_like_version(step):
                below[path[:place]][step].add(path[place + 1 :])
    found = []
    for parent, steps in below.items():
        rivals = {}
        for step, rests in steps.items():
            if 2 * sum(parent + rest in paths for rest in rests) >= len(rests):
                found.append((*parent, step))
            elif not _PLAIN_NUMBER.fullmatch(step):
                rivals[step] = rests
        found += [(*parent, step) for step in _others(rivals)]
    return {path: Edition("version", path[-1]) for path in found}


def _others(rivals: Mapping[str, set[Path]]) -> list[str]:
    """Of versions with much the same below them, all but the one that readers land on."""
    ordered = sorted(rivals, key=_rank)
    first = rivals[ordered[0]] if ordered else set()
    return [
        step for step in ordered[1:] if 2 * len(rivals[step] & first) >= min(len(rivals[step]), len(first))
    ]


def _rank(step: str) -> tuple[int, list[int]]:
    """`stable`, `latest`, then numbers from the highest, then what is under work."""
    name, numbered = step.lower(), _NAMED.index("main")
    if name in _NAMED:
        place = _NAMED.index(name)
        return (place if place < numbered else place + 1, [])
    return (numbered, [-int(number) for number in re.findall(r"\d+", name)])
