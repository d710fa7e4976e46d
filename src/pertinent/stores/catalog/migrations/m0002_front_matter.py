"""Migration 2: what the front matter of a page says about it."""

from __future__ import annotations

import sqlalchemy as sa


def apply(connection: sa.Connection) -> None:
    """Add a column; it is empty for stored pages until their next sync."""
    connection.execute(sa.text("ALTER TABLE pages ADD COLUMN front_matter JSON"))
