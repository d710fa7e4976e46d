"""Finding the main content of a page: by its markup, else by where nearly all the text is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import word_set

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_NODES = 1_000_000
_NEARLY_ALL = 0.8
_HALF = 0.5
_WITHOUT_TEXT = word_set("script style noscript template svg head nav footer aside a button select")
_CONTAINERS = word_set("div section table tbody tr td center form main article font span")


def find_main_content(page: LexborHTMLParser) -> LexborNode | None:
    """The element that holds the article; None for a page without a body."""
    main = _longest(page.css("main, [role=main]"))
    articles = (main or page).css("article")
    if len(articles) == 1 and (main is None or _text_share(articles[0], main) > _HALF):
        return articles[0]
    if main is not None:
        return main
    return _find_densest(page.body) if page.body is not None else None


def _longest(nodes: list[LexborNode]) -> LexborNode | None:
    if len(nodes) < 2:  # noqa: PLR2004  nothing to compare
        return nodes[0] if nodes else None
    return max(nodes[:20], key=lambda node: len(node.text()))


def _text_share(inner: LexborNode, outer: LexborNode) -> float:
    return len(inner.text()) / max(len(outer.text()), 1)


def _find_densest(body: LexborNode) -> LexborNode:
    """Go down from the body for as long as one child holds nearly all text outside of links."""
    lengths = _text_lengths(body)
    node = body
    while True:
        longest = max(node.iter(), key=lambda child: lengths.get(child.mem_id, 0), default=None)
        if longest is None or longest.tag not in _CONTAINERS:
            return node
        if lengths.get(longest.mem_id, 0) < max(_NEARLY_ALL * lengths.get(node.mem_id, 0), 1):
            return node
        node = longest


def _text_lengths(root: LexborNode) -> dict[int, int]:
    """The length of the text in each element, without links and navigation, by `mem_id`."""
    lengths: dict[int, int] = {}
    stack: list[tuple[LexborNode, LexborNode | None, int]] = []
    node, length, parent = root.first_child, 0, root
    for _ in range(_MAX_NODES):
        if node is None:
            lengths[parent.mem_id] = length
            if not stack:
                break
            parent, node, outer_length = stack.pop()
            length += outer_length
            continue
        tag = node.tag
        if tag == "-text":
            length += len((node.text_content or "").strip())
            node = node.next
        elif tag in _WITHOUT_TEXT or node.first_child is None:
            node = node.next
        else:
            stack.append((parent, node.next, length))
            parent, length, node = node, 0, node.first_child
    return lengths
