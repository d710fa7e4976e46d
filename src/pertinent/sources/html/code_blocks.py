"""Code blocks of built pages: their lines, whatever highlighter coloured them, and their language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..blocks import BlockPiece
from ..fences import code_block
from .text import lines, one_line

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|(?:sourceCode|hljs)\s+(?!language-))([\w+#.-]+)"
)
_PRISM = re.compile(r"(?:^|\s)language-(\S+)")
_NONE = frozenset(["text", "txt", "plain", "plaintext", "none", "default", "notranslate", "nohighlight"])
_NUMBERS = re.compile(
    r"\b(?:linenos?|line-?numbers?|gutter|copy)\b|(?:^|\s)(?:lang|ln)(?=\s|$)", re.IGNORECASE
)
_LINES = frozenset(("div", "li", "p", "tr"))
_AROUND = 3  # elements above the code that may name its language


def docusaurus_code(block: LexborNode) -> list[BlockPiece]:
    """The blocks of a `theme-code-block`: its title, where it has one, and its code."""
    pre = block if block.tag == "pre" else block.css_first("pre")
    if pre is None:
        return []
    first = block.first_child
    titled = first is not None and (first.attributes.get("class") or "").startswith("codeBlockTitle")
    title = first.text() if first is not None and titled else ""
    match = _PRISM.search(f"{block.attributes.get('class') or ''} {pre.attributes.get('class') or ''}")
    language = one_line(match.group(1)).lower() if match else ""
    return code_block(language, one_line(title), lines(_prism(pre)))


def _prism(pre: LexborNode) -> str:
    """Prism's lines, each an element; far quicker than to look at every token."""
    code = pre.first_child
    found = list(code.iter()) if code is not None else []
    if found and all((line.attributes.get("class") or "").startswith("token-line") for line in found):
        return "\n".join(line.text() for line in found)
    return code_text(pre)


def general_code(block: LexborNode) -> list[BlockPiece]:
    """The block of a `<pre>`, or of a table around one, below its title.

    The language is taken from the class names on it, in it or around it.
    """
    pre = block if block.tag == "pre" else block.css_first(".code pre, td:last-child pre")
    if pre is None:
        return []
    names = [_names(pre)]
    inside = pre.css_first("code")
    if inside is not None:
        names.insert(0, _names(inside))
    above = block.parent
    for _ in range(_AROUND):
        if above is None or above.tag in ("article", "main", "body", "section"):
            break
        names.append(_names(above))
        above = above.parent
    matches = [match.group(1).lower() for name in names if (match := _LANGUAGE.search(name))]
    language = next((found for found in matches if found not in _NONE), "")
    title = block.css_first("th.filename") if block is not pre else None
    return code_block(language, one_line(title.text()) if title is not None else "", lines(code_text(pre)))


def _names(node: LexborNode) -> str:
    attributes = node.attributes
    named = attributes.get("data-lang") or attributes.get("data-language")
    return f"language-{named}" if named else attributes.get("class") or ""


def code_text(pre: LexborNode) -> str:
    """The text of preformatted code, without line numbers and buttons."""
    parts: list[str] = []
    stack: list[tuple[LexborNode | None, int]] = []
    node = pre.first_child
    while node is not None or stack:
        if node is None:
            node, since = stack.pop()
            if since >= 0 and (len(parts) == since or not parts[-1].endswith("\n")):
                parts.append("\n")
            continue
        tag, following = node.tag, node.next
        if tag == "-text":
            parts.append(node.text_content or "")
        elif tag == "br":
            parts.append("\n")
        elif tag in ("button", "style", "script", "svg"):
            pass
        elif (inside := node.first_child) is not None and (
            tag == "code" or not _NUMBERS.search(node.attributes.get("class") or "")
        ):
            stack.append((following, len(parts) if tag in _LINES else -1))
            node = inside
            continue
        elif tag in _LINES and inside is None:
            parts.append("\n")
        node = following
    return "".join(parts)
