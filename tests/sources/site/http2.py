"""An HTTP/2 server over TLS, with a certificate made for these tests."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived

CERTIFICATE = Path(__file__).parent / "certificate.pem"


@contextmanager
def served(pages: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Serve pages over HTTP/2: the address, and the list of requested paths; other paths answer 404."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    context.set_alpn_protocols(["h2"])
    requested: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(target=_accept, args=(listening, context, pages, requested), daemon=True)
        accepting.start()
        yield f"https://127.0.0.1:{listening.getsockname()[1]}", requested


def tls_context() -> ssl.SSLContext:
    """The TLS context of a client that trusts the certificate of the server."""
    return ssl.create_default_context(cafile=CERTIFICATE)


def _accept(
    listening: socket.socket, context: ssl.SSLContext, pages: Mapping[str, str], requested: list[str]
) -> None:
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_serve, args=(connection, context, pages, requested), daemon=True).start()


def _serve(
    plain: socket.socket, context: ssl.SSLContext, pages: Mapping[str, str], requested: list[str]
) -> None:
    protocol = H2Connection(config=H2Configuration(client_side=False))
    try:
        with context.wrap_socket(plain, server_side=True) as connection:
            protocol.initiate_connection()
            connection.sendall(protocol.data_to_send())
            while data := connection.recv(65536):
                for event in protocol.receive_data(data):
                    if isinstance(event, RequestReceived):
                        _answer(protocol, event, pages, requested)
                connection.sendall(protocol.data_to_send())
    except OSError:
        return


def _answer(
    protocol: H2Connection, event: RequestReceived, pages: Mapping[str, str], requested: list[str]
) -> None:
    sent = {_text(name): _text(value) for name, value in event.headers or []}
    path = sent[":path"]
    requested.append(path)
    html = pages.get(path)
    stream = event.stream_id
    assert stream is not None
    headers = [(":status", "404" if html is None else "200"), ("content-type", "text/html")]
    protocol.send_headers(stream, headers)
    protocol.send_data(stream, (html or "").encode(), end_stream=True)


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode()
