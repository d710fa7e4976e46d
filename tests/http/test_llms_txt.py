"""The book for language models: `/llms.txt`, `/llms-full.txt`, and each page as Markdown."""

from __future__ import annotations

import dataclasses
import re
import socket
import tracemalloc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pertinent.errors import CatalogFailure
from pertinent.surfaces.library import Pertinent
from pertinent.testing.pages import InMemorySource, page
from pertinent.validation.target import PageView
from pertinent.workspace.workspace import Workspace

from ..servers.service import running_service
from .conftest import Serve, Service, fill, open_filled, problem

if TYPE_CHECKING:
    import pytest


def test_llms_txt_lists_every_page_with_a_link_that_works(service: Service) -> None:
    response = service.client.get("/llms.txt")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    lines = response.text.splitlines()
    assert lines[:2] == ["# https://book.example/docs", ""]
    assert lines[2].startswith("> 4 pages. ")
    assert "## Pages" in lines
    links = re.findall(r"^- \[(.+)\]\((.+)\): (.+)$", response.text, re.M)
    assert [title for title, _, _ in links] == [
        "All about gears", "All about joints", "All about motors", "Nodes and topics",
    ]  # fmt: skip
    for title, link, url in links:
        markdown = service.client.get(f"/{link}")
        assert markdown.headers["content-type"] == "text/markdown; charset=utf-8"
        assert markdown.text.startswith(f"# {title}\n\nSource: {url}\n\n")


def test_llms_full_txt_has_every_page(service: Service) -> None:
    response = service.client.get("/llms-full.txt")
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    for record in service.pertinent.pages():
        markdown = service.client.get(f"/pages/{record.document_id}.md").text
        assert response.text.count(markdown) == 1


def test_llms_full_txt_has_no_chunks_for_http_1_0(own: Workspace) -> None:
    with running_service(own) as url, socket.create_connection(("127.0.0.1", urlsplit(url).port)) as client:
        client.sendall(b"GET /llms-full.txt HTTP/1.0\r\nHost: localhost\r\n\r\n")
        head, _, body = b"".join(iter(partial(client.recv, 65536), b"")).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head.lower()
    assert b"content-length: %d\r\n" % len(body) in head.lower() + b"\r\n"
    assert body.startswith(b"# ")


def test_llms_full_txt_for_http_1_0_keeps_no_pages_in_memory(
    own: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    pertinent = Pertinent(own)
    record = pertinent.pages()[0]
    view = pertinent.page(record.document_id)
    size = 2**22
    monkeypatch.setattr(Pertinent, "pages", lambda _: [record] * 10)
    monkeypatch.setattr(Pertinent, "page", lambda *_: dataclasses.replace(view, text="x" * size))
    with running_service(own) as url, socket.create_connection(("127.0.0.1", urlsplit(url).port)) as client:
        tracemalloc.start()
        try:
            client.sendall(b"GET /llms-full.txt HTTP/1.0\r\nHost: localhost\r\n\r\n")
            received = sum(map(len, iter(partial(client.recv, 65536), b"")))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert received > 10 * size
    assert peak < 8 * size


def test_catalog_that_fails_amid_llms_full_txt_is_logged_as_unavailable(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = iter([service.pertinent.page(service.pertinent.pages()[0].document_id)])

    def read_page(*_: object) -> PageView:
        for page_view in pages:
            return page_view
        raise CatalogFailure("connection silent")

    monkeypatch.setattr(Pertinent, "page", read_page)
    service.client.get("/llms-full.txt")
    assert [line["detail"] for line in service.lines("service_unavailable")] == ["connection silent"]
    assert service.lines("unexpected") == []


def test_title_is_a_setting(serve: Serve) -> None:
    service = serve(book_title="Robots [2]")
    assert service.client.get("/llms.txt").text.startswith("# Robots \\[2\\]\n")
    assert service.client.get("/llms-full.txt").text.startswith("# Robots \\[2\\]\n")


def test_pages_are_grouped_by_folder_or_source(serve: Serve, tmp_path: Path) -> None:
    names = ("guide/start", "guide/next", "intro", "how-to/run", "T%C3%A9st%20one/run")
    pages = [page(name, {"": f"The page {name}."}) for name in names]
    with open_filled(tmp_path / "two", *pages) as workspace:
        service = serve(workspace)
        headings = re.findall(r"^## (.+)$", service.client.get("/llms.txt").text, re.M)
        assert sorted(headings) == ["Guide", "How to", "Pages", "Tést one"]
        other = dataclasses.replace(page("faq", {"": "Questions."}), url="https://faq.example/all")
        fill(workspace, InMemorySource(other, name="https://faq.example"))
        headings = re.findall(r"^## (.+)$", service.client.get("/llms.txt").text, re.M)
        assert headings == ["https://book.example/docs", "https://faq.example"]


def test_page_with_a_slash_in_its_id_is_linked(serve: Serve, tmp_path: Path) -> None:
    guide = dataclasses.replace(page("guide", {"": "A guide."}, title="A [guide]"), document_id="guide/a.md")
    with open_filled(tmp_path / "slash", guide) as workspace:
        client = serve(workspace).client
        (link,) = re.findall(r"- \[A \\\[guide\\\]\]\((.+)\): ", client.get("/llms.txt").text)
        assert link == "pages/guide%2Fa.md.md"
        markdown = client.get(f"/{link}").text
        assert markdown.startswith("# A [guide]\n\nSource: https://book.example/docs/guide\n")


def test_control_characters_are_left_out(serve: Serve, tmp_path: Path) -> None:
    evil = page("evil", {"": "A bell\x07 and \x1b[31mred\x9b0m."}, title="Evil\x1b[2J")
    with open_filled(tmp_path / "evil", evil) as workspace:
        client = serve(workspace, book_title="Book\x1b").client
        assert r"- [Evil\[2J](" in client.get("/llms.txt").text
        full = client.get("/llms-full.txt").text
        markdown = client.get(f"/pages/{evil.document_id}.md").text
    assert full == f"# Book\n\n---\n\n{markdown}"
    assert markdown == f"# Evil[2J\n\nSource: {evil.url}\n\nA bell and [31mred0m.\n"


def test_unknown_page_is_not_found(service: Service) -> None:
    assert "no document has the id 'nope'" in problem(service.client.get("/pages/nope.md"), 404, "not_found")
