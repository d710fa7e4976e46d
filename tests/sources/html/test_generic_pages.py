"""Pages of other generators, written after their real output."""

from __future__ import annotations

from pathlib import Path

import pytest

from pertinent.sources.html import parse_html
from pertinent.sources.normal_form import HeadingPiece, Piece, assemble

PAGES = Path(__file__).parent / "pages"
NAMES = sorted(path.stem for path in PAGES.glob("*.html"))


def shown(pieces: tuple[Piece, ...]) -> str:
    """The text of the page, with the anchors of its headings as Markdown would give them."""
    return assemble(map(_with_anchor, pieces), "")[0] + "\n"


def _with_anchor(piece: Piece) -> Piece:
    if isinstance(piece, HeadingPiece) and piece.anchor:
        return HeadingPiece(piece.level, f"{piece.text} {{#{piece.anchor}}}", piece.anchor)
    return piece


@pytest.mark.parametrize("name", NAMES)
def test_article_is_read_without_boilerplate(name: str) -> None:
    article = parse_html((PAGES / f"{name}.html").read_bytes(), "https://robot.example/page")
    assert shown(article.pieces) == (PAGES / f"{name}.md").read_text(encoding="utf-8")
    assert article.title == "Walking robots"
    assert article.has_article


def pieces(body: str, title: str = "T | Site") -> str:
    return shown(parse_html(f"<title>{title}</title>{body}", "https://x.example/a").pieces)


LONG = "A paragraph that says something at some length, as paragraphs of articles do. " * 3


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ('<h2 id="own">H</h2>', "own"),
        ('<h2><a id="inside"></a>H</h2>', "inside"),
        ('<h2><a name="named">H</a></h2>', "named"),
        ('<a name="before"></a>\n<h2>H</h2>', "before"),
        ('<p id="not">text</p><h2>H</h2>', ""),
        ('<section id="section"><h2>H</h2></section>', "section"),
        ('<section id="section"><p>text</p><h2>H</h2></section>', ""),
        ('<h2>H <a class="anchor" href="#linked">#</a></h2>', "linked"),
        ('<h2><a class="anchor" href="#whole">H</a></h2>', "whole"),
        ('<h2>H<a class="permalink" href="#gr%C3%BC%C3%9Fe">¶</a></h2>', "grüße"),
        ('<a class="anchor" href="#sign">§</a><h2>H</h2>', "sign"),
        ('<p>See <a href="#elsewhere">there</a></p><h2>H</h2>', ""),
        ('<p>Unclosed <a name="end"></a><h2>H</h2>', "end"),
        ("<h2>H</h2>", ""),
    ],
)
def test_heading_anchor_is_found(heading: str, anchor: str) -> None:
    article = parse_html(f"<main><h1>T</h1><p>x</p>{heading}</main>", "https://x.example/a").pieces
    assert article[-1] == HeadingPiece(2, "H", anchor)


CONTENTS = '<h2 id="contents">Contents</h2>'


@pytest.mark.parametrize(
    ("body", "anchor"),
    [
        (f'{CONTENTS}<a name="own"></a><h2>H <a href="#contents">[contents]</a></h2>', "own"),
        (f'{CONTENTS}<h2>H <a href="#contents">[contents]</a></h2>', ""),
        ('<a name="own"></a><h2>H <a href="#top">[top]</a></h2>', "own"),
        ('<h2>H <a href="#top">[top]</a></h2>', ""),
        (f'{CONTENTS}<h2 id="contents">H</h2>', ""),
        (f'{CONTENTS}<a name="own"></a><h2 id="contents">H</h2>', "own"),
        ('<p id="x">text</p><h2 id="x">H</h2>', ""),
        ('<div id="x"><h2 id="x">H</h2></div>', "x"),
        ('<p id="x">text</p><h2><a name="x"></a>H</h2>', ""),
        ('<h2 id="Contents">H</h2>', "Contents"),
        ('<section id="s"><h2>H<a href="#s">¶</a></h2></section>', "s"),
    ],
)
def test_heading_anchor_leads_to_the_heading(body: str, anchor: str) -> None:
    article = parse_html(f"<main><h1>T</h1><p>x</p>{body}</main>", "https://x.example/a").pieces
    heading = article[-1]
    assert isinstance(heading, HeadingPiece)
    assert (heading.level, heading.anchor) == (2, anchor)


