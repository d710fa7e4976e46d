"""widget.js on a site with a strict content security policy, in real Chromium, against a running service."""

from __future__ import annotations

import copy
import gzip
import json
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from pertinent.workspace.workspace import Workspace

from ..servers.service import running_service
from .conftest import (
    OTHER_SITE,
    PUBLIC_KEY,
    Visit,
    Visitor,
    launch_browser,
    read_port,
    serve_sites,
)
from .npm_build import ROOT, build_widget

pytestmark = pytest.mark.slow

WIDGET = ROOT / "src" / "pertinent" / "surfaces" / "web" / "widget.js"
MAX_COMPRESSED = 30 * 1024

PAGES = {
    "index": {"data-key": PUBLIC_KEY},
    "target": {"data-key": PUBLIC_KEY, "data-target": "#search", "data-theme": "dark"},
    "wrong-key": {"data-key": "another-key"},
    "down": {"data-url": "http://down.example"},
    "limited": {"data-url": "http://limited.example", "data-key": PUBLIC_KEY},
    "scope": {"data-key": PUBLIC_KEY, "data-scope": "http://handbook.example/docs/1.0"},
    "mistakes": {
        "data-key": PUBLIC_KEY,
        "data-theme": "drak",
        "data-target": "#nowhere",
        "data-scope": "http://[",
        "data-translations": "{",
    },
    "more-mistakes": {
        "data-key": PUBLIC_KEY,
        "data-target": "##nowhere[",
        "data-translations": json.dumps({"nothing": 5, "button": None, "hint": "Type."}),
    },
    "german": {
        "data-key": PUBLIC_KEY,
        "data-placeholder": "Im Handbuch suchen",
        "data-translations": json.dumps({"button": "Suchen", "dialog": "Suche", "names": "Seiten"}),
    },
}
"""The attributes of the script on each page of the site."""


def test_widget_is_what_its_source_builds(tools: Path, tmp_path: Path) -> None:
    built = build_widget(tmp_path).read_bytes()
    assert built == WIDGET.read_bytes(), "widget.js is out of date; build it with `make widget`"


def test_widget_is_small() -> None:
    assert len(gzip.compress(WIDGET.read_bytes())) <= MAX_COMPRESSED


@pytest.fixture(scope="module")
def limited_service(search_workspace: Workspace) -> Iterator[str]:
    """The address of a service that answers one request a minute."""
    with running_service(copy.copy(search_workspace), public_rate_limit=1) as address:
        yield address


@pytest.fixture(scope="module")
def site_browser(
    tmp_path_factory: pytest.TempPathFactory, search_service: str, limited_service: str
) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("other")
    for name, attributes in PAGES.items():
        written = " ".join(f'{key}="{escape(value)}"' for key, value in attributes.items())
        script = f'<script src="http://search.example/widget.js" defer {written}></script>'
        head = f'<!doctype html><html lang="en"><title>{name}</title>{script}'
        text = f'{head}<main id="search"><h1>{name}</h1></main>'
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
        if name == "index":
            (folder / "twice.html").write_text(text.replace(script, script * 2), encoding="utf-8")
    with (
        serve_sites({"other.example": folder}) as port,
        launch_browser(
            {
                "other.example": port,
                "search.example": read_port(search_service),
                "limited.example": read_port(limited_service),
                "down.example": 9,  # nothing listens there
            }
        ) as browser,
    ):
        yield browser


@pytest.fixture
def visitor(visit_site: Visit) -> Visitor:
    return visit_site(f"{OTHER_SITE}/index.html")


def test_widget_searches_from_a_button_that_it_adds(visitor: Visitor) -> None:
    visitor.page.get_by_role("button", name="Search").click()
    visitor.search("revolute joint limits")
    expect(visitor.selected).to_have_attribute("href", re.compile(r"^http://handbook\.example/docs/.*joints"))


