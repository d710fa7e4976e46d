"""The id that a heading gives itself, and the text that its slug is made from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

# `{#id}` may hold any character but `{#` and `}`; `{/* #id */}` ends its id at the first space.
_CLASSIC = re.compile(r"\s*\{#((?:.(?!\{#|\}))*.)\}$")
_COMMENT = re.compile(r"\s*/\*(?P<comment>(?:(?!\*/).)*)\*/\s*", re.DOTALL)


def heading_id(children: Sequence[Token]) -> tuple[str, list[Token]]:
    """The explicit id ("" where there is none) and what is left of the heading without it."""
    rest = list(children)
    while rest and rest[-1].type == "text" and not rest[-1].content:
        rest.pop()
    if not rest:
        return "", rest
    last = rest[-1]
    if last.type == "expression":
        found = _from_expression(last.meta["what"])
        return (found, _trimmed(rest[:-1])) if found else ("", rest)
    if last.type == "text" and (match := _CLASSIC.search(_tail(rest))):
        return match.group(1).strip(), _cut(rest, len(match.group()))
    return "", rest


def _from_expression(source: str) -> str:
    if source.startswith("#"):
        return source[1:].strip()
    match = _COMMENT.fullmatch(source)
    first = match["comment"].strip().split(" ")[0] if match else ""
    return first[1:] if first.startswith("#") else ""


def _tail(tokens: Sequence[Token]) -> str:
    """The text at the end, over tokens that escapes and entities have split."""
    parts: list[str] = []
    for token in reversed(tokens):
        if token.type not in ("text", "text_special"):
            break
        parts.append(token.content)
    return "".join(reversed(parts))


def _cut(tokens: list[Token], length: int) -> list[Token]:
    while tokens and length > 0:
        last = tokens[-1]
        if len(last.content) > length:
            tokens[-1] = last.copy(content=last.content[:-length])
            break
        length -= len(last.content)
        tokens.pop()
    return tokens


def _trimmed(tokens: list[Token]) -> list[Token]:
    if tokens and tokens[-1].type == "text":
        tokens[-1] = tokens[-1].copy(content=tokens[-1].content.rstrip())
    return tokens


def slug_text(children: Sequence[Token]) -> str:
    """A heading's text as remark flattens it: expressions by their source, directives by their label."""
    parts: list[str] = []
    for child in children:
        if child.type in ("text", "text_special", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append("\n")
        elif child.type == "expression":
            parts.append(child.meta["what"])
        elif child.type == "text_directive":
            parts.append(child.meta["label"])
        elif child.type == "image":
            parts.append(slug_text(child.children or []))
    return "".join(parts)
