"""HTML and Docusaurus elements: which ones break a paragraph or are hidden, and how text is formatted."""

from __future__ import annotations

import re

from .._internal.code_splitter import split_code
from .normal_form import BlockPiece

CODE_LIMIT = 1800
"""Code of more characters becomes several blocks; each fits into a chunk, with its title above it."""


_MAX_EMPTY_CELLS = 100_000
"""How many cells the short rows of a table may lack; rows that lack more stay short."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


HIDDEN = _names("script style head Head svg template noscript")
HEADINGS = {f"h{level}": level for level in range(1, 7)}
CELLS = _names("td th")
CODE = _names("pre CodeBlock Code")
ADMONITIONS = _names("Admonition admonition")
LISTS = _names("ul ol")
TABS = _names("Tabs")
RAW_TEXT = _names("script style textarea")
"""Elements whose contents are text up to the closing tag, whatever the text looks like."""
HEADING_COMPONENT = "Heading"
"""Docusaurus's own heading element: `<Heading as="h3" id="name">`."""
BLOCKS = (
    _names("p div li dl dt dd table thead tbody tfoot tr caption section article header footer main nav")
    | _names("aside figure figcaption blockquote details Details summary hr form fieldset TabItem center")
    | HIDDEN
    | CELLS
    | CODE
    | ADMONITIONS
    | LISTS
    | TABS
    | frozenset((*HEADINGS, HEADING_COMPONENT))
)
"""Elements that end the paragraph before them."""
HTML_TAGS = frozenset(name.lower() for name in BLOCKS) - _names(
    "tabs tabitem admonition codeblock code heading"
) | _names(
    "a abbr address area audio b base bdi bdo body br button canvas cite code col colgroup data datalist "
    "del dfn dialog em embed font hgroup html i iframe img input ins kbd label legend link map mark math "
    "menu meta meter object optgroup option output param picture progress q rp rt ruby s samp search "
    "select slot small source span strike strong sub sup time title track tt u var video wbr"
)
KEYWORDS = ("secondary", "info", "success", "danger", "note", "tip", "warning", "important", "caution")
"""The kinds of admonition that Docusaurus knows, as in `:::note`."""


def inline_code(code: str) -> str:
    """Put code between backquotes: more of them than the longest run of backquotes in the code."""
    if "`" not in code:
        return f"`{code}`"
    ticks = "`" * (max(map(len, re.findall("`+", code))) + 1)
    padding = " " if code.startswith("`") or code.endswith("`") else ""
    return f"{ticks}{padding}{code}{padding}{ticks}"


def code_block(language: str, title: str, code: str) -> list[BlockPiece]:
    """Return the title of a code block as a paragraph, if it has one, and the code between fences.

    Code that is blank gives nothing. Long code is cut between its top-level constructs into several blocks,
    each with its own fences, which are longer than any run of backquotes in it.
    """
    code = "\n".join(line.rstrip("\r") for line in code.split("\n")).strip("\n")
    if not code.strip():
        return []
    caption = [BlockPiece("prose", " ".join(title.split()))] if title.strip() else []
    if language == "text":
        language = ""  # a built page marks a fence without a language as `text`, too
    parts = [code[start:end] for start, end in split_code(code, CODE_LIMIT)]
    return [*caption, *(BlockPiece("code", _fence(language, part)) for part in parts)]


def _fence(language: str, code: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


def admonition_label(kind: str) -> str:
    """Return what begins the text of an admonition without a title: `**Note:**`."""
    return f"**{_capitalize(kind)}:**"


def admonition_title(kind: str, title: str) -> str:
    """Return the line above an admonition with a title of its own: `**Tip: Save often**`."""
    return f"**{_capitalize(kind)}: {title}**" if kind else f"**{title}**"


def tab_title(label: str) -> str:
    """Return the line above the contents of a tab: `**npm**`."""
    return f"**{label}**" if label else ""


def _capitalize(keyword: str) -> str:
    return keyword[:1].upper() + keyword[1:]


def table(rows: list[list[str]]) -> str:
    """Format rows of cells between pipes, with a rule under the first row."""
    width = max((len(row) for row in rows), default=0)
    if width * len(rows) <= _MAX_EMPTY_CELLS + sum(map(len, rows)):
        rows = [row + [""] * (width - len(row)) for row in rows]
    lines = [_table_row(row) for row in rows]
    if lines:
        lines.insert(1, _table_row(["---"] * width))
    return "\n".join(lines)


def _table_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