def test_styles_of_the_site_do_not_reach_the_widget(visitor: Visitor) -> None:
    visitor.page.evaluate(
        """() => {
            const sheet = new CSSStyleSheet();
            sheet.replaceSync(`* { text-transform: uppercase; font-size: 30px }
                div { display: none !important; pointer-events: none; visibility: hidden }`);
            document.adoptedStyleSheets = [sheet];
        }"""
    )
    visitor.page.get_by_role("button", name="Search").click()
    visitor.search("revolute joint limits")
    expect(visitor.selected).to_be_visible()
    expect(visitor.selected).to_have_css("text-transform", "none")
    expect(visitor.selected).to_have_css("font-size", "16px")
    expect(visitor.selected).to_have_css("pointer-events", "auto")


def test_widget_does_not_ask_for_reranking(visitor: Visitor) -> None:
    """It searches while one types."""
    with visitor.page.expect_request("**/api/v1/search?*") as request:
        visitor.search("revolute joint limits")
    assert json.loads(request.value.post_data or "")["rerank"] is False


def test_widget_opens_a_result_in_a_new_tab(visitor: Visitor) -> None:
    visitor.search("revolute joint limits")
    with visitor.page.context.expect_page():
        visitor.page.keyboard.press("Control+Enter")
    expect(visitor.dialog).to_be_visible()


def test_widget_puts_its_button_where_the_site_says(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/target.html")
    expect(visitor.page.locator("#search").get_by_role("button", name="Search")).to_be_visible()
    visitor.search("joint")
    panel = visitor.dialog.locator(".panel")
    background = panel.evaluate("(panel) => getComputedStyle(panel).backgroundColor")
    assert background == "rgb(31, 32, 35)"


@pytest.mark.parametrize(
    "options",
    [{}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 800}}],
    ids=["light", "dark", "phone"],
)
def test_widget_has_no_accessibility_violation(visit_site: Visit, options: dict[str, object]) -> None:
    visitor = visit_site(f"{OTHER_SITE}/index.html", **options)
    visitor.check_accessibility("[data-pertinent=button]")
    visitor.search("revolute joint limits")
    visitor.check_accessibility("[data-pertinent=modal]")


