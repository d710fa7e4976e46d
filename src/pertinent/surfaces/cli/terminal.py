"""The terminal: where things are printed, and how text that others wrote is made harmless first."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

# Whole escape sequences go, not just their first character: CSI, the strings (OSC, DCS, …), the rest.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
# Control characters but tab and newline, and those that turn the direction of the text around.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_UNSAFE_IN_JSON = re.compile(r"[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """The text without anything that would command the terminal rather than be read."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def one_line(text: str) -> str:
    """The text, clean and on one line."""
    return " ".join(clean(text).split())


def speaks_unicode(stream: IO[str]) -> bool:
    """Whether marks beyond ASCII can be written there."""
    return (getattr(stream, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def prepare_streams() -> None:
    """A character that the terminal can't show becomes a question mark, never a crash."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and not speaks_unicode(stream):
            stream.reconfigure(errors="replace")


def console(*, stderr: bool = False) -> Console:
    """A console that takes every text literally: no markup, no emoji codes, no guessed colours."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


_PADDING = re.compile(r" +((?:\x1b\[[0-9;]*m)*)$", re.MULTILINE)


def layout(draw: Callable[[Console], object]) -> str:
    """What is drawn, as text for stdout; Rich fills lines with spaces, which nobody wants to copy."""
    out = console()
    with out.capture() as drawn:
        draw(out)
    return _PADDING.sub(r"\1", drawn.get())


class ReaderGone(Exception):
    """Nobody reads our output any more, as when `head` has seen enough."""


def write(text: str) -> None:
    """Write to stdout at once, so that a reader that has gone is noticed here."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Typer would take it for a failure.
        raise ReaderGone from None


def sign(mark: str, plain: str, *, stderr: bool = False) -> str:
    """The mark, or plain letters for it where the terminal has only those."""
    return mark if speaks_unicode(sys.stderr if stderr else sys.stdout) else plain


def as_json(value: Any) -> str:
    """JSON to be read by people too, with nothing in it that a terminal would obey."""
    text = json.dumps(value, indent=2, ensure_ascii=not speaks_unicode(sys.stdout))
    return _UNSAFE_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def print_json(value: Any) -> None:
    """Print the value and nothing else."""
    write(as_json(value) + "\n")
