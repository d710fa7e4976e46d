"""Code blocks of HTML pages: their text, whichever highlighter was used, and their language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..elements import code_block
from ..normal_form import BlockPiece
from .text import clean_lines, collapse_spaces

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|brush:\s*|(?:sourceCode|hljs)\s+(?!language-))([\w+#.-]+)"
)
_PRISM_LANGUAGE = re.compile(r"(?:^|\s)language-(\S+)")
_NO_LANGUAGE = frozenset(
    ["text", "txt", "plain", "plaintext", "none", "default", "notranslate", "nohighlight"]
)
_DECORATIONS = re.compile(
    r"\b(?:linenos?|line-?numbers?|gutter|copy)\b|(?:^|\s)(?:lang|ln)(?=\s|$)", re.IGNORECASE
)
_LINE_TAGS = frozenset(("div", "li", "p", "tr"))
_MAX_CLASS_LENGTH = 500  # longer ones are cut: those above many code blocks are searched for each
_MAX_PARENTS = 3  # how many elements above the code may name its language


def read_docusaurus_code(block: LexborNode) -> list[BlockPiece]:
    """Read a `theme-code-block`: its title, if it has one, and its code."""
    pre = block if block.tag == "pre" else block.css_first("pre")
    if pre is None:
        return []
    first = block.first_child
    has_title = first is not None and (first.attributes.get("class") or "").startswith("codeBlockTitle")
    title = first.text() if first is not None and has_title else ""
    match = _PRISM_LANGUAGE.search(
        f"{block.attributes.get('class') or ''} {pre.attributes.get('class') or ''}"
    )
    language = collapse_spaces(match.group(1)).lower() if match else ""
    return code_block(language, collapse_spaces(title), clean_lines(_prism_text(pre)))


def _prism_text(pre: LexborNode) -> str:
    """The text of code that Prism coloured, line by line: far faster than token by token."""
    code = pre.first_child
    line_nodes = list(code.iter()) if code is not None else []
    if line_nodes and all(
        (line.attributes.get("class") or "").startswith("token-line") for line in line_nodes
    ):
        return "\n".join(line.text() for line in line_nodes)
    return code_text(pre)


def read_generic_code(block: LexborNode) -> list[BlockPiece]:
    """Read a `<pre>`, or a table with line numbers around one, with its title.

    The language comes from class names of the element, of its `<code>` or of the elements around it.
    """
    pre = block if block.tag == "pre" else block.css_first(".code pre, td:last-child pre")
    if pre is None:
        return []
    names = [_language_names(pre)]
    code = pre.css_first("code")
    if code is not None:
        names.insert(0, _language_names(code))
    parent = block.parent
    for _ in range(_MAX_PARENTS):
        if parent is None or parent.tag in ("article", "main", "body", "section"):
            break
        names.append(_language_names(parent))
        parent = parent.parent
    languages = [match.group(1).lower() for name in names if (match := _LANGUAGE.search(name))]
    language = next((name for name in languages if name not in _NO_LANGUAGE), "")
    title = block.css_first("th.filename") if block is not pre else None
    return code_block(
        language, collapse_spaces(title.text()) if title is not None else "", clean_lines(code_text(pre))
    )


def _language_names(node: LexborNode) -> str:
    """The class names of an element, or the language that it names in an attribute."""
    attributes = node.attributes
    language = attributes.get("data-lang") or attributes.get("data-language")
    return f"language-{language}" if language else (attributes.get("class") or "")[:_MAX_CLASS_LENGTH]


def code_text(pre: LexborNode) -> str:
    """The text of preformatted code, without line numbers and buttons."""
    parts: list[str] = []
    stack: list[tuple[LexborNode | None, int]] = []
    node = pre.first_child
    while node is not None or stack:
        if node is None:
            node, start = stack.pop()
            if start >= 0 and (len(parts) == start or not parts[-1].endswith("\n")):
                parts.append("\n")
            continue
        tag, following = node.tag, node.next
        if tag == "-text":
            parts.append(node.text_content or "")
        elif tag == "br":
            parts.append("\n")
        elif tag in ("button", "style", "script", "svg"):
            pass
        elif (child := node.first_child) is not None and (
            tag == "code" or not _DECORATIONS.search(node.attributes.get("class") or "")
        ):
            stack.append((following, len(parts) if tag in _LINE_TAGS else -1))
            node = child
            continue
        elif tag in _LINE_TAGS and child is None:
            parts.append("\n")
        node = following
    return "".join(parts)