def test_widget_says_what_is_wrong_when_the_service_is_down(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/down.html")
    visitor.expected_errors += ["ERR_", "can't be reached from this page"]
    visitor.page.keyboard.press("/")
    visitor.box.fill("joint")
    message = visitor.page.get_by_role("alert")
    expect(message).to_contain_text("The search can’t be reached at the moment.")
    expect(message.get_by_role("button", name="Try again")).to_be_visible()
    visitor.page.keyboard.type("s")
    expect(visitor.box).to_have_value("joints")
    message.get_by_role("button", name="Try again").click()
    expect(message).to_be_visible()
    reports = [problem for problem in visitor.problems if "cors_origins must name" in problem]
    assert len(reports) == 1, "each letter is a request, but one message is enough"
    assert OTHER_SITE in reports[0]


def test_widget_says_that_the_service_does_not_answer(visitor: Visitor) -> None:
    visitor.expected_errors += ["did not answer within 10 s"]
    visitor.page.evaluate(
        "() => { window.createTimeout = AbortSignal.timeout;"
        "AbortSignal.timeout = (milliseconds) => createTimeout.call(AbortSignal, milliseconds / 20); }"
    )
    visitor.page.route("**/api/v1/**", lambda _: None)
    visitor.page.keyboard.press("/")
    visitor.box.fill("joint")
    expect(visitor.page.get_by_role("alert")).to_contain_text("The search is not available at the moment.")
    visitor.page.unroute("**/api/v1/**")
    # A busy machine may need longer than the short time limit.
    visitor.page.evaluate("() => { AbortSignal.timeout = window.createTimeout; }")
    visitor.page.get_by_role("button", name="Try again").click()
    expect(visitor.dialog.locator(".snippet").first).to_be_visible()


def test_widget_does_not_open_results_of_another_query(visitor: Visitor) -> None:
    visitor.search("revolute joint limits")
    visitor.page.route("**/api/v1/**", lambda _: None)
    visitor.box.fill("zebra crossing")
    expect(visitor.options.first).to_be_disabled()
    visitor.page.keyboard.press("Enter")
    visitor.options.last.click(force=True)
    expect(visitor.dialog).to_be_visible()
    expect(visitor.page).to_have_url(f"{OTHER_SITE}/index.html")
    visitor.box.fill("revolute joint limits")
    expect(visitor.options.last).to_be_enabled()


def test_widget_says_that_nothing_was_found_for_an_answered_query_alone(visitor: Visitor) -> None:
    visitor.page.keyboard.press("Control+k")
    visitor.box.fill('"zebra crossing rules"')
    expect(visitor.dialog).to_contain_text("Nothing was found")
    visitor.page.route("**/api/v1/**", lambda _: None)
    visitor.box.fill("joint")
    expect(visitor.dialog).not_to_contain_text("Nothing was found")


def test_widget_lets_the_page_scroll_after_quick_toggles(visitor: Visitor) -> None:
    visitor.page.evaluate(
        """() => {
            for (let count = 0; count < 4; count += 1) {
                document.dispatchEvent(new KeyboardEvent("keydown", {key: "k", ctrlKey: true}));
            }
        }"""
    )
    expect(visitor.dialog).to_be_hidden()
    page = visitor.page.locator("html")
    expect(page).to_have_css("overflow", "visible")
    visitor.page.keyboard.press("Control+k")
    expect(page).to_have_css("overflow", "hidden")
    visitor.page.keyboard.press("Escape")
    expect(page).to_have_css("overflow", "visible")


def test_widget_opens_once_while_its_key_is_held(visitor: Visitor) -> None:
    visitor.page.keyboard.down("Control")
    for _ in range(4):
        visitor.page.keyboard.down("k")
    expect(visitor.dialog).to_be_visible()


def test_widget_says_how_long_to_wait_at_the_rate_limit(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/limited.html")
    visitor.expected_errors += ["429"]
    visitor.page.keyboard.press("/")
    visitor.box.fill("joint")
    expect(visitor.page.get_by_role("alert")).to_contain_text("Too many searches at once. Please wait 60 s.")


@pytest.mark.parametrize("body", ["{}", "null", '{"message": 5}', "<h1>Busy</h1>"])
def test_widget_does_not_flood_a_service_with_a_wrong_retry_after(visit_site: Visit, body: str) -> None:
    """The body of the response may be that of a proxy."""
    visitor = visit_site(f"{OTHER_SITE}/limited.html")
    visitor.expected_errors += ["429"]
    searches = []

    def refuse(route: Route) -> None:
        searches.append(route.request.url)
        exposed = {"access-control-allow-origin": "*", "access-control-expose-headers": "retry-after"}
        route.fulfill(status=429, body=body, headers={**exposed, "retry-after": "-5"})

    visitor.page.route("**/api/v1/search?*", refuse)
    visitor.page.keyboard.press("/")
    visitor.box.fill("joint")
    expect(visitor.page.get_by_role("alert")).to_contain_text("Please wait 1 s.")
    visitor.page.wait_for_timeout(500)
    assert len(searches) == 1


def test_widget_says_that_its_key_is_refused(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/wrong-key.html")
    visitor.expected_errors += ["401", "Pertinent refused the search"]
    visitor.page.keyboard.press("/")
    visitor.box.fill("joint")
    expect(visitor.page.get_by_role("alert")).to_contain_text("The search is not set up for this site.")
    assert any("as data-key of the widget" in problem for problem in visitor.problems)


def test_widget_searches_one_part_of_the_site(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/scope.html")
    visitor.search("joint")
    links = [option.get_attribute("href") or "" for option in visitor.options.all()]
    assert {link.startswith("http://handbook.example/docs/1.0/") for link in links} == {True}


def test_widget_names_mistakes_in_its_attributes_and_works(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/mistakes.html")
    visitor.expected_errors += ["Pertinent's widget"]
    visitor.search("joint")
    reports = " ".join(visitor.problems)
    assert all(f"data-{name}" in reports for name in ("theme", "target", "scope", "translations"))


def test_widget_without_its_target_has_its_button_in_the_corner(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/mistakes.html")
    visitor.expected_errors += ["Pertinent's widget"]
    button = visitor.page.get_by_role("button", name="Search")
    expect(button).to_have_css("position", "fixed")
    button.click()
    expect(visitor.dialog).to_be_visible()


def test_widget_works_with_a_selector_and_texts_that_are_invalid(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/more-mistakes.html")
    visitor.expected_errors += ["Pertinent's widget"]
    visitor.page.keyboard.press("Control+k")
    visitor.box.fill("zzzz qqqq xxxx wwww")
    expect(visitor.page.get_by_text("Nothing was found for")).to_be_visible()
    errors = " ".join(visitor.problems)
    assert 'data-target="##nowhere["' in errors
    assert "data-translations must be a JSON object of texts: nothing, button" in errors


def test_second_widget_of_a_page_does_nothing(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/twice.html")
    visitor.expected_errors += ["has the search already"]
    expect(visitor.page.get_by_role("button", name="Search")).to_have_count(1)
    visitor.search("joint")
    visitor.page.keyboard.press("Escape")
    expect(visitor.dialog).to_be_hidden()


def test_widget_tells_pages_of_the_same_title_apart(visitor: Visitor) -> None:
    visitor.search("Gelenk")
    for path in ("/de/docs/robot-description/joints", "/de/docs/1.0/joints"):
        expect(visitor.page.get_by_role("group", name=f"Gelenke · {path}")).to_be_visible()
        expect(visitor.options.filter(has_text=path)).to_have_count(1)


def test_widget_shortens_a_long_query_in_its_messages(visitor: Visitor) -> None:
    visitor.page.keyboard.press("Control+k")
    visitor.box.fill(f'"{"zebra crossing " * 20}"')
    message = visitor.dialog.get_by_text("Nothing was found for")
    expect(message).to_contain_text("…”")
    assert len(str(message.text_content())) < 200


def test_widget_texts_can_be_translated(visit_site: Visit) -> None:
    visitor = visit_site(f"{OTHER_SITE}/german.html")
    visitor.page.get_by_role("button", name="Suchen").click()
    expect(visitor.page.get_by_role("dialog", name="Suche")).to_be_visible()
    expect(visitor.box).to_have_attribute("placeholder", "Im Handbuch suchen")
    visitor.box.fill("joi")
    expect(visitor.page.get_by_role("group", name="Seiten")).to_be_visible()


def test_widget_corrects_words_and_offers_those_that_were_typed(visitor: Visitor) -> None:
    visitor.search("revolute jiont limits")
    expect(visitor.dialog).to_contain_text("Showing results for “revolute joint limits”.")
    visitor.page.get_by_role("button", name="Search for “revolute jiont limits” instead").click()
    expect(visitor.dialog).not_to_contain_text("Showing results for")


def test_widget_says_that_nothing_was_found(visitor: Visitor) -> None:
    visitor.page.keyboard.press("Control+k")
    visitor.box.fill('"zebra crossing rules"')
    expect(visitor.dialog).to_contain_text('Nothing was found for “"zebra crossing rules"”.')
    expect(visitor.options).to_have_count(0)


def test_widget_shows_markup_of_pages_as_text(visitor: Visitor) -> None:
    visitor.search("hostile payload")
    expect(visitor.dialog).to_contain_text("<script>window.harmed = 2</script>")


def test_widget_keeps_the_direction_of_a_name_to_itself(visitor: Visitor) -> None:
    """The path after a name that turns the direction of the text is still read from left to right."""
    visitor.search("joint")
    name = visitor.page.locator(".name").first
    assert name.evaluate("(element) => getComputedStyle(element).unicodeBidi") == "isolate"
