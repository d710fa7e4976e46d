"""Migration 1: pages, their chunks in seed 003's `documents`, sources, pending changes and meta."""

from __future__ import annotations

import sqlalchemy as sa

from ....errors import CatalogFailure

# The long columns come last, so that SQLite lists pages without reading their text.
_TABLES = (
    """
    CREATE TABLE pages (
        document_id TEXT PRIMARY KEY,
        url         TEXT NOT NULL,
        title       TEXT NOT NULL,
        source      TEXT NOT NULL,
        source_path TEXT NOT NULL,
        slug        TEXT NOT NULL,
        source_type TEXT NOT NULL,
        page_hash   TEXT NOT NULL,
        updated_at  TIMESTAMP NOT NULL,
        sections    JSON NOT NULL,
        text        TEXT NOT NULL
    )
    """,
    "CREATE TABLE sources (name TEXT PRIMARY KEY, location TEXT NOT NULL)",
    "CREATE TABLE pending (document_id TEXT PRIMARY KEY)",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
)

# Seed 003's statement; only NOW() has another name in SQLite.
_DOCUMENTS = """
    CREATE TABLE documents (
        chunk_id      VARCHAR(50)   PRIMARY KEY,
        source_path   TEXT          NOT NULL,
        slug          VARCHAR(100)  NOT NULL,
        title         VARCHAR(255),
        order_index   INTEGER       NOT NULL,
        snippet       TEXT          NOT NULL,
        created_at    TIMESTAMP     DEFAULT {now}
    )
"""
_SEED_COLUMNS = {"chunk_id", "source_path", "slug", "title", "order_index", "snippet", "created_at"}

# Our additional columns; they are null in rows of another pipeline.
_OUR_COLUMNS = {
    "document_id": "TEXT REFERENCES pages (document_id) ON DELETE CASCADE",
    "start_char": "INTEGER",
    "end_char": "INTEGER",
    "section": "TEXT",
    "anchor": "TEXT",
    "content_hash": "TEXT",
}


def apply(connection: sa.Connection) -> None:
    """Create the tables; an existing `documents` table of another pipeline keeps its rows."""
    for statement in _TABLES:
        connection.execute(sa.text(statement))
    inspector = sa.inspect(connection)
    if not inspector.has_table("documents"):
        now = "NOW()" if connection.dialect.name == "postgresql" else "CURRENT_TIMESTAMP"
        connection.execute(sa.text(_DOCUMENTS.format(now=now)))
        inspector.clear_cache()
    present = {column["name"] for column in inspector.get_columns("documents")}
    if lacking := _SEED_COLUMNS - present:
        raise CatalogFailure(
            f"the database has a different table `documents` (without {', '.join(sorted(lacking))}): "
            "give Pertinent a database or schema of its own"
        )
    for name, kind in _OUR_COLUMNS.items():
        if name not in present:
            connection.execute(sa.text(f"ALTER TABLE documents ADD COLUMN {name} {kind}"))
    connection.execute(
        sa.text("CREATE INDEX pertinent_documents_page ON documents (document_id, order_index)")
    )
