"""What the elements of a page mean for its text: which hide, which break a line, which name themselves."""

from __future__ import annotations

import re

from .normal_form import BlockPiece


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HIDDEN = _names("script style head Head svg template noscript")
HEADINGS = {f"h{level}": level for level in range(1, 7)}
CELLS = _names("td th")
CODE = _names("pre CodeBlock Code")
ADMONITIONS = _names("Admonition admonition")
LISTS = _names("ul ol")
TABS = _names("Tabs")
RAW = _names("script style textarea")
BLOCKS = (
    _names("p div li dl dt dd table thead tbody tfoot tr caption section article header footer main nav")
    | _names("aside figure figcaption blockquote details Details summary hr form fieldset TabItem center")
    | HIDDEN
    | CELLS
    | CODE
    | ADMONITIONS
    | LISTS
    | TABS
    | frozenset(HEADINGS)
)
HTML = frozenset(name.lower() for name in BLOCKS) - _names("tabs tabitem admonition codeblock code") | _names(
    "a abbr address area audio b base bdi bdo body br button canvas cite code col colgroup data datalist "
    "del dfn dialog em embed font hgroup html i iframe img input ins kbd label legend link map mark math "
    "menu meta meter object optgroup option output param picture progress q rp rt ruby s samp search "
    "select slot small source span strike strong sub sup time title track tt u var video wbr"
)
KEYWORDS = ("secondary", "info", "success", "danger", "note", "tip", "warning", "important", "caution")


def inline_code(code: str) -> str:
    """Code between backquotes, more of them where it has some itself."""
    if "`" not in code:
        return f"`{code}`"
    ticks = "`" * (max(map(len, re.findall("`+", code))) + 1)
    pad = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{pad}{code}{pad}{ticks}"


def code_block(language: str, title: str, code: str) -> list[BlockPiece]:
    """Code between fences that are longer than any inside it, below its title."""
    code = "\n".join(line.rstrip("\r") for line in code.split("\n")).strip("\n")
    if not code.strip():
        return []
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    ticks = "`" * max(3, longest + 1)
    caption = [BlockPiece("prose", " ".join(title.split()))] if title.strip() else []
    # On a built page nobody can tell a fence of text from one without a language.
    shown = "" if language == "text" else language
    return [*caption, BlockPiece("code", f"{ticks}{shown}\n{code}\n{ticks}")]


def admonition_title(kind: str) -> str:
    """What an admonition without a title of its own says above its text."""
    return kind[:1].upper() + kind[1:]


def table(rows: list[list[str]]) -> str:
    """Rows of cells between pipes, with a rule under the first."""
    width = max((len(row) for row in rows), default=0)
    lines = [_row(row + [""] * (width - len(row))) for row in rows]
    if lines:
        lines.insert(1, _row(["---"] * width))
    return "\n".join(lines)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
