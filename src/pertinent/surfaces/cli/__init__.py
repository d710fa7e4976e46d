"""The command line: each command parses its options, calls the library, and prints the result."""

from __future__ import annotations


def main() -> None:
    """Run `pertinent` with the arguments of the process, and exit."""
    from .app import app

    app()
