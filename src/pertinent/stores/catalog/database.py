"""Connect to the catalog's database, and translate its errors."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import orjson
import sqlalchemy as sa

from ..._internal.disk import is_read_only
from ...errors import CatalogFailure, PertinentError, SettingsError

_DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}

# More than the threads that search at once: an exhausted pool hands connections out unfairly, and with 50
# busy readers a writer waited for 30 s. The pool opens only as many connections as are in use.
_CONNECTIONS = 64
_WAIT_SECONDS = 30

STATEMENT_SECONDS = 30.0
"""How long PostgreSQL may take for a statement, unless the settings say otherwise."""

# What to do, by a part of the database's error message.
_ADVICE = {
    "its file is gone": "put it back from a backup, or stop what uses it and run `pertinent index` again",
    "resolve host": "check the host in DATABASE_URL",
    "[errno": "check that its folder can be created and written",
    "file is not a database": "move the file away and run `pertinent index` to recreate it",
    "malformed": "the file is damaged; move it away and run `pertinent index` to recreate it",
    "codec can't decode": "the file is damaged; move it away and run `pertinent index` to recreate it",
    "unable to open": "check that its folder can be written and that the path is not a folder",
    "not merged": "run `pertinent list` once where the folder can be written",
    "readonly": "check that the file and its folder can be written",
    "database is locked": "another process is writing; try again when it is done",
    "disk is full": "free space on the disk and run the command again",
    "disk i/o error": "check that the disk works and has free space",
    "already exists": "give Pertinent a database or schema of its own",
    "too many clients": "raise max_connections of the server, or run fewer instances",
    "connection slots": "raise max_connections of the server, or run fewer instances",
    "read-only transaction": "let DATABASE_URL name the primary server, which can be written",
    "permission denied": "grant the user the permissions it needs",
    "must be owner": "let the owner of the table run `pertinent index` once, or grant ownership",
    "password authentication": "check the user and the password in DATABASE_URL",
    "fatal:  database": "create the database with `createdb`, or correct DATABASE_URL",
    "does not support ssl": "turn TLS on at the server, or remove sslmode from DATABASE_URL",
    "certificate verify failed": "set sslrootcert in DATABASE_URL to the certificate of its authority",
    "queuepool limit": "search from fewer threads at once",
    "statement timeout": "check the load and the locks of the server, or raise database_timeout",
    "connection silent": "check the server and the network between, or raise database_timeout",
    "connection": "check that the server runs and that DATABASE_URL names it",
}


def parse_url(url: str) -> sa.URL:
    """Parse the URL of a catalog and choose its driver; raise SettingsError if it is not usable."""
    try:
        parsed = sa.make_url(url)
        if "@" in (parsed.host or ""):
            raise ValueError  # the first @ ends the password, so the host has the remainder of it
    except (sa.exc.ArgumentError, ValueError):
        # Not chained: the cause may quote a part of the URL, and so of its password.
        raise SettingsError(
            "the URL of the catalog can't be parsed; write sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME,"
            " with special characters of the password percent-encoded"
        ) from None
    if parsed.drivername not in _DRIVERS:
        raise SettingsError(f"the catalog can't be stored in {parsed.drivername}: use sqlite or postgresql")
    if parsed.drivername.startswith("sqlite") and parsed.database in (None, "", ":memory:"):
        # In memory each connection would have a database of its own.
        raise SettingsError("the catalog needs a file: write sqlite:///PATH")
    return parsed.set(drivername=_DRIVERS[parsed.drivername])


def create_engine(url: sa.URL, timeout: float = STATEMENT_SECONDS) -> sa.Engine:
    """Create an engine for 50 threads; its error messages contain no values.

    Args:
        url: The address of the database.
        timeout: How many seconds PostgreSQL has for a statement.
    """
    arguments: dict[str, Any] = {
        "hide_parameters": True,
        "pool_size": _CONNECTIONS,
        "max_overflow": 0,
        "pool_timeout": _WAIT_SECONDS,
        "pool_use_lifo": True,
        # The sections of a large page: json would hold each number of them as a text of its own.
        "json_serializer": _dump_json,
        "json_deserializer": _load_json,
    }
    if url.drivername == "sqlite":
        return _create_sqlite_engine(url, arguments)
    try:
        from .postgres import create_postgres_engine

        return create_postgres_engine(url, timeout, **arguments)
    except ImportError as error:
        raise SettingsError("PostgreSQL needs its driver: pip install 'pertinent[postgres]'") from error


def _dump_json(value: object) -> str:
    return orjson.dumps(value).decode()


def _load_json(text: Any) -> Any:
    """Parse JSON; return damaged JSON as it is, so that only the use of its row fails."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text


