"""The label page: judged by keyboard, by mouse and by thumb, and nothing that was judged is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Route, expect

from pertinent.validation.golden import golden_set as files
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet
from pertinent.validation.labels.judgments import JudgmentLog

from ..servers.service import running_service
from .conftest import Reader, Visit, open_book, open_readers
from .test_access import CONTRAST, NAMELESS, SIDEWAYS

QUESTION = "How does a publisher publish a message?"


@dataclass(frozen=True)
class Labelling:
    """A service with a golden set to be labelled."""

    address: str
    golden: Path

    @property
    def log(self) -> JudgmentLog:
        return JudgmentLog.for_golden_file(self.golden)

    def grades(self) -> list[int | None]:
        return [judgment.label.grade if judgment.label else None for judgment in self.log.read_effective()]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Labelling]:
    folder = tmp_path_factory.mktemp("label")
    golden = folder / "golden.yaml"
    queries = (
        GoldenQuery(id="publish", text=QUESTION, query_type="broad"),
        GoldenQuery(id="harm", text="An attacker wrote a script into the wiki <b>payload</b>"),
        GoldenQuery(id="none", text="income tax", answerable=False),
    )
    files.dump_golden(GoldenSet(queries=queries), golden)
    with open_book(folder, golden=golden) as pertinent, running_service(pertinent.workspace) as address:
        yield Labelling(address, golden)


@pytest.fixture
def labelling(started: Labelling) -> Labelling:
    """The same, with nothing judged yet."""
    started.log.path.unlink(missing_ok=True)
    return started


@pytest.fixture
def sit(labelling: Labelling, browser: Browser) -> Iterator[Visit]:
    """Open the label page in a new browser context."""
    with open_readers(labelling.address, browser) as open_reader:

        def open_label_page(path: str = "/label", **options: Any) -> Reader:
            reader = open_reader(**options)
            reader.page.goto(labelling.address + path)
            expect(passage(reader)).to_be_focused()
            return reader

        yield open_label_page


@pytest.fixture
def judge(sit: Visit) -> Reader:
    return sit()


def passage(reader: Reader) -> Locator:
    return reader.page.get_by_role("article")


def count(reader: Reader) -> Locator:
    return reader.page.locator("#count")


def name(reader: Reader, who: str, key: str = "Enter") -> None:
    """Give a judge's name, and wait for their queue."""
    reader.page.get_by_role("textbox", name="Judge").fill(who)
    reader.page.get_by_role("textbox", name="Judge").press(key)
    expect(reader.page.locator("#grading")).to_have_attribute("aria-busy", "false")
    expect(passage(reader)).to_be_focused()


def press(reader: Reader, key: str, then: str) -> None:
    reader.page.keyboard.press(key)
    expect(count(reader)).to_have_text(re.compile(then))
    expect(passage(reader)).to_be_focused()


def test_judging_by_keyboard_survives_undo_and_reload(judge: Reader, labelling: Labelling) -> None:
    expect(judge.page.get_by_role("heading", level=2)).to_have_text(QUESTION)
    texts = [passage(judge).inner_text()]
    for number, key in enumerate("210", start=1):
        press(judge, key, f"^{number} of ")
        texts.append(passage(judge).inner_text())
    assert len({*texts}) == 4
    assert labelling.grades() == [2, 1, 0]
    press(judge, "u", "^2 of ")
    assert passage(judge).inner_text() == texts[2]
    assert labelling.grades() == [2, 1]
    judge.page.reload()
    expect(count(judge)).to_have_text(re.compile("^2 of "))
    expect(passage(judge)).to_be_focused()
    assert passage(judge).inner_text() == texts[2]
    press(judge, "2", "^3 of ")
    assert labelling.grades() == [2, 1, 2]
    expect(judge.page.get_by_role("progressbar")).to_have_js_property("value", 3)
    expect(judge.page).to_have_title(re.compile(r"^3 of \d+ – Label"))


def test_going_back_to_the_page_shows_what_was_judged_since(judge: Reader) -> None:
    judge.page.context.unroute_all()  # with a route, there is no cache
    judge.page.reload()
    expect(passage(judge)).to_be_focused()
    press(judge, "2", "^1 of ")
    text = passage(judge).inner_text()
    judge.page.get_by_role("link", name="Reports").click()
    judge.page.go_back()
    expect(count(judge)).to_have_text(re.compile("^1 of "))
    assert passage(judge).inner_text() == text


