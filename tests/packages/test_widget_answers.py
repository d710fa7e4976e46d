"""What widget.js makes of answers that the service of the other tests does not give, in real Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from .conftest import OTHER_SITE, Visit, Visitor, draw_script, serve_pages

pytestmark = pytest.mark.slow

ALLOWED = {"access-control-allow-origin": "*"}
HIT: dict[str, Any] = {
    "chunk_id": "1",
    "snippet": "הפורמט URDF.",
    "highlights": [],
    "metadata": {
        "url": "http://handbook.example/docs/urdf",
        "anchor": "",
        "section": "",
        "document_id": "urdf",
        "document_title": "מפרקים",
    },
}


@pytest.fixture(scope="module")
def site_browser(tmp_path_factory: pytest.TempPathFactory, search_service: str) -> Iterator[Browser]:
    pages = {"index": f"<head>{draw_script()}</head><body><h1>Answers</h1></body>"}
    with serve_pages(tmp_path_factory.mktemp("answers"), pages, search_service) as browser:
        yield browser


@pytest.fixture
def visitor(visit_site: Visit) -> Visitor:
    return visit_site(f"{OTHER_SITE}/index.html")


def list_wrong_answers() -> dict[str, Any]:
    hits = {field: {name: HIT[name] for name in HIT if name != field} for field in HIT if field != "chunk_id"}
    untitled = {**HIT, "metadata": {"url": "http://handbook.example/docs/urdf"}}
    return {
        "null": None,
        "no results": {},
        "untitled": {"results": [untitled]},
        **{f"no {field}": {"results": [hit]} for field, hit in hits.items()},
    }


@pytest.mark.parametrize("answer", [*list_wrong_answers(), "a page"])
def test_widget_is_not_available_where_something_else_answers(visitor: Visitor, answer: str) -> None:
    """A proxy or another server may answer with anything, and another version without a field."""
    visitor.expected_errors += ["is not Pertinent, or another version of it"]

    def fulfill(route: Route) -> None:
        if answer == "a page":
            route.fulfill(body="<h1>Welcome</h1>", content_type="text/html", headers=ALLOWED)
        else:
            route.fulfill(json=list_wrong_answers()[answer], headers=ALLOWED)

    visitor.page.route("**/api/v1/**", fulfill)
    visitor.page.keyboard.press("/")
    visitor.box.fill("joint")
    expect(visitor.page.get_by_role("alert")).to_contain_text("The search is not available at the moment.")
    assert any("http://search.example/ is not Pertinent" in problem for problem in visitor.problems)


def test_widget_waits_for_the_rate_limit_only_while_it_is_open(visitor: Visitor) -> None:
    visitor.expected_errors += ["429"]
    searches = []

    def refuse(route: Route) -> None:
        searches.append(route.request.url)
        route.fulfill(status=429, body="{}", headers=ALLOWED)

    visitor.page.route("**/api/v1/search?*", refuse)
    visitor.page.keyboard.press("/")
    visitor.box.fill("joint")
    expect(visitor.page.get_by_role("alert")).to_contain_text("Please wait 1 s.")
    visitor.page.keyboard.press("Escape")
    visitor.page.wait_for_timeout(2500)
    assert len(searches) == 1
    visitor.page.unroute("**/api/v1/search?*")
    visitor.page.keyboard.press("Control+k")
    expect(visitor.dialog.locator(".snippet").first).to_be_visible()


def test_widget_shows_each_text_in_its_own_direction(visitor: Visitor) -> None:
    answer = {"results": [HIT], "suggestions": [], "status": "success"}
    visitor.page.route("**/api/v1/**", lambda route: route.fulfill(json=answer, headers=ALLOWED))
    visitor.search("URDF")
    for selector in (".snippet", ".name", ".group-title"):
        expect(visitor.dialog.locator(selector).last).to_have_css("direction", "rtl")
    expect(visitor.dialog).to_have_css("direction", "ltr")
