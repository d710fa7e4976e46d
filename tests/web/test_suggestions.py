"""While a reader types: suggestions at once, passages after a pause, and words that were corrected."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from .book import SITE
from .conftest import Reader, Visit
from .test_access import CONTRAST, NAMELESS, SIDEWAYS
from .test_searching import address, searches

SUGGEST = "**/api/v1/suggest?*"

WATCH_PAGE = """() => {
    window.states = [];
    const record = () => states.push([
        document.querySelectorAll(".hit").length, !document.getElementById("suggestions").hidden]);
    const options = { childList: true, subtree: true, attributes: true, attributeFilter: ["hidden"] };
    new MutationObserver(record).observe(document.body, options);
}"""


def suggestion_list(reader: Reader) -> Locator:
    return reader.page.get_by_role("listbox", name="Pages and sections with this name")


def options(reader: Reader) -> Locator:
    return suggestion_list(reader).get_by_role("option")


def names(reader: Reader) -> list[str]:
    return options(reader).locator(".suggestion-name").all_inner_texts()


def fulfill(reader: Reader, *suggestions: dict[str, Any]) -> None:
    body = {"suggestions": list(suggestions)}
    reader.page.route(SUGGEST, lambda route: route.fulfill(json=body))


def test_suggestions_appear_at_once_and_passages_after_a_pause(visit: Visit) -> None:
    reader = visit()
    reader.page.clock.install(time=0)
    reader.open()
    reader.page.clock.pause_at(60_000)
    seen = searches(reader)
    reader.page.keyboard.type("topi")
    expect(options(reader)).to_have_count(2)
    assert names(reader) == ["Topics and quality of service", "Topics"]
    assert options(reader).locator(".suggestion-location").all_inner_texts() == [
        f"{SITE.removeprefix('https://')}/ros2/topics",
        "Nodes and executors",
    ]
    assert seen == []
    reader.page.clock.run_for(200)
    expect(reader.hits.first).to_be_visible()
    expect(options(reader)).to_have_count(2)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("typed", "name"), [("quality", "Topics and quality of service"), ("exectuor", "Nodes and executors")]
)
def test_suggestions_fit_inner_words_and_typos(reader: Reader, typed: str, name: str) -> None:
    reader.box.fill(typed)
    expect(options(reader).first).to_contain_text(name)


def test_typed_beginnings_of_words_are_marked(reader: Reader) -> None:
    reader.box.fill("service qua")
    expect(options(reader)).to_have_count(1)
    assert options(reader).locator("mark").all_inner_texts() == ["qua", "service"]
    reader.box.fill("t")
    expect(options(reader).first.locator("mark")).to_have_text(["T"])


def test_arrows_select_a_suggestion_and_enter_goes_there(reader: Reader) -> None:
    keys = reader.page.keyboard
    seen = searches(reader)
    keys.type("li")
    expect(options(reader)).to_have_count(3)
    assert names(reader) == ["Links", "Limits", "Lifecycle"]
    expect(reader.box).to_have_attribute("aria-expanded", "true")
    assert reader.box.get_attribute("aria-activedescendant") is None
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    expect(options(reader).nth(1)).to_have_attribute("aria-selected", "true")
    expect(reader.box).to_have_attribute("aria-activedescendant", "suggestion-1")
    expect(reader.box).to_be_focused()
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    assert reader.box.get_attribute("aria-activedescendant") is None
    expect(suggestion_list(reader).locator("[aria-selected=true]")).to_have_count(0)
    keys.press("ArrowDown")
    expect(reader.box).to_have_value("li")
    keys.press("Enter")
    reader.page.wait_for_url(f"{SITE}/body/links")
    assert {body["query_text"] for body in seen} <= {"l", "li"}


def test_suggested_section_opens_at_its_anchor(reader: Reader) -> None:
    reader.box.fill("friction")
    options(reader).first.click()
    reader.page.wait_for_url(f"{SITE}/body/joints#friction")


def test_arrow_down_after_the_last_suggestion_goes_to_the_first_passage(reader: Reader) -> None:
    reader.page.keyboard.type("friction")
    expect(options(reader)).to_have_count(1)
    expect(reader.hits.first).to_be_visible()
    reader.page.keyboard.press("ArrowDown")
    expect(options(reader).first).to_have_attribute("aria-selected", "true")
    reader.page.keyboard.press("ArrowDown")
    expect(reader.hits.first.locator(".passage-link")).to_be_focused()
    expect(suggestion_list(reader)).to_be_hidden()


def test_escape_closes_the_suggestions_and_then_clears_the_box(reader: Reader) -> None:
    reader.page.keyboard.type("friction")
    expect(suggestion_list(reader)).to_be_visible()
    reader.page.keyboard.press("Escape")
    expect(suggestion_list(reader)).to_be_hidden()
    expect(reader.box).to_have_attribute("aria-expanded", "false")
    expect(reader.box).to_have_value("friction")
    expect(reader.box).to_be_focused()
    reader.page.keyboard.press("Escape")
    expect(reader.box).to_have_value("")


def test_enter_without_a_selection_searches_and_closes_the_suggestions(reader: Reader) -> None:
    reader.page.keyboard.type("friction")
    expect(suggestion_list(reader)).to_be_visible()
    reader.page.keyboard.press("Enter")
    expect(suggestion_list(reader)).to_be_hidden()
    expect(reader.hits.first).to_contain_text("Friction")
    assert reader.page.url.startswith(reader.home)


def test_leaving_the_box_closes_the_suggestions(reader: Reader) -> None:
    reader.page.keyboard.type("friction")
    expect(suggestion_list(reader)).to_be_visible()
    reader.page.get_by_role("button", name="Options").focus()
    expect(suggestion_list(reader)).to_be_hidden()


def test_search_from_the_url_opens_no_suggestions(reader: Reader) -> None:
    reader.open("/?q=friction")
    expect(reader.hits.first).to_be_visible()
    expect(suggestion_list(reader)).to_be_hidden()


def test_suggestions_stay_until_the_next_ones_come(reader: Reader) -> None:
    reader.page.keyboard.type("fric")
    expect(options(reader)).to_have_count(1)
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    reader.page.route(SUGGEST, hold)
    with reader.page.expect_request(SUGGEST):
        reader.page.keyboard.type("t")
    assert names(reader) == ["Friction"]
    with reader.page.expect_request(SUGGEST):
        reader.box.fill("late")
    assert names(reader) == ["Friction"]
    waiting[-1].continue_()
    expect(options(reader).first).to_contain_text("Late joiners")


def test_stale_suggestions_are_discarded(reader: Reader) -> None:
    waiting: list[Route] = []

    def hold_friction(route: Route) -> None:
        if "friction" in route.request.url:
            waiting.append(route)
        else:
            route.continue_()

    reader.page.route(SUGGEST, hold_friction)
    with reader.page.expect_request(SUGGEST):
        reader.box.fill("friction")
    reader.box.fill("late")
    expect(options(reader).first).to_contain_text("Late joiners")
    for route in waiting:
        route.fulfill(json={"suggestions": []})
    reader.page.wait_for_timeout(200)
    assert names(reader) == ["Late joiners"]


def test_nothing_flickers_from_one_letter_to_the_next(reader: Reader) -> None:
    reader.page.keyboard.type("e")
    expect(options(reader).first).to_be_visible()
    expect(reader.hits.first).to_be_visible()
    reader.js(WATCH_PAGE)
    for letter in "xecutors":
        with reader.page.expect_response("**/api/v1/search"):
            reader.page.keyboard.type(letter)
    expect(reader.status).to_contain_text("passage")
    states = reader.js("window.states")
    assert len(states) > 8
    assert min(hits for hits, _ in states) > 0
    assert all(is_open for _, is_open in states)


def test_unfinished_question_keeps_its_passages_until_enter(reader: Reader) -> None:
    seen = searches(reader)
    reader.page.keyboard.type("how is")
    expect(reader.hits.first).to_be_visible()
    reader.js(WATCH_PAGE)
    for letters in (" a", " z", "q"):
        with reader.page.expect_response("**/api/v1/search"):
            reader.page.keyboard.type(letters)
    expect(reader.page.locator(".no-results")).to_have_count(0)
    assert min(hits for hits, _ in reader.js("window.states")) > 0
    assert {body["similarity_threshold"] for body in seen} == {0}
    with reader.page.expect_response("**/api/v1/search"):
        reader.page.keyboard.press("Enter")
    assert seen[-1]["similarity_threshold"] == 0.2


@pytest.mark.parametrize("query", ["a", "zq", "torque speed"])
def test_no_threshold_hides_the_passages_of_a_short_query(reader: Reader, query: str) -> None:
    seen = searches(reader)
    reader.box.fill(query)
    expect(reader.hits.first).to_be_visible()
    expect(reader.page.locator(".no-results")).to_have_count(0)
    assert [body["similarity_threshold"] for body in seen] == [0]


def test_long_query_has_the_default_threshold(reader: Reader) -> None:
    seen = searches(reader)
    reader.open("/?q=how+does+friction+slow+a+joint")
    assert [body["similarity_threshold"] for body in seen] == [0.2]


def test_failed_suggestions_do_not_disturb_the_search(reader: Reader) -> None:
    reader.expected_errors.append("500")
    reader.page.route(SUGGEST, lambda route: route.fulfill(status=500, body="<h1>Oops</h1>"))
    reader.page.keyboard.type("friction")
    expect(reader.hits.first).to_contain_text("Friction")
    expect(suggestion_list(reader)).to_be_hidden()
    expect(reader.page.get_by_role("alert")).to_have_count(0)


def test_hostile_name_is_shown_as_text(reader: Reader) -> None:
    hostile = "Hostile <img src=x onerror='window.harmed=1'><script>window.harmed=2</script>"
    name = {"title": hostile, "section": hostile, "url": SITE, "document_id": "x", "is_page": False}
    fulfill(reader, name)
    reader.page.keyboard.type("hostile img")
    expect(options(reader).locator(".suggestion-name")).to_have_text(hostile)
    expect(options(reader).locator(".suggestion-location")).to_have_text(hostile)
    expect(suggestion_list(reader).locator("img, script")).to_have_count(0)
    assert reader.js("window.harmed ?? null") is None


def test_suggestion_with_an_unsafe_address_is_left_out(reader: Reader) -> None:
    name = {"title": "Friction", "section": "", "document_id": "x", "is_page": True}
    fulfill(reader, {**name, "url": "javascript:window.harmed=1"}, {**name, "url": f"{SITE}/safe"})
    reader.page.keyboard.type("friction")
    expect(options(reader)).to_have_count(1)
    expect(options(reader).first).to_have_attribute("href", f"{SITE}/safe")


@pytest.mark.parametrize("typed", ["%", "&q=x", "🤖", '"', "\\", "[(*", "a b c d e f g h"])
def test_any_text_can_be_typed(reader: Reader, typed: str) -> None:
    with reader.page.expect_response(SUGGEST) as response:
        reader.box.fill(typed)
    assert response.value.status == 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_suggestions_have_names_and_enough_contrast(visit: Visit, scheme: str) -> None:
    reader = visit(color_scheme=scheme)
    reader.open()
    reader.page.keyboard.type("li")
    expect(options(reader).first).to_be_visible()
    reader.page.keyboard.press("ArrowDown")
    assert reader.js(NAMELESS) == []
    assert reader.js(CONTRAST) == []
    expect(reader.box).to_have_attribute("aria-controls", "suggestions")
    expect(reader.box).to_have_attribute("aria-autocomplete", "list")
    expect(reader.page.locator("#announcer")).to_contain_text("suggestions")


@pytest.mark.parametrize("width", [320, 360, 768])
def test_suggestions_fit_a_narrow_screen(visit: Visit, width: int) -> None:
    reader = visit(viewport={"width": width, "height": 740}, has_touch=True, is_mobile=width < 500)
    reader.open()
    long_name = "Averyveryverylongname" * 12
    name = {
        "title": long_name,
        "section": f"A › {long_name}",
        "url": SITE,
        "document_id": "x",
        "is_page": False,
    }
    fulfill(reader, *[name] * 6)
    reader.box.fill("averyvery")
    expect(options(reader)).to_have_count(6)
    assert not reader.js(SIDEWAYS)
    panel = suggestion_list(reader)
    assert panel.evaluate("panel => panel.scrollWidth <= panel.clientWidth")


def test_corrected_query_offers_the_search_as_typed(reader: Reader) -> None:
    reader.page.keyboard.type("lifecylce")
    reader.page.keyboard.press("Enter")
    correction = reader.page.locator("#correction")
    expect(correction).to_have_text("Showing results for lifecycle. Search instead for lifecylce")
    expect(correction.locator("strong")).to_have_text("lifecycle")
    assert "Lifecycle" in reader.page.locator(".hit mark").all_inner_texts()
    seen = searches(reader)
    correction.get_by_role("button", name="lifecylce").press("Enter")
    expect(correction).to_be_empty()
    assert [(body["query_text"], body.get("correct")) for body in seen] == [("lifecylce", False)]
    assert address(reader) == {"q": ["lifecylce"], "exact": ["1"]}
    expect(reader.box).to_be_focused()
    reader.page.go_back()
    expect(correction).to_contain_text("Showing results for lifecycle")


def test_url_restores_an_exact_search_and_another_query_is_corrected_again(reader: Reader) -> None:
    seen = searches(reader)
    reader.open("/?q=lifecylce&exact=1")
    expect(reader.page.locator("#correction")).to_be_empty()
    reader.box.fill("lifecylces")
    expect(reader.page.locator("#correction")).to_contain_text("Showing results for")
    assert [body.get("correct") for body in seen] == [False, None]
    assert "exact" not in address(reader)


def test_known_words_are_not_called_corrected(reader: Reader) -> None:
    reader.open("/?q=friction")
    expect(reader.hits.first).to_be_visible()
    expect(reader.page.locator("#correction")).to_be_empty()


def test_correction_shows_hostile_words_as_text(reader: Reader) -> None:
    hostile = "<img src=x onerror='window.harmed=1'>"
    reader.change_answers(lambda answer: answer.update(corrected=True, searched_for=hostile))
    reader.open("/?q=%3Cscript%3Ewindow.harmed%3D2%3C/script%3E")
    expect(reader.page.locator("#correction strong")).to_have_text(hostile)
    assert reader.js("window.harmed ?? null") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_correction_has_enough_contrast_and_fits_a_phone(visit: Visit, scheme: str) -> None:
    reader = visit(color_scheme=scheme, viewport={"width": 320, "height": 700})
    reader.open(f"/?q=lifecylce+{'x' * 300}")
    expect(reader.page.locator("#correction")).to_contain_text("Showing results for")
    assert reader.js(CONTRAST) == []
    assert reader.js(NAMELESS) == []
    assert not reader.js(SIDEWAYS)
