"""Which pages of a site to index: patterns of paths, versions and languages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ...errors import InvalidInput

ALL = "all"
"""Stands for every version, or every language."""


@dataclass(frozen=True, slots=True)
class PageFilter:
    """Which pages of a site to index.

    `include` and `exclude` are patterns for the whole path of a url: `*` matches anything, slashes too,
    and a pattern without a `*` also matches all paths below it. `versions` and `locales` are indexed in
    addition to the pages that readers see first; `all` stands for every one.

    >>> PageFilter(exclude=("/blog",)).matches_path("/blog/2024/news")
    False
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    locales: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("include", "exclude", "versions", "locales"):
            if not all(value.strip() for value in getattr(self, field)):
                raise InvalidInput(field, "must not be empty")

    def matches_path(self, path: str) -> bool:
        """Whether the patterns let a page with this path in."""
        included = not self.include or _matches_any(path, self.include)
        return included and not _matches_any(path, self.exclude)

    def may_request_locale(self, locale: str) -> bool:
        """Whether pages of this language may be requested; `pt` and `pt-BR` may name the same pages."""
        requested = {primary_language(name) for name in self.locales}
        return ALL in requested or primary_language(locale) in requested


def primary_language(locale: str) -> str:
    """`pt` of `pt-BR`."""
    return re.split(r"[-_]", locale.lower())[0]


def _matches_any(path: str, patterns: Iterable[str]) -> bool:
    return any(_matches(path, pattern) for pattern in patterns)


def _matches(path: str, pattern: str) -> bool:
    if not pattern.startswith(("/", "*")):
        pattern = f"/{pattern}"
    if "*" not in pattern:
        folder = pattern.rstrip("/")
        return path == folder or path.startswith(f"{folder}/")
    return fnmatchcase(path, pattern) or fnmatchcase(f"{path}/", pattern)
