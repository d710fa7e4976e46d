"""The title of the indexed book, as agents and `llms.txt` name it."""

from __future__ import annotations

from collections.abc import Sequence

from .._internal.messages import format_list
from ..identity import shorten
from ..settings import Settings

MAX_SOURCES = 3
"""How many sources a title names."""
LONGEST_NAME = 100


def choose_title(settings: Settings, sources: Sequence[str]) -> str:
    """Return the setting `book_title`, else the names of the sources.

    Args:
        settings: The settings.
        sources: The names of the sources.
    """
    names = [shorten(source, LONGEST_NAME) for source in sources]
    return settings.book_title or format_list(names, limit=MAX_SOURCES) or "Documentation"
