"""A PostgreSQL that is silent or busy: every statement ends."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import quote

import psycopg
import pytest
import sqlalchemy as sa

from pertinent.errors import CatalogFailure
from pertinent.stores.catalog import postgres
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.stores.catalog.database import unlimited_statements

from ...servers.silent_proxy import SilentProxy, silent_proxy


@pytest.fixture
def proxy(postgres_server: str) -> Iterator[tuple[SilentProxy, str]]:
    with silent_proxy(postgres_server, connect_seconds=2) as silent:
        yield silent


def test_statement_on_a_silent_connection_fails_and_the_next_one_works(
    proxy: tuple[SilentProxy, str],
) -> None:
    silent, url = proxy
    with closing(SqlCatalog.open(url, timeout=1.0)) as catalog:
        catalog.ping()
        with (
            silent.silent(lose_connections=True),
            pytest.raises(CatalogFailure, match="connection") as failure,
        ):
            catalog.ping()
        assert "check" in str(failure.value)
        catalog.ping()


@pytest.mark.slow
def test_new_connection_has_a_time_limit_without_one_in_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    assert postgres._CONNECTION_OPTIONS["connect_timeout"] == postgres.CONNECT_SECONDS
    monkeypatch.setitem(postgres._CONNECTION_OPTIONS, "connect_timeout", 2)
    # The system accepts the connection; nobody answers on it.
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(CatalogFailure, match="timeout"),
    ):
        SqlCatalog.open(f"postgresql://user@127.0.0.1:{server.getsockname()[1]}/book", timeout=1.0)


def test_write_on_a_silent_connection_fails(proxy: tuple[SilentProxy, str]) -> None:
    silent, url = proxy
    with closing(SqlCatalog.open(url, timeout=1.0)) as catalog:
        with silent.silent(), pytest.raises(CatalogFailure):
            catalog.register("source", "location")
        catalog.register("source", "location")
        assert catalog.sources()["source"] == "location"


@pytest.mark.parametrize("is_connected", [True, False])
def test_closing_the_catalog_ends_the_wait_for_a_silent_server(
    proxy: tuple[SilentProxy, str], is_connected: bool
) -> None:
    silent, url = proxy
    catalog = SqlCatalog.open(url.replace("connect_timeout=2", "connect_timeout=60"), timeout=60.0)
    if not is_connected:
        vars(catalog)["_engine"].pool.dispose()
    with silent.silent(), ThreadPoolExecutor(1) as threads:
        statement = threads.submit(catalog.ping)
        time.sleep(0.5)
        catalog.close()
        began = time.monotonic()
        with pytest.raises(CatalogFailure, match="closed"):
            statement.result()
        assert time.monotonic() - began < 5


def test_server_cancels_a_statement_that_takes_too_long(postgres_url: str) -> None:
    with (
        closing(SqlCatalog.open(postgres_url, timeout=1.0)) as catalog,
        psycopg.connect(postgres_url) as other,
    ):
        other.execute("LOCK TABLE documents")
        with pytest.raises(CatalogFailure, match="statement timeout; check the load"):
            catalog.ping()
        other.rollback()
        catalog.ping()


def test_statement_timeout_of_the_url_is_kept(postgres_url: str) -> None:
    url = f"{postgres_url}{quote(' -cstatement_timeout=7s')}"
    with closing(SqlCatalog.open(url)) as catalog, vars(catalog)["_reader"].connect() as connection:
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "7s"


def test_work_that_grows_with_the_catalog_has_no_time_limit(postgres_url: str) -> None:
    with closing(SqlCatalog.open(postgres_url, timeout=1.0)) as catalog:
        writer = vars(catalog)["_writer"]
        with writer.begin() as connection, unlimited_statements(connection):
            connection.exec_driver_sql("SELECT pg_sleep(2.5)")
        with pytest.raises(sa.exc.OperationalError), writer.begin() as connection:
            connection.exec_driver_sql("SELECT pg_sleep(2.5)")


def test_connection_in_use_is_closed_after_the_engine_is_disposed(postgres_url: str) -> None:
    engine = postgres.create_postgres_engine(sa.make_url(postgres_url), 5.0)
    with engine.connect() as connection:
        driver_connection = connection.connection.driver_connection
        engine.dispose()
    assert driver_connection is not None
    assert driver_connection.closed


def test_connection_whose_session_the_server_ended_is_replaced(postgres_url: str) -> None:
    with closing(SqlCatalog.open(postgres_url)) as catalog, psycopg.connect(postgres_url) as administrator:
        catalog.ping()
        # All sessions of the catalog; those of other tests have other schemas.
        ended = administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'pertinent' AND pid <> pg_backend_pid()"
        ).fetchall()
        assert ended
        catalog.ping()


def test_connections_notice_a_lost_peer_and_are_replaced_with_time(postgres_url: str) -> None:
    engine = postgres.create_postgres_engine(sa.make_url(postgres_url), 5.0)
    with engine.connect() as connection:
        driver_connection = connection.connection.driver_connection
        assert driver_connection is not None
        parameters = driver_connection.info.get_parameters()
    engine.dispose()
    assert {name: parameters[name] for name in ("keepalives_idle", "tcp_user_timeout")} == {
        "keepalives_idle": "30",
        "tcp_user_timeout": "30000",
    }
    assert vars(engine.pool)["_recycle"] == postgres.RECYCLE_SECONDS
