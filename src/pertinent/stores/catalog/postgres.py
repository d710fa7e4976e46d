"""Connections to PostgreSQL with a time limit for every answer.

A server that is stopped, or a network that drops packets, leaves a connection open and silent. TCP notices a
lost peer. Only a time limit on this side notices a peer that keeps the connection and does not answer.
"""

from __future__ import annotations

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


class LimitedConnection(psycopg.Connection[Any]):
    """A connection that is closed if the server is silent for too long."""

    max_silence = 30.0

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        """Run a step of the protocol; raise OperationalError if the server does not answer in time."""
        return super().wait(self._limit_silence(gen), *arguments, **options)

    def _limit_silence(self, step: Any) -> Generator[Any, Any, Any]:
        """Pass the events of the socket on; any of them counts as an answer."""
        deadline = time.monotonic() + self.max_silence
        try:
            state = next(step)
            while True:
                event = yield state
                now = time.monotonic()
                if event:
                    deadline = now + self.max_silence
                elif now > deadline:
                    # Its late answer would be taken for that of the next statement.
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"connection silent for {self.max_silence:g} s")
                state = step.send(event)
        except StopIteration as end:
            return end.value


def create_postgres_engine(url: sa.URL, timeout: float, **options: Any) -> sa.Engine:
    """Create an engine whose statements have a time limit.

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

    @sa.event.listens_for(engine, "do_connect")
    def connect(_dialect: object, _record: object, arguments: Any, parameters: Any) -> LimitedConnection:
        connection = LimitedConnection.connect(*arguments, **parameters)
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
