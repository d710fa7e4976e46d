"""The catalog's schema, step by step: numbered migrations, each applied once with its record.

A new step is a new module with `apply(connection)`, added at the end of `MIGRATIONS`; a step that
was released never changes. `tables.py` describes the tables as the last step leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

import sqlalchemy as sa

from ....errors import CatalogFailure
from . import m0001_first_tables

MIGRATIONS: Mapping[int, tuple[str, Callable[[sa.Connection], None]]] = {
    1: ("first tables", m0001_first_tables.apply),
}

# Any constant will do, as long as every version uses the same one.
_ADVISORY_LOCK = 7305821940113

_RECORD = sa.Table(
    "pertinent_migrations",
    sa.MetaData(),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("applied_at", sa.TIMESTAMP, nullable=False),
)


def migrate(reader: sa.Engine, writer: sa.Engine) -> None:
    """Bring the database to the last step; one that is there already is only read.

    `writer` begins its transactions with the database's write lock (SQLite). PostgreSQL takes an
    advisory lock instead, so either way the second of two processes waits and then finds it done.
    """
    with reader.connect() as connection:
        missing = _missing(connection)
    while missing:
        with writer.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
            missing = _missing(connection)
            if missing:
                _apply(connection, missing.pop(0))


def _missing(connection: sa.Connection) -> list[int]:
    """List the steps that were not applied yet, in order."""
    applied: set[int] = set()
    if sa.inspect(connection).has_table(_RECORD.name):
        applied.update(connection.scalars(sa.select(_RECORD.c.number)))
    if unknown := applied - MIGRATIONS.keys():
        raise CatalogFailure(
            f"the catalog was made by a newer version of Pertinent (its schema is at step {max(unknown)}, "
            f"this version knows {max(MIGRATIONS)}): upgrade with `pip install --upgrade pertinent`"
        )
    return sorted(MIGRATIONS.keys() - applied)


def _apply(connection: sa.Connection, number: int) -> None:
    """Apply one step and record it, in the transaction of the connection."""
    name, apply = MIGRATIONS[number]
    _RECORD.create(connection, checkfirst=True)
    apply(connection)
    now = datetime.now(UTC).replace(tzinfo=None)
    connection.execute(sa.insert(_RECORD).values(number=number, name=name, applied_at=now))
