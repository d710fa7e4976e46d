"""Connections to PostgreSQL with a time limit for every answer.

A server that is stopped, or a network that drops packets, leaves a connection open and silent. TCP notices a
lost peer. Only a time limit on this side notices a peer that keeps the connection and does not answer.

When the catalog is closed, threads that still wait for an answer stop waiting, so that a process can end.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Generator
from typing import Any

import psycopg
import sqlalchemy as sa

CONNECT_SECONDS = 10
"""How long a new connection may take."""

GRACE_SECONDS = 1.0
"""How much longer than the server this side waits, so that the server's own message comes first."""

RECYCLE_SECONDS = 1800
"""After how long a connection is replaced."""

# Options of libpq; those in the URL of the catalog come first. A lost peer is noticed within a minute.
_CONNECTION_OPTIONS = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives": 1,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "fallback_application_name": "pertinent",
}

# A limit that the URL, the role or the database sets is kept.
_LIMIT_STATEMENTS = """
    SELECT set_config('statement_timeout', %s, false) WHERE current_setting('statement_timeout') = '0'
"""


class SilentServerError(psycopg.OperationalError):
    """The server did not answer within the time limit, or the catalog was closed."""


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed if the server is silent for too long, or once the catalog is closed."""

    max_silence = 30.0
    catalog_closed: threading.Event
    """Set when the catalog is closed; each engine has its own."""

    @classmethod
    def _connect_gen(cls, *arguments: Any, **options: Any) -> Any:
        # psycopg has no public hook for the wait of a new connection, which has its own time limit.
        return _limit_silence(super()._connect_gen(*arguments, **options), math.inf, cls.catalog_closed)

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        """Run a step of the protocol; raise SilentServerError if the server does not answer in time."""
        step = _limit_silence(gen, self.max_silence, self.catalog_closed)
        try:
            return super().wait(step, *arguments, **options)
        except SilentServerError:
            # Its late answer would be taken for that of the next statement.
            self.pgconn.finish()
            raise


def _limit_silence(
    step: Any, max_silence: float, catalog_closed: threading.Event
) -> Generator[Any, Any, Any]:
    """Run a step of the protocol with a timeout between two events of the socket."""
    deadline = time.monotonic() + max_silence
    try:
        state = next(step)
        while True:
            event = yield state
            now = time.monotonic()
            if event:
                deadline = now + max_silence
            elif catalog_closed.is_set():
                raise SilentServerError("connection silent when the catalog was closed")
            elif now > deadline:
                raise SilentServerError(f"connection silent for {max_silence:g} s")
            state = step.send(event)
    except StopIteration as end:
        return end.value


def create_postgres_engine(url: sa.URL, timeout: float, **options: Any) -> sa.Engine:
    """Create an engine whose statements have a time limit; once disposed, it waits for no server.

    Args:
        url: The address of the database.
        timeout: How many seconds the server has for a statement.
        options: Further options of the engine.
    """
    defaults = {name: value for name, value in _CONNECTION_OPTIONS.items() if name not in url.query}
    # The server may have closed an idle connection; a ping costs less than a failed search.
    engine = sa.create_engine(
        url, connect_args=defaults, pool_pre_ping=True, pool_recycle=RECYCLE_SECONDS, **options
    )

    closed = threading.Event()

    class EngineConnection(LimitedConnection):
        catalog_closed = closed

    @sa.event.listens_for(engine, "engine_disposed")
    def stop_waiting(_engine: object) -> None:
        closed.set()

    @sa.event.listens_for(engine, "checkin")
    def close_after_disposal(connection: LimitedConnection | None, _record: object) -> None:
        """Close a connection that was in use when the engine was disposed: no pool will."""
        if closed.is_set() and connection is not None:
            connection.close()

    @sa.event.listens_for(engine, "do_connect")
    def connect(_dialect: object, _record: object, arguments: Any, parameters: Any) -> LimitedConnection:
        connection = EngineConnection.connect(*arguments, **parameters)
        try:
            connection.max_silence = timeout + GRACE_SECONDS
            connection.autocommit = True
            connection.execute(_LIMIT_STATEMENTS, [str(round(timeout * 1000))])
            connection.autocommit = False
        except BaseException:
            connection.close()
            raise
        return connection

    return engine
