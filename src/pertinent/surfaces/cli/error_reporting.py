"""Errors on the command line: every failure becomes one line on stderr and one exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any, Final

import typer
from typer.exceptions import TyperException

from ...errors import EmbedderError, InvalidFile, PertinentError, StoreError, SyncRefused
from .terminal import OutputClosed, one_line

INCOMPLETE: Final = 1
BAD_INPUT: Final = 2
BACKEND_FAILED: Final = 3
UNEXPECTED: Final = 70
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141

EXIT_CODES: Final = (
    "Exit codes: 0 success; 1 incomplete or failed (a file could not be read, a sync was refused, doctor "
    "has findings, a validation failed); 2 invalid input or settings; 3 a store, the embedding model or the "
    "system failed; 70 a bug in Pertinent; 130 interrupted with Ctrl-C."
)


def print_notice(message: str, *details: str) -> None:
    """Print a message as one line on stderr, and each detail as an indented line below it."""
    lines = [f"pertinent: {one_line(message)}", *(f"  {one_line(detail)}" for detail in details)]
    sys.stderr.write("".join(f"{line}\n" for line in lines))


def exit_code_for(error: PertinentError) -> int:
    """Return the exit code for the kind of error."""
    if isinstance(error, SyncRefused):
        return INCOMPLETE
    return BACKEND_FAILED if isinstance(error, EmbedderError | StoreError) else BAD_INPUT


def run_reporting_errors(run: Callable[[], Any], *, debug: bool) -> int:
    """Run a command and return its exit code; an error is printed as one line.

    Args:
        run: The command. It returns None, or the code of a `typer.Exit`.
        debug: Print the traceback of an error, too.
    """
    try:
        code = run()
        sys.stdout.flush()
    except (BrokenPipeError, OutputClosed):
        _discard_stdout()
        return BROKEN_PIPE
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:  # the outermost handler: a user sees a message, not a traceback
        if debug:
            traceback.print_exc()
        return _report(error, debug=debug)
    return code if isinstance(code, int) else 0


def _report(error: Exception, *, debug: bool) -> int:
    """Print the error as one line, and return its exit code."""
    if isinstance(error, TyperException):
        return _report_usage(error)
    if isinstance(error, PertinentError):
        # Each error of a file has its own line.
        lines = str(error).split("\n") if isinstance(error, InvalidFile) else [str(error)]
        print_notice(*lines)
        return exit_code_for(error)
    if isinstance(error, OSError):
        path = f" ({error.filename})" if error.filename else ""
        print_notice(f"system error: {error.strerror or error}{path}")
        return BACKEND_FAILED
    hint = "" if debug else "; run again with --debug for the traceback"
    print_notice(f"unexpected {type(error).__name__}: {error}{hint}")
    return UNEXPECTED


def _report_usage(error: TyperException) -> int:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        sys.stderr.write(error.format_message() + "\n")
    elif isinstance(error, typer.BadParameter) and error.__cause__ is not None:
        print_notice(_describe_bad_value(error))
    else:
        path = context.command_path if context else "pertinent"
        print_notice(f"{error.format_message().rstrip('.')}; see `{path} --help`")
    return error.exit_code


def _describe_bad_value(error: typer.BadParameter) -> str:
    """Name the option, the values that it accepts, and the value that it was given.

    Typer's own message names only one end of the range, and neither the other nor the value.
    """
    option: Any = error.param
    cause: Any = error.__cause__
    value = cause.errors()[0]["input"]
    return f"{option.opts[0]}: must be {_describe_accepted_values(option)}, not {str(value)!r}"


def _describe_accepted_values(option: Any) -> str:
    descriptor = option.type_descriptor
    if descriptor.choices:
        return f"one of {', '.join(descriptor.choices)}"
    number = "a whole number" if descriptor.annotation is int else "a number"
    if option.max is not None:
        return f"{number} from {option.min} to {option.max}"
    return number if option.min is None else f"{number}, at least {option.min}"


def _discard_stdout() -> None:
    """Discard buffered output, so that Python does not fail to flush it at exit."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):  # stdout is not a file, or is closed already
        pass
