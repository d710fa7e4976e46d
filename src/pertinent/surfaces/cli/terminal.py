"""The terminal: printing, tables, JSON, and making text from documents harmless to print."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from ..control_characters import remove_controls

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

# Escape sequences are removed as a whole, not only their first character: CSI, then strings (OSC, DCS, …),
# then all others.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
MIN_COLUMNS = 20
"""The width of the output on a narrower terminal."""

_PADDING = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


class OutputClosed(Exception):
    """The reader of stdout has gone, as when `head` has read enough."""


def clean(text: str) -> str:
    """Remove everything that a terminal would act on instead of printing it."""
    return remove_controls(_ESCAPES.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """Clean the text and put it on one line."""
    return " ".join(clean(text).split())


def supports_unicode(stream: IO[str]) -> bool:
    """Return whether the stream can encode characters beyond ASCII."""
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def prepare_streams() -> None:
    """Open closed streams on nothing, and print a question mark for a character that can't be encoded."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - stays open
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def make_console(*, stderr: bool = False) -> Console:
    """Create a console that prints text literally: no markup, no emoji codes, no guessed colours."""
    from rich.console import Console

    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    # A terminal without a size reports 0 columns, in which nothing could be printed.
    console.width = max(console.width, MIN_COLUMNS)
    return console


def make_table(*headings: str, gap: int = 2, title: str | None = None) -> Table:
    """Create a table without borders.

    Args:
        headings: One for each column. A leading `>` means a right-aligned column that is never wrapped.
        gap: The number of spaces between two columns.
        title: A line above the table, in bold.
    """
    from rich.table import Table

    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, gap, 0, 0),
        header_style="dim",
        title=title,
        title_justify="left",
        title_style="bold",
    )
    for heading in headings:
        right = heading.startswith(">")
        justify: Literal["left", "right"] = "right" if right else "left"
        table.add_column(heading.removeprefix(">"), justify=justify, no_wrap=right, overflow="fold")
    return table


def render(draw: Callable[[Console], object]) -> str:
    """Return what `draw` prints to a console, as text for stdout.

    Rich pads lines with spaces; remove them so that copied text is clean.
    """
    out = make_console()
    with out.capture() as capture:
        draw(out)
    return _PADDING.sub(r"\1", capture.get())


def write(text: str) -> None:
    """Write to stdout and flush it.

    Raises:
        OutputClosed: Nobody reads stdout any more. Typer would report a BrokenPipeError as a failure.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise OutputClosed from None


def print_message(text: str) -> None:
    """Print a line on stderr at once."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def symbol(unicode: str, ascii_text: str) -> str:
    """Return the Unicode symbol, or its ASCII replacement where stdout can't encode it."""
    return unicode if supports_unicode(sys.stdout) else ascii_text


def to_json(value: Any) -> str:
    """Format the value as indented JSON, with everything escaped that a terminal would act on."""
    text = json.dumps(value, indent=2, ensure_ascii=not supports_unicode(sys.stdout))
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_json(value: Any) -> None:
    """Print the value as JSON on stdout."""
    write(to_json(value) + "\n")
