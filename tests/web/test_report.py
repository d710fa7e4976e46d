"""The page of a report in a real Chromium: nothing runs, nothing is loaded, everybody can read it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from pertinent.surfaces.web import STATIC
from pertinent.validation.rendering import render_html
from pertinent.validation.rendering.html import HERE
from pertinent.validation.report import ValidationReport

from ..validation.test_rendering import HOSTILE_TEXTS, case, report, result, spoil
from .conftest import Reader, open_readers
from .test_access import CONTRAST, NAMELESS, SIDEWAYS

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
SERVED = "https://report.example"
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
LONG = "unbroken" * 200

Read = Callable[..., Reader]


@pytest.fixture
def read(browser: Browser, tmp_path: Path) -> Iterator[Read]:
    """Open a report from its file, or as a service would send it, in a new browser context."""
    numbers = count()
    with open_readers(SERVED, browser) as open_reader:

        def open_report(shown_report: ValidationReport, *, served: bool = False, **options: Any) -> Reader:
            path = tmp_path / f"report{next(numbers)}.html"
            path.write_text(render_html(shown_report), encoding="utf-8")
            reader = open_reader(**options)
            headers = {"content-security-policy": POLICY, "content-type": "text/html; charset=utf-8"}
            reader.page.route(f"{SERVED}/**", lambda route: route.fulfill(path=path, headers=headers))
            reader.home = f"{SERVED}/report" if served else path.as_uri()
            reader.page.goto(reader.home)
            return reader

        yield open_report


def mixed() -> ValidationReport:
    """Queries of every kind and status."""
    states = ("failed", "passed", "error", "passed", "failed")
    cases = [case(number, states[number % 5]) for number in range(40)]
    return report([*cases, *report().test_cases[-2:]])


@pytest.mark.parametrize("served", [False, True])
def test_report_opens_from_a_file_and_under_a_strict_policy(read: Read, served: bool) -> None:
    page = read(mixed(), served=served).page
    expect(page).to_have_title(re.compile("^FAIL · book"))
    expect(page.get_by_role("heading", level=1)).to_have_text("✕ FAIL")
    expect(page.locator(".summary")).to_have_text("too few queries reach their P@5.")
    assert page.evaluate("getComputedStyle(document.querySelector('.verdict')).borderLeftWidth") == "6px"
    width = page.locator(".band").first.evaluate("(one) => one.getBoundingClientRect().width")
    assert width > 10


@pytest.mark.parametrize(
    ("hostile_text", "served"),
    [*((hostile_text, False) for hostile_text in HOSTILE_TEXTS[:6]), (HOSTILE_TEXTS[0], True)],
)
def test_report_texts_run_and_load_nothing(read: Read, hostile_text: str, served: bool) -> None:
    reader = read(spoil(mixed(), hostile_text), served=served)
    reader.js(OPEN_ALL)
    page = reader.page
    expect(page.locator(".query .text").first).to_have_text(hostile_text)
    assert page.locator("script, img, iframe, object, embed, link, base, form").count() == 0
    links = page.locator("a").evaluate_all("all => all.map((one) => one.href.baseVal ?? one.href)")
    assert all(re.match(r"(file|https?):|#", link) for link in links)
    for link in page.locator(".result a").all()[:2]:
        link.hover()


def test_report_query_opens_by_keyboard(read: Read) -> None:
    reader = read(mixed(), java_script_enabled=False)
    keys = reader.page.keyboard
    query = reader.page.locator("details.query").first
    query.locator("> summary").focus()
    keys.press("Enter")
    expect(query).to_have_attribute("open", "")
    expect(query.locator(".why")).to_be_visible()
    keys.press("Tab")
    expect(query.locator("h4 a").first).to_be_focused()
    keys.press("Tab")
    keys.press("Enter")
    expect(query.locator(".text").first).to_be_visible()
    expect(query.locator(".text").first).to_have_text("Passage 0: a joint connects two links.")


def test_tab_reaches_the_queries_with_a_visible_focus(read: Read) -> None:
    reader = read(mixed())
    seen: list[str] = []
    for _ in range(40):
        reader.page.keyboard.press("Tab")
        assert reader.js("getComputedStyle(document.activeElement).outlineStyle") == "solid" or reader.js(
            "document.activeElement.matches('.pick input')"
        )
        seen.append(str(reader.js("document.activeElement.parentElement.className")))
        if "query" in seen[-1]:
            break
    assert seen[-1].startswith("query failed")


def test_report_filters_queries_without_scripts(read: Read) -> None:
    page = read(mixed(), java_script_enabled=False).page
    queries = page.locator("details.query:visible")
    expect(queries).to_have_count(42)
    page.get_by_label("error 8").check()
    expect(queries).to_have_count(8)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_label("passed 17")).to_be_checked()
    expect(queries).to_have_count(17)
    page.get_by_label("all 42").check()
    expect(queries).to_have_count(42)


def test_bars_and_checks_link_to_their_query(read: Read) -> None:
    page = read(report()).page
    failed = page.locator("details.query", has_text="joint-1").first
    page.locator("figure a rect.failed").first.click()
    expect(failed).to_have_attribute("open", "")
    expect(failed.locator(".inside")).to_be_in_viewport()
    failed.locator("> summary").click()
    expect(failed).not_to_have_attribute("open", "")
    page.get_by_text("1 exception").click()
    page.locator("#acceptance").get_by_role("link", name="joint-1").click()
    expect(failed).to_have_attribute("open", "")


@pytest.mark.parametrize(
    ("width", "scheme"), [(320, "light"), (360, "light"), (360, "dark"), (768, "dark"), (1100, "light")]
)
def test_nothing_scrolls_sideways(read: Read, width: int, scheme: str) -> None:
    options = {"viewport": {"width": width, "height": 740}, "color_scheme": scheme, "is_mobile": width < 500}
    for validation_report in (mixed(), spoil(report(), LONG), spoil(report(), "word " * 300)):
        reader = read(validation_report, **options)
        assert not reader.js(SIDEWAYS)
        reader.js(OPEN_ALL)
        assert not reader.js(SIDEWAYS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "INVALID"])
def test_text_has_enough_contrast(read: Read, scheme: str, verdict: str) -> None:
    reader = read(mixed().model_copy(update={"verdict": verdict}), color_scheme=scheme)
    reader.js(OPEN_ALL)
    assert reader.js(CONTRAST) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_heatmap_text_has_enough_contrast(read: Read, scheme: str) -> None:
    warm = {"all": {"p@5": report().metrics["all"]["p@5"].model_copy(update={"mean": 1.0})}}
    warm["type:broad"] = warm["all"]
    reader = read(report(metrics=warm), color_scheme=scheme)
    colours = reader.js("""() => {
        const of = (one, name) => getComputedStyle(document.querySelector(one))[name];
        return [
            of(".heat", "fill"), of("figure", "backgroundColor"), of(".mean", "fill"),
            of(".heat", "fillOpacity"),
        ];
    }""")
    fill, ground, ink = ([int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in colours[:3])
    part = float(colours[3])
    cell = [part * over + (1 - part) * under for over, under in zip(fill, ground, strict=True)]
    low, high = sorted((luminance(cell), luminance(ink)))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def luminance(colour: list[Any]) -> float:
    parts = [channel / 255 for channel in colour]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4) for part in parts
    )
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def test_report_has_landmarks_headings_captions_and_names(read: Read) -> None:
    reader = read(mixed())
    page = reader.page
    for role in ("banner", "navigation", "main", "contentinfo"):
        expect(page.get_by_role(role)).to_have_count(1)
    reader.js(OPEN_ALL)
    assert reader.js(NAMELESS) == []
    levels = page.locator("h1, h2, h3, h4").evaluate_all("all => all.map((one) => +one.localName[1])")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("figure > svg:not([role=img][aria-label])").count() == 0
    ids = page.locator("[id]").evaluate_all("all => all.map((one) => one.id)")
    assert len(ids) == len(set(ids))
    fragments = page.locator("a[href^='#']").evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    assert {fragment[1:] for fragment in fragments} <= set(ids)


def test_printed_report_is_dark_on_white_without_controls(read: Read) -> None:
    reader = read(mixed(), color_scheme="dark")
    reader.page.emulate_media(media="print")
    for control in ("nav", ".picks"):
        expect(reader.page.locator(control)).to_be_hidden()
    assert reader.js("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert reader.js(CONTRAST) == []


def test_right_to_left_text_is_isolated(read: Read) -> None:
    results = [result(0, title="\u202eevil", content="שלום עולם")]
    reader = read(report([case(0, actual_results=results, relevance_labels=[2], judged=[True])]))
    reader.js(OPEN_ALL)
    page = reader.page
    assert page.locator(".text").first.evaluate("(one) => getComputedStyle(one).direction") == "rtl"
    rank = page.locator(".rank").first.bounding_box()
    title = page.locator(".result h4").first.bounding_box()
    assert rank is not None
    assert title is not None
    assert rank["x"] < title["x"]


def test_report_has_the_colours_of_the_search_page() -> None:
    names = re.compile(r"(--[\w-]+): ([^;]+);")
    for scheme in (0, 1):
        search = dict(names.findall((STATIC / "style.css").read_text().split("prefers-color-scheme")[scheme]))
        page = dict(names.findall((HERE / "report.css").read_text().split("prefers-color-scheme")[scheme]))
        shared = (search.keys() & page.keys()) - {"--column"}
        assert len(shared) > 10
        assert {name: search[name] for name in shared} == {name: page[name] for name in shared}
