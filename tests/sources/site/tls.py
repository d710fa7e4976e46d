"""A site over TLS that offers HTTP/2 and HTTP/1.1, with a certificate made for these tests."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CERTIFICATE = Path(__file__).parent / "certificate.pem"


def server_context() -> ssl.SSLContext:
    """The TLS context of a server with the certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return context


def client_context() -> ssl.SSLContext:
    """The TLS context of a client that trusts the certificate of the server."""
    return ssl.create_default_context(cafile=CERTIFICATE)


@contextmanager
def served(pages: Mapping[str, str]) -> Iterator[tuple[str, list[str | None]]]:
    """Serve pages: the address, and the protocol of each connection; other paths answer 404."""
    protocols: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            self.request.do_handshake()
            protocols.append(self.request.selected_alpn_protocol())
            super().setup()

        def do_GET(self) -> None:
            body = pages.get(self.path, "").encode()
            self.send_response(200 if self.path in pages else 404)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # a client that refuses the certificate

    context = server_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_port}", protocols
        server.shutdown()
