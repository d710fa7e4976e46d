"""A passage is text from somewhere else: nothing in it may run, load, or become a link."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import Reader

HOSTILE = [
    "<script>window.harmed = 1</script>",
    "<img src=x onerror='window.harmed = 1'>",
    "[click](javascript:window.harmed=1)",
    "![picture](https://elsewhere.example/x.png)",
    "<a href='javascript:window.harmed=1'>x</a>",
    "`<svg onload=window.harmed=1>`",
    "| <b>bold</b> | <iframe src='https://elsewhere.example'> |\n| --- | --- |\n| <i>x</i> | y |",
    "- <style>* { display: none }</style>",
    "# <h1 onclick=window.harmed=1>",
    "```<script>\n</code></pre><script>window.harmed=1</script>\n```",
    "```html\n</code></pre><script>window.harmed=1</script><img src=x onerror='window.harmed=1'>\n```",
    "```js\nconst a = `${'</span><img src=x onerror=window.harmed=1>'}`; // <script>harmed=1</script>\n```",
    "**<img src=x onerror='window.harmed=1'>**",
]

DRAWN = {"p", "h4", "h5", "ul", "ol", "li", "pre", "code", "mark", "div", "span", "strong"}
DRAWN |= {"table", "thead", "tbody", "tr", "th", "td"}


def unharmed(reader: Reader) -> None:
    reader.page.wait_for_timeout(150)
    assert reader.js("window.harmed ?? null") is None


def test_script_in_a_passage_is_shown_as_text(reader: Reader) -> None:
    reader.open("/?q=script+attacker+payload+wiki+onerror&least=0")
    page = reader.page.locator(".page", has=reader.page.get_by_role("heading", name="Hostile"))
    while (buttons := page.get_by_role("button", name="Show all")).count():
        buttons.first.click()
    expect(page).to_contain_text("<script>window.harmed = 2</script>")
    expect(page).to_contain_text('<img src="x" onerror="window.harmed = 4">')
    for tag in ("script", "img", "iframe", "svg", "[onerror]"):
        expect(reader.page.locator("#results").locator(tag)).to_have_count(0)
    assert not reader.page.locator("#results a[href^='javascript']").count()
    for button in page.get_by_role("button", name="Context").all():
        button.click()
    unharmed(reader)


@pytest.mark.parametrize("text", HOSTILE)
def test_renderer_creates_no_html_from_a_passage(bench: Reader, text: str) -> None:
    names, text = bench.js(
        """async (text) => {
            const { render } = await import("/static/markdown.js");
            const box = document.createElement("div");
            box.append(render(text, /harmed/gi));
            document.getElementById("hits").replaceChildren(box);
            return [[...box.querySelectorAll("*")].map((one) => one.localName), box.textContent];
        }""",
        text,
    )
    assert set(names) <= DRAWN
    assert "<" in text or "](" in text
    unharmed(bench)


def test_hostile_titles_sections_and_urls_stay_text(reader: Reader) -> None:
    harm = "<img src=x onerror='window.harmed=1'>"
    metadata = {
        "url": "javascript:window.harmed=1",
        "anchor": "",
        "section": harm,
        "document_title": harm,
        "document_id": harm,
    }
    hit = {
        "chunk_id": f'"{harm}',
        "content": harm,
        "similarity_score": 9e9,
        "metadata": metadata,
        "scores": {"cosine": "x; background: url(https://elsewhere.example)", "lexical": -5},
    }
    answer = {"results": [hit], "warnings": [harm], "status": "partial", "query_time_ms": 1}
    reader.page.route("**/api/v1/search", lambda route: route.fulfill(json=answer))
    reader.open("/?q=%3Cimg+src%3Dx+onerror%3Dwindow.harmed%3D1%3E")
    expect(reader.page.locator("#hits h2")).to_have_text(harm)
    expect(reader.hits.first.get_by_role("link")).to_have_count(0)
    expect(reader.hits.first.locator(".tools .location")).to_have_text("javascript:window.harmed=1")
    expect(reader.page.get_by_role("note")).to_contain_text("may be incomplete")
    expect(reader.page.locator("#results img")).to_have_count(0)
    unharmed(reader)


def test_hostile_query_stays_text(reader: Reader) -> None:
    reader.box.fill("<script>window.harmed=1</script> [x](javascript:1) (.*)+ \\")
    reader.box.press("Enter")
    expect(reader.status).not_to_be_empty()
    unharmed(reader)


LENGTH = 200_000

ENDLESS = {
    "heading": "#" + " " * LENGTH + "a\u2028b",
    "heading-spaces": "# a" + " " * LENGTH + "b",
    "heading-marks": "# a" + "#" * LENGTH + "b",
    "item": "- " + " " * LENGTH + "\u2028b",
    "fence": "~" * LENGTH + "`",
    "fence-spaces": "~~~" + " " * LENGTH + "`",
    "table": " " * LENGTH + "|x|",
    "table-rule": "|a|\n|---" + " " * LENGTH + "x|",
    "inline-code": "` " + "a" * LENGTH + "`",
    "backquotes": " ".join("`" * count for count in range(1, 2000)),
    "code": "```\na" + " " * LENGTH + "b\n```",
    "coloured-code": "```java\n" + "a" * LENGTH + "\n```",
}
"""Texts for which a careless pattern takes minutes or years."""


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_long_lines_do_not_block_the_page(bench: Reader, text: str) -> None:
    drawn = bench.js(
        """async (text) => {
            const { render } = await import("/static/markdown.js");
            await import("/static/vendor/highlight.min.js");
            return render(text, /harmed/gi).textContent.length;
        }""",
        text,
    )
    assert drawn
