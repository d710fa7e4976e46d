"""Servers that misbehave on purpose."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Answer = Callable[[str], bytes]
"""The response to a requested path."""

GREETING = b'{"title": "qdrant - vector search engine", "version": "1.16.3", "commit": "0"}'


def reply(status: str, body: bytes, *headers: str) -> bytes:
    """An answer in HTTP."""
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass
class Faulty:
    """A server on its own port, and the paths of its requests."""

    url: str
    paths: list[str] = field(default_factory=list)


@contextmanager
def faulty(answer: Answer | None, drip: bytes = b"") -> Iterator[Faulty]:
    """A server that misbehaves.

    Args:
        answer: Its response to a path; with None it accepts connections and never answers.
        drip: What it sends after each answer, again and again without end.
    """
    over = threading.Event()
    server = Faulty("")

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if answer is None:
                over.wait()
                return
            path = self.rfile.readline().decode("latin-1").split(" ")[1]
            length = 0
            while (line := self.rfile.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            self.rfile.read(length)
            server.paths.append(path)
            self.wfile.write(answer(path))
            while drip and not over.wait(0.02):
                self.wfile.write(drip)

    class Threads(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            """Ignore errors: a client may have given up."""

    with Threads(("127.0.0.1", 0), Handler) as listener:
        server.url = f"http://127.0.0.1:{listener.server_address[1]}"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            over.set()
            listener.shutdown()
            thread.join()
