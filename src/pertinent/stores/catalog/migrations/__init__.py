"""Numbered migrations of the catalog's schema; each is applied once and recorded.

A new migration is a module with `apply(connection)`, added at the end of `MIGRATIONS`. A released migration
never changes. `tables.py` describes the tables as the last migration leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import sqlalchemy as sa

from ....errors import CatalogFailure
from ..database import unlimited_statements
from . import m0001_first_tables, m0002_front_matter, m0003_vocabulary, m0004_pending_marks

MIGRATIONS: Mapping[int, tuple[str, Callable[[sa.Connection], None]]] = {
    1: ("first tables", m0001_first_tables.apply),
    2: ("front matter", m0002_front_matter.apply),
    3: ("vocabulary", m0003_vocabulary.apply),
    4: ("pending marks", m0004_pending_marks.apply),
}

# An arbitrary constant; every version must use the same one.
_ADVISORY_LOCK = 7305821940113

_RECORD = sa.Table(
    "pertinent_migrations",
    sa.MetaData(),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("applied_at", sa.TIMESTAMP, nullable=False),
)


def migrate(reader: sa.Engine, writer: sa.Engine) -> None:
    """Apply the missing migrations; an up-to-date database is only read.

    Two processes may do this at once: the second waits, for the write lock of SQLite with which `writer`
    begins its transactions or for an advisory lock of PostgreSQL, and then finds nothing left to do.
    """
    with reader.connect() as connection:
        missing = _find_missing(connection)
    while missing:
        with writer.begin() as connection, unlimited_statements(connection):
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
            missing = _find_missing(connection)
            if missing:
                _apply(connection, missing.pop(0))


def _find_missing(connection: sa.Connection) -> list[int]:
    """List the migrations that were not applied yet, in order."""
    applied: set[int] = set()
    if sa.inspect(connection).has_table(_RECORD.name):
        applied.update(connection.scalars(sa.select(_RECORD.c.number)))
    if unknown := applied - MIGRATIONS.keys():
        raise CatalogFailure(
            f"the catalog was made by a newer version of Pertinent (its last migration is {max(unknown)}, "
            f"this version knows {max(MIGRATIONS)}): upgrade with `pip install --upgrade pertinent`"
        )
    return sorted(MIGRATIONS.keys() - applied)


def _apply(connection: sa.Connection, number: int) -> None:
    """Apply one migration and record it, in the transaction of the connection."""
    name, apply = MIGRATIONS[number]
    _RECORD.create(connection, checkfirst=True)
    apply(connection)
    now = datetime.now(UTC).replace(tzinfo=None)
    connection.execute(sa.insert(_RECORD).values(number=number, name=name, applied_at=now))
