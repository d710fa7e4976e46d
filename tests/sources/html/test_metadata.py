"""Metadata of a page: title, canonical address, links, robots, refresh."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pertinent.sources.html import parse_html
from pertinent.sources.html.links import absolute_links
from pertinent.types import FrontMatter

from .shells import docusaurus

URL = "https://book.example/docs/page"


@pytest.mark.parametrize(
    ("titled", "heading", "title"),
    [
        ("Nodes | Handbook", "Nodes", "Nodes"),
        ("Nodes | Handbook", "Nodes, executors and discovery", "Nodes"),
        ("Nodes | Handbook", "", "Nodes"),
        ("Nodes | Topics | Handbook", "Other", "Nodes | Topics"),
        ("Nodes - Topics | Handbook", "Other", "Nodes - Topics"),
        ("Nodes · Handbook", "Other", "Nodes"),
        ("Nodes — Handbook", "Other", "Nodes"),
        ("Handbook", "Nodes", "Handbook"),
        ("A `code` and *more* | Handbook", "A code and more", "A code and more"),
        ("A [link](https://x.y) | Handbook", "A link", "A link"),
        ("", "Nodes", "Nodes"),
        ("", "", "page"),
    ],
)
def test_docusaurus_title_is_without_the_site_name(titled: str, heading: str, title: str) -> None:
    html = docusaurus(f"<header><h1>{heading}</h1></header><p>x</p>", title=titled)
    assert parse_html(html, URL).title == title


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Page - Site</title>", "<h1>Page</h1>", "Page"),
        ("<title>Page - Part - Site</title>", "<h1>Page - Part</h1>", "Page - Part"),
        ("<title>Page - Part</title>", "<h1>Page - Part</h1>", "Page - Part"),
        ("<title>Site | Page</title>", "<h1>Page</h1>", "Page"),
        ("<title>Page | Deep | Site</title><meta property=og:site_name content='Deep | Site'>", "", "Page"),
        ("<title>Well-known words</title>", "", "Well-known words"),
        ("<title> Two\n lines </title>", "", "Two lines"),
        ("", "<h1>Page</h1>", "Page"),
        ("<title></title>", "<p>x</p>", "page"),
        ("<body><svg><title>Logo</title></svg>", "<h1>Page</h1>", "Page"),
    ],
)
def test_generic_title_is_without_the_site_name(head: str, body: str, title: str) -> None:
    assert parse_html(f"<head>{head}</head><main>{body}<p>x</p></main>", URL).title == title


def test_root_page_without_title_is_named_after_its_host() -> None:
    assert parse_html("<p>x</p>", "https://book.example/").title == "book.example"


def test_docusaurus_metadata_is_read() -> None:
    article = parse_html(docusaurus("<p>x</p>"), URL)
    assert article.canonical == URL
    assert article.generator == "Docusaurus v3.1.0"
    assert article.language == "en"
    assert article.version == "current"
    assert article.docusaurus_tag == "docs-default-current"
    assert not article.noindex
    assert {"__docusaurus", "__docusaurus_skipToContent_fallback"} <= article.anchors
    assert {"https://book.example/docs/other", "https://github.com/x/y"} <= set(article.links)


def test_front_matter_of_a_built_page_is_read() -> None:
    html = docusaurus("<p>x</p>").replace(
        "</head>",
        '<meta name=description content="About\nx &amp; y"><meta name=keywords content="a b,c, ,a b"></head>',
    )
    html = html.replace(
        "</article>",
        "<footer><ul><li><a rel=tag href=/one>One </a><li><a rel=tag href=/two>Two</a></ul></footer>"
        "</article>",
    )
    link = '<a class="menu__link menu__link--active"'
    sidebar = f"{link} href=/x>Part</a>{link} aria-current=page href=/docs/page>Short <b>name</b></a>"
    html = html.replace("<article>", f"{sidebar}<article>")
    expected = FrontMatter("About x & y", ("a b", "c"), ("One", "Two"), "Short name")
    assert parse_html(html, URL).front_matter == expected


def test_generic_page_has_description_and_keywords() -> None:
    head = "<meta name=description content=About><meta name=keywords content='a,b'>"
    front_matter = parse_html(f"<head>{head}</head><p>x</p><a rel=tag>t</a>", URL).front_matter
    assert front_matter == FrontMatter("About", ("a", "b"))


def test_metadata_of_a_bare_page_is_empty() -> None:
    article = parse_html("<p>x</p>", URL)
    assert (article.canonical, article.generator, article.language) == (None, None, None)
    assert (article.version, article.docusaurus_tag, article.noindex) == (None, None, False)
    assert article.front_matter == FrontMatter()


def test_addresses_of_translations_are_read() -> None:
    head = (
        "<link rel=alternate hreflang=de href=/de/><link rel=alternate hreflang=fr href=''>"
        "<link rel=alternate type=application/rss+xml href=/rss.xml><link rel=next hreflang=it href=/it/>"
    )
    article = parse_html(f"<head>{head}</head><p>x</p>", URL)
    assert article.alternates == {"de": "https://book.example/de/"}


@pytest.mark.parametrize(
    ("head", "canonical"),
    [
        ("<link rel=canonical href=/a>", "https://book.example/a"),
        ("<LINK REL='Canonical nofollow' HREF='https://other.example/b'>", "https://other.example/b"),
        ("<meta property=og:url content=https://book.example/>", None),  # in many templates, the home page
        ("<base href=https://base.example/e/><link rel=canonical href=f>", "https://base.example/e/f"),
        ("<link rel=canonical href=''>", None),
        ("<link rel=canonical href='javascript:alert(1)'>", None),
        ("<link rel=canonical href='http://[bad'>", None),
        ("<div>too early</div><link rel=canonical href=/g>", "https://book.example/g"),
    ],
)
def test_canonical_address_is_read(head: str, canonical: str | None) -> None:
    assert parse_html(f"<head>{head}</head><p>x</p>", URL).canonical == canonical


@pytest.mark.parametrize(
    ("robots", "noindex"),
    [
        ("noindex, nofollow", True),
        ("NONE", True),
        ("index, follow", False),
        ("max-image-preview:large", False),
        ("index, max-image-preview:none, follow", False),
        ("max-image-preview: none, noindex", True),
    ],
)
def test_noindex_is_read(robots: str, noindex: bool) -> None:
    assert parse_html(f"<meta name=Robots content='{robots}'><p>x</p>", URL).noindex is noindex


def test_links_are_absolute_and_unique() -> None:
    hrefs = ["/a", "/a#b", "c?d=1", "../e", "#f", "//x.example/g", "mailto:a@b.c", "http://[bad", ""]
    html = "<a>none</a>" + "".join(f'<a href="{href}">x</a>' for href in hrefs)
    assert parse_html(html, URL).links == (
        "https://book.example/a",
        "https://book.example/docs/c?d=1",
        "https://book.example/e",
        "https://x.example/g",
    )


def test_first_base_with_an_address_counts() -> None:
    html = "<base target=_blank><base href=/first/><base target=_top><base href=/second/><a href=a>x</a>"
    assert parse_html(html, URL).links == ("https://book.example/first/a",)


def test_links_are_resolved_against_the_base() -> None:
    html = "<base href=/other/><a href=a>x</a>"
    assert parse_html(html, URL).links == ("https://book.example/other/a",)


@given(st.text("ab/.?\\ :é", max_size=12))
def test_absolute_links_agree_with_urljoin(path: str) -> None:
    target = "/" + path
    if not target.strip().startswith("//"):
        assert absolute_links([target], URL).addresses == (urljoin(URL, target.strip()),)


def test_anchors_are_ids_and_names() -> None:
    html = "<h1 id=a>x</h1><a name=b></a><form name=c></form><p id=''></p><nav id=d></nav>"
    assert parse_html(html, URL).anchors == {"a", "b", "d"}


def test_links_and_anchors_are_optional() -> None:
    with_links = parse_html(docusaurus("<p id=a><a href=/b>x</a></p>"), URL)
    assert (with_links.links, with_links.anchors) != ((), frozenset())
    unwanted = parse_html(docusaurus("<p id=a><a href=/b>x</a></p>"), URL, with_links=False)
    assert unwanted == replace(with_links, links=(), anchors=frozenset())


@pytest.mark.parametrize(
    ("refresh", "target"),
    [
        ("0; url=latest/", "https://book.example/docs/latest/"),
        ("1;URL='/docs/2.0'", "https://book.example/docs/2.0"),
        ("0, https://other.example/", "https://other.example/"),
        ("300", None),
        ("60; url=/next-slide", None),
        ("0; url=#top", None),
        ("0; url=https://book.example/docs/page#top", None),
        ("0; url=javascript:alert(1)", None),
        ("", None),
    ],
)
def test_refresh_target_is_read(refresh: str, target: str | None) -> None:
    assert parse_html(f'<meta http-equiv=Refresh content="{refresh}"><p>x</p>', URL).refresh_target == target


MIKE = """<!DOCTYPE html>
<html>
<head>
  <meta charset="utf-8">
  <title>Redirecting</title>
  <noscript>
    <meta http-equiv="refresh" content="1; url=latest/" />
  </noscript>
  <script>
    window.location.replace("latest/" + window.location.search + window.location.hash);
  </script>
</head>
<body>
  %s
</body>
</html>"""


def test_refresh_in_noscript_is_read() -> None:
    target = "https://x.example/book/latest/"
    redirecting = 'Redirecting to <a href="latest/">latest/</a>...'
    assert parse_html(MIKE % redirecting, "https://x.example/book/").refresh_target == target
    # A page that is there to be read, and has another for those without scripts.
    article = f"<article><h1>Joints</h1><p>{'A joint turns. ' * 30}</p></article>"
    assert parse_html(MIKE % article, "https://x.example/book/").refresh_target is None
