"""Connections to the catalog's database: how it is opened, read and written, and how it fails."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from ...errors import CatalogFailure, SettingsError

_DRIVERS = {
    "sqlite": "sqlite",
    "sqlite+pysqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}

# More than the threads that search at once: a pool that is used up hands connections out unfairly, and
# under 50 busy readers a writer waited for 30 s. Only as many are opened as are in use at one time.
_CONNECTIONS = 64
_WAIT_SECONDS = 30

# What to do, by a part of what the database says.
_ADVICE = {
    "its file is gone": "put it back from a backup, or stop what uses it and run `pertinent index` again",
    "[errno": "check that its folder can be made and written",
    "file is not a database": "move the file away and run `pertinent index` to make it anew",
    "malformed": "the file is damaged; move it away and run `pertinent index` to make it anew",
    "unable to open": "check that its folder can be written and that it is no folder itself",
    "readonly": "check that the file and its folder can be written",
    "database is locked": "another process is writing; try again when it is done",
    "disk is full": "make room on the disk and run the command again",
    "already exists": "give Pertinent a database or schema of its own",
    "permission denied": "grant the user what it needs",
    "must be owner": "let the owner of the table run `pertinent index` once, or grant ownership",
    "password authentication": "check the user and the password in DATABASE_URL",
    "fatal:  database": "make the database first, with `createdb`, or correct DATABASE_URL",
    "does not support ssl": "turn TLS on there, or take sslmode out of DATABASE_URL",
    "certificate verify failed": "name the certificate of who signed it, as sslrootcert in DATABASE_URL",
    "queuepool limit": "ask from fewer threads at once",
    "connection": "check that the server runs and that DATABASE_URL names it",
}


def parse(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        # Not chained: the reason may quote a part of the address, and so of its password.
        raise SettingsError(
            "the catalog's address can't be read; write sqlite:///PATH or postgresql://USER:PASSWORD@HOST/NAME,"
            " with special characters of the password percent-encoded"
        ) from None
    if parsed.drivername not in _DRIVERS:
        raise SettingsError(f"the catalog can't be kept in {parsed.drivername}: use sqlite or postgresql")
    if parsed.drivername.startswith("sqlite") and parsed.database in (None, "", ":memory:"):
        # Each connection would have a memory of its own.
        raise SettingsError("the catalog needs a file: write sqlite:///PATH")
    return parsed.set(drivername=_DRIVERS[parsed.drivername])


def connect(url: sa.URL) -> sa.Engine:
    """Make an engine for 50 threads that never puts a value into an error message."""
    arguments: dict[str, Any] = {
        "hide_parameters": True,
        "pool_size": _CONNECTIONS,
        "max_overflow": 0,
        "pool_timeout": _WAIT_SECONDS,
        "pool_use_lifo": True,
    }
    if url.drivername == "sqlite":
        return _sqlite(url, arguments)
    if "connect_timeout" not in url.query:
        arguments["connect_args"] = {"connect_timeout": 10}
    try:
        # A server may have closed an idle connection; asking costs less than a failed search.
        return sa.create_engine(url, pool_pre_ping=True, **arguments)
    except ImportError as error:
        raise SettingsError("PostgreSQL needs its driver: pip install 'pertinent[postgres]'") from error


def _sqlite(url: sa.URL, arguments: dict[str, Any]) -> sa.Engine:
    with translate_errors(url):
        Path(url.database or "").parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(url, **arguments)

    @sa.event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        # Transactions begin where we say, not where the driver guesses.
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout = {_WAIT_SECONDS * 1000}")
        connection.execute("PRAGMA foreign_keys = ON")
        # NORMAL may lose the last commits when the power fails. The index would have dropped the
        # superseded points by then, and no pending note would be left to say so.
        connection.execute("PRAGMA synchronous = FULL")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A reader is one statement, which SQLite answers from one snapshot without a transaction.
        if connection.get_execution_options().get("writes"):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def write_ahead(engine: sa.Engine) -> None:
    """Let readers go on while one writes; a new file takes that once, for good."""
    deadline = time.monotonic() + _WAIT_SECONDS
    with engine.connect() as connection:
        while connection.exec_driver_sql("PRAGMA journal_mode").scalar() != "wal":
            try:
                connection.exec_driver_sql("PRAGMA journal_mode = WAL")
            except sa.exc.OperationalError:
                # Another process is at the same: SQLite does not wait for this statement's lock.
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)


def identify_file(url: sa.URL) -> tuple[int, int] | None:
    """Device and inode of SQLite's file; None where there is no file, as with a server."""
    if not url.drivername.startswith("sqlite"):
        return None
    try:
        status = os.stat(url.database or "")  # noqa: PTH116 - with a Path each search would take longer
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def reader(engine: sa.Engine) -> sa.Engine:
    if engine.dialect.name == "postgresql":
        return engine.execution_options(isolation_level="AUTOCOMMIT")
    return engine


def writer(engine: sa.Engine) -> sa.Engine:
    return engine.execution_options(writes=True)


def masked(url: sa.URL) -> str:
    """Show the address without its password, and without options that may hold one."""
    return url.set(query={}).render_as_string(hide_password=True)


@contextmanager
def translate_errors(url: sa.URL) -> Iterator[None]:
    """Turn an error of the database into ours."""
    try:
        yield
    # ValueError: SQLite keeps any text in a TIMESTAMP, also one that another program wrote and is no time.
    except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError, OverflowError, ValueError) as error:
        reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        advice = next((advice for part, advice in _ADVICE.items() if part in reason.lower()), None)
        message = f"the catalog {masked(url)} failed: {reason}"
        raise CatalogFailure(f"{message}; {advice}" if advice else message) from error
