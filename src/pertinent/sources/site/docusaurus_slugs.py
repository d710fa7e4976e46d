"""Slugs of Docusaurus pages, so that a built page has the same slug and id as its Markdown source.

Docusaurus writes the id of a doc (`ros2/nodes`) into the class of a page's `<html>`. Where the path of
the page ends in that id, what stands before it is the base path of the docs, if other pages of the same
docs agree. A page with a slug of its own takes the base path from other pages.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

from ...identity import ascii_slug, digest

_HTML_CLASS = re.compile(rb"<html\b[^>]*?\bclass=[\"']?([^\"'>]*)", re.IGNORECASE)
_HTML_CLASS_BYTES = 4096
_INDEX_NAMES = ("index", "readme")


class DocusaurusId(NamedTuple):
    """What identifies a doc in Docusaurus."""

    instance: str
    """The id of the docs plugin, such as `default`."""
    version: str
    name: str
    """The path of the source file below its docs, without numbers and extension."""


def parse_docusaurus_id(html: bytes) -> DocusaurusId | None:
    """Read the doc id from the class of `<html>`; None for a page that is not a Docusaurus doc."""
    match = _HTML_CLASS.search(html, 0, _HTML_CLASS_BYTES)
    classes = match[1].decode("utf-8", "replace").split() if match else []

    def value_of(prefix: str) -> str:
        return next((name.removeprefix(prefix) for name in classes if name.startswith(prefix)), "")

    name = value_of("docs-doc-id-")
    return DocusaurusId(value_of("plugin-id-"), value_of("docs-version-"), name) if name else None


class DocusaurusSlugs:
    """Gives pages their slugs, and learns the base paths of docs from them.

    `scope` is the path that all pages of the crawl are below.
    """

    def __init__(self, scope: str) -> None:
        self._scope = scope
        self._base_paths: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        """How many pages have each base path, by instance, version and language."""

    def slug(self, path: str, doc: DocusaurusId | None, language: str = "") -> str | None:
        """The slug of the page at a path; None where the base path of its docs must be known first."""
        if doc is None:
            return _make_slug(path.removeprefix(self._scope), path)
        self.learn(path, doc, language)
        base_path = _split_base_path(path, doc.name)
        if base_path is None:
            return None
        # A single page may have a slug that ends in its id by chance.
        is_single = self._base_paths[doc.instance, doc.version, language][base_path] == 1
        if is_single or self._find_base_path(path, doc, language) != base_path:
            return None
        return _make_slug(path.removeprefix(base_path), doc.name)

    def learn(self, path: str, doc: DocusaurusId, language: str = "") -> None:
        """Learn the base path of the docs from one of their pages."""
        base_path = _split_base_path(path, doc.name)
        if base_path is not None:
            self._base_paths[doc.instance, doc.version, language][base_path] += 1

    def deferred_slug(self, path: str, doc: DocusaurusId, language: str = "") -> str:
        """The slug of a page for which `slug` gave None, once all other pages are known."""
        return _make_slug(path.removeprefix(self._find_base_path(path, doc, language)), doc.name)

    def _find_base_path(self, path: str, doc: DocusaurusId, language: str) -> str:
        """The most common base path of a page's docs that the page is below; else the scope."""
        for base_path, _ in self._base_paths[doc.instance, doc.version, language].most_common():
            if path == base_path or path.startswith(f"{base_path}/"):
                return base_path
        return self._scope


def _split_base_path(path: str, name: str) -> str | None:
    """Return the part of a doc's path before its id; the path of an index page is that of its folder."""
    steps = name.split("/")
    endings = [name]
    if len(steps) > 1 and steps[-1].lower() in (*_INDEX_NAMES, steps[-2].lower()):
        endings.append("/".join(steps[:-1]))
    for ending in endings:
        if path.endswith(f"/{ending}"):
            return path.removesuffix(f"/{ending}")
    return None


def _make_slug(route: str, name: str) -> str:
    """Make a slug as for Markdown sources: from the route, else from the page's own name."""
    file_name = name.rstrip("/").rpartition("/")[2]
    return ascii_slug(route) or ascii_slug(file_name) or f"page-{digest(route)}"
