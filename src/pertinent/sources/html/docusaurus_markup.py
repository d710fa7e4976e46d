"""Pages built by Docusaurus, versions 2 and 3: where the article is, and what its elements mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .code_blocks import docusaurus_code
from .markup import Attributes, Markup, Meaning
from .text import one_line

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# Names of style sheets end in a hash of their own in every build: `admonitionHeading_Gvgb`.
_MEANINGS = {
    "theme-code-block": Meaning.CODE,
    "theme-tabs-container": Meaning.TABS,
    "tabs-container": Meaning.TABS,
    "katex": Meaning.MATH,
    "katex-display": Meaning.MATH,
    "admonitionHeading": Meaning.LABEL,
    "admonition-heading": Meaning.LABEL,
    "admonitionIcon": Meaning.OUT,
    "admonition-icon": Meaning.OUT,
    "hash-link": Meaning.OUT,
    "theme-doc-card-container": Meaning.OUT,
    "cardContainer": Meaning.OUT,
    "tableOfContentsInline": Meaning.OUT,
    "themedComponent--dark": Meaning.OUT,
    "themedImage--dark": Meaning.OUT,
    "footnote-backref": Meaning.OUT,
    "data-footnote-backref": Meaning.OUT,
    "footnote-ref": Meaning.OUT,
    "playgroundHeader": Meaning.OUT,
    "playgroundPreview": Meaning.OUT,
}
_HASH = re.compile(r"_[\w-]+$")
_LISTING = re.compile(
    r"\b(?:[\w-]+-list-page|blog-authors-posts-page|blog-archive-page|search-page-wrapper)\b"
)


def is_docusaurus(page: LexborHTMLParser, generator: str | None) -> bool:
    """Whether Docusaurus built it: it says so, unless a site has hidden that."""
    return (generator or "").startswith("Docusaurus") or page.css_first("#__docusaurus") is not None


def is_restyled(page: LexborHTMLParser) -> bool:
    """Whether it is a page of the docs in a theme of the site's own, with none of the elements known here."""
    return "docs-doc-page" in _classes(page) and page.css_first(".theme-doc-markdown, article") is None


def find(page: LexborHTMLParser) -> LexborNode | None:
    """The article as its author wrote it; None for a page that only leads to others."""
    article = page.css_first(".theme-doc-markdown")
    if article is not None:
        return article
    if _is_listing(page):
        return None
    written = page.css("article .markdown") or page.css("main article")
    return written[0] if len(written) == 1 else None


def _is_listing(page: LexborHTMLParser) -> bool:
    """Tags, archives, and the index that is made for a category of the sidebar."""
    return bool(_LISTING.search(_classes(page))) or page.css_first("[class*=generatedIndexPage]") is not None


def _classes(page: LexborHTMLParser) -> str:
    """What the page is, in the class of its root."""
    return (page.root.attributes.get("class") if page.root is not None else "") or ""


def _meaning(_: str, attributes: Attributes) -> Meaning:
    if "data-footnote-ref" in attributes or "data-footnote-backref" in attributes:
        return Meaning.OUT
    role = attributes.get("role")
    if role == "tablist":
        return Meaning.OUT
    if role == "tabpanel":
        return Meaning.PANEL
    names = attributes.get("class")
    if not names:
        return Meaning.PLAIN
    for name in names.split():
        found = _MEANINGS.get(name) or _MEANINGS.get(_HASH.sub("", name))
        if found:
            return found
    return Meaning.PLAIN


def _labels(tabs: LexborNode) -> list[str]:
    """What the tabs say; of lazy ones, which are built with a single panel, what that one's tab says."""
    listed = tabs.css_first("[role=tablist]")
    if listed is None:
        return []
    tab_of = {tab.attributes.get("aria-selected"): tab for tab in listed.iter()}
    panels = listed.next
    only = panels is not None and len(list(panels.iter())) == 1
    shown = [tab_of["true"]] if only and "true" in tab_of else list(listed.iter())
    return [one_line(tab.text()) for tab in shown]


def _anchor(heading: LexborNode) -> str:
    return one_line(heading.id or "")


MARKUP = Markup(frozenset(("a", "div", "img", "span", "ul")), _meaning, _labels, _anchor, docusaurus_code)
