"""The command line: parse, call one thing of the library, show what it says."""

from __future__ import annotations


def main() -> None:
    """Run `pertinent` with the arguments it was started with, and exit."""
    from .app import app

    app()
