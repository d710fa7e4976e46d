"""Statements that SQLite and PostgreSQL both take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa


def among(column: sa.Column[Any], dialect: str) -> sa.ColumnElement[bool]:
    """Match the column against the list parameter `among`; the statement is the same for any length."""
    if dialect == "postgresql":
        return column == sa.any_(sa.bindparam("among", type_=sa.ARRAY(sa.Text)))
    elements = sa.func.json_each(sa.bindparam("among", type_=sa.JSON)).table_valued("value")
    return column.in_(sa.select(elements.c.value))


def increment(key: str) -> sa.TextClause:
    """Add 1 to the number at a key of the table `meta`, which begins at 1."""
    return sa.text(
        "INSERT INTO meta (key, value) VALUES (:key, '1') "
        "ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT)"
    ).bindparams(key=key)


def upsert(table: sa.Table, *, keep: Sequence[str] = (), add: Sequence[str] = ()) -> sa.TextClause:
    """Insert a row, or change the existing row with its key.

    Args:
        table: The table; its key is one column.
        keep: Columns that the existing row keeps.
        add: Columns of numbers that are added to those of the existing row; all others are overwritten.
    """
    names = [column.name for column in table.c]
    (key,) = (column.name for column in table.primary_key)
    changes = ", ".join(
        f"{name} = {f'{table.name}.{name} + ' if name in add else ''}excluded.{name}"
        for name in names
        if name not in (key, *keep)
    )
    return sa.text(
        f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)}) "  # noqa: S608 - the names are our tables' own
        f"ON CONFLICT ({key}) DO {f'UPDATE SET {changes}' if changes else 'NOTHING'}"
    ).bindparams(*(sa.bindparam(column.name, type_=column.type) for column in table.c))
