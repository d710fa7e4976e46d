"""The real DocSearch modal (@docsearch/js) in Chromium, answered by Pertinent, as docs/docsearch.md says."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .conftest import HANDBOOK, launch_browser, read_port, serve_sites
from .npm_build import ROOT

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "docsearch.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def docsearch_page(
    tools: Path, tmp_path_factory: pytest.TempPathFactory, search_service: str
) -> Iterator[Page]:
    """A page with DocSearch, configured with the code of the guide."""
    folder = tmp_path_factory.mktemp("docsearch")
    shutil.copy(tools / "node_modules" / "@docsearch" / "js" / "dist" / "umd" / "docsearch.js", folder)
    (code,) = re.findall(r"```js\n(.*?)```", GUIDE, re.S)
    code = re.sub(r"^import .*\n", "", code, flags=re.M)
    code = code.replace("https://search.example", "http://search.example")
    (folder / "page.js").write_text(code, encoding="utf-8")
    (folder / "index.html").write_text(
        '<!doctype html><title>DocSearch</title><div id="docsearch"></div>'
        '<script src="docsearch.js"></script><script src="page.js"></script>',
        encoding="utf-8",
    )
    with (
        serve_sites({"handbook.example": folder}) as port,
        launch_browser({"handbook.example": port, "search.example": read_port(search_service)}) as browser,
    ):
        page = browser.new_page()
        page.goto(HANDBOOK)
        yield page


def test_docsearch_modal_shows_passages_of_pertinent(docsearch_page: Page) -> None:
    page = docsearch_page
    page.get_by_role("button", name=re.compile("Search")).click()
    page.get_by_role("searchbox").fill("revolute joint limits")
    hit = page.locator(".DocSearch-Hit").first
    expect(hit.locator("a")).to_have_attribute("href", re.compile("/docs/robot-description/joints#"))
    expect(hit.locator("mark").first).to_be_visible()
    expect(page.locator(".DocSearch-Hit-source").first).to_have_text(re.compile("Joints"))


def test_docsearch_modal_shows_markup_of_pages_as_text(docsearch_page: Page) -> None:
    page = docsearch_page
    if not page.get_by_role("searchbox").is_visible():
        page.get_by_role("button", name=re.compile("Search")).click()
    page.get_by_role("searchbox").fill("hostile payload")
    expect(page.locator(".DocSearch-Hit-source").first).to_contain_text("Hostile")
    expect(page.locator(".DocSearch-Hit-title").first).to_contain_text("<script>window.harmed = 2</script>")
    assert page.evaluate("window.harmed ?? 0") == 0
