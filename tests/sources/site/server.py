"""An HTTP server for tests: each path has a page, or a function that answers as the test needs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Request(BaseHTTPRequestHandler):
    """One request; the behaviour that a test gives for a path receives it and answers it."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        site = self.server.site
        path = self.path
        with site.lock:
            site.requested_paths.append(path)
            site.request_headers.append({name.lower(): value for name, value in self.headers.items()})
        answer = site.pages.get(path, site.fallback)
        if callable(answer):
            answer(self)
        else:
            self.send(answer)

    def send(
        self, body: str | bytes = b"", *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a correct response, with an ETag and support for conditional requests."""
        data = body.encode() if isinstance(body, str) else body
        tag = f'"{sha256(data).hexdigest()[:16]}"'
        sent = {"Content-Type": "text/html; charset=utf-8", "ETag": tag, **(headers or {})}
        if_none_match = self.headers.get("If-None-Match")
        if status == 200 and sent["ETag"] and if_none_match == sent["ETag"]:
            status, data = 304, b""
        self.send_response(status)
        for name, value in sent.items():
            if value:
                self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_late(self, body: str, seconds: float) -> None:
        """Send a response after a while, or when the test is over."""
        self.server.site.ended.wait(seconds)
        self.send(body)

    def raw(self, *pieces: bytes) -> None:
        """Send raw bytes, and close the connection afterwards."""
        self.close_connection = True
        for piece in pieces:
            self.wfile.write(piece)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
        """Log nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    site: LocalSite

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that close the connection."""


Behaviour = str | bytes | Callable[[Request], None]


@dataclass
class LocalSite:
    """A site by its paths: the HTML of a page, or the function that answers the request."""

    address: str = ""
    pages: dict[str, Behaviour] = field(default_factory=dict)
    requested_paths: list[str] = field(default_factory=list)
    request_headers: list[dict[str, str]] = field(default_factory=list)
    fallback: Behaviour = field(default=lambda request: request.send("<h1>Not found</h1>", status=404))
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when the test is over, to end behaviours that wait."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sitemap(self, *paths: str, at: str = "/sitemap.xml") -> None:
        """List these paths in a sitemap."""
        self.pages[at] = sitemap(*(self.address + path for path in paths))

    def book(self, *names: str, folder: str = "/docs") -> None:
        """Pages, and a sitemap that lists them."""
        for name in names:
            self.pages[f"{folder}/{name}"] = page(name.title(), f"<p>This page is about {name}.</p>")
        self.sitemap(*(f"{folder}/{name}" for name in names))

    def clear_requests(self) -> None:
        """Forget the requests so far."""
        self.requested_paths.clear()
        self.request_headers.clear()


@contextmanager
def served(host: str = "127.0.0.1") -> Iterator[LocalSite]:
    """Serve a site while the block runs."""
    server = _Server((host, 0), Request)
    site = LocalSite(f"http://{host}:{server.server_address[1]}")
    server.site = site
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.ended.set()
        server.shutdown()
        server.server_close()


def page(title: str, body: str = "", *, head: str = "", lang: str = "en", html: str = "") -> str:
    """A page of HTML with an article in it."""
    return (
        f'<!doctype html><html lang="{lang}" {html}><head><meta charset="utf-8"><title>{title}</title>{head}'
        f"</head><body><main><article><h1>{title}</h1>{body or f'<p>All about {title}.</p>'}</article></main>"
        "</body></html>"
    )


def links(*paths: str) -> str:
    """A paragraph that links to these."""
    return "<p>" + " ".join(f'<a href="{path}">{path}</a>' for path in paths) + "</p>"


def doc(name: str, title: str, *, version: str = "current", body: str = "") -> str:
    """A page of Docusaurus's docs."""
    head = (
        '<meta name="generator" content="Docusaurus v3.10.2">'
        f'<meta name="docusaurus_version" content="{version}">'
        f'<meta name="docusaurus_tag" content="docs-default-{version}">'
    )
    names = f"plugin-docs plugin-id-default docs-version-{version} docs-doc-page docs-doc-id-{name}"
    return (
        f'<!doctype html><html lang="en" dir="ltr" class="docs-wrapper {names}"><head><meta charset="utf-8">'
        f"<title>{title} | Book</title>{head}</head><body><div id='__docusaurus'><main><article>"
        f'<div class="theme-doc-markdown markdown"><header><h1>{title}</h1></header>'
        f"{body or f'<p>All about {title}.</p>'}</div></article></main></div></body></html>"
    )


def sitemap(*addresses: str) -> str:
    listed = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="{NAMESPACE}">{listed}</urlset>'


def sitemap_index(*addresses: str) -> str:
    listed = "".join(f"<sitemap><loc>{address}</loc></sitemap>" for address in addresses)
    return f'<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="{NAMESPACE}">{listed}</sitemapindex>'


NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
