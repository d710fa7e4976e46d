"""The write lock of a catalog: one writer at a time, released when its process ends.

Each lock is a context manager that yields a `WriteLock`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from ..._internal.process_name import UNKNOWN_PROCESS, name_process
from . import database


@dataclass(frozen=True, slots=True)
class WriteLock:
    """How to take the lock of a catalog, and to check that it is still held."""

    try_acquire: Callable[[], bool]
    """Takes the lock unless another process holds it, and says whether it did."""
    is_held: Callable[[], bool]
    """Whether the lock, once taken, is still held: it may be lost without the process noticing."""


KEEPALIVE_SECONDS = 30
"""After how many idle seconds PostgreSQL asks whether the holder of the lock is still there."""

_TRY_LOCK = sa.text("SELECT pg_try_advisory_lock(hashtextextended('pertinent ' || :catalog, 0))")

_ALIVE = sa.text("SELECT 1")

# Without keepalives, a session whose client has lost its power or its network would keep the lock for hours.
_NAME_SESSION = sa.text("""
    SELECT set_config('application_name', :name, false),
           set_config('tcp_keepalives_idle', :seconds, false),
           set_config('tcp_keepalives_interval', :seconds, false),
           set_config('tcp_keepalives_count', '3', false)
""")

_HOLDER = sa.text("""
    SELECT session.application_name, session.pid
    FROM pg_locks JOIN pg_stat_activity AS session USING (pid)
    WHERE locktype = 'advisory' AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (classid::bigint << 32 | objid::bigint) = hashtextextended('pertinent ' || :catalog, 0)
""")


@contextmanager
def postgres_advisory_lock(engine: sa.Engine, catalog_id: str) -> Iterator[WriteLock]:
    """Lock a catalog in PostgreSQL, on a connection of its own that holds no transaction open."""
    with database.translate_errors(engine.url):
        connection = engine.connect()
        try:
            connection.detach()  # PostgreSQL releases the lock when this connection closes
            connection.execute(_NAME_SESSION, {"name": name_process(), "seconds": str(KEEPALIVE_SECONDS)})
        except BaseException:
            connection.close()
            raise

    def try_acquire() -> bool:
        with database.translate_errors(engine.url):
            return bool(connection.scalar(_TRY_LOCK, {"catalog": catalog_id}))

    def is_held() -> bool:
        # A session that has ended has released the lock. SQLAlchemy would not connect again by itself.
        try:
            connection.scalar(_ALIVE)
        except sa.exc.SQLAlchemyError:
            return False
        return True

    try:
        yield WriteLock(try_acquire, is_held)
    finally:
        # It fails if the connection, and the lock with it, was lost meanwhile.
        with database.translate_errors(engine.url):
            connection.close()


def describe_postgres_holder(engine: sa.Engine, catalog_id: str) -> str:
    """Say which session holds the lock, and how to end it if its client is dead."""
    with database.translate_errors(engine.url), engine.connect() as connection:
        holder = connection.execute(_HOLDER, {"catalog": catalog_id}).first()
    if holder is None:
        return UNKNOWN_PROCESS
    name, pid = holder
    return f"{name or UNKNOWN_PROCESS} (if it is dead: SELECT pg_terminate_backend({pid}) in PostgreSQL)"


@contextmanager
def file_lock(engine: sa.Engine) -> Iterator[WriteLock]:
    """Lock a catalog in SQLite, on a file beside it.

    A lock on SQLite's own file would be lost as soon as any connection to that file is closed.
    """
    with database.translate_errors(engine.url):
        descriptor = os.open(_lock_path(engine), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield WriteLock(lambda: _lock_file(descriptor), lambda: _is_file_at(_lock_path(engine), descriptor))
    finally:
        os.close(descriptor)


def describe_file_holder(engine: sa.Engine) -> str:
    """Say which process holds the lock; it wrote its name into the file."""
    with database.translate_errors(engine.url):
        return _lock_path(engine).read_text(encoding="utf-8") or UNKNOWN_PROCESS


def _lock_path(engine: sa.Engine) -> Path:
    return Path(f"{engine.url.database}.lock")


def _is_file_at(path: Path, descriptor: int) -> bool:
    """Whether the open file is still the one at the path: another process would lock a new one."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except OSError:
        return False


def _lock_file(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:  # Windows, where the lock of the embedded index keeps other processes out
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, name_process().encode(), 0)
    return True
