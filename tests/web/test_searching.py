"""A reader searches: by typing, by Enter, by address; filters, and goes back."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Request, Route, expect

from .conftest import Reader, Visit


def searches(reader: Reader) -> list[dict[str, object]]:
    """The bodies of the searches that the page asks for from now on."""
    seen: list[dict[str, object]] = []

    def note(request: Request) -> None:
        if request.url.endswith("/api/v1/search"):
            seen.append(json.loads(request.post_data or ""))

    reader.page.on("request", note)
    return seen


def address(reader: Reader) -> dict[str, list[str]]:
    return parse_qs(urlsplit(reader.page.url).query)


def test_search_box_is_focused_and_the_hint_offers_examples(reader: Reader) -> None:
    expect(reader.box).to_be_focused()
    offered = reader.page.locator(".example")
    expect(offered).to_have_count(3)
    title = offered.first.inner_text()
    offered.first.click()
    expect(reader.box).to_have_value(title)
    expect(reader.hits.first).to_be_visible()


def test_typing_sends_one_request_per_pause(visit: Visit) -> None:
    reader = visit()
    reader.page.clock.install(time=0)
    reader.open()
    reader.page.clock.pause_at(60_000)
    seen = searches(reader)
    for letter in "publish messages":
        reader.page.keyboard.type(letter)
        reader.page.clock.run_for(100)
    assert seen == []
    reader.page.clock.run_for(100)
    expect(reader.hits.first).to_be_visible()
    expect(reader.status).to_have_text(re.compile(r"^\d+ passages? on \d+ pages? · \d+ ms$"))
    assert [body["query_text"] for body in seen] == ["publish messages"]
    assert address(reader) == {"q": ["publish messages"]}
    assert reader.page.title() == "publish messages – Pertinent"


def test_enter_searches_at_once_and_only_once(reader: Reader) -> None:
    seen = searches(reader)
    reader.box.fill("joint limits")
    reader.box.press("Enter")
    expect(reader.page.get_by_role("heading", name="Joints", exact=True)).to_be_visible()
    reader.box.press("Enter")
    time.sleep(0.3)
    assert len(seen) == 1


def test_stale_answer_is_discarded(reader: Reader) -> None:
    def slow_for_friction(route: Route) -> None:
        if "friction" in (route.request.post_data or ""):
            time.sleep(0.6)
        route.continue_()

    reader.page.route("**/api/v1/search", slow_for_friction)
    reader.box.fill("friction")
    reader.box.press("Enter")
    reader.box.fill("executor threads")
    reader.box.press("Enter")
    expect(reader.hits.first).to_contain_text("executor")
    time.sleep(0.8)
    expect(reader.hits.first).to_contain_text("executor")


def test_query_words_are_highlighted_except_stop_words(reader: Reader) -> None:
    reader.open("/?q=what+is+a+joint+limit")
    expect(reader.hits.first).to_be_visible()
    marked = {text.lower() for text in reader.page.locator(".hit mark").all_inner_texts()}
    assert {"joint", "limits", "limit"} <= marked
    assert not marked & {"a", "is", "what"}


def test_hits_are_grouped_by_page_with_a_button_for_more(reader: Reader) -> None:
    reader.open("/?q=publisher+publish+message&least=0")
    pages = reader.page.locator(".page")
    titles = pages.locator("h2").all_inner_texts()
    assert titles[0] == "Topics and quality of service"
    assert len(titles) == len(set(titles)) > 1
    best = [float(group.locator(".total").first.inner_text()) for group in pages.all()]
    assert best == sorted(best, reverse=True)
    first = pages.first
    expect(first.get_by_role("article")).to_have_count(3)
    first.get_by_role("button", name=re.compile("more from this page")).click()
    expect(first.get_by_role("article")).to_have_count(5)
    expect(first.get_by_role("article").nth(3).locator(".passage-link")).to_be_focused()


def test_more_passages_are_fetched_on_demand(reader: Reader) -> None:
    reader.open("/?q=publisher+publish+message&least=0")
    seen = searches(reader)
    reader.page.get_by_role("button", name="More passages").click()
    expect(reader.page.get_by_role("button", name=re.compile("more from this page")).first).to_be_visible()
    assert [(body["top_k"], "per_page" in body) for body in seen] == [(24, False)]


def test_more_passages_focuses_the_first_new_hit_below(reader: Reader) -> None:
    reader.open("/?q=topic&least=0")
    expect(reader.hits.first).to_be_visible()
    before = reader.hits.evaluate_all("hits => hits.map(hit => hit.dataset.chunk)")
    reader.page.get_by_role("button", name="More passages").click()
    expect(reader.page.locator(".hit :focus")).to_have_count(1)
    after = reader.hits.evaluate_all("hits => hits.map(hit => hit.dataset.chunk)")
    focused = reader.page.evaluate("document.activeElement.closest('.hit').dataset.chunk")
    assert after.index(focused) == 1 + max(after.index(request) for request in before if request in after)


def test_part_filters_the_search_by_url(reader: Reader) -> None:
    chips = reader.page.get_by_role("group", name="Part of the book").get_by_role("radio")
    expect(chips).to_have_count(3)
    assert reader.page.locator(".chip").all_inner_texts() == ["Whole book", "Body", "ROS2"]
    reader.box.fill("robot joint node topic")
    reader.box.press("Enter")
    expect(reader.hits.first).to_be_visible()
    seen = searches(reader)
    reader.page.get_by_role("radio", name="Body").check(force=True)
    expect(reader.page.locator(".page .location").first).to_contain_text("/docs/body/")
    assert all(
        "/docs/body/" in text for text in reader.page.locator(".page-head .location").all_inner_texts()
    )
    assert [body["filters"] for body in seen] == [{"url": "https://robots.example/docs/body"}]
    assert address(reader)["part"] == ["body"]


def test_options_change_ranking_and_minimum_score(reader: Reader) -> None:
    reader.box.fill("friction")
    reader.box.press("Enter")
    expect(reader.hits.first).to_be_visible()
    seen = searches(reader)
    options = reader.page.get_by_role("button", name="Options")
    options.click()
    expect(options).to_have_attribute("aria-expanded", "true")
    reader.page.get_by_role("radio", name="Words only").check()
    expect(reader.page.get_by_text("changed")).to_be_visible()
    # The address changes at once; the request is sent when the slider has stopped.
    with reader.page.expect_request(lambda sent: '"similarity_threshold":0.05' in (sent.post_data or "")):
        reader.page.get_by_role("slider").fill("0.05")
    expect(reader.status).to_contain_text("passage")
    expect(reader.page).to_have_url(re.compile("least=0.05"))
    assert address(reader) == {"q": ["friction"], "ranking": ["lexical"], "least": ["0.05"]}
    assert seen[-1]["ranking"] == "lexical"
    assert seen[-1]["similarity_threshold"] == 0.05
    reader.page.get_by_role("button", name="Default value").click()
    expect(reader.page).not_to_have_url(re.compile("least"))


def test_url_restores_the_search(visit: Visit) -> None:
    reader = visit()
    seen = searches(reader)
    reader.open("/?q=joint+limits&part=body&ranking=dense&least=0.05")
    expect(reader.hits.first).to_be_visible()
    expect(reader.box).to_have_value("joint limits")
    expect(reader.page.get_by_role("radio", name="Body")).to_be_checked()
    assert [(body["ranking"], body["similarity_threshold"], body["filters"]) for body in seen] == [
        ("dense", 0.05, {"url": "https://robots.example/docs/body"})
    ]


def test_invalid_url_parameters_are_ignored(reader: Reader) -> None:
    seen = searches(reader)
    reader.open("/?q=limits+of+a+joint&part=nowhere&ranking=magic&least=seven")
    expect(reader.hits.first).to_be_visible()
    assert [(body["ranking"], body["similarity_threshold"]) for body in seen] == [("hybrid", 0.2)]
    assert "filters" not in seen[0]


def test_back_and_forward_restore_searches(reader: Reader) -> None:
    for query in ("friction", "executor threads"):
        reader.box.fill(query)
        reader.page.wait_for_timeout(300)  # it is searched for while being typed, as a reader's would be
        reader.box.press("Enter")
        expect(reader.hits.first).to_contain_text(query.split()[0], ignore_case=True)
    reader.page.go_back()
    expect(reader.box).to_have_value("friction")
    expect(reader.hits.first).to_contain_text("Friction slows")
    reader.page.go_back()
    expect(reader.box).to_have_value("")
    expect(reader.page.locator(".hint")).to_be_visible()
    reader.page.go_forward()
    reader.page.go_forward()
    expect(reader.box).to_have_value("executor threads")
    expect(reader.hits.first).to_contain_text("executor")


def test_clearing_the_search_box_shows_the_hint(reader: Reader) -> None:
    reader.box.fill("friction")
    expect(reader.hits.first).to_be_visible()
    reader.box.fill("")
    expect(reader.page.locator(".hint")).to_be_visible()
    expect(reader.hits).to_have_count(0)
    assert address(reader) == {}
