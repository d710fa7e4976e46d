"""The markup of any site: roles by class names that are common to many generators."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ..elements import KEYWORDS
from .boilerplate import is_boilerplate
from .code_blocks import read_generic_code
from .heading_anchors import HeadingAnchors
from .markup import Attributes, Markup, Role
from .text import collapse_spaces, word_set

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

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


def read_markup(page: LexborHTMLParser) -> Markup:
    """The markup of a page."""
    find_anchor = HeadingAnchors(page).find
    return Markup(_TAGS, _role, _tab_labels, _admonition_kind, find_anchor, read_generic_code)
