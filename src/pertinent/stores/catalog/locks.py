"""One writer at a time: a lock beside the catalog that ends with the process that holds it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from . import database

Take = Callable[[], bool]
"""Takes the lock, unless another has it; says whether."""

_TRY = sa.text("SELECT pg_try_advisory_lock(hashtextextended('pertinent ' || :catalog, 0))")


@contextmanager
def of_server(engine: sa.Engine, catalog_id: str) -> Iterator[Take]:
    """The lock of a catalog in PostgreSQL: held by a connection of its own, which needs no transactions."""
    with database.translated(engine.url):
        connection = engine.connect()
        connection.detach()  # so that its end is the lock's end

    def take() -> bool:
        with database.translated(engine.url):
            return bool(connection.scalar(_TRY, {"catalog": catalog_id}))

    with connection:
        yield take


@contextmanager
def of_file(engine: sa.Engine) -> Iterator[Take]:
    """The lock of SQLite's file: on another beside it, since SQLite loses its own when that one is closed."""
    with database.translated(engine.url):
        file = os.open(f"{engine.url.database}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield lambda: _take(file)
    finally:
        os.close(file)


def _take(file: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows, where the index, which is embedded, keeps others out
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
