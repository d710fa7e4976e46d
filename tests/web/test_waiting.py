"""What is seen before there is anything to show, and where there is nothing to show."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from .conftest import Reader, Visit
from .test_access import CONTRAST, NAMELESS, SIDEWAYS

PHONE = {"viewport": {"width": 360, "height": 700}}
LOST = ["/nope", "/reports/report_20260101_120000.json", "/a/b/c/"]


def test_label_page_shows_that_it_is_loading(visit: Visit) -> None:
    reader = visit(**PHONE)
    reader.expected_errors.append("404")  # labelling is off in this service
    routes: list[Route] = []
    reader.page.route("**/api/v1/labels/next*", lambda route: routes.append(route))  # noqa: PLW0108 - Playwright looks at the name of what it is given
    reader.page.goto(f"{reader.home}/label")
    loading = reader.page.get_by_text("Loading the next passage")
    expect(loading).to_be_visible()
    assert not reader.js(SIDEWAYS)
    (waiting,) = routes
    waiting.continue_()
    expect(reader.page.get_by_text("Labelling is switched off")).to_be_visible()
    expect(loading).to_have_count(0)


def test_label_page_without_javascript_shows_no_loading_message(visit: Visit) -> None:
    reader = visit(java_script_enabled=False)
    reader.page.goto(f"{reader.home}/label")
    expect(reader.page.get_by_role("heading", name="Label")).to_be_visible()
    expect(reader.page.get_by_text("Loading the next passage")).to_be_hidden()
    reader.page.close()  # a closed page has no violations to check


def lost(reader: Reader, path: str) -> None:
    reader.expected_errors.append("404")
    reader.page.goto(reader.home + path)
    expect(reader.page.get_by_role("heading", name="Page not found")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", LOST)
def test_not_found_page_links_back_to_the_search(visit: Visit, path: str, scheme: str) -> None:
    reader = visit(color_scheme=scheme, **PHONE)
    lost(reader, path)
    assert reader.js("getComputedStyle(document.body).marginTop") == "0px"  # it has its styles
    assert reader.js(CONTRAST) == reader.js(NAMELESS) == []
    assert not reader.js(SIDEWAYS)
    reader.page.get_by_role("link", name="Back to the search").click()
    expect(reader.box).to_be_focused()


def test_error_page_links_work_from_any_depth(visit: Visit) -> None:
    reader = visit()
    lost(reader, "/a/b/c/")
    reader.page.get_by_role("link", name="Reports").click()
    expect(reader.page).to_have_url(f"{reader.home}/reports")
