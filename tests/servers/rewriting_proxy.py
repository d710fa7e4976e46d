"""An HTTP proxy before a service that changes the JSON of requests and responses."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

Rewrite = Callable[[str, dict[str, Any]], None]
"""Changes a body in place; its first argument is the path of the request."""


def rewrite_nothing(path: str, body: dict[str, Any]) -> None:
    """Leave a body as it is."""


@contextmanager
def rewriting_proxy(
    url: str, request: Rewrite = rewrite_nothing, response: Rewrite = rewrite_nothing
) -> Iterator[str]:
    """A proxy before the service at an address; gives its own address.

    Args:
        url: The address of the service.
        request: Changes the body of each request that has one.
        response: Changes the body of each successful response.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._forward(None)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            request(self.path, body)
            self._forward(body)

        def _forward(self, body: dict[str, Any] | None) -> None:
            headers = {"cache-control": self.headers.get("cache-control", "")}
            answer = client.request(self.command, self.path, json=body, headers=headers)
            rewritten = answer.json()
            if answer.is_success:
                response(self.path, rewritten)
            content = json.dumps(rewritten).encode()
            self.send_response(answer.status_code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with (
        httpx.Client(base_url=url, trust_env=False, timeout=60) as client,
        http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server,
    ):
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
