"""Migration 3: the words of all pages, counted from the stored chunks."""

from __future__ import annotations

import sqlalchemy as sa

from ..vocabulary import recount

_VOCABULARY = """
    CREATE TABLE vocabulary (
        word     TEXT PRIMARY KEY,
        titles   INTEGER NOT NULL,
        headings INTEGER NOT NULL,
        texts    INTEGER NOT NULL
    )
"""


def apply(connection: sa.Connection) -> None:
    """Create the table and fill it."""
    connection.execute(sa.text(_VOCABULARY))
    recount(connection)
