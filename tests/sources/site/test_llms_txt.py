"""A site's `llms.txt` as a list of its pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from pertinent.errors import SourceError
from pertinent.sources.site import SiteSource
from pertinent.sources.site.llms_txt import parse_llms_txt, strip_markdown_ending
from pertinent.types import Skipped

from .conftest import FAST_LIMITS, crawl
from .server import LocalSite, links, page, sitemap

LLMS_TXT = """# The robot book

> All about robots. See [the site](/).

## Guide

- [Joints](/docs/joints.md): where motion happens
- [Nodes](docs/nodes.html.md)
- [Folder](https://book.example/docs/index.html.md)
- [A (b)](</docs/a_(b).md> "title")
- [Full](/llms-full.txt), [data](/data.json), [mail](mailto:me@book.example)

## Optional

- [Source](https://forge.example/book.md)
- [More](/more/llms.txt)
"""


def test_parse_llms_txt_lists_pages_and_further_lists() -> None:
    parsed = parse_llms_txt(LLMS_TXT.encode(), "https://book.example/llms.txt", max_pages=100)
    assert parsed is not None
    assert [listed.address for listed in parsed.pages] == [
        "https://book.example/",
        "https://book.example/docs/joints",
        "https://book.example/docs/nodes.html",
        "https://book.example/docs/",
        "https://book.example/docs/a_(b)",
        "https://forge.example/book",
    ]
    assert parsed.sitemaps == ["https://book.example/more/llms.txt"]
    assert parsed.problem == ""


@pytest.mark.parametrize(
    "body", [b"", b"<!doctype html><h1>404</h1>", b"Not found", b"[a](/a)", b"\xff\xfe#"]
)
def test_parse_llms_txt_gives_none_for_something_else(body: bytes) -> None:
    assert parse_llms_txt(body, "https://book.example/llms.txt", max_pages=100) is None


def test_parse_llms_txt_limits_the_number_of_pages() -> None:
    parsed = parse_llms_txt(LLMS_TXT.encode(), "https://book.example/llms.txt", max_pages=2)
    assert parsed is not None
    assert len(parsed.pages) == 2
    assert parsed.problem == "lists more than 2 pages; the others were left out"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a.md", "/a"), ("/a.mdx", "/a"), ("/a/index.md", "/a/"), ("/a.html.md", "/a.html"), ("/a.md?x", "/a?x"),
     ("/index.html.md", "/"), ("/a/md", "/a/md"), ("/reindex.md", "/reindex")],
)  # fmt: skip
def test_markdown_version_belongs_to_a_page(path: str, expected: str) -> None:
    assert strip_markdown_ending(f"https://book.example{path}") == f"https://book.example{expected}"


def write_llms_txt(site: LocalSite, *paths: str, at: str = "/llms.txt") -> None:
    site.pages[at] = "# Book\n\n" + "".join(f"- [{path}]({path})\n" for path in paths)


def test_pages_of_llms_txt_are_found_without_a_sitemap(site: LocalSite) -> None:
    site.pages |= {
        "/": page("Start", "No links."),
        "/docs/a": page("A"),
        "/docs/b": page("B", links("/docs/c")),
    }
    site.pages["/docs/c"] = page("C")
    write_llms_txt(site, "/docs/a.md", "/docs/b", "https://other.example/x")
    pages, unreadable = crawl(site)
    # It is a selection: links are followed too.
    assert list(pages) == ["/", "/docs/a", "/docs/b", "/docs/c"]
    assert unreadable == []
    skipped = [
        result
        for result in SiteSource(site.address, limits=FAST_LIMITS).read()
        if isinstance(result, Skipped)
    ]
    assert skipped == []


def test_llms_txt_is_not_read_beside_a_sitemap(site: LocalSite) -> None:
    site.book("a")
    write_llms_txt(site, "/docs/b")
    assert list(crawl(site)[0]) == ["/docs/a"]
    assert "/llms.txt" not in site.requested_paths


def test_llms_txt_of_a_parent_folder_is_found(site: LocalSite) -> None:
    site.pages |= {"/project/docs/": page("Docs"), "/project/docs/a": page("A"), "/project/blog/b": page("B")}
    write_llms_txt(site, "docs/a.md", "blog/b.md", at="/project/llms.txt")
    assert list(crawl(site, "/project/docs/")[0]) == ["/project/docs", "/project/docs/a"]


def test_crawl_can_start_at_llms_txt(site: LocalSite) -> None:
    site.pages |= {"/docs/a": page("A", links("/docs/c")), "/docs/b": page("B"), "/docs/c": page("C")}
    write_llms_txt(site, "/docs/b.md", "/docs/a.md", "/more/llms.txt")
    site.pages["/more/d"] = page("D")
    write_llms_txt(site, "d.md", at="/more/llms.txt")
    pages, unreadable = crawl(site, "/llms.txt")
    # Who names it wants exactly the pages that it lists.
    assert list(pages) == ["/docs/b", "/docs/a", "/more/d"]
    assert unreadable == []


def test_start_that_is_no_llms_txt_is_a_clear_error(site: LocalSite) -> None:
    site.pages["/llms.txt"] = page("Not found")
    with pytest.raises(SourceError, match="does not begin with a heading; nothing was changed"):
        crawl(site, "/llms.txt")


def test_page_answered_for_every_address_is_no_llms_txt(site: LocalSite) -> None:
    site.pages |= {"/": page("Start", links("/a")), "/a": page("A")}
    site.fallback = page("Start", links("/a"))
    assert set(crawl(site)[0]) >= {"/", "/a"}


def test_robots_txt_holds_for_pages_of_llms_txt(site: LocalSite) -> None:
    site.pages |= {"/": page("Start"), "/a": page("A"), "/private/b": page("B")}
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private/\n"
    write_llms_txt(site, "/a", "/private/b")
    assert list(crawl(site)[0]) == ["/", "/a"]


def test_llms_txt_that_is_missing_for_a_while_removes_nothing(site: LocalSite, cache_file: Path) -> None:
    site.pages |= {"/": page("Start"), "/a": page("A")}
    write_llms_txt(site, "/a")
    assert list(crawl(site, cache_file=cache_file)[0]) == ["/", "/a"]
    del site.pages["/llms.txt"]
    _, (problem,) = crawl(site, cache_file=cache_file)
    assert problem.source_path == "/llms.txt"
    assert not problem.path_identifies_page


def test_sitemap_replaces_llms_txt(site: LocalSite, cache_file: Path) -> None:
    site.pages |= {"/": page("Start"), "/a": page("A")}
    write_llms_txt(site, "/a")
    crawl(site, cache_file=cache_file)
    site.pages["/sitemap.xml"] = sitemap(f"{site.address}/a")
    pages, unreadable = crawl(site, cache_file=cache_file)
    assert (list(pages), unreadable) == (["/a"], [])
