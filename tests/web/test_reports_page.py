"""The reports in a real browser: the list, the trend, one report, and two side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from pertinent.surfaces.validation_targets import LocalPipeline
from pertinent.surfaces.web import STATIC
from pertinent.types import Ranking
from pertinent.validation import report_files
from pertinent.validation.criteria import Criteria
from pertinent.validation.golden.golden_set import GoldenQuery, GoldenSet, Label
from pertinent.validation.report import ValidationReport
from pertinent.validation.validate import ValidationOptions, validate

from ..servers.service import running_service
from .conftest import Reader, Visit, open_book, open_readers
from .test_access import CONTRAST, NAMELESS, SIDEWAYS

RANKINGS: tuple[Ranking, ...] = ("lexical", "hybrid", "hybrid")
NAMES = [f"report_202601{10 + day}_120000.json" for day in range(5)]


def golden(name: str) -> GoldenSet:
    labels = [Label(grade=2, page="docs/ros2/topics.md", anchor="policies")]
    texts = {
        "policies": "Which policies have publishers and subscribers?",
        "harm": "<script>window.harmed = 1</script> in the wiki?",
        "lifecycle": "Who shuts down a managed node?",
    }
    queries = tuple(GoldenQuery(id=name, text=text, labels=tuple(labels)) for name, text in texts.items())
    return GoldenSet(name=name, queries=queries, criteria=Criteria(precision_at_5=0.2))


def relabelled() -> GoldenSet:
    """The first set with a label more and a query less."""
    usual = golden("robots")
    first, *_, last = usual.queries
    labels = (*first.labels, Label(grade=1, page="docs/ros2/nodes.md"))
    return usual.model_copy(update={"queries": (first.model_copy(update={"labels": labels}), last)})


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service with five reports.

    Three are of one golden set, two of them asked alike; one is of another set without a query in common; and
    one is of the first set after it got a label and lost a query.
    """
    book = tmp_path_factory.mktemp("reports")
    folder = book / "validation_results"
    with open_book(book, reports=folder) as pertinent:
        subject = LocalPipeline(pertinent.workspace)
        for day, ranking in enumerate(RANKINGS):
            validated = validate(
                subject, golden("robots"), ValidationOptions(ranking=ranking, together=False)
            )
            _save(folder, validated.model_copy(update={"mrr_answerable": 0.25 * (day + 1)}), day)
        query = golden("x").queries[0].model_copy(update={"text": "policies"})
        other_set = GoldenSet(name="another <b>set</b>", queries=(query,))
        _save(folder, validate(subject, other_set, ValidationOptions(together=False)), 3)
        _save(folder, validate(subject, relabelled(), ValidationOptions(together=False)), 4)
        with running_service(pertinent.workspace) as served_at:
            yield served_at


def _save(folder: Path, source: ValidationReport, day: int) -> None:
    report_files.save_report(source.model_copy(update={"timestamp": f"2026-01-{10 + day}T12:00:00Z"}), folder)


@pytest.fixture
def look(address: str, browser: Browser) -> Iterator[Visit]:
    """Open a report page in a new browser context."""
    with open_readers(address, browser) as open_reader:

        def open_page(path: str = "/reports", **options: Any) -> Reader:
            reader = open_reader(**options)
            reader.page.goto(address + path)
            return reader

        yield open_page


COMPARE = f"/reports/compare?before={NAMES[0]}&after={NAMES[2]}"
REFUSED = f"/reports/compare?before={NAMES[0]}&after={NAMES[3]}"
RELABELLED = f"/reports/compare?before={NAMES[0]}&after={NAMES[4]}"


def test_report_list_links_to_each_report(look: Visit) -> None:
    page = look().page
    rows = page.get_by_role("table").get_by_role("row")
    expect(rows).to_have_count(6)
    times = page.get_by_role("rowheader").all_inner_texts()
    assert times == [f"2026-01-{10 + day} 12:00 UTC" for day in (4, 3, 2, 1, 0)]
    for cell in ("FAIL", "robots", "ms", "%"):
        expect(rows.nth(3)).to_contain_text(cell)
    page.get_by_role("link", name=times[2]).click()
    expect(page).to_have_url(re.compile(rf"/reports/{NAMES[2]}$"))
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("body")).to_contain_text("Who shuts down a managed node?")


def test_report_is_served_with_its_styles_and_runs_no_script(look: Visit) -> None:
    reader = look(f"/reports/{NAMES[2]}")
    assert reader.js("window.harmed") is None
    font = reader.page.locator("body").evaluate("(one) => getComputedStyle(one).fontFamily")
    assert "serif" not in font.replace("sans-serif", "")
    assert not reader.js(SIDEWAYS)


def test_trend_has_a_dot_for_each_comparable_report(look: Visit) -> None:
    page = look().page
    expect(page.get_by_role("heading", level=2, name="robots, hybrid ranking")).to_be_visible()
    plots = page.get_by_role("figure")
    expect(plots).to_have_count(3)
    assert [text.split("\n")[0] for text in plots.all_inner_texts()] == [
        "Queries with P@5 ≥ 0.20",
        "MRR (answerable)",
        "p95 latency",
    ]
    for plot in plots.all():
        expect(plot.locator("circle")).to_have_count(2)
        expect(plot.get_by_role("img")).to_have_accessible_name(re.compile(r": first .+, latest .+"))
    across = [float(element.get_attribute("cx") or 0) for element in plots.nth(1).locator("circle").all()]
    assert all(before < after for before, after in pairwise(across))
    values = page.locator("td[data-name='MRR, answerable']").all_inner_texts()[2:4]
    circles = plots.nth(1).locator("circle").all()
    heights = [float(circle.get_attribute("cy") or 0) for circle in circles][::-1]
    ordered = sorted(zip(map(float, values), heights, strict=True))
    assert [height for _, height in ordered] == sorted(heights, reverse=True)


