"""The command line: each command parses its options, calls the library, and prints the result."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `pertinent` with the arguments of the process, and exit."""
    try:
        from .app import app
    except KeyboardInterrupt:  # Ctrl-C while the modules are loaded
        sys.exit(130)
    app()
