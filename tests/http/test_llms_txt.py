"""The book for language models: `/llms.txt`, `/llms-full.txt`, and each page as Markdown."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from pertinent.testing.pages import InMemorySource, page

from .conftest import Serve, Service, fill, open_filled, problem


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


def test_title_is_a_setting(serve: Serve) -> None:
    service = serve(book_title="Robots [2]")
    assert service.client.get("/llms.txt").text.startswith("# Robots \\[2\\]\n")
    assert service.client.get("/llms-full.txt").text.startswith("# Robots \\[2\\]\n")


def test_pages_are_grouped_by_folder_or_source(serve: Serve, tmp_path: Path) -> None:
    names = ("guide/start", "guide/next", "intro", "how-to/run")
    pages = [page(name, {"": f"The page {name}."}) for name in names]
    with open_filled(tmp_path / "two", *pages) as workspace:
        service = serve(workspace)
        headings = re.findall(r"^## (.+)$", service.client.get("/llms.txt").text, re.M)
        assert sorted(headings) == ["Guide", "How to", "Pages"]
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


def test_unknown_page_is_not_found(service: Service) -> None:
    assert "no document has the id 'nope'" in problem(service.client.get("/pages/nope.md"), 404, "not_found")
