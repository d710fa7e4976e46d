"""Crawl a site of 2,000 pages: fetch, parse and chunk them, without embedding; then again, unchanged."""

from __future__ import annotations

import asyncio
import gzip
import multiprocessing
import random
import socket
import tempfile
import time
import zlib
from collections.abc import Mapping
from html import escape
from multiprocessing.process import BaseProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, cast

import uvloop

from pertinent.embedders.local import LocalEmbedder
from pertinent.indexing.chunking import chunk_page
from pertinent.sources import open_source
from pertinent.sources.site import SiteSource
from pertinent.types import LazyPage, Page

PAGES = 2000
SERVERS = 2
MENU = 60
SECTIONS = 5
"""Gives a page as much text as the mean page of Docusaurus's own documentation, 6.9 KB."""


def measure(book: Path, pages: int = PAGES, rounds: int = 4) -> dict[str, Any]:
    """Crawl a site that is served by processes on the same cores."""
    site = _site(book, pages)
    ready = [multiprocessing.Event() for _ in range(SERVERS)]
    with socket.socket() as reserved:
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        servers: list[BaseProcess] = [
            multiprocessing.Process(target=_serve, args=(site, port, event), daemon=True) for event in ready
        ]
        for server in servers:
            server.start()
        for event in ready:
            event.wait(60)
        try:
            return _measured(f"http://127.0.0.1:{port}/", site, rounds)
        finally:
            for server in servers:
                server.terminate()
                server.join()


def _measured(address: str, site: Mapping[str, str], rounds: int) -> dict[str, Any]:
    embedder = LocalEmbedder.load_minilm()
    embedder.count_tokens(["warm"])
    first, second, chunks, text = [], [], 0, 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            cache_file = Path(folder) / "crawl.sqlite3"
            seen_hashes: set[str] = set()
            seconds, chunks, text = _crawl(address, cache_file, embedder, seen_hashes)
            first.append(seconds)
            # As in a sync, a page whose hash is unchanged is not read.
            second_crawl, changed, _ = _crawl(address, cache_file, embedder, seen_hashes)
            second.append(second_crawl)
            assert changed == 0
    sizes = [len(html) for path, html in site.items() if path != "/sitemap.xml"]
    return {
        "pages": len(sizes),
        "page_kb": round(sum(sizes) / len(sizes) / 1024, 1),
        "text_kb": round(text / len(sizes) / 1024, 1),
        "chunks": chunks,
        "first_crawl_s": first,
        "second_crawl_s": second,
        "pages_per_second": round(len(sizes) / min(first)),
        "second_over_first": round(min(second) / min(first), 3),
    }


def _crawl(
    address: str, cache_file: Path, embedder: LocalEmbedder, seen_hashes: set[str]
) -> tuple[float, int, int]:
    """Seconds, new chunks and characters; `seen_hashes` are the hashes of pages so far, and is updated."""
    start = time.perf_counter()
    chunks, text = 0, 0
    for offer in SiteSource(address, cache_file=cache_file).read():
        assert isinstance(offer, LazyPage), offer
        if offer.page_hash not in seen_hashes:
            seen_hashes.add(offer.page_hash)
            page = offer.page()
            text += len(page.text)
            chunks += len(chunk_page(page, embedder.count_tokens, target=200, most=embedder.max_tokens))
    return round(time.perf_counter() - start, 3), chunks, text


def _site(book: Path, pages: int) -> dict[str, str]:
    """Pages in the markup of Docusaurus, with shuffled sentences of the handbook; and their sitemap."""
    rng = random.Random(1)
    text = " ".join(page.text for page in open_source(str(book)).read() if isinstance(page, Page))
    sentences = [sentence for sentence in text.replace("\n", " ").split(". ") if 30 < len(sentence) < 300]
    menu = "".join(
        '<li class="theme-doc-sidebar-item-link menu__list-item">'
        f'<a class="menu__link" href="/docs/page-{n}">Page {n}</a></li>'
        for n in range(MENU)
    )
    site = {f"/docs/page-{number}": _page(number, menu, sentences, rng) for number in range(pages)}
    listed = "".join(f"<url><loc>ADDRESS{path}</loc></url>" for path in site)
    site["/sitemap.xml"] = f'<?xml version="1.0" encoding="UTF-8"?><urlset>{listed}</urlset>'
    return site


def _page(number: int, menu: str, sentences: list[str], rng: random.Random) -> str:
    body = []
    for section in range(SECTIONS):
        anchor = f"section-{section}"
        mark = f'<a href="#{anchor}" class="hash-link" aria-label="Direct link">&ZeroWidthSpace;</a>'
        body.append(f'<h2 class="anchor" id="{anchor}">Section {section}{mark}</h2>')
        body += [f"<p>{escape('. '.join(rng.sample(sentences, 3)))}.</p>" for _ in range(2)]
        body.append(
            "<ul>"
            + "".join(f"<li>{escape(sentence)}</li>" for sentence in rng.sample(sentences, 3))
            + "</ul>"
        )
        if section % 2:
            code = "\n".join(
                f'<span class="token-line"><span class="token plain">{escape(line[:60])}</span><br></span>'
                for line in rng.sample(sentences, 6)
            )
            body.append(
                '<div class="language-python codeBlockContainer_a theme-code-block">'
                '<div class="codeBlockContent_b">'
                f'<pre tabindex="0" class="prism-code language-python"><code>{code}</code></pre></div></div>'
            )
    title = f"Page {number}"
    return (
        '<!doctype html><html lang="en" dir="ltr" class="docs-wrapper plugin-docs plugin-id-default '
        f'docs-version-current docs-doc-page docs-doc-id-page-{number}"><head><meta charset="UTF-8">'
        f'<meta name="generator" content="Docusaurus v3.10.2"><title>{title} | Book</title></head><body>'
        f'<div id="__docusaurus"><nav class="navbar"><a class="navbar__brand" href="/">Book</a></nav><main>'
        f'<aside><nav class="menu"><ul class="theme-doc-sidebar-menu menu__list">{menu}</ul></nav></aside>'
        f'<article><div class="theme-doc-markdown markdown"><header><h1>{title}</h1></header>{"".join(body)}'
        "</div></article></main><footer>Built with care.</footer></div></body></html>"
    )


def _serve(site: Mapping[str, str], port: int, ready: Event) -> None:
    """Serve prepared responses, which costs almost nothing."""
    answers = {}
    for path, html in site.items():
        body = gzip.compress(html.replace("ADDRESS", f"http://127.0.0.1:{port}").encode(), 6)
        kind = b"application/xml" if path.endswith(".xml") else b"text/html; charset=utf-8"
        head = b'Content-Type: %s\r\nContent-Encoding: gzip\r\nETag: "%d"\r\n' % (kind, zlib.crc32(body))
        answers[path.encode()] = b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (
            head,
            len(body),
            body,
        )
    missing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    unchanged = b"HTTP/1.1 304 Not Modified\r\n\r\n"

    class Connection(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self.transport = cast("asyncio.Transport", transport)  # uvloop does not declare it
            self.pending = b""

        def data_received(self, data: bytes) -> None:
            *requests, self.pending = (self.pending + data).split(b"\r\n\r\n")
            for request in requests:
                answer = answers.get(request.split(b" ", 2)[1], missing)
                is_conditional = b"If-None-Match: " in request and answer is not missing
                self.transport.write(unchanged if is_conditional else answer)

    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Connection, "127.0.0.1", port, reuse_port=True)
        ready.set()
        await server.serve_forever()

    uvloop.run(run())


if __name__ == "__main__":
    print(measure(Path(__file__).parent.parent / "examples" / "handbook"))
