"""Where a Docusaurus page stands below its docs, so that its slug and id are those of its source.

Every page says its doc's id (`ros2/nodes`) in the class of its HTML. Where the address ends in the
id, what stands before it is the address of the docs. A page with a slug of its own learns it from
the others of its docs.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import NamedTuple

from ...identity import ascii_slug, digest

_HTML = re.compile(rb"<html\b[^>]*?\bclass=[\"']?([^\"'>]*)", re.IGNORECASE)
_HEAD = 4096
_INDEXES = ("index", "readme")


class Doc(NamedTuple):
    """Which page of which docs, as Docusaurus calls them."""

    instance: str
    version: str
    name: str


def doc_of(html: bytes) -> Doc | None:
    """What the page says of itself, where it is a page of Docusaurus's docs."""
    classes = _HTML.search(html, 0, _HEAD)
    words = classes[1].decode("utf-8", "replace").split() if classes else []

    def said(prefix: str) -> str:
        return next((word.removeprefix(prefix) for word in words if word.startswith(prefix)), "")

    name = said("docs-doc-id-")
    return Doc(said("plugin-id-"), said("docs-version-"), name) if name else None


class Routes:
    """The paths below which docs stand, as their pages tell."""

    def __init__(self, scope: str) -> None:
        self._scope = scope
        self._heads: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)

    def slug(self, path: str, doc: Doc | None) -> str | None:
        """The slug of the page at a path; None where it must wait for others of its docs."""
        if doc is None:
            return _slug(path.removeprefix(self._scope), path)
        head = _head(path, doc.name)
        if head is None:
            return None
        self._heads[doc.instance, doc.version][head] += 1
        return _slug(path.removeprefix(head), doc.name)

    def late_slug(self, path: str, doc: Doc) -> str:
        """The slug of a page that has waited for all others."""
        for head, _ in self._heads[doc.instance, doc.version].most_common():
            if path == head or path.startswith(f"{head}/"):
                return _slug(path.removeprefix(head), doc.name)
        return _slug(path.removeprefix(self._scope), doc.name)


def _head(path: str, name: str) -> str | None:
    """What stands before a doc's id in its path; an index stands for its folder."""
    steps = name.split("/")
    ends = [name]
    if len(steps) > 1 and steps[-1].lower() in (*_INDEXES, steps[-2].lower()):
        ends.append("/".join(steps[:-1]))
    for end in ends:
        if path.endswith(f"/{end}"):
            return path.removesuffix(f"/{end}")
    return None


def _slug(route: str, name: str) -> str:
    """As the Markdown source makes it: from the route, else from the page's own name."""
    own = name.rstrip("/").rpartition("/")[2]
    return ascii_slug(route) or ascii_slug(own) or f"page-{digest(route)}"