def test_two_reports_are_compared_side_by_side(look: Visit) -> None:
    page = look().page
    compare = page.get_by_role("button", name="Compare the two")
    page.get_by_role("radio", name="2026-01-10 12:00 UTC before").check()
    page.get_by_role("radio", name="2026-01-12 12:00 UTC after").check()
    compare.click()
    expect(page).to_have_url(re.compile(r"/reports/compare\?"))
    page.wait_for_load_state()  # until the page has its style sheet
    sides = [page.get_by_role("region", name=name, exact=True) for name in ("Before", "After")]
    boxes = [side.bounding_box() for side in sides]
    before, after = (box or {"x": 0.0, "y": 0.0, "width": 0.0} for box in boxes)
    assert before["y"] == after["y"] > 0
    assert before["x"] + before["width"] <= after["x"]
    expect(sides[0]).to_contain_text("2026-01-10 12:00 UTC")
    expect(sides[1]).to_contain_text("2026-01-12 12:00 UTC")
    for measure in ("P@5", "nDCG@10"):
        expect(page.get_by_role("rowheader", name=measure)).to_be_visible()
    for heading in (
        "What changed over 3 queries",
        "Newly failing",
        "Newly passing",
        "Other differences",
    ):
        expect(page.get_by_role("heading", name=re.compile(heading))).to_be_visible()
    expect(page.get_by_role("row", name="ranking")).to_contain_text(re.compile("lexical\\s*hybrid"))
    page.get_by_role("link", name="All reports").click()
    expect(page).to_have_url(re.compile("/reports$"))


def test_reports_without_a_common_query_are_shown_but_not_compared(look: Visit) -> None:
    page = look(REFUSED).page
    expect(page.locator(".notice")).to_contain_text("no answerable query in common")
    expect(page.get_by_role("region", name="After", exact=True)).to_contain_text("another <b>set</b>")
    expect(page.get_by_role("table")).to_have_count(0)


def test_compare_lists_changed_labels_and_queries_before_the_figures(look: Visit) -> None:
    page = look(RELABELLED).page
    expect(page.get_by_role("main").locator("p").first).to_have_text(
        "Scored with the labels of AFTER (golden set changed: 1 label added; queries removed: harm)."
    )
    expect(page.get_by_role("heading", name="What changed over 2 queries")).to_be_visible()
    for measure in ("P@5", "nDCG@10"):
        expect(page.get_by_role("rowheader", name=measure)).to_be_visible()


def test_search_page_and_reports_link_to_each_other(look: Visit) -> None:
    page = look("/").page
    page.get_by_role("link", name="Reports").click()
    expect(page.get_by_role("table")).to_be_visible()
    page.get_by_role("link", name="Pertinent").click()
    expect(page.get_by_role("combobox")).to_be_visible()
    page.goto(page.url + COMPARE.removeprefix("/"))
    page.get_by_role("link", name="Pertinent").click()
    expect(page.get_by_role("combobox")).to_be_visible()


def test_empty_report_folder_says_what_to_do(visit: Visit) -> None:
    reader = visit()
    reader.page.goto(f"{reader.home}/reports")
    expect(reader.page.get_by_role("main")).to_contain_text(
        "There are no reports yet. pertinent validate writes one."
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/reports", COMPARE, REFUSED, RELABELLED])
def test_text_has_enough_contrast_and_every_control_a_name(look: Visit, scheme: str, path: str) -> None:
    reader = look(path, color_scheme=scheme)
    expect(reader.page.get_by_role("main")).to_be_visible()
    assert reader.js(CONTRAST) == []
    assert reader.js(NAMELESS) == []
    levels = reader.page.locator("h1, h2, h3").evaluate_all("all => all.map((h) => +h.localName[1])")
    assert all(after - before <= 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("width", [320, 360, 768])
@pytest.mark.parametrize("path", ["/reports", COMPARE, REFUSED, RELABELLED])
def test_only_tables_scroll_sideways(look: Visit, width: int, path: str) -> None:
    reader = look(path, viewport={"width": width, "height": 740}, has_touch=True, is_mobile=width < 500)
    assert not reader.js(SIDEWAYS)
    if path == "/reports":
        for figure in ("share", "MRR", "p95"):
            cell = reader.page.locator(f"td[data-name*='{figure}']").first
            box = cell.bounding_box()
            assert box
            assert box["x"] + box["width"] <= width


def test_report_pages_need_no_javascript(address: str, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/reports")
    page.get_by_role("button", name="Compare the two").click()
    expect(page.get_by_role("heading", name="What changed over 3 queries")).to_be_visible()
    context.close()


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.jinja")), ids=lambda path: path.name)
def test_templates_load_nothing_external_and_escape_everything(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not re.search(r"(src|href)\W{1,3}(https?:)?//", source)
    assert not re.search(r"<[^>]+\s(style|on\w+)=|<script|\|\s*safe", source)
