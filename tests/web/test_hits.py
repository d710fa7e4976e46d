"""A hit: its place, its passage, its score, its context and its citation."""

from __future__ import annotations

import re

from playwright.sync_api import Route, expect

from .book import SITE
from .conftest import Reader, Visit


def test_hit_links_to_its_section_and_shows_both_parts_of_its_score(reader: Reader) -> None:
    reader.open("/?q=friction+joint")
    hit = reader.hits.first
    link = hit.get_by_role("link", name="Joints › Friction")
    expect(link).to_have_attribute("href", f"{SITE}/body/joints#friction")
    spoken = hit.locator(".score .visually-hidden").inner_text()
    score = re.fullmatch(r"Score (0\.\d\d) of 1: meaning (0\.\d\d), words (0\.\d\d)", spoken)
    assert score is not None
    total, meaning, words = map(float, score.groups())
    assert abs(total - (meaning + words) / 2) <= 0.011
    shares = hit.locator(".fill").evaluate_all("all => all.map((one) => one.style.inlineSize)")
    assert shares == [f"{round(meaning * 100)}%", f"{round(words * 100)}%"]


def test_seed_003_page_without_title_is_shown_by_its_address(reader: Reader) -> None:
    def remove_titles(route: Route) -> None:
        response = route.fetch()
        body = response.json()
        for result in body["results"]:
            result["metadata"]["document_title"] = ""
        route.fulfill(response=response, json=body)

    reader.page.route("**/api/v1/search", remove_titles)
    reader.open("/?q=friction+joint")
    address = f"{SITE}/body/joints"
    expect(reader.page.get_by_role("heading", level=2).first).to_have_text(address)
    expect(reader.hits.first.get_by_role("link", name=f"{address} › Friction")).to_be_visible()


def test_passage_renders_lists_tables_and_code(reader: Reader) -> None:
    reader.open("/?q=lower+limit+radians+zero+position")
    nested = reader.hits.first.locator(".passage ul ul li")
    expect(nested).to_have_text("measured from the zero position")
    reader.open("/?q=policies+reliability+depth+integer+queue")
    table = reader.hits.first.locator("table")
    assert table.locator("th").all_inner_texts() == ["Policy", "Values", "Meaning"]
    expect(table.locator("td code").first).to_have_text("RELIABLE")
    reader.open("/?q=talker+create_publisher+topic")
    expect(reader.page.locator("pre code", has_text="class Talker(Node):")).to_be_visible()


def test_context_shows_neighbours_without_moving_the_passage(visit: Visit) -> None:
    reader = visit(viewport={"width": 1100, "height": 300})
    reader.open("/?q=service+answers+a+request+for+each+call")
    hit = reader.hits.first
    passage = hit.locator(".passage")
    expect(passage).to_contain_text("A service answers a request")
    button = hit.get_by_role("button", name="Context")
    button.scroll_into_view_if_needed()
    where = passage.bounding_box()
    expect(button).to_have_attribute("aria-expanded", "false")
    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(hit.locator(".before")).to_contain_text("Nodes publish messages on topics")
    expect(hit.locator(".before .section-name").last).to_have_text("Topics")
    expect(hit.locator(".after")).to_contain_text("A managed node is configured")
    expect(hit.locator(".after .section-name").first).to_have_text("Lifecycle")
    now = passage.bounding_box()
    assert where is not None
    assert now is not None
    # Inside a frame that sets it off from its neighbours, but at the same height.
    assert abs(now["y"] - where["y"]) < 1
    button.click()
    expect(hit.locator(".before")).to_be_hidden()
    expect(button).to_have_attribute("aria-expanded", "false")


def test_context_extends_on_one_side(reader: Reader) -> None:
    reader.open("/?q=service+answers+a+request+for+each+call")
    hit = reader.hits.first
    hit.get_by_role("button", name="Context").click()
    expect(hit.locator(".after .neighbour")).to_have_count(1)
    hit.get_by_role("button", name="Further down").click()
    expect(hit.locator(".after .neighbour")).to_have_count(2)
    expect(hit.locator(".after")).to_contain_text("The page ends here.")
    expect(hit.locator(".before .neighbour")).to_have_count(1)
    expect(hit.get_by_role("button", name="Context")).to_be_focused()
    hit.get_by_role("button", name="Further up").click()
    expect(hit.locator(".before .neighbour").first).to_contain_text("A node is a process")
    expect(hit.locator(".before")).to_contain_text("The page begins here.")


