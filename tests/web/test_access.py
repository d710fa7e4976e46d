"""Everyone can use it: by keyboard alone, by ear, in the dark, on a phone."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import expect

from pertinent.surfaces.web import STATIC

from .book import SITE
from .conftest import Reader, Visit

NAMELESS = """() => [...document.querySelectorAll("button, a, input, select, summary")]
    .filter((one) => one.checkVisibility())
    .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim()
        || [...(one.labels ?? [])].some((label) => label.textContent.trim())))
    .map((one) => one.outerHTML)"""

CONTRAST = r"""() => {
    const parse = (text) => {
        const srgb = /^color\(srgb ([^)]+)\)/.exec(text);
        const numbers = (srgb ? srgb[1] : text).match(/[\d.]+(e-?\d+)?/g).map(Number);
        const [r, g, b, a = 1] = numbers;
        return srgb ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
    };
    const over = ([r, g, b, a], under) => [r, g, b].map((one, n) => one * a + under[n] * (1 - a)).concat(1);
    const ground = (one) => {
        if (!one) return [255, 255, 255, 1];
        const colour = parse(getComputedStyle(one).backgroundColor);
        return colour[3] === 1 ? colour : over(colour, ground(one.parentElement));
    };
    const light = (colour) => {
        const line = (one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
        const [r, g, b] = colour.map((one) => line(one / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const low = [];
    for (const one of document.querySelectorAll("body *")) {
        const own = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (!own || !one.checkVisibility() || one.closest(".visually-hidden, noscript")) continue;
        const back = ground(one);
        const [a, b] = [light(over(parse(getComputedStyle(one).color), back)), light(back)];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) low.push([one.className || one.localName, one.textContent.slice(0, 30), ratio]);
    }
    return low;
}"""

SIDEWAYS = "document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth"


def test_search_page_works_by_keyboard_alone(reader: Reader) -> None:
    keys = reader.page.keyboard
    keys.type("publish message")
    expect(reader.hits.first).to_be_visible()
    focused = reader.page.locator(".passage-link:focus")
    keys.press("ArrowDown")
    expect(reader.hits.nth(0).locator(".passage-link")).to_be_focused()
    keys.press("ArrowDown")
    expect(reader.hits.nth(1).locator(".passage-link")).to_be_focused()
    keys.press("x")
    expect(reader.hits.nth(1).locator(".before")).to_be_visible()
    expect(reader.hits.nth(1).locator(".passage-link")).to_be_focused()
    keys.press("c")
    expect(reader.hits.nth(1).get_by_role("button", name="Copied")).to_be_visible()
    assert str(reader.js("navigator.clipboard.readText()")).endswith(f"({focused.get_attribute('href')})")
    keys.press("l")
    expect(reader.hits.nth(1).locator("[data-act=link]")).to_have_text("Copied")
    assert reader.js("navigator.clipboard.readText()") == focused.get_attribute("href")
    keys.press("ArrowUp")
    keys.press("ArrowUp")
    expect(reader.box).to_be_focused()
    keys.press("ArrowDown")
    href = focused.get_attribute("href") or ""
    keys.press("Escape")
    expect(reader.box).to_be_focused()
    expect(reader.box).to_have_value("publish message")
    keys.press("ArrowDown")
    keys.press("Enter")
    reader.page.wait_for_url(re.compile(re.escape(SITE)))
    assert reader.page.url == href


def test_slash_focuses_the_search_box_and_escape_clears_it(reader: Reader) -> None:
    reader.box.fill("friction")
    expect(reader.hits.first).to_be_visible()
    reader.hits.first.get_by_role("button", name="Context").focus()
    reader.page.keyboard.press("/")
    expect(reader.box).to_be_focused()
    expect(reader.box).to_have_value("friction")
    reader.page.keyboard.press("Escape")
    expect(reader.box).to_have_value("")
    expect(reader.page.locator(".hint")).to_be_visible()


def test_shortcuts_are_plain_text_in_the_search_box(reader: Reader) -> None:
    reader.page.keyboard.type("x/c?")
    expect(reader.box).to_have_value("x/c?")
    expect(reader.page.get_by_role("dialog")).to_have_count(0)


def test_help_opens_and_closes_by_keyboard(reader: Reader) -> None:
    reader.page.get_by_role("button", name="Options").focus()
    reader.page.keyboard.press("?")
    dialog = reader.page.get_by_role("dialog", name="Keyboard")
    expect(dialog).to_be_visible()
    reader.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    reader.page.get_by_role("button", name="Keyboard").click()
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def test_arrow_keys_select_a_part(reader: Reader) -> None:
    reader.box.fill("robot")
    reader.page.get_by_role("radio", name="Whole book").focus()
    reader.page.keyboard.press("ArrowRight")
    expect(reader.page.get_by_role("radio", name="Body")).to_be_checked()
    expect(reader.page).to_have_url(re.compile("part=body"))


def test_tab_reaches_every_control_with_a_visible_focus(reader: Reader) -> None:
    reader.open("/?q=friction+joint")
    seen: list[str] = []
    reader.page.locator(".skip").focus()
    reader.page.keyboard.press("Shift+Tab")
    for _ in range(10):
        reader.page.keyboard.press("Tab")
        seen.append(str(reader.js("document.activeElement.textContent.trim() || document.activeElement.id")))
        outline = reader.js(
            "((one) => getComputedStyle(one.matches('.chip input') ? one.nextSibling : one).outlineStyle)"
            "(document.activeElement)"
        )
        assert outline == "solid", seen
    assert seen[0] == "Skip to the results"
    assert {"query", "Context", "Copy link", "Copy as Markdown citation", "Joints › Friction"} <= set(seen)


def test_search_page_has_landmarks_headings_and_a_live_status(reader: Reader) -> None:
    reader.open("/?q=publisher+publish+message")
    page = reader.page
    for role in ("banner", "search", "main"):
        expect(page.get_by_role(role)).to_have_count(1)
    expect(page.get_by_role("heading", level=1)).to_have_text("Pertinent")
    levels = page.locator("h1, #results h2, #results h3").evaluate_all(
        "all => all.map((h) => +h.localName[1])"
    )
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.locator("#status").get_attribute("role") == "status"
    assert page.locator("html").get_attribute("lang") == "en"
    ids = page.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))
    for region in page.locator("section[aria-labelledby]").all():
        expect(page.locator(f"#{region.get_attribute('aria-labelledby')}")).to_have_count(1)


@pytest.mark.parametrize("path", ["/", "/?q=publisher+publish+message", "/?q=joint&least=0.9"])
def test_every_control_has_an_accessible_name(reader: Reader, path: str) -> None:
    reader.open(path)
    reader.page.get_by_role("button", name="Options").click()
    assert reader.js(NAMELESS) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path", ["/", "/?q=publisher+publish+message+reliable&part=ros2", "/?q=joint&least=0.9"]
)
def test_text_has_enough_contrast(visit: Visit, scheme: str, path: str) -> None:
    reader = visit(color_scheme=scheme)
    reader.open(path)
    reader.page.get_by_role("button", name="Options").click()
    for button in reader.page.locator("[data-act=context]").all():
        button.click()
        expect(button).to_have_attribute("aria-expanded", "true")
    assert reader.js(CONTRAST) == []


def test_color_scheme_follows_the_system(visit: Visit) -> None:
    grounds = {}
    for scheme in ("light", "dark"):
        reader = visit(color_scheme=scheme)
        reader.open("/?q=friction")
        colour = str(reader.js("getComputedStyle(document.body).backgroundColor"))
        grounds[scheme] = sum(map(int, re.findall(r"\d+", colour)))
    assert grounds["light"] > 600
    assert grounds["dark"] < 150


@pytest.mark.parametrize("width", [320, 360, 768])
def test_only_code_and_tables_scroll_sideways(visit: Visit, width: int) -> None:
    reader = visit(viewport={"width": width, "height": 740}, has_touch=True, is_mobile=width < 500)
    for path in (
        "/",
        "/?q=talker+publisher+create_publisher+reliability+policies&least=0",
        "/?q=x&least=0.9",
    ):
        reader.open(path)
        assert not reader.js(SIDEWAYS), path
        for button in reader.page.locator("[data-act=context]").all()[:2]:
            button.click()
            expect(button).to_have_attribute("aria-expanded", "true")
        assert not reader.js(SIDEWAYS), path


def test_wide_code_scrolls_by_keyboard(visit: Visit) -> None:
    reader = visit(viewport={"width": 360, "height": 740})
    reader.open("/?q=talker+create_publisher+topic")
    code = reader.page.get_by_role("region", name="Code, scrolls sideways").first
    expect(code).to_have_attribute("tabindex", "0")


def test_long_query_is_cut_to_2000_characters(visit: Visit) -> None:
    reader = visit(viewport={"width": 360, "height": 740})
    reader.open("/")
    reader.box.fill("joint" * 500)
    assert len(reader.box.input_value()) == 2000
    reader.box.press("Enter")
    expect(reader.status).not_to_be_empty()
    assert not reader.js(SIDEWAYS)


def test_reduced_motion_stops_animations(visit: Visit) -> None:
    reader = visit(reduced_motion="reduce")
    reader.open()
    moving = "getComputedStyle(document.querySelector('.progress'), '::after').animationName"
    assert reader.js(moving) == "none"


def scripts() -> list[Path]:
    return sorted(path for path in STATIC.iterdir() if path.suffix in {".js", ".css", ".html", ".svg"})


@pytest.mark.parametrize("path", scripts(), ids=lambda path: path.name)
def test_static_files_load_nothing_external_and_inject_no_html(path: Path) -> None:
    source = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", source)
    assert not re.search(r"(src|href|url\(|from|import)\W{1,3}(https?:)?//", source)
    assert not re.search(r"<[^>]+\s(style|on\w+)=", source) or path.suffix == ".js"
