"""The write lock of a catalog: one writer at a time, released when its process ends.

Each lock is a context manager that yields `try_acquire`: it takes the lock unless another process holds
it, and says whether it did.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from . import database

TryAcquire = Callable[[], bool]

_TRY_LOCK = sa.text("SELECT pg_try_advisory_lock(hashtextextended('pertinent ' || :catalog, 0))")


@contextmanager
def postgres_advisory_lock(engine: sa.Engine, catalog_id: str) -> Iterator[TryAcquire]:
    """Lock a catalog in PostgreSQL, on a connection of its own that holds no transaction open."""
    with database.translate_errors(engine.url):
        connection = engine.connect()
        connection.detach()  # PostgreSQL releases the lock when this connection closes

    def try_acquire() -> bool:
        with database.translate_errors(engine.url):
            return bool(connection.scalar(_TRY_LOCK, {"catalog": catalog_id}))

    with connection:
        yield try_acquire


@contextmanager
def file_lock(engine: sa.Engine) -> Iterator[TryAcquire]:
    """Lock a catalog in SQLite, on a file beside it.

    A lock on SQLite's own file would be lost as soon as any connection to that file is closed.
    """
    with database.translate_errors(engine.url):
        descriptor = os.open(f"{engine.url.database}.lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield lambda: _lock_file(descriptor)
    finally:
        os.close(descriptor)


def _lock_file(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows, where the lock of the embedded index keeps other processes out
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