def test_note_is_saved_with_the_judgment_and_restored_by_undo(judge: Reader, labelling: Labelling) -> None:
    note = judge.page.get_by_role("textbox", name="Note on this passage")
    judge.page.keyboard.press("n")
    expect(note).to_be_focused()
    judge.page.keyboard.type("02su? not sure")
    assert labelling.grades() == []
    judge.page.keyboard.press("Enter")
    expect(passage(judge)).to_be_focused()
    press(judge, "1", "^1 of ")
    expect(note).to_have_value("")
    (judgment,) = labelling.log.read_effective()
    assert judgment.label is not None
    assert judgment.label.note == "02su? not sure"
    press(judge, "u", "^0 of ")
    expect(note).to_have_value("02su? not sure")
    judge.page.keyboard.press("n")
    judge.page.keyboard.press("Escape")
    expect(passage(judge)).to_be_focused()


def test_skipped_passage_is_counted_and_can_be_undone(judge: Reader, labelling: Labelling) -> None:
    first = passage(judge).inner_text()
    press(judge, "s", "^0 of .* 1 skipped")
    assert passage(judge).inner_text() != first
    assert labelling.grades() == [None]
    press(judge, "u", r"^0 of \d+ judged$")
    assert passage(judge).inner_text() == first


def test_buttons_judge_on_a_phone(sit: Visit, labelling: Labelling) -> None:
    judge = sit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    undo = judge.page.get_by_role("button", name="Undo")
    expect(undo).to_be_disabled()
    for number, name in enumerate(["Answers", "In part", "Does not help"], start=1):
        button = judge.page.get_by_role("button", name=name)
        expect(button).to_be_in_viewport(ratio=1)
        button.tap()
        expect(count(judge)).to_have_text(re.compile(f"^{number} of "))
    undo.tap()
    expect(count(judge)).to_have_text(re.compile("^2 of "))
    judge.page.get_by_role("button", name="Skip").tap()
    expect(count(judge)).to_have_text(re.compile("1 skipped"))
    assert labelling.grades() == [2, 1, None]


def test_judge_name_is_stored_and_has_its_own_queue(sit: Visit, labelling: Labelling) -> None:
    judge = sit()
    name(judge, "ann")
    press(judge, "2", "^1 of ")
    assert [judgment.judge for judgment in labelling.log.read_effective()] == ["ann"]
    judge.page.reload()
    expect(judge.page.get_by_role("textbox", name="Judge")).to_have_value("ann")
    expect(count(judge)).to_have_text(re.compile("^1 of "))
    name(judge, "ben", "Tab")
    expect(count(judge)).to_have_text(re.compile("^0 of "))
    name(judge, "")
    expect(count(judge)).to_have_text(re.compile("^1 of "))


@pytest.mark.parametrize("stored", ["'x'.repeat(1000)", "'\\ud800'"])
def test_damaged_name_of_the_judge_does_not_stop_the_page(sit: Visit, stored: str) -> None:
    seat = sit()
    seat.js(f"localStorage.setItem('pertinent.judge', {stored})")
    seat.page.reload()
    expect(passage(seat)).to_be_focused()


def test_two_judges_work_at_once_and_see_their_agreement(sit: Visit, labelling: Labelling) -> None:
    seats = {}
    for who in ("ann", "ben"):
        seats[who] = sit()
        name(seats[who], who)
    for number in range(1, 4):
        for who, key in (("ann", "2"), ("ben", "1")):
            press(seats[who], key, f"^{number} of ")
    assert len(labelling.log.read()) == 6
    total = int(re.findall(r"of (\d+)", count(seats["ann"]).inner_text())[0])
    for who, key in (("ann", "2"), ("ben", "0")):
        for number in range(4, total + 1):
            seats[who].page.keyboard.press(key)
            expect(count(seats[who])).to_have_text(re.compile(f"^{number} of "))
    ann = seats["ann"].page
    expect(ann.get_by_text("Everything is judged.").first).to_be_visible()
    expect(passage(seats["ann"])).to_have_count(0)
    ann.get_by_text("How far do the judges agree?").click()
    agreement = ann.locator("#agreement-pairs")
    expect(agreement.get_by_role("heading", name="ann and ben")).to_be_visible()
    expect(agreement).to_contain_text(f"over {total} passages; the same grade for 0")
    expect(agreement.get_by_role("row")).to_have_count(total + 1)
    expect(agreement).to_contain_text(QUESTION)
    # The last can still be taken back.
    ann.keyboard.press("u")
    expect(passage(seats["ann"])).to_be_focused()
    expect(ann.get_by_text("Everything is judged.").first).to_be_hidden()