def test_densest_element_is_the_article() -> None:
    links = "".join(
        f"<li><a href=/{n}>A chapter that has quite a long name, number {n}</a>" for n in range(40)
    )
    html = f"<div><ul>{links}</ul></div><div><div><h1>T</h1><p>{LONG}</p></div></div><div>Copyright</div>"
    assert pieces(html) == f"# T\n\n{LONG.strip()}\n"


def test_plain_text_page_is_an_article() -> None:
    assert pieces("Just text.") == "# T\n\nJust text.\n"


def test_title_above_the_article_becomes_its_heading() -> None:
    assert pieces("<header><h1>T</h1></header><main><p>x</p></main>") == "# T\n\nx\n"


def test_name_of_the_book_does_not_become_a_heading() -> None:
    html = "<title>Owners - The Book</title><h1>The Book</h1><main><h2 id=o>Owners</h2><p>x</p></main>"
    article = parse_html(html, "https://x.example/a")
    assert article.title == "Owners"
    assert shown(article.pieces) == "## Owners {#o}\n\nx\n"


@pytest.mark.parametrize("noise", [
    "<nav>n</nav>", "<aside>n</aside>", "<form>n</form>", "<script>n</script>", "<style>n</style>",
    "<noscript>n</noscript>", "<template>n</template>", "<iframe>n</iframe>", "<p hidden>n</p>",
    '<p aria-hidden="true">n</p>', '<p style="DISPLAY: none">n</p>', '<div role="navigation">n</div>',
    '<div class="cookie-consent">n</div>', '<div class="VPDocFooter">n</div>',
    '<ul id="breadcrumbs">n</ul>', '<div class="edit-this-page">n</div>', "<select><option>n</select>",
    "<button>n</button>",
])  # fmt: skip
def test_boilerplate_is_ignored(noise: str) -> None:
    assert pieces(f"<main><h1>T</h1><p>x</p>{noise}<p>y</p></main>") == "# T\n\nx\n\ny\n"


@pytest.mark.parametrize(
    "content",
    [
        '<aside class="admonition note"><p>n</p></aside>',
        '<aside role="note" class="starlight-aside">n</aside>',
        '<div class="menuselection">n</div>',
        '<p class="commentary">n</p>',
        '<details class="note"><summary>n</summary></details>',
    ],
)
def test_content_like_boilerplate_is_read(content: str) -> None:
    assert pieces(f"<main><h1>T</h1><p>x</p>{content}</main>") == "# T\n\nx\n\nn\n"


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ('<pre><code class="language-js">x</code></pre>', "js"),
        ('<pre class="lang-js">x</pre>', "js"),
        ('<div class="highlight-js notranslate"><div class="highlight"><pre>x</pre></div></div>', "js"),
        ('<div class="highlight highlight-source-js"><pre>x</pre></div>', "js"),
        ('<pre class="sourceCode js"><code>x</code></pre>', "js"),
        ('<pre><code class="hljs language-js">x</code></pre>', "js"),
        ('<pre class="brush: js">x</pre>', "js"),
        ('<pre><code data-lang="js">x</code></pre>', "js"),
        ('<pre><pre class="playground"><code class="language-js">x</code></pre></pre>', "js"),
        ('<div class="highlight-default notranslate"><pre>x</pre></div>', ""),
        ('<pre><code class="language-plaintext">x</code></pre>', ""),
        ("<pre>x</pre>", ""),
    ],
)
def test_code_language_is_found(code: str, language: str) -> None:
    assert pieces(f"<main><h1>T</h1>{code}</main>") == f"# T\n\n```{language}\nx\n```\n"


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("<pre>a\n  b\n\nc</pre>", "a\n  b\n\nc"),
        ("<pre>a<br>b</pre>", "a\nb"),
        ("<pre><div>a</div><div></div><div>b</div></pre>", "a\n\nb"),
        ("<pre><ol><li>a<li>b</ol></pre>", "a\nb"),
        ('<pre><span class="line">a</span>\n<span class="line">b</span></pre>', "a\nb"),
        ('<pre><span class="lineno">1</span>a<button>Copy</button></pre>', "a"),
        ("<pre>```\ninner\n```</pre>", None),
    ],
)
def test_code_lines_are_read(code: str, lines: str | None) -> None:
    expected = "````\n```\ninner\n```\n````" if lines is None else f"```\n{lines}\n```"
    assert pieces(f"<main><h1>T</h1>{code}</main>") == f"# T\n\n{expected}\n"


def test_mathml_without_tex_is_read_as_text() -> None:
    html = "<main><h1>T</h1><p>a <math alttext='x^2'><mi>x</mi></math> b <math><mi>y</mi></math></p></main>"
    assert pieces(html) == "# T\n\na $x^2$ b y\n"