def test_context_shows_where_the_page_begins_and_ends(reader: Reader) -> None:
    reader.open("/?q=rigid+piece+mass+inertia+link")
    hit = reader.hits.first
    hit.get_by_role("button", name="Context").click()
    expect(hit.locator(".before")).to_contain_text("The page begins here.")
    expect(hit.locator(".after")).to_contain_text("The page ends here.")


def test_failed_context_can_be_retried(reader: Reader) -> None:
    reader.expected_errors.append("503")
    reader.open("/?q=friction")
    failing = "**/api/v1/chunks/**"
    reader.page.route(failing, lambda route: route.fulfill(status=503, json={"error": "x", "message": "x"}))
    button = reader.hits.first.get_by_role("button", name="Context")
    button.click()
    expect(reader.hits.first.get_by_role("alert")).to_have_text("The context could not be loaded.")
    reader.page.unroute(failing)
    button.click()
    expect(reader.hits.first.locator(".before")).to_be_visible()
    expect(reader.hits.first.get_by_role("alert")).to_have_count(0)


def test_copy_citation_writes_to_the_clipboard(reader: Reader) -> None:
    reader.open("/?q=friction+joint")
    button = reader.hits.first.locator("[data-act=copy]")
    button.click()
    expect(button).to_have_text("Copied")
    assert reader.js("navigator.clipboard.readText()") == f"Joints › Friction. {SITE}/body/joints#friction"
    expect(reader.page.locator("#announcer")).to_contain_text("Copied: Joints › Friction.")
    expect(button).to_have_text("Copy citation", timeout=4000)


def copy_without_clipboard(visit: Visit, script: str) -> Reader:
    """Copy the first citation in a browser without the clipboard API."""
    reader = visit()
    no_clipboard = "Object.defineProperty(navigator, 'clipboard', {value: undefined});"
    reader.page.add_init_script(no_clipboard + script)
    reader.open("/?q=friction+joint")
    reader.hits.first.locator("[data-act=copy]").click()
    return reader


def test_copy_citation_without_clipboard_api_copies_a_selection(visit: Visit) -> None:
    record = "document.addEventListener('copy', () => { window.copied = document.activeElement.value; });"
    reader = copy_without_clipboard(visit, record)
    button = reader.hits.first.locator("[data-act=copy]")
    expect(button).to_have_text("Copied")
    assert reader.js("window.copied") == f"Joints › Friction. {SITE}/body/joints#friction"
    expect(button).to_be_focused()


def test_copy_citation_falls_back_to_a_text_field(visit: Visit) -> None:
    reader = copy_without_clipboard(visit, "document.execCommand = () => false;")
    field = reader.hits.first.get_by_label("Citation, to copy by hand")
    expect(field).to_be_focused()
    expect(field).to_have_value(f"Joints › Friction. {SITE}/body/joints#friction")


def test_hit_without_scores_and_section_is_shown(reader: Reader) -> None:
    metadata = {
        "url": "notes:robots", "section": "", "anchor": "", "document_id": "n", "document_title": "Notes",
    }  # fmt: skip
    bare = {"chunk_id": "n-1", "content": "Robots.", "similarity_score": 0.5, "metadata": metadata}
    bare["scores"] = {"cosine": None, "lexical": None}
    answer = {"results": [bare], "nearest": [], "warnings": [], "status": "success", "query_time_ms": 0.4}
    reader.page.route("**/api/v1/search", lambda route: route.fulfill(json=answer))
    reader.open("/?q=robots")
    hit = reader.hits.first
    expect(hit.locator(".passage-link")).to_have_text("Notes › Top of the page")
    expect(hit.get_by_role("link")).to_have_count(0)
    expect(hit.locator(".tools .location")).to_have_text("notes:robots")
    expect(hit.locator(".bar")).to_have_count(0)
    expect(reader.status).to_have_text("1 passage on 1 page · 1 ms")
