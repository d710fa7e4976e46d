"""Nothing found, in part, slow, failed, offline: the page says what is the matter."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from .conftest import Reader, Visit
from .test_searching import searches

SEARCH = "**/api/v1/search"


def failing(reader: Reader, status: int, error: str, **headers: str) -> None:
    body = {"error": error, "message": "the index is locked"}
    reader.expected_errors.append(str(status))
    reader.page.route(SEARCH, lambda route: route.fulfill(status=status, json=body, headers=headers))


def test_no_results_shows_the_nearest_dimmed(reader: Reader) -> None:
    reader.open("/?q=joint+limits&least=0.9")
    expect(reader.status).to_have_text("No passage scores 0.90 or more.")
    expect(reader.page.locator(".no-results")).to_contain_text(
        "No passage is close enough to “joint limits”."
    )
    expect(
        reader.page.get_by_role("heading", name="Nearest passages, below the minimum score")
    ).to_be_visible()
    assert 1 <= reader.hits.count() <= 3
    colours = "(one) => getComputedStyle(one).color"
    assert reader.hits.first.locator(".passage").evaluate(colours) != reader.page.locator("body").evaluate(
        colours
    )


def test_no_results_in_a_part_offers_the_whole_book(reader: Reader) -> None:
    reader.open("/?q=executor+callbacks+threads&part=body&least=0.3")
    expect(reader.page.locator(".no-results")).to_contain_text("in Body.")
    reader.page.get_by_role("button", name="Search the whole book").click()
    expect(reader.hits.first).to_contain_text("executor")
    expect(reader.page.get_by_role("radio", name="Whole book")).to_be_checked()


def test_no_results_and_nothing_near_gives_advice(reader: Reader) -> None:
    reader.open("/?q=zzzz&ranking=lexical")
    expect(reader.page.locator(".no-results")).to_contain_text("Try other words for the same thing")
    expect(reader.hits).to_have_count(0)


def test_no_results_shows_the_warning_of_an_empty_index(reader: Reader) -> None:
    empty = {"results": [], "nearest": [], "warnings": ["the index has no chunks yet"]}
    reader.change_answers(lambda answer: answer.update(status="no_results", **empty))
    reader.open("/?q=friction")
    expect(reader.page.locator(".no-results")).to_contain_text("The index has no chunks yet.")
    expect(reader.page.locator(".no-results")).not_to_contain_text("Try other words")


def test_partial_answer_shows_a_notice_above_its_hits(reader: Reader) -> None:
    warnings = ["query_text has 8 characters; 10 to 500 work best", "the catalog did not answer"]
    reader.change_answers(lambda answer: answer.update(status="partial", warnings=warnings))
    reader.open("/?q=friction")
    note = reader.page.get_by_role("note")
    expect(note).to_contain_text("A part of the search did not answer.")
    expect(note).to_contain_text("The catalog did not answer.")
    expect(note).not_to_contain_text("10 to 500")
    expect(reader.hits.first).to_be_visible()


def test_failed_search_keeps_the_query_and_can_be_retried(reader: Reader) -> None:
    failing(reader, 503, "service_unavailable")
    reader.box.fill("friction")
    alert = reader.page.get_by_role("alert")
    expect(alert).to_contain_text("The search is not available. The index is locked.")
    expect(reader.box).to_have_value("friction")
    reader.page.unroute(SEARCH)
    alert.get_by_role("button", name="Try again").click()
    expect(reader.hits.first).to_contain_text("Friction")
    expect(alert).to_have_count(0)
    expect(reader.box).to_be_focused()


def test_enter_retries_a_failed_search(reader: Reader) -> None:
    failing(reader, 502, "upstream_error")
    reader.box.fill("friction")
    expect(reader.page.get_by_role("alert")).to_contain_text("did not answer")
    reader.page.unroute(SEARCH)
    reader.box.press("Enter")
    expect(reader.hits.first).to_contain_text("Friction")


def test_rate_limited_search_is_retried_after_the_wait(reader: Reader) -> None:
    failing(reader, 429, "rate_limited", **{"Retry-After": "1"})
    reader.box.fill("friction")
    expect(reader.page.get_by_role("alert")).to_contain_text("Too many searches")
    reader.page.unroute(SEARCH)
    expect(reader.hits.first).to_contain_text("Friction")


def test_wrong_retry_after_does_not_flood_the_service(reader: Reader) -> None:
    seen = searches(reader)
    failing(reader, 429, "rate_limited", **{"Retry-After": "-5"})
    reader.box.fill("friction")
    expect(reader.page.get_by_role("alert")).to_contain_text("Too many searches")
    reader.page.wait_for_timeout(300)
    assert len(seen) == 1


def test_invalid_query_is_explained_without_a_retry(reader: Reader) -> None:
    failing(reader, 400, "validation_error")
    reader.box.fill("friction")
    expect(reader.page.get_by_role("alert")).to_contain_text("This query can't be searched.")
    expect(reader.page.get_by_role("button", name="Try again")).to_have_count(0)


def test_response_that_is_not_json_is_a_failure(reader: Reader) -> None:
    reader.expected_errors.append("500")
    reader.page.route(SEARCH, lambda route: route.fulfill(status=500, body="<h1>Bad gateway</h1>"))
    reader.box.fill("friction")
    expect(reader.page.get_by_role("alert")).to_contain_text(
        "The search failed. The service answered with status 500."
    )
    reader.page.route(SEARCH, lambda route: route.fulfill(status=200, body="<h1>hello</h1>"))
    reader.box.press("Enter")
    expect(reader.page.get_by_role("alert")).to_contain_text("could not be read")


def test_offline_search_resumes_when_online(reader: Reader) -> None:
    reader.expected_errors.append("ERR_INTERNET_DISCONNECTED")
    reader.page.context.set_offline(True)
    reader.box.fill("friction")
    expect(reader.page.get_by_role("alert")).to_contain_text("You are offline.")
    reader.page.context.set_offline(False)
    expect(reader.hits.first).to_contain_text("Friction")


def test_unreachable_service_is_distinguished_from_offline(reader: Reader) -> None:
    reader.expected_errors.append("ERR_CONNECTION_REFUSED")
    reader.page.route(SEARCH, lambda route: route.abort("connectionrefused"))
    reader.box.fill("friction")
    expect(reader.page.get_by_role("alert")).to_contain_text("can't be reached")


def test_slow_search_shows_progress_and_then_a_message(reader: Reader) -> None:
    routes: list[Route] = []

    def hold(route: Route) -> None:
        routes.append(route)

    reader.open("/?q=friction")
    before = reader.hits.first.bounding_box()
    reader.page.route(SEARCH, hold)
    reader.box.fill("executor threads")
    form = reader.page.locator("#form")
    expect(form).to_have_class("busy")
    # What was found before stays, where it was, until there is something better.
    expect(reader.hits.first).to_contain_text("Friction")
    assert reader.hits.first.bounding_box() == before
    expect(reader.status).to_have_text(re.compile("Still searching"), timeout=5000)
    assert reader.hits.first.bounding_box() == before
    routes[0].continue_()
    expect(reader.hits.first).to_contain_text("executor")
    expect(form).not_to_have_class("busy")


def test_search_works_without_the_list_of_pages(visit: Visit) -> None:
    reader = visit()
    reader.expected_errors.append("503")
    failed = {"error": "service_unavailable", "message": "no"}
    reader.page.route("**/api/v1/documents", lambda route: route.fulfill(status=503, json=failed))
    reader.open("/?q=friction&part=body")
    expect(reader.hits.first).to_contain_text("Friction")
    expect(reader.page.locator("#parts")).to_be_empty()


@pytest.mark.parametrize(
    "body", [None, [], {"error": "constructor"}, {"error": {"code": 1}, "message": {"a": 1}}]
)
def test_error_of_any_shape_is_shown(reader: Reader, body: Any) -> None:
    reader.expected_errors.append("502")
    reader.page.route(SEARCH, lambda route: route.fulfill(status=502, body=json.dumps(body)))
    reader.open("/")
    reader.box.fill("joint")
    alert = reader.page.get_by_role("alert")
    expect(alert).to_contain_text("The search failed. The service answered with status 502.")


def test_answer_of_another_shape_is_a_failure(reader: Reader) -> None:
    reader.expected_errors.append("TypeError")
    reader.page.route(SEARCH, lambda route: route.fulfill(json={"results": {}}))
    reader.open("/")
    reader.box.fill("joint")
    alert = reader.page.get_by_role("alert")
    expect(alert).to_contain_text("The search failed. The response could not be shown.")