_decode_text = partial(str, encoding="utf-8", errors="replace")
"""Decodes a text of SQLite; a damaged one is read as an altered one, which its hash shows."""


def _create_sqlite_engine(url: sa.URL, arguments: dict[str, Any]) -> sa.Engine:
    with translate_errors(url):
        Path(url.database or "").parent.mkdir(parents=True, exist_ok=True)
    if is_read_only_file(url):
        arguments["creator"] = lambda: _connect_read_only(url)
    engine = sa.create_engine(url, **arguments)

    @sa.event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        # We begin transactions ourselves; the driver would guess where they begin.
        connection.isolation_level = None
        connection.text_factory = _decode_text
        connection.execute(f"PRAGMA busy_timeout = {_WAIT_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        # With NORMAL a power failure may lose the last commits. The index would have deleted stale points
        # by then, and no pending mark would be left to repair that.
        connection.execute("PRAGMA synchronous = FULL")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A read is one statement, which SQLite answers from one snapshot without a transaction.
        if connection.get_execution_options().get("writes"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def is_read_only_file(url: sa.URL) -> bool:
    """Whether the SQLite file exists, and it or its folder can't be written."""
    file = Path(url.database or "")
    return file.exists() and (is_read_only(file) or is_read_only(file.parent))


def _connect_read_only(url: sa.URL) -> sqlite3.Connection:
    """Connect to a file that can't be written, or where SQLite can't create its own files beside it."""
    file = Path(url.database or "").resolve()
    log = file.with_name(f"{file.name}-wal")
    if log.exists() and log.stat().st_size:
        raise sqlite3.OperationalError(f"{log.name} has changes that were not merged into the file")
    return sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


@contextmanager
def unlimited_statements(connection: sa.Connection) -> Iterator[None]:
    """Lift the time limit of statements in this transaction: their time grows with the catalog."""
    if connection.dialect.name != "postgresql":
        yield
        return
    driver_connection: Any = connection.connection.driver_connection
    limit, driver_connection.max_silence = driver_connection.max_silence, math.inf
    try:
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        yield
    finally:
        driver_connection.max_silence = limit


def enable_write_ahead_log(engine: sa.Engine) -> None:
    """Let readers continue while one process writes; the file keeps this setting."""
    deadline = time.monotonic() + _WAIT_SECONDS
    with engine.connect() as connection:
        while connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
            try:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            except sa.exc.OperationalError:
                # Another process does the same: SQLite does not wait for the lock of this statement.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def merge_write_ahead_log(engine: sa.Engine, mode: Literal["TRUNCATE", "PASSIVE"] = "TRUNCATE") -> None:
    """Move all commits into the SQLite file, so that a copy of that file alone is a backup.

    SQLite itself does so only when the last connection closes, and a service keeps its connections.

    Args:
        engine: The database.
        mode: TRUNCATE waits for readers and also empties the log; PASSIVE waits for nobody.
    """
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            connection.exec_driver_sql(f"PRAGMA wal_checkpoint({mode})")


def check_file(engine: sa.Engine) -> None:
    """Raise DatabaseError if a SQLite file is damaged, also where no statement has noticed it yet."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            result = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
        if result != "ok":
            raise sqlite3.DatabaseError(f"malformed: {result}")


def identify_file(url: sa.URL) -> tuple[int, int] | None:
    """Return device and inode of the SQLite file; None if it does not exist, and for PostgreSQL."""
    if not url.drivername.startswith("sqlite"):
        return None
    try:
        status = os.stat(url.database or "")  # noqa: PTH116 - faster than Path.stat, and called for each search
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def reading_engine(engine: sa.Engine) -> sa.Engine:
    """Return an engine for single statements, without transactions."""
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="AUTOCOMMIT")
    return engine


def writing_engine(engine: sa.Engine) -> sa.Engine:
    """Return an engine whose transactions begin with the write lock."""
    return engine.execution_options(writes=True)


def mask_password(url: sa.URL) -> str:
    """Format the URL without its password, and without options that may contain one."""
    return url.set(query={}).render_as_string(hide_password=True)


@contextmanager
def translate_errors(url: sa.URL) -> Iterator[None]:
    """Raise database errors as CatalogFailure, with advice where there is some."""
    try:
        yield
    except PertinentError:
        raise
    except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError, OverflowError, ValueError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        advice = next((advice for part, advice in _ADVICE.items() if part in reason.lower()), None)
        message = f"the catalog {mask_password(url)} failed: {reason}"
        raise CatalogFailure(f"{message}; {advice}" if advice else message) from error