def test_nested_tables_are_cells() -> None:
    html = "<main><h1>T</h1><table><tr><td>a<td><table><tr><td>b|c</table></table></main>"
    assert pieces(html).startswith("# T\n\n| a |")


EVERYDAY = [
    "cookies", "pagination", "using-tags", "the-navigation-menu", "related", "comments",
    "sharing-a-channel", "skip-a-step", "social-login", "last-updated", "source-file", "newsletter",
    "table-of-contents", "skip(long)", "method.skip",
]  # fmt: skip


@pytest.mark.parametrize(
    "around", ['<section id="{}">', '<div class="section" id="{}">', '<div id="{}" class="section level2">']
)
@pytest.mark.parametrize("name", EVERYDAY)
def test_section_ids_do_not_count_as_boilerplate(around: str, name: str) -> None:
    end = "</section>" if around.startswith("<section") else "</div>"
    body = f"<main><h1>T</h1><p>{LONG}</p>{around.format(name)}<h2>H</h2><p>What it is about.</p>{end}</main>"
    article = pieces(body)
    assert f"## H {{#{name}}}" in article
    assert "What it is about." in article


@pytest.mark.parametrize(
    "code",
    [
        '<pre><code class="lang-csharp">{}</code></pre>',
        '<pre class="line-numbers language-css"><code>{}</code></pre>',
        '<pre class="line-numbers"><code class="language-css line-numbers">{}</code></pre>',
        '<div class="language-ts line-numbers-mode"><pre><code>{}</code></pre>'
        '<div class="line-numbers" aria-hidden="true"><div class="line-number">1</div></div></div>',
        '<pre><code class="language-sh copy">{}</code></pre>',
        '<pre><code class="hljs gutter">{}</code></pre>',
        '<pre><code class="language-go"><span class="line"><span class="ln">1</span>'
        '<span class="cl">{}</span></span></code></pre>',
        '<pre><span class="lang">ts</span><code>{}</code></pre>',
    ],
)
def test_code_is_read_without_line_numbers(code: str) -> None:
    article = pieces(f"<main><h1>T</h1><p>{LONG}</p>{code.format('walk(left)')}<p>After.</p></main>")
    assert "\nwalk(left)\n```" in article
    assert "1" not in article


@pytest.mark.parametrize(
    "block",
    [
        '<aside class="topic"><p class="topic-title">T</p><p>{}</p></aside>',
        '<div class="admonition-related-topics admonition"><p class="admonition-title">T</p><p>{}</p></div>',
    ],
)
def test_sphinx_admonitions_and_topics_are_read(block: str) -> None:
    text = "Batteries are charged at night."
    assert text in pieces(f"<main><h1>T</h1><p>{LONG}</p>{block.format(text)}<p>After.</p></main>")
    contents = '<nav class="contents topic"><p>Contents</p></nav><aside class="sidebar">Menu</aside>'
    remaining = pieces(f"<main><h1>T</h1><p>{LONG}</p>{contents}</main>")
    assert "Contents" not in remaining
    assert "Menu" not in remaining


def test_tab_labels_outside_of_a_list_are_read() -> None:
    tabs = (
        '<div class="tab-set"><input id="a" type="radio"><label class="tab-label" for="a">Unix</label>'
        '<div class="tab-content docutils"><p>apt install osprey</p></div>'
        '<input id="b" type="radio"><label class="tab-label" for="b">Windows</label>'
        '<div class="tab-content docutils"><p>winget install osprey</p></div></div>'
    )
    article = pieces(f"<main><h1>T</h1><p>{LONG}</p>{tabs}<p>After.</p></main>")
    order = ["Unix", "apt install", "Windows", "winget install", "After."]
    assert sorted(order, key=article.index) == order


@pytest.mark.parametrize("name", ["genindex-jumpbox", "modindex-jumpbox", "domainindex-jumpbox"])
def test_sphinx_index_has_no_article(name: str) -> None:
    entries = "".join(
        f'<li><a href="api.html#f{number}">f{number}() (in module osprey)</a></li>' for number in range(99)
    )
    body = f'<main><h1>Index</h1><div class="{name}"><a href="#A">A</a></div><ul>{entries}</ul></main>'
    article = parse_html(f"<title>Index</title>{body}", "https://x.example/genindex.html")
    assert (article.has_article, article.title) == (False, "Index")
    assert "https://x.example/api.html" in article.links
