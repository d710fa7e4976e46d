"""The Jinja environment of every HTML page that is made on the server."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def create_environment(folder: Path) -> Environment:
    """Create an environment for the templates of a folder, with escaping and without undefined values."""
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
