from __future__ import annotations

import gzip
import time
import tracemalloc

import pytest

from pertinent.sources.site.sitemaps import Sitemap, parse_sitemap

from .server import sitemap, sitemap_index

MB = 2**20


def read(body: bytes | str, *, max_bytes: int = MB, max_pages: int = 100) -> Sitemap | None:
    data = body.encode() if isinstance(body, str) else body
    return parse_sitemap(data, max_bytes=max_bytes, max_pages=max_pages)


def test_parse_sitemap_lists_pages_in_order() -> None:
    parsed = read(sitemap("https://x.example/b", " https://x.example/a?x=1&amp;y=2 "))
    assert parsed is not None
    assert [page.address for page in parsed.pages] == ["https://x.example/b", "https://x.example/a?x=1&y=2"]
    assert (parsed.sitemaps, parsed.problem) == ([], "")


def test_parse_sitemap_reads_an_index() -> None:
    parsed = read(sitemap_index("https://x.example/1.xml", "https://x.example/2.xml.gz"))
    assert parsed is not None
    assert parsed.sitemaps == ["https://x.example/1.xml", "https://x.example/2.xml.gz"]


def test_parse_sitemap_separates_translations_and_images_from_pages() -> None:
    parsed = read(
        '<urlset xmlns="s" xmlns:xhtml="x" xmlns:image="i"><url><loc>https://x.example/a</loc>'
        '<xhtml:link rel="alternate" hreflang="FR" href="https://x.example/fr/a"/>'
        "<image:image><image:loc>https://x.example/a.png</image:loc></image:image></url></urlset>"
    )
    assert parsed is not None
    assert [(page.address, page.alternates) for page in parsed.pages] == [
        ("https://x.example/a", {"fr": "https://x.example/fr/a"})
    ]


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(sitemap("https://x.example/a").encode(), mtime=0),
        b"\xef\xbb\xbf" + sitemap("https://x.example/a").encode(),
        sitemap("https://x.example/a").replace("UTF-8", "UTF-16").encode("utf-16"),
        b"https://x.example/a\n",
        b"<!-- made by hand -->" + sitemap("https://x.example/a").partition("?>")[2].encode(),
    ],
    ids=["gzip", "mark", "utf-16", "text", "comment"],
)
def test_parse_sitemap_reads_other_forms(body: bytes) -> None:
    parsed = read(body)
    assert parsed is not None
    assert [page.address for page in parsed.pages] == ["https://x.example/a"]


@pytest.mark.parametrize(
    "body", [b"", b"<!doctype html><html></html>", b"<rss></rss>", b"<?xml version='1.0'?><rss/>"]
)
def test_parse_sitemap_gives_none_for_something_else(body: bytes) -> None:
    assert read(body) is None


def test_parse_sitemap_reads_up_to_an_error() -> None:
    document = sitemap("https://x.example/a", "https://x.example/b")
    parsed = read(document[: document.index("<url><loc>https://x.example/b")] + "<url><loc>")
    assert parsed is not None
    assert [page.address for page in parsed.pages] == ["https://x.example/a"]
    assert "broken XML" in parsed.problem


def test_parse_sitemap_limits_the_number_of_pages() -> None:
    parsed = read(sitemap(*(f"https://x.example/{n}" for n in range(200))), max_pages=100)
    assert parsed is not None
    assert len(parsed.pages) == 100
    assert "more than 100 pages" in parsed.problem


def test_parse_sitemap_does_not_expand_entities() -> None:
    kinds = '<!DOCTYPE u [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    parsed = read(f'<?xml version="1.0"?>{kinds}<urlset><url><loc>&b;</loc></url></urlset>')
    assert parsed is None
    named = read(f'<?xml version="1.0"?>{kinds.replace("DOCTYPE u", "DOCTYPE urlset")}<urlset></urlset>')
    assert named is not None
    assert "declares XML entities" in named.problem
    external = '<!DOCTYPE urlset SYSTEM "file:///etc/passwd"><urlset><url><loc>https://x.example/a</loc></url></urlset>'
    assert read(f'<?xml version="1.0"?>{external}') is not None


def test_parse_sitemap_limits_the_decompressed_size() -> None:
    parsed = read(gzip.compress(b"<?xml version='1.0'?><urlset>" + b" " * (3 * MB)), max_bytes=MB)
    assert parsed is not None
    assert "larger than 1 MB" in parsed.problem
    broken = read(gzip.compress(b"<urlset/>")[:-4])
    assert broken is not None
    assert "ends in the middle" in broken.problem


def test_parse_sitemap_limits_the_number_of_sitemaps() -> None:
    parsed = read(sitemap_index(*(f"https://x.example/{number}.xml" for number in range(9))), max_pages=7)
    assert parsed is not None
    assert len(parsed.sitemaps) == 7
    assert parsed.problem == "lists more than 7 sitemaps; the others were left out"


def test_parse_sitemap_limits_the_number_of_translations() -> None:
    links = "".join(f'<link hreflang="{number}" href="/{number}"/>' for number in range(1000))
    parsed = read(f"<urlset><url><loc>https://x.example/a</loc>{links}</url></urlset>")
    assert parsed is not None
    assert len(parsed.pages[0].alternates) == 200


def test_parse_sitemap_limits_the_depth() -> None:
    parsed = read("<urlset><url><loc>https://x.example/a</loc></url>" + "<a>" * 100_000)
    assert parsed is not None
    assert [page.address for page in parsed.pages] == ["https://x.example/a"]
    assert parsed.problem == "has too many elements inside each other"


def test_lines_of_a_text_sitemap_that_are_no_addresses_are_ignored() -> None:
    parsed = read(b"https://x.example/a\nnot a url\n  https://x.example/b  \r\n")
    assert parsed is not None
    assert [page.address for page in parsed.pages] == ["https://x.example/a", "https://x.example/b"]


def test_blank_lines_of_a_text_sitemap_take_little_time() -> None:
    started = time.monotonic()
    parsed = read(b"https://x.example/a\nno address\n" + b"\n" * 900_000 + b"x", max_bytes=MB)
    assert parsed is not None
    assert len(parsed.pages) == 1
    assert time.monotonic() - started < 10  # by the square of the lines, it would be an hour


def test_addresses_beyond_the_limit_of_a_text_sitemap_take_little_memory() -> None:
    body = b"http://a\n" * 100_000
    tracemalloc.start()
    try:
        result = parse_sitemap(body, max_bytes=2**20, max_pages=10)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result is not None
    assert len(result.pages) == 10
    assert peak < 100 * 100_000