def test_failed_judgment_keeps_its_note_and_can_be_retried(judge: Reader, labelling: Labelling) -> None:
    passage_text = passage(judge).inner_text()
    judge.expected_errors.append("503")

    def fail(route: Route) -> None:
        route.fulfill(status=503, json={"error": "service_unavailable", "message": "the disk is full"})

    judge.page.route("**/api/v1/labels", fail)
    judge.page.get_by_role("textbox", name="Note on this passage").fill("kept")
    passage(judge).focus()
    judge.page.keyboard.press("2")
    alert = judge.page.get_by_role("alert")
    expect(alert).to_contain_text("Your judgment was not saved. The disk is full.")
    assert passage(judge).inner_text() == passage_text
    expect(judge.page.get_by_role("textbox", name="Note on this passage")).to_have_value("kept")
    assert labelling.grades() == []
    judge.page.unroute("**/api/v1/labels")
    alert.get_by_role("button", name="Try again").click()
    expect(count(judge)).to_have_text(re.compile("^1 of "))
    expect(alert).to_have_count(0)
    (judgment,) = labelling.log.read_effective()
    assert judgment.label is not None
    assert (judgment.label.grade, judgment.label.note) == (2, "kept")


def test_retry_after_a_broken_connection_saves_the_judgment_once(judge: Reader, labelling: Labelling) -> None:
    judge.expected_errors.append("ERR_")

    def break_off(route: Route) -> None:
        route.fetch()  # it arrives, but the answer does not
        route.abort("connectionreset")

    judge.page.route("**/api/v1/labels", break_off, times=1)
    judge.page.keyboard.press("2")
    alert = judge.page.get_by_role("alert")
    expect(alert).to_contain_text("Your judgment may not be saved. The service can't be reached.")
    alert.get_by_role("button", name="Try again").click()
    expect(count(judge)).to_have_text(re.compile("^1 of "))
    assert labelling.grades() == [2]  # said twice, it counts once


def test_passage_that_cannot_be_shown_is_not_judged(judge: Reader, labelling: Labelling) -> None:
    """The page shows the former passage, so a grade must not go to the one that nobody has seen."""
    passage_text = passage(judge).inner_text()
    judge.expected_errors.append("TypeError")

    def damage(route: Route) -> None:
        body = route.fetch().json()
        body["passage"]["content"] = None
        route.fulfill(json=body)

    judge.page.route("**/api/v1/labels", damage, times=1)
    judge.page.keyboard.press("2")
    alert = judge.page.get_by_role("alert")
    expect(alert).to_contain_text("Your judgment may not be saved. The response could not be shown.")
    assert passage(judge).inner_text() == passage_text
    (saved,) = labelling.log.read_effective()
    judge.page.keyboard.press("1")
    expect(alert).to_have_count(0)
    (corrected,) = labelling.log.read_effective()
    assert corrected.chunk == saved.chunk
    assert labelling.grades() == [1]


def test_removed_passage_offers_to_continue(judge: Reader) -> None:
    judge.expected_errors.append("404")
    gone = {"error": "not_found", "message": "the passage is not among those to be judged"}
    judge.page.route("**/api/v1/labels", lambda route: route.fulfill(status=404, json=gone))
    judge.page.keyboard.press("2")
    judge.page.get_by_role("alert").get_by_role("button", name="Continue").click()
    expect(judge.page.get_by_role("alert")).to_have_count(0)
    expect(passage(judge)).to_be_focused()


def test_label_page_waits_for_the_session(sit: Visit, labelling: Labelling, browser: Browser) -> None:
    with open_readers(labelling.address, browser) as open_reader:
        judge = open_reader()
        judge.expected_errors.append("503")
        early = {
            "error": "service_unavailable",
            "message": "passages are being collected: 1 of 2",
        }
        route = "**/api/v1/labels/next"
        judge.page.route(
            route,
            lambda early_route: early_route.fulfill(status=503, json=early, headers={"retry-after": "1"}),
            times=1,
        )
        judge.page.goto(f"{labelling.address}/label")
        expect(judge.page.locator("#notice")).to_contain_text("are being collected: 1 of 2.")
        expect(passage(judge)).to_be_visible()
        expect(judge.page.locator("#notice")).to_be_empty()


