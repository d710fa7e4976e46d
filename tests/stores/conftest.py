"""A real PostgreSQL for the session, and a new schema in it for each test that asks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from ..servers.postgres import postgres_starter

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL that runs as long as the tests do."""
    with postgres_starter() as start:
        server = start()
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of an empty schema; a database for each test would be 300 files to make and remove."""
    import psycopg

    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgres_server}&options=-csearch_path%3D{name}"
