"""Migration 4: the source and the writer of each pending change."""

from __future__ import annotations

import sqlalchemy as sa


def apply(connection: sa.Connection) -> None:
    """Add two columns; they are empty for pages that are pending now."""
    for name in ("source", "writer"):
        connection.execute(sa.text(f"ALTER TABLE pending ADD COLUMN {name} TEXT NOT NULL DEFAULT ''"))
