"""The anchors of headings: the fragments by which a browser goes to them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .text import collapse_spaces, word_set

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_SECTIONS = word_set("section div header")


class HeadingAnchors:
    """Finds the anchors of the headings of one page."""

    def __init__(self, page: LexborHTMLParser) -> None:
        self._page = page

    def find(self, heading: LexborNode) -> str:
        """The fragment that leads to a heading; empty where there is none.

        It is the id of the heading or of an anchor in it, the target of a link in it, the id of an anchor
        just before it, or of the section that it opens, if a browser goes to one of these elements. Where
        the target of a link does not exist, a script may create it.
        """
        inner, preceding = heading.css_first("a[id], a[name], span[id]"), _preceding_anchor(heading)
        elements = [heading, inner, preceding, _opened_section(preceding or heading)]
        at_heading = {node.mem_id for node in elements if node is not None}
        anchors = [_own_anchor(node) if node is not None else "" for node in elements]
        links = _link_fragments(heading, preceding)
        for fragment in (*anchors[:2], *links, *anchors[2:]):
            if self._targets.get(fragment) in at_heading:
                return fragment
        # Without a target, `#top` is the top of the page in every browser.
        return next((text for text in links if text not in self._targets and text.lower() != "top"), "")

    @cached_property
    def _targets(self) -> dict[str, int]:
        """The element that each fragment leads to, by its `mem_id`: the first with that id, else name."""
        ids: dict[str, int] = {}
        names: dict[str, int] = {}
        for node in self._page.css("[id], a[name]"):
            attributes = node.attributes
            ids.setdefault(collapse_spaces(attributes.get("id") or ""), node.mem_id)
            if node.tag == "a":
                names.setdefault(collapse_spaces(attributes.get("name") or ""), node.mem_id)
        targets = names | ids
        targets.pop("", None)
        return targets


def _preceding_anchor(heading: LexborNode) -> LexborNode | None:
    """The anchor just before a heading."""
    previous = _skip_blank(heading.prev)
    if previous is not None and previous.tag == "p":  # an unclosed paragraph that ends with the anchor
        previous = _skip_blank(previous.last_child)
    return previous if previous is not None and previous.tag in ("a", "span") else None


def _opened_section(first: LexborNode) -> LexborNode | None:
    """The section that begins with this element."""
    parent = first.parent
    is_opened = parent is not None and parent.tag in _SECTIONS and _skip_blank(first.prev) is None
    return parent if is_opened else None


def _link_fragments(heading: LexborNode, preceding: LexborNode | None) -> list[str]:
    """The fragments of the links that may lead to a heading: one in it, and one before it by its class."""
    inner = heading.css_first("a[href^='#']:not(.toc-backref)")
    links = [inner] if inner is not None else []
    if preceding is not None and "anchor" in (preceding.attributes.get("class") or ""):
        links.append(preceding)
    return [*filter(None, map(_link_fragment, links))]


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