def test_label_page_explains_how_to_switch_labelling_on(visit: Visit) -> None:
    reader = visit()
    reader.expected_errors.append("404")
    reader.page.goto(f"{reader.home}/label")
    expect(reader.page.locator("#notice")).to_contain_text("PERTINENT_GOLDEN")
    expect(reader.page.get_by_role("button", name="Answers")).to_be_hidden()
    assert reader.js(NAMELESS) == []


def test_held_keys_and_browser_shortcuts_do_not_judge(judge: Reader, labelling: Labelling) -> None:
    for modifiers in ({"repeat": True}, {"ctrlKey": True}, {"metaKey": True}, {"altKey": True}):
        judge.js(
            "(held) => document.activeElement.dispatchEvent("
            "new KeyboardEvent('keydown', {key: '2', bubbles: true, ...held}))",
            modifiers,
        )
    for key in ("3", "x", "Enter", "Tab"):
        judge.page.keyboard.press(key)
    assert labelling.grades() == []
    judge.page.keyboard.press("?")
    expect(judge.page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    judge.page.keyboard.press("2")
    judge.page.keyboard.press("Escape")
    assert labelling.grades() == []
    press(judge, "2", "^1 of ")


def test_fast_key_presses_judge_one_passage(judge: Reader, labelling: Labelling) -> None:
    judge.js(
        "() => { for (const key of '222') document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key, bubbles: true})); }"
    )
    expect(count(judge)).to_have_text(re.compile("^1 of "))
    assert labelling.grades() == [2]


def test_rank_and_score_are_not_sent_to_the_browser(labelling: Labelling) -> None:
    response = httpx.get(f"{labelling.address}/api/v1/labels/next").text
    for secret in ("rank", "score", "similarity", "broad", "hybrid", "cosine"):
        assert secret not in response


def test_label_page_shows_html_as_text(sit: Visit, labelling: Labelling) -> None:
    judge = sit()
    for number in range(1, 60):
        if "<b>payload</b>" in judge.page.locator("#question").inner_text() and (
            "<script>window.harmed" in passage(judge).inner_text()
        ):
            break
        press(judge, "0", f"^{number} of ")
    assert judge.js("window.harmed") is None
    assert judge.page.locator("#task script, #task img, #task b").count() == 0


def test_label_page_is_accessible_to_screen_readers(judge: Reader) -> None:
    page = judge.page
    for role in ("banner", "main", "progressbar"):
        expect(page.get_by_role(role)).to_have_count(1)
    assert page.locator("#announcer").get_attribute("role") == "status"
    expect(page.get_by_role("progressbar")).to_have_accessible_name(re.compile(r"^0 of \d+ judged$"))
    expect(passage(judge)).to_have_accessible_name(re.compile(re.escape(QUESTION)))
    press(judge, "1", "^1 of ")
    expect(page.locator("#announcer")).to_have_text("Saved: 1, in part. Next passage.")
    press(judge, "u", "^0 of ")
    expect(page.locator("#announcer")).to_have_text("Undone: 1, in part.")
    page.keyboard.press("u")
    expect(page.locator("#announcer")).to_have_text("There is nothing to undo.")
    ids = page.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast_and_every_control_a_name(sit: Visit, scheme: str) -> None:
    judge = sit(color_scheme=scheme)
    press(judge, "2", "^1 of ")
    judge.page.get_by_text("How far do the judges agree?").click()
    expect(judge.page.locator("#agreement-pairs")).to_contain_text("Agreement needs two judges")
    assert judge.js(CONTRAST) == []
    assert judge.js(NAMELESS) == []


@pytest.mark.parametrize("width", [320, 360, 768])
def test_nothing_scrolls_sideways(sit: Visit, width: int) -> None:
    judge = sit(viewport={"width": width, "height": 740}, has_touch=True, is_mobile=width < 500)
    for number in range(1, 6):
        assert not judge.js(SIDEWAYS)
        press(judge, "0", f"^{number} of ")


def test_label_page_works_without_local_storage(labelling: Labelling, browser: Browser) -> None:
    with open_readers(labelling.address, browser) as open_reader:
        judge = open_reader()
        judge.page.add_init_script(
            "Object.defineProperty(window, 'localStorage', {get() { throw new Error('forbidden'); }});"
        )
        judge.page.goto(f"{labelling.address}/label")
        expect(passage(judge)).to_be_focused()
        name(judge, "ann")
        press(judge, "2", "^1 of ")
