"""Where a page's article is: in the element that says so, else in the one that holds nearly all its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .text import words

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MOST = 1_000_000
_NEARLY_ALL = 0.8
_HALF = 0.5
_NO_TEXT = words("script style noscript template svg head nav footer aside a button select")
_CONTAINERS = words("div section table tbody tr td center form main article font span")


def find_article(page: LexborHTMLParser) -> LexborNode | None:
    """The element that holds the article; None for a page without a body."""
    main = _longest(page.css("main, [role=main]"))
    articles = (main or page).css("article")
    if len(articles) == 1 and (main is None or _share(articles[0], main) > _HALF):
        return articles[0]
    if main is not None:
        return main
    return _densest(page.body) if page.body is not None else None


def _longest(nodes: list[LexborNode]) -> LexborNode | None:
    if len(nodes) < 2:  # noqa: PLR2004  nothing to compare
        return nodes[0] if nodes else None
    return max(nodes[:20], key=lambda node: len(node.text()))


def _share(part: LexborNode, whole: LexborNode) -> float:
    return len(part.text()) / max(len(whole.text()), 1)


def _densest(body: LexborNode) -> LexborNode:
    """Down from the body for as long as one child holds nearly all of the text that is no link."""
    weights = _weights(body)
    node = body
    while True:
        heaviest = max(node.iter(), key=lambda child: weights.get(child.mem_id, 0), default=None)
        if heaviest is None or heaviest.tag not in _CONTAINERS:
            return node
        if weights.get(heaviest.mem_id, 0) < max(_NEARLY_ALL * weights.get(node.mem_id, 0), 1):
            return node
        node = heaviest


def _weights(root: LexborNode) -> dict[int, int]:
    """How much text each element holds, that of links and navigation aside."""
    weights: dict[int, int] = {}
    stack: list[tuple[LexborNode, LexborNode | None, int]] = []
    node, weight, above = root.first_child, 0, root
    for _ in range(_MOST):
        if node is None:
            weights[above.mem_id] = weight
            if not stack:
                break
            above, node, before = stack.pop()
            weight += before
            continue
        tag = node.tag
        if tag == "-text":
            weight += len((node.text_content or "").strip())
            node = node.next
        elif tag in _NO_TEXT or node.first_child is None:
            node = node.next
        else:
            stack.append((above, node.next, weight))
            above, weight, node = node, 0, node.first_child
    return weights
