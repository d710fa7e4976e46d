"""Secure connections: made where the certificate is trusted, refused with what to do where it is not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pertinent.errors import CatalogFailure, IndexFailure
from pertinent.ports import Fingerprint
from pertinent.stores.catalog.catalog import SqlCatalog
from pertinent.stores.qdrant.builds import QdrantBuilds
from pertinent.stores.qdrant.server import Server
from pertinent.testing.index_suite import EMBEDDER, fill
from pertinent.types import Filters

from ...servers.binary import require
from ...servers.fixtures import Endpoint
from ...servers.qdrant import Node, running

pytestmark = pytest.mark.xdist_group("qdrant")

MADE_WITH = Fingerprint(EMBEDDER.name, EMBEDDER.dimension, "structure-1", "bm25")
CERTIFICATE = Path(__file__).parents[2] / "sources" / "site" / "certificate.pem"
ASKS_FOR_TLS = bytes.fromhex("0000000804d2162f")
"""How a client of PostgreSQL begins where it wants a secure connection."""


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with running(require(), tmp_path_factory.mktemp("secure"), "a-key", CERTIFICATE) as node:
        yield node


def test_trusted_certificate_is_accepted(secure: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    index = QdrantBuilds(lambda: Server(secure.url, "a-key"), "book").open(MADE_WITH)
    written = fill(index)
    assert index.count() == len(written)
    assert index.candidates(None, "topics", by=["lexical"], limit=5, filters=Filters()).point_ids
    index.close()


def test_untrusted_certificate_error_names_ssl_cert_file(secure: Node) -> None:
    with (
        Server(secure.url, "a-key") as server,
        pytest.raises(IndexFailure, match=r"certificate that is not trusted here.*SSL_CERT_FILE") as caught,
    ):
        server.version()
    assert "a-key" not in str(caught.value)


def test_https_url_of_an_http_server_is_a_clear_error(qdrant: Endpoint) -> None:
    with (
        Server(qdrant.url.replace("http:", "https:")) as server,
        pytest.raises(IndexFailure, match=r"refused the TLS handshake.*write http:// in QDRANT_URL"),
    ):
        server.version()


def test_postgresql_is_asked_for_tls_where_the_address_says_so() -> None:
    heard = []

    def answer(listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                heard.append(connection.recv(8))
                connection.sendall(b"N")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, args=(listening,), daemon=True).start()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(CatalogFailure, match=r"does not support SSL.*sslmode"):
            SqlCatalog.open(f"postgresql://me:secret@{address}/book?sslmode=require")
        listening.shutdown(socket.SHUT_RDWR)
    assert heard
    assert set(heard) == {ASKS_FOR_TLS}
