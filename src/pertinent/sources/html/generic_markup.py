"""The markup of any site: roles by class names that are common to many generators."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ..elements import KEYWORDS
from .boilerplate import is_boilerplate
from .code_blocks import read_generic_code
from .markup import Attributes, Markup, Role
from .text import collapse_spaces, word_set

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_TAGS = word_set("""
    a article aside blockquote button details dialog div dl fieldset figure footer form header img input
    label li nav ol p pre section small span sub sup table td th time tr ul
""")
_TABS = word_set("tabbed-set sphinx-tabs vp-code-group tab-set")
_PANELS = word_set("tabbed-block sphinx-tabs-panel vp-adaptive-theme tab-content")
_ADMONITIONS = word_set("admonition custom-block markdown-alert")
_ADMONITION_TITLES = word_set("admonition-title custom-block-title markdown-alert-title")
_ADMONITION_KINDS = frozenset(KEYWORDS) | word_set("abstract attention bug error example hint question")
_CODE_TABLES = word_set("highlighttable lntable hljs-ln")
_MAX_CLASS_LENGTH = 500  # longer ones are cut, since they are keys of a cache
_SECTIONS = word_set("section div header")


def _role(tag: str, attributes: Attributes) -> Role:
    classes = (attributes.get("class") or "")[:_MAX_CLASS_LENGTH]
    role = _role_by_class(tag, classes) if classes else Role.BY_TAG
    if role is not Role.BY_TAG:
        return role
    if attributes.get("role") == "tabpanel":
        return Role.PANEL
    if "toc-backref" in classes:  # the text of a heading, in Sphinx
        return Role.BY_TAG
    return Role.IGNORED if is_boilerplate(tag, attributes) else Role.BY_TAG


@lru_cache(maxsize=4096)
def _role_by_class(tag: str, classes: str) -> Role:
    names = frozenset(classes.split())
    if tag == "span" and names & {"katex", "katex-display"}:
        return Role.MATH
    if tag == "table" and names & _CODE_TABLES:
        return Role.CODE
    if names & _ADMONITIONS:
        return Role.ADMONITION
    if names & _ADMONITION_TITLES:
        return Role.LABEL
    if names & _TABS:
        return Role.TABS
    return Role.PANEL if names & _PANELS else Role.BY_TAG


def _tab_labels(tabs: LexborNode) -> list[str]:
    tablist = tabs.css_first("[role=tablist], .tabbed-labels, .tabs")
    labels = tablist.iter() if tablist is not None else (node for node in tabs.iter() if node.tag == "label")
    return [*filter(None, (collapse_spaces(label.text()) for label in labels))]


def _admonition_kind(attributes: Attributes) -> str:
    names = (attributes.get("class") or "").lower().split()
    kinds = (name.removeprefix("markdown-alert-") for name in names)
    return next((kind for kind in kinds if kind in _ADMONITION_KINDS), "")


def _anchor(heading: LexborNode) -> str:
    """The id of a heading, of an anchor in it or just before it, or of the section that it opens."""
    previous, parent = _skip_blank(heading.prev), heading.parent
    inner = heading.css_first("a[id], a[name], span[id], a[href^='#']:not(.toc-backref)")
    anchor = _own_anchor(heading) or (
        _own_anchor(inner) or _link_fragment(inner) if inner is not None else ""
    )
    if anchor:
        return anchor
    if previous is None:
        return _own_anchor(parent) if parent is not None and parent.tag in _SECTIONS else ""
    if previous.tag == "p":  # a paragraph that was not closed, with the anchor at its end
        previous = _skip_blank(previous.last_child)
    if previous is None or previous.tag not in ("a", "span"):
        return ""
    is_anchor_link = "anchor" in (previous.attributes.get("class") or "")
    return _own_anchor(previous) or (_link_fragment(previous) if is_anchor_link else "")


def _own_anchor(node: LexborNode) -> str:
    attributes = node.attributes
    return collapse_spaces(attributes.get("id") or (attributes.get("name") if node.tag == "a" else "") or "")


def _link_fragment(link: LexborNode) -> str:
    """The fragment that a link on the page leads to; other letters than ASCII are escaped in links."""
    href = collapse_spaces(link.attributes.get("href") or "")
    if not href.startswith("#"):
        return ""
    decoded = unquote(href[1:], errors="replace")
    return href[1:] if decoded.isascii() else decoded


def _skip_blank(node: LexborNode | None) -> LexborNode | None:
    """The nearest node, from here backwards, that is not white space or a comment."""
    while node is not None and (
        node.tag == "-comment" or (node.tag == "-text" and not (node.text_content or "").strip())
    ):
        node = node.prev
    return node


MARKUP = Markup(_TAGS, _role, _tab_labels, _admonition_kind, _anchor, read_generic_code)
