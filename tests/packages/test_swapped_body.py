"""widget.js on sites whose router replaces the body instead of loading pages, in real Chromium."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from .conftest import OTHER_SITE, Visit, Visitor, draw_script, serve_pages

pytestmark = pytest.mark.slow

HANDBOOK_DOCS = "http://handbook.example/docs/"


PAGES = {
    "head": f"<head>{draw_script()}</head><body><h1>First</h1></body>",
    "body": f"<body><h1>First</h1>{draw_script()}</body>",
    "target": f"""<head>{draw_script('data-target="nav"')}</head><body><nav></nav></body>""",
}

SWAP_BODY = """(html) => {
    window.cachedBody = document.body.cloneNode(true);
    document.body.replaceWith(new DOMParser().parseFromString(html, "text/html").body);
    for (const script of document.body.querySelectorAll("script")) {
        const copy = document.createElement("script");
        for (const { name, value } of script.attributes) copy.setAttribute(name, value);
        copy.addEventListener("load", () => document.body.dataset.loaded = "");
        script.replaceWith(copy);
    }
}"""
"""Show another page as routers do: a clone of the body is cached, and the scripts of the new body are run."""

GO_BACK = "() => document.body.replaceWith(window.cachedBody)"
"""Show the cached body, whose elements have lost their shadow trees."""


@pytest.fixture(scope="module")
def site_browser(tmp_path_factory: pytest.TempPathFactory, search_service: str) -> Iterator[Browser]:
    with serve_pages(tmp_path_factory.mktemp("swapped"), PAGES, search_service) as browser:
        yield browser


def check_search(visitor: Visitor) -> None:
    """The button and the shortcut each open the one search, and the page scrolls after it was closed."""
    button = visitor.page.get_by_role("button", name="Search")
    expect(button).to_have_count(1)
    button.click()
    expect(visitor.dialog).to_be_visible()
    visitor.page.keyboard.press("Escape")
    visitor.search("joint")
    visitor.page.keyboard.press("Control+k")
    expect(visitor.dialog).to_be_hidden()
    expect(visitor.page.locator("html")).to_have_css("overflow", "visible")
    expect(visitor.page.locator("[data-pertinent]")).to_have_count(2)


def test_widget_stays_when_the_body_is_swapped(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/head.html")
    for title in ("Second", "Third"):
        visitor.page.evaluate(SWAP_BODY, f"<h1>{title}</h1>")
        check_search(visitor)
    visitor.page.evaluate(GO_BACK)
    check_search(visitor)


def test_widget_stays_when_the_content_of_the_body_is_replaced(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/head.html")
    cached = visitor.page.evaluate("document.body.innerHTML")
    for html in ("<h1>Second</h1>", cached):
        visitor.page.evaluate("(html) => { document.body.innerHTML = html; }", html)
        check_search(visitor)


def test_open_search_is_closed_when_the_body_is_swapped(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/head.html")
    visitor.search("joint")
    visitor.page.evaluate(SWAP_BODY, "<h1>Second</h1>")
    expect(visitor.dialog).to_be_hidden()
    expect(visitor.page.locator("html")).to_have_css("overflow", "visible")
    check_search(visitor)


def test_script_of_a_new_body_replaces_the_widget(visit_site: Visit) -> None:
    """The attributes of the page that is shown count, as if it had been loaded."""
    visitor = visit_site(f"{OTHER_SITE}/body.html")
    script = draw_script(f'data-scope="{HANDBOOK_DOCS}1.0"')
    visitor.page.evaluate(SWAP_BODY, f"<h1>Second</h1>{script}")
    visitor.page.locator("body[data-loaded]").wait_for()
    check_search(visitor)
    visitor.search("joint")
    links = [option.get_attribute("href") or "" for option in visitor.options.all()]
    assert {link.startswith(f"{HANDBOOK_DOCS}1.0/") for link in links} == {True}


def test_script_of_a_cached_body_starts_the_widget(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/body.html")
    visitor.page.evaluate(SWAP_BODY, f"<h1>Second</h1>{draw_script()}")
    visitor.page.locator("body[data-loaded]").wait_for()
    visitor.page.evaluate(SWAP_BODY, visitor.page.evaluate("window.cachedBody.outerHTML"))
    visitor.page.locator("body[data-loaded]").wait_for()
    check_search(visitor)


def test_button_is_in_the_target_of_a_swapped_body(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/target.html")
    button = visitor.page.get_by_role("button", name="Search")
    visitor.page.evaluate(SWAP_BODY, "<h1>Without a target</h1>")
    expect(button).to_have_css("position", "fixed")
    visitor.page.evaluate(SWAP_BODY, "<nav></nav><h1>With a target</h1>")
    expect(visitor.page.locator("nav").get_by_role("button", name="Search")).to_be_visible()
    expect(button).to_have_css("position", "static")
    check_search(visitor)


def test_button_returns_to_a_target_that_is_rendered_again(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/target.html")
    visitor.page.evaluate("document.querySelector('nav').remove()")
    button = visitor.page.get_by_role("button", name="Search")
    expect(button).to_have_css("position", "fixed")
    visitor.page.evaluate("document.body.append(document.createElement('nav'))")
    expect(visitor.page.locator("nav").get_by_role("button", name="Search")).to_be_visible()
    expect(button).to_have_css("position", "static")
