"""Pages of any site: how their elements are told apart."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .boilerplate import is_left_out
from .code_blocks import general_code
from .markup import Attributes, Markup, Meaning
from .text import one_line, words

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_TELLING = words("""
    a article aside blockquote button details dialog div dl fieldset figure footer form header img input
    label li nav ol p pre section small span sub sup table td th time tr ul
""")
_TABS = words("tabbed-set sphinx-tabs vp-code-group tab-set")
_PANELS = words("tabbed-block sphinx-tabs-panel vp-adaptive-theme tab-content")
_TABLES_OF_CODE = words("highlighttable lntable hljs-ln")
_LONGEST = 500  # letters of a class that are looked at, and remembered
_SECTIONS = words("section div header")


def _meaning(tag: str, attributes: Attributes) -> Meaning:
    names = (attributes.get("class") or "")[:_LONGEST]
    meaning = _by_class(tag, names) if names else Meaning.PLAIN
    if meaning is not Meaning.PLAIN:
        return meaning
    if attributes.get("role") == "tabpanel":
        return Meaning.PANEL
    if "toc-backref" in names:  # the text of a heading, in Sphinx
        return Meaning.PLAIN
    return Meaning.OUT if is_left_out(tag, attributes) else Meaning.PLAIN


@lru_cache(maxsize=4096)
def _by_class(tag: str, names: str) -> Meaning:
    found = frozenset(names.split())
    if tag == "span" and found & {"katex", "katex-display"}:
        return Meaning.MATH
    if tag == "table" and found & _TABLES_OF_CODE:
        return Meaning.CODE
    if found & _TABS:
        return Meaning.TABS
    return Meaning.PANEL if found & _PANELS else Meaning.PLAIN


def _labels(tabs: LexborNode) -> list[str]:
    listed = tabs.css_first("[role=tablist], .tabbed-labels, .tabs")
    labels = listed.iter() if listed is not None else (one for one in tabs.iter() if one.tag == "label")
    return [*filter(None, (one_line(label.text()) for label in labels))]


def _anchor(heading: LexborNode) -> str:
    """The heading's own id, that of an anchor in it or before it, or that of the section that it opens."""
    before, parent = _unspaced(heading.prev), heading.parent
    inside = heading.css_first("a[id], a[name], span[id], a[href^='#']:not(.toc-backref)")
    found = _name(heading) or (_name(inside) or _target(inside) if inside is not None else "")
    if found:
        return found
    if before is None:
        return _name(parent) if parent is not None and parent.tag in _SECTIONS else ""
    if before.tag == "p":  # one that nobody closed, with the anchor at its end
        before = _unspaced(before.last_child)
    if before is None or before.tag not in ("a", "span"):
        return ""
    marked = "anchor" in (before.attributes.get("class") or "")
    return _name(before) or (_target(before) if marked else "")


def _name(node: LexborNode) -> str:
    attributes = node.attributes
    return one_line(attributes.get("id") or (attributes.get("name") if node.tag == "a" else "") or "")


def _target(link: LexborNode) -> str:
    """Where a link on the page leads; letters beyond ASCII are escaped in a link, not in an id."""
    href = one_line(link.attributes.get("href") or "")
    if not href.startswith("#"):
        return ""
    decoded = unquote(href[1:], errors="replace")
    return href[1:] if decoded.isascii() else decoded


def _unspaced(node: LexborNode | None) -> LexborNode | None:
    """The nearest node, from here backwards, that is more than spaces or a comment."""
    while node is not None and (
        node.tag == "-comment" or (node.tag == "-text" and not (node.text_content or "").strip())
    ):
        node = node.prev
    return node


MARKUP = Markup(_TELLING, _meaning, _labels, _anchor, general_code)
