"""Broken and hostile HTML is parsed in bounded time, and never raises."""

from __future__ import annotations

import re
import resource
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from pertinent.sources.html import Article, parse_html, parser_limits
from pertinent.sources.html.parser_limits import limit_html
from pertinent.sources.html.text import word_set
from pertinent.sources.normal_form import HeadingPiece, assemble

from .shells import docusaurus

pytestmark = pytest.mark.slow

URL = "https://x.example/a"
TAGS = sorted(
    word_set("""
        a b font code p div ul ol li table tr td th h1 h2 pre br span section main article header svg math
        style script select option form template details summary title button nav aside img body
    """)
)
CLASSES = sorted(
    word_set("""
        theme-doc-markdown theme-code-block tabs-container admonitionHeading_x katex hash-link tabbed-set
        tabbed-block highlighttable toc token-line headerlink
    """)
)


def text(html: str) -> str:
    return assemble(parse_html(html, URL).pieces, "")[0]


def peak() -> int:
    """The most memory that this process has contained, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def is_sound(article: Article) -> bool:
    """Whether a store can keep it and a reader read it."""
    texts = [article.title, *(piece.text for piece in article.pieces)]
    anchors = [piece.anchor for piece in article.pieces if isinstance(piece, HeadingPiece)]
    return all(texts[1:]) and not any(
        unicodedata.category(char) in ("Cc", "Cs") and char not in "\n\t"
        for value in (*texts, *anchors)
        for char in value
    )


@given(st.binary(max_size=400), st.none() | st.text(max_size=20), st.text(max_size=30))
def test_any_bytes_can_be_parsed(html: bytes, charset: str | None, url: str) -> None:
    assert is_sound(parse_html(html, url, charset=charset))


@given(st.text(max_size=200))
def test_any_text_can_be_parsed(html: str) -> None:
    assert is_sound(parse_html(html, URL))
    assert is_sound(parse_html(docusaurus(html), URL))


tags = st.builds(
    lambda slash, tag, name, role: f"<{slash}{tag} class='{name}' role='{role}' id=i hidden>",
    st.sampled_from(["", "", "/"]),
    st.sampled_from(TAGS),
    st.sampled_from(["", *CLASSES]),
    st.sampled_from(["", "", "tabpanel", "tablist", "main"]),
)


@settings(max_examples=300)
@given(st.lists(tags | st.sampled_from(["x", " ", "|", "\0", "&#8;", "<!--", "-->", "<!x", "<", "y <br> z"])))
def test_any_tags_can_be_parsed(parts: list[str]) -> None:
    html = "".join(parts)
    assert is_sound(parse_html(html, URL))
    assert is_sound(parse_html(docusaurus(html), URL))


def test_deep_nesting_keeps_the_text() -> None:
    html = "<div>" * 10_000 + "<p>deep" + "</div>" * 10_000 + "<h1>After</h1><p>shallow</p>"
    assert text(html) == "deep\n\n# After\n\nshallow"


@pytest.mark.parametrize(
    "html",
    [
        pytest.param("<div>" * 60_000 + "x", id="elements in elements"),
        pytest.param("<ul><li>" * 60_000 + "x", id="lists in lists"),
        pytest.param("<li><ul></li>" * 40_000, id="items that can't be closed"),
        pytest.param("<span><div></span>" * 40_000, id="spans that can't be closed"),
        pytest.param("<form><div></form>" * 40_000, id="forms that close alone"),
        pytest.param("<div><!x </div>" * 40_000, id="ends in what only looks like a comment"),
        pytest.param("<svg><style>" + "<div>" * 60_000, id="a style that is none"),
        pytest.param("".join(f"<p><font a{n}>x" for n in range(30_000)), id="fonts opened again"),
        pytest.param("".join(f"<p><font a{n}>x" for n in range(500)), id="a few fonts opened again"),
        pytest.param("<b><div>" * 30_000 + "</b>" * 30_000, id="fonts across elements"),
        pytest.param(f"<p {' '.join(f'a{n}' for n in range(80_000))}>x", id="attributes"),
        pytest.param(f"<p {' '.join(f'''a{n}='>' ''' for n in range(60_000))}>x", id="attributes with signs"),
        pytest.param('<p a="' * 60_000, id="quotes that never end"),
        pytest.param("<" * 300_000, id="tags that never begin"),
        pytest.param("<a " * 100_000, id="tags that never end"),
        pytest.param("<!--" * 100_000, id="comments that never end"),
        pytest.param("<table><tr><td>" * 40_000 + "|", id="tables in tables"),
        pytest.param("<table><tr><td>" * 160 + "abc " * 700_000, id="much text in tables in tables"),
        pytest.param("<pre>" + "`" * 500_000 + "\n" + "abc def\n" * 60_000, id="long fences"),
        pytest.param(
            f"<div class='{'a ' * 5_000}'>{'<pre>a</pre>' * 50_000}</div>", id="classes around code"
        ),
        pytest.param(
            f"<div class='{'a ' * 1_000_000}'>{'<pre>a</pre>' * 50_000}</div>", id="megabytes around code"
        ),
        pytest.param("<title>" + "[" * 300_000, id="a title"),
        pytest.param("<h1>x" * 30_000, id="headings"),
        pytest.param("<p>x" * 80_000, id="paragraphs"),
        pytest.param("x" * 20_000_000, id="20 MB of text"),
        pytest.param("<pre>" + "<div>" * 3000 + "x" * 1_000_000, id="elements in code"),
        pytest.param("<div class=tabs-container>" * 30_000, id="tabs in tabs"),
        pytest.param(f"<div class='{'_' * 200_000}!'>x</div>", id="a class name"),
        pytest.param(
            "<head><noscript>" + "<meta http-equiv=refresh " * 4_000 + "</noscript></head>",
            id="refreshes that never end",
        ),
        pytest.param(
            f"<head><base href='/{'x/' * 100_000}'></head>"
            + "".join(f"<a href='{number}'>x</a>" for number in range(9_000)),
            id="a long base",
        ),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_hostile_pages_are_parsed_in_bounded_time(html: str, wrapped: bool) -> None:
    begun, contained = time.process_time(), peak()
    article = parse_html(docusaurus(html) if wrapped else html, URL)
    assert time.process_time() - begun < 10
    assert peak() - contained < 600_000
    assert sum(len(piece.text) for piece in article.pieces) < 9_000_000


def test_long_class_of_the_page_is_read_in_bounded_time() -> None:
    begun = time.process_time()
    html = f"<html class='{'-u' * 200_000}!'><div id=__docusaurus><main><article><p>x"
    assert text(html) == "x"
    assert time.process_time() - begun < 10


def test_limit_html_keeps_harmless_pages() -> None:
    html = docusaurus(
        "<h2 id=a>H</h2><p>One <b class=x>two</b> <i>three</i><ul><li>a<li>b<ul><li>c</ul></ul>"
        "<table><tr><td>a<td>b<tr><td>c</table><svg><g><path d='M0'/></g></svg><img src=a><br/>"
        "<!-- a > b --><script>if (a < b) { '<div>' }</script><pre>a &lt; b</pre>" * 600
    ).encode()
    assert len(html) > 128_000
    without_svg = re.sub(rb"<svg.*?(?=</svg>)", b"", html, flags=re.DOTALL)
    assert limit_html(html)[0] == without_svg


def test_limit_html_removes_only_tags() -> None:
    html = b"<div>" * 5000 + b"<p a='>'>text</p><b x>" * 100 + b"</div>" * 5000
    limited = limit_html(html)[0]
    assert limited.count(b"text") == 100
    assert limited.count(b"<div>") == limited.count(b"</div>") == 500


HIDING = (
    "<svg><![CDATA[><!--]]></svg>",
    "<script><!--<script></script><!--x</script>",
    "<script></script\x0b><!--</script>",
    "<svg><p><textarea><!--</textarea>",
    "<svg><title><textarea><!--</textarea>",
    "<svg><desc><xmp><!--</xmp>",
    '<math><annotation-xml encoding="text/html"><title><!--</title>',
)


@pytest.mark.parametrize("hiding", HIDING)
def test_tags_can_not_be_hidden_from_the_limits(hiding: str) -> None:
    limited = limit_html(f"<html><body><main>{hiding}{'<div>' * 30_000}x".encode())[0]
    assert measure_depth(limited) < 600


PARTS = (
    *HIDING,
    *TAGS,
    *sorted(
        word_set("""
            math mi mtext annotation-xml object dl dd ruby rb frameset optgroup xmp textarea iframe noscript
            caption colgroup html g desc nobr
        """)
    ),
)


@given(
    st.lists(st.sampled_from(PARTS), max_size=5),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=6),
    st.data(),
)
def test_no_page_is_deeper_than_the_limits_allow(
    before: list[str], repeated: list[str], data: st.DataObject
) -> None:
    def write(part: str) -> str:
        forms = [
            f"<{part}>",
            f"</{part}>",
            f"<{part}/>",
            f"<{part}\x0b>",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<",
        ]
        return part if part in HIDING else data.draw(st.sampled_from(forms))

    unit = "".join(map(write, repeated))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parser_limits, "_SMALL_BYTES", 0)
        patch.setattr(parser_limits, "_MAX_DEPTH", 20)
        limited = limit_html(("".join(map(write, before)) + unit * 150).encode())[0]
    # Each element may bring some that a parser adds, such as <tbody> and <tr>.
    assert measure_depth(limited) < 100


def measure_depth(html: bytes) -> int:
    deepest, nodes = 0, [(LexborHTMLParser(html, scripting=True).root, 1)]
    while nodes:
        node, depth = nodes.pop()
        deepest = max(deepest, depth)
        child = node.child if node else None
        while child is not None:
            nodes.append((child, depth + 1))
            child = child.next
    return deepest
