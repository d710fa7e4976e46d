"""The markup of Docusaurus 2 and 3: where the article is, and the roles of its elements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .code_blocks import read_docusaurus_code
from .markup import Attributes, Markup, Role
from .text import collapse_spaces

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# By class name. Those of CSS modules end in a hash that differs in every build: `admonitionHeading_Gvgb`.
_ROLES = {
    "theme-code-block": Role.CODE,
    "theme-tabs-container": Role.TABS,
    "tabs-container": Role.TABS,
    "katex": Role.MATH,
    "katex-display": Role.MATH,
    "theme-admonition": Role.ADMONITION,
    "admonition": Role.ADMONITION,
    "admonitionHeading": Role.LABEL,
    "admonition-heading": Role.LABEL,
    "admonitionIcon": Role.IGNORED,
    "admonition-icon": Role.IGNORED,
    "hash-link": Role.IGNORED,
    "theme-doc-card-container": Role.IGNORED,
    "cardContainer": Role.IGNORED,
    "tableOfContentsInline": Role.IGNORED,
    "themedComponent--dark": Role.IGNORED,
    "themedImage--dark": Role.IGNORED,
    "footnote-backref": Role.IGNORED,
    "data-footnote-backref": Role.IGNORED,
    "footnote-ref": Role.IGNORED,
    "playgroundHeader": Role.IGNORED,
    "playgroundPreview": Role.IGNORED,
}
_ADMONITION_KIND = re.compile(r"(?:^|\s)(?:theme-)?admonition-([\w-]+)")
_HASH = re.compile(r"_[\w-]+$")
_MAX_CLASS_NAME = 200  # longer ones are not looked at: the patterns need time by the square of the length
_MAX_ROOT_CLASSES = 4096
_LISTING_PAGE = re.compile(
    r"\b(?:[\w-]+-list-page|blog-authors-posts-page|blog-archive-page|search-page-wrapper)\b"
)


def is_docusaurus(page: LexborHTMLParser, generator: str | None) -> bool:
    """Whether Docusaurus built the page; some sites hide the generator."""
    return (generator or "").startswith("Docusaurus") or page.css_first("#__docusaurus") is not None


def has_custom_theme(page: LexborHTMLParser) -> bool:
    """Whether a page of docs has a custom theme, without the elements that are known here."""
    return "docs-doc-page" in _root_classes(page) and page.css_first(".theme-doc-markdown, article") is None


def find_article(page: LexborHTMLParser) -> LexborNode | None:
    """The element with the text of the author; None for a page that only lists other pages."""
    article = page.css_first(".theme-doc-markdown")
    if article is not None:
        return article
    if _is_listing(page):
        return None
    candidates = page.css("article .markdown") or page.css("main article")
    return candidates[0] if len(candidates) == 1 else None


def read_sidebar_label(page: LexborHTMLParser) -> str:
    """The label of the page's own link in the sidebar; empty where it is not in a sidebar."""
    link = page.css_first("a.menu__link--active[aria-current=page]")
    return collapse_spaces(link.text()) if link is not None else ""


def read_tags(page: LexborHTMLParser) -> tuple[str, ...]:
    """The tags at the foot of the page."""
    tags = (collapse_spaces(link.text()) for link in page.css("article footer a[rel=tag]"))
    return tuple(dict.fromkeys(filter(None, tags)))


def file_name(page: LexborHTMLParser) -> str:
    """The name of the file of a doc, which Docusaurus shows where there is no title; else empty."""
    doc_id = re.search(r"(?:^|\s)docs-doc-id-(\S+)", _root_classes(page))
    return doc_id[1].rpartition("/")[2] if doc_id else ""


def _is_listing(page: LexborHTMLParser) -> bool:
    """Whether it is a list of tags, an archive, or the generated index of a category."""
    return (
        bool(_LISTING_PAGE.search(_root_classes(page)))
        or page.css_first("[class*=generatedIndexPage]") is not None
    )


def _root_classes(page: LexborHTMLParser) -> str:
    """The class of `<html>`, which says what kind of page it is."""
    classes = page.root.attributes.get("class") if page.root is not None else ""
    return (classes or "")[:_MAX_ROOT_CLASSES]


def _role(_: str, attributes: Attributes) -> Role:
    if "data-footnote-ref" in attributes or "data-footnote-backref" in attributes:
        return Role.IGNORED
    aria_role = attributes.get("role")
    if aria_role == "tablist":
        return Role.IGNORED
    if aria_role == "tabpanel":
        return Role.PANEL
    classes = attributes.get("class")
    if not classes:
        return Role.BY_TAG
    for name in classes.split():
        if len(name) <= _MAX_CLASS_NAME and (role := _ROLES.get(name) or _ROLES.get(_HASH.sub("", name))):
            return role
    return Role.BY_TAG


def _tab_labels(tabs: LexborNode) -> list[str]:
    """The labels of tabs; of lazy tabs, which are built with one panel, the label of that panel."""
    tablist = tabs.css_first("[role=tablist]")
    if tablist is None:
        return []
    by_selected = {tab.attributes.get("aria-selected"): tab for tab in tablist.iter()}
    panels = tablist.next
    is_lazy = panels is not None and len(list(panels.iter())) == 1
    labels = [by_selected["true"]] if is_lazy and "true" in by_selected else list(tablist.iter())
    return [collapse_spaces(label.text()) for label in labels]


def _admonition_kind(attributes: Attributes) -> str:
    match = _ADMONITION_KIND.search(attributes.get("class") or "")
    kind = match[1] if match else ""
    return "info" if kind == "undefined" else kind  # `<Admonition>` without a type is shown as info


def _anchor(heading: LexborNode) -> str:
    return collapse_spaces(heading.id or "")


MARKUP = Markup(
    frozenset(("a", "div", "img", "span", "ul")),
    _role,
    _tab_labels,
    _admonition_kind,
    _anchor,
    read_docusaurus_code,
)
