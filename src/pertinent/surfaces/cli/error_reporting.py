"""What went wrong, as one line for a person and an exit code for a script."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

import typer
from typer.exceptions import TyperException

from ...errors import EmbedderError, InvalidFile, PertinentError, StoreError, SyncRefused
from .terminal import ReaderGone, one_line

INCOMPLETE: Final = 1
BAD_INPUT: Final = 2
PART_FAILED: Final = 3
UNEXPECTED: Final = 70
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

EXIT_CODES: Final = (
    "Exit codes: 0 done; 1 done in part (a file could not be read, a sync was refused, doctor has "
    "findings, a validation failed); 2 bad input or settings; 3 a store, the embedder or the system failed; "
    "70 a fault of Pertinent; 130 stopped with Ctrl-C."
)


def say(message: str, *details: str) -> None:
    """Put one line on stderr, whatever the message was made of, and one for each detail."""
    lines = [f"pertinent: {one_line(message)}", *(f"  {one_line(detail)}" for detail in details)]
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def exit_code(error: PertinentError) -> int:
    """The exit code that tells the kind of failure."""
    if isinstance(error, SyncRefused):
        return INCOMPLETE
    return PART_FAILED if isinstance(error, EmbedderError | StoreError) else BAD_INPUT


def guarded(run: Callable[[], Any], *, debug: bool) -> int:
    """Run a command; whatever it raises becomes a line and an exit code, with a traceback on demand."""
    try:
        code = run()
        sys.stdout.flush()
    except (BrokenPipeError, ReaderGone):
        # No error, and nobody left to tell.
        _discard_stdout()
        return BROKEN_PIPE
    except (PertinentError, TyperException) as error:
        if debug:
            traceback.print_exc()
        if isinstance(error, PertinentError):
            say(*(str(error).split("\n") if isinstance(error, InvalidFile) else [str(error)]))
            return exit_code(error)
        return _usage(error)
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:  # the last line of defence: a person gets a line, not a traceback
        return _unforeseen(error, debug=debug)
    # A command returns nothing; a number is the code of a typer.Exit.
    return code if isinstance(code, int) else 0


def _unforeseen(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    if isinstance(error, OSError):
        place = f" ({error.filename})" if error.filename else ""
        say(f"the system refused: {error.strerror or error}{place}")
        return PART_FAILED
    again = "" if debug else "; run again with --debug to see where"
    say(f"unexpected {type(error).__name__}: {error}{again}")
    return UNEXPECTED


def _usage(error: TyperException) -> int:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(error.format_message() + "\n")
    else:
        path = context.command_path if context else "pertinent"
        said = error.format_message().rstrip(".").replace("Input should", "it must")
        say(f"{said} (`{path} --help` tells more)")
    return error.exit_code


def _discard_stdout() -> None:
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError):  # stdout is no file: a test's, or closed already
        pass
