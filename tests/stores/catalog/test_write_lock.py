"""The write lock: who holds it is named, waiting has an end, and a dead session does not keep it."""

from __future__ import annotations

import os
import socket
import time
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa

from pertinent.errors import CatalogFailure, LockTimeout
from pertinent.settings import Settings
from pertinent.stores.catalog import locks
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.workspace.workspace import Workspace

from ...servers.postgres import listen_on_tcp, postgres_starter
from ...servers.qdrant import free_ports

pytestmark = pytest.mark.slow

TCP_REPAIR = 19
"""The socket option of Linux with which a connection is closed without a word to its peer."""


def open_workspace(folder: Any, url: str, **chosen: Any) -> Workspace:
    chosen = {"embedder": "testing:hashed-words", "database_url": url, **chosen}
    return Workspace(Settings.model_validate({"folder": folder, **chosen}))


class Stages(list[str]):
    """Progress that records its stages."""

    def stage(self, name: str, total: int | None) -> None:
        self.append(name)

    def advance(self, steps: int = 1) -> None:
        """Do nothing."""

    def waiting(self, message: str) -> None:
        self.append(message)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_waiting_for_the_write_lock_names_its_holder_and_gives_up(
    database: str, tmp_path: Any, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/catalog.sqlite3"
    if database == "postgresql":
        url = request.getfixturevalue("postgres_url")
    workspace = open_workspace(tmp_path, url, lock_timeout=0.5)
    holder = f"process {os.getpid()} on {socket.gethostname()[:30]}"
    stages = Stages()
    with (
        closing(SqlCatalog.open(url)) as other,
        closing(workspace),
        other.write_lock(lambda: None),
        pytest.raises(LockTimeout, match="lock_timeout") as refusal,
        workspace.writing(stages, new=True),
    ):
        pytest.fail("two write at once")
    assert holder in str(refusal.value)
    assert ("pg_terminate_backend" in str(refusal.value)) == (database == "postgresql")
    (waiting,) = stages
    assert holder in waiting


def test_write_lock_is_lost_with_its_file(tmp_path: Any) -> None:
    with closing(SqlCatalog.open(f"sqlite:///{tmp_path}/catalog.sqlite3")) as catalog:
        with catalog.write_lock(lambda: None):
            catalog.check_write_lock()
            (tmp_path / "catalog.sqlite3.lock").unlink()
            with pytest.raises(CatalogFailure, match="was lost"):
                catalog.check_write_lock()
        catalog.check_write_lock()  # it is not taken


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may close a connection without a word")
def test_write_lock_of_a_client_that_vanished_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "KEEPALIVE_SECONDS", 1)
    with postgres_starter() as start:
        server = start()
        url = listen_on_tcp(server, free_ports(1))
        try:
            with closing(SqlCatalog.open(url)) as catalog:
                vanish_with_the_lock(url)
                deadline = time.monotonic() + 60

                def waiting() -> None:
                    assert time.monotonic() < deadline, "the lock of a dead session stays"

                with catalog.write_lock(waiting):
                    pass
        finally:
            server.cleanup()


def vanish_with_the_lock(url: str) -> None:
    """Take the write lock, and close the connections that it uses without telling the server."""
    connections: set[Any] = set()
    catalog = SqlCatalog.open(url)
    sa.event.listen(vars(catalog)["_engine"], "checkout", lambda used, *_: connections.add(used))

    def vanish() -> None:
        for connection in connections:
            with socket.socket(fileno=connection.fileno()) as raw:
                # What the client has not acknowledged, the server would send again, and find it gone.
                raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                time.sleep(0.2)
                raw.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
                raw.detach()
            connection.close()

    with pytest.raises(CatalogFailure, match="connection is closed"), catalog.write_lock(lambda: None):
        vanish()
    catalog.close()
