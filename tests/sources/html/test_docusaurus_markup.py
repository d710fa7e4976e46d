"""The markup of Docusaurus reads as the Markdown that it was built from."""

from __future__ import annotations

from pathlib import Path

import pytest

from pertinent.sources.html import Article, parse_html
from pertinent.sources.markdown.parser import DocumentParser
from pertinent.sources.markdown.symlinks import LinkBoundary
from pertinent.sources.normal_form import HeadingPiece, Piece, assemble

from .shells import NAVIGATION, SNIPPETS, docusaurus

URL = "https://book.example/docs/page"


def article(html: str, major: int = 3) -> Article:
    return parse_html(docusaurus(html, major=major), URL)


def text(pieces: tuple[Piece, ...]) -> str:
    return assemble(pieces, "")[0]


NAMES = sorted(path.stem for path in SNIPPETS.glob("*.mdx"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("major", [2, 3])
def test_built_markup_reads_as_its_source(name: str, major: int) -> None:
    built, source = ((SNIPPETS / f"{name}.{kind}").read_text(encoding="utf-8") for kind in ("html", "mdx"))
    parsed = article(built, major)
    assert parsed.has_article
    assert list(parsed.pieces) == DocumentParser(Path("site"), LinkBoundary([])).parse(
        Path("page.mdx"), {}, source
    )


def test_admonitions_of_early_versions_are_read() -> None:
    built = """<div class="admonition admonition-tip alert alert--success"><div class="admonition-heading">\
<h5><span class="admonition-icon"><svg></svg></span>tip</h5></div>\
<div class="admonition-content"><p>Do.</p></div></div>"""
    assert text(article(built, 2).pieces) == "**Tip:** Do."


def test_navigation_around_the_article_is_ignored() -> None:
    html = docusaurus("<header><h1>Page</h1></header><p>Text.</p>")
    article = text(parse_html(html, URL).pieces)
    assert all(word in html for word in NAVIGATION)
    assert article == "# Page\n\nText."


@pytest.mark.parametrize("wrapped", [False, True])
def test_formula_is_read_as_tex(wrapped: bool) -> None:
    def built(tex: str, display: str = "") -> str:
        source = f'<annotation encoding="application/x-tex">{tex}</annotation>'
        math = f"<math{display}><semantics><mrow><mi>x</mi></mrow>{source}</semantics></math>"
        rendered = '<span class="katex-html" aria-hidden="true"><span class="mord">x</span></span>'
        return f'<span class="katex"><span class="katex-mathml">{math}</span>{rendered}</span>'

    block = f'<span class="katex-display">{built("x^{2} &lt; y", " display=block")}</span>'
    if wrapped:
        block = f'<div class="math math-display">{block}</div>'
    html = f"<p>Let {built('a_{i}')} be.</p>{block}<p>End.</p>"
    assert text(article(html).pieces) == "Let $a_{i}$ be.\n\n$$ x^{2} < y $$\n\nEnd."


def test_image_for_two_themes_is_read_once() -> None:
    html = """<p><img alt="both" class="themedComponent_mlkZ themedComponent--light_NVdE">\
<img alt="both" class="themedComponent_mlkZ themedComponent--dark_xIcU"></p>"""
    assert text(article(html).pieces) == "both"


def test_lazy_tabs_have_the_selected_label() -> None:
    tabs = '<li role="tab" aria-selected="false">A</li><li role="tab" aria-selected="true">B</li>'
    panels = '<div class="margin-top--md"><div role="tabpanel">b</div></div>'
    html = f'<div class="tabs-container"><ul role="tablist" class="tabs">{tabs}</ul>{panels}</div>'
    assert text(article(html).pieces) == "**B**\n\nb"


def test_live_editor_is_read_as_code() -> None:
    html = """<div class="playgroundContainer_XwyR"><div class="playgroundHeader_EIHj">Live Editor</div>\
<div class="playgroundEditor_L2Ll"><pre class="prism-code language-tsx"><span class="token-line">\
<span class="token keyword">let</span> a
</span><span class="token-line">b
</span></pre></div><div class="playgroundHeader_EIHj">Result</div><div class="playgroundPreview_bYPY">\
<div>Loading...</div></div></div>"""
    assert text(article(html).pieces) == "```tsx\nlet a\nb\n```"


@pytest.mark.parametrize(
    "main",
    [
        '<main><div class="generatedIndexPage_vN6x"><header><h1>Cats</h1></header><article><section>'
        '<article><a class="card cardContainer_fWXF">Card</a></article></section></article></div></main>',
        "<main><article><h2>One post</h2></article><article><h2>Another</h2></article></main>",
        "<main><h1>Page Not Found</h1></main>",
    ],
)
def test_category_index_has_no_article(main: str) -> None:
    html = f"<meta name=generator content='Docusaurus v3.1.0'><title>T | S</title>{main}<a href=/x>x</a>"
    article = parse_html(html, URL)
    assert not article.has_article
    assert not article.pieces
    assert article.links == ("https://book.example/x",)


def test_listing_pages_have_no_article() -> None:
    html = """<html class="plugin-blog blog-tags-post-list-page">\
<meta name=generator content="Docusaurus v3"><main>\
<article><div class="markdown"><p>The only post.</p></div></article></main>"""
    assert not parse_html(html, URL).has_article


def test_blog_post_has_the_title_above_it() -> None:
    html = """<meta name=generator content="Docusaurus v3.1.0"><title>A post | Site</title><main><article>\
<header><h1 class="title_xvU1">A post</h1><div class="container_iJTo"><time>May 1</time> · One min read</div>\
</header><div id="__blog-post-container" class="markdown"><p>Text.</p></div>\
<footer class="docusaurus-mt-lg"><b>Tags:</b></footer></article></main>"""
    article = parse_html(html, URL)
    assert article.title == "A post"
    assert text(article.pieces) == "# A post\n\nText."


def test_standalone_page_is_read() -> None:
    html = """<html class="mdx-wrapper mdx-page"><meta name=generator content="Docusaurus v3"><main><div>\
<article><h1>About</h1><p>Us.</p></article><div class="theme-doc-toc-desktop">Toc</div></div></main>"""
    assert text(parse_html(html, URL).pieces) == "# About\n\nUs."


def test_docusaurus_is_recognised_without_a_generator() -> None:
    html = docusaurus("<p>Text</p>").replace('name="generator"', 'name="hidden"')
    article = parse_html(html, URL)
    assert article.generator is None
    assert text(article.pieces) == "Text"


def test_custom_theme_is_read_as_generic_markup() -> None:
    html = docusaurus("<header><h1>Page</h1></header><p>Text.</p>")
    html = html.replace('"theme-doc-markdown markdown"', "own")
    html = html.replace("<article>", "<section>").replace("</article>", "</section>")
    assert "# Page\n\nText." in text(parse_html(html, URL).pieces)


def test_hidden_title_is_ignored() -> None:
    assert not [piece for piece in article("<p>Text.</p>").pieces if isinstance(piece, HeadingPiece)]
