"""Headings: read the explicit id at the end of one (`{#id}`), and the text that its slug is made from."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

# `{#id}` may hold any character but `{#` and `}`; `{/* #id */}` ends its id at the first space.
_CLASSIC_ID = re.compile(r"\{#((?:.(?!\{#|\}))*.)\}$")
_TEXT_TYPES = ("text", "text_special")
_COMMENT = re.compile(r"\s*/\*(?P<comment>(?:(?!\*/).)*)\*/\s*", re.DOTALL)


def extract_id(children: Sequence[Token]) -> tuple[str, list[Token]]:
    """Return the explicit id of a heading ("" if it has none) and its tokens without the id."""
    tokens = list(children)
    while tokens and tokens[-1].type == "text" and not tokens[-1].content:
        tokens.pop()
    if not tokens:
        return "", tokens
    last = tokens[-1]
    if last.type == "expression":
        explicit_id = _id_in_comment(last.meta["value"])
        return (explicit_id, _strip_end(tokens[:-1])) if explicit_id else ("", tokens)
    text = _text_at_end(tokens, _TEXT_TYPES) if last.type == "text" else ""
    if match := _CLASSIC_ID.search(text):
        heading = text[: match.start()].rstrip()
        return match.group(1).strip(), _cut_end(tokens, len(text) - len(heading))
    # In `{#custom:id}`, `:id` is a directive: Docusaurus takes `custom` as the id, and shows all of it.
    text = _text_at_end(tokens, (*_TEXT_TYPES, "text_directive")) if text else ""
    match = _CLASSIC_ID.search(text)
    return match.group(1).strip() if match else "", tokens


def _id_in_comment(source: str) -> str:
    match = _COMMENT.fullmatch(source)
    first = match["comment"].strip().split(" ")[0] if match else ""
    return first[1:] if first.startswith("#") else ""


def _text_at_end(tokens: Sequence[Token], types: Collection[str]) -> str:
    """Join the text at the end, which escapes, entities and directives split into several tokens."""
    parts: list[str] = []
    for token in reversed(tokens):
        if token.type not in types:
            break
        parts.append(token.meta["label"] if token.type == "text_directive" else token.content)
    return "".join(reversed(parts))


def _cut_end(tokens: list[Token], length: int) -> list[Token]:
    """Cut `length` characters off the end."""
    while tokens and length > 0:
        last = tokens[-1]
        if len(last.content) > length:
            tokens[-1] = last.copy(content=last.content[:-length])
            break
        length -= len(last.content)
        tokens.pop()
    return tokens


def _strip_end(tokens: list[Token]) -> list[Token]:
    if tokens and tokens[-1].type == "text":
        tokens[-1] = tokens[-1].copy(content=tokens[-1].content.rstrip())
    return tokens


def slug_text(children: Sequence[Token]) -> str:
    """Return the text for a heading's slug as remark flattens it.

    An expression counts with its source, a directive with its label, an image with its alternative text.
    """
    parts: list[str] = []
    for child in children:
        if child.type in ("text", "text_special", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append("\n")
        elif child.type == "expression":
            parts.append(child.meta["value"])
        elif child.type == "text_directive":
            parts.append(child.meta["label"])
        elif child.type == "image":
            parts.append(slug_text(child.children or []))
    return "".join(parts)
