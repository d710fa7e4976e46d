"""The theme on the handbook, built by the real Docusaurus, in real Chromium, against a running service."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .conftest import HANDBOOK, PREVIEW, Visit, Visitor, launch_browser, read_port, serve_sites
from .npm_build import pack_theme

pytestmark = pytest.mark.slow

JOINTS = f"{HANDBOOK}/docs/robot-description/joints"


@pytest.fixture(scope="module")
def site_browser(themed_handbook: Path, search_service: str) -> Iterator[Browser]:
    with (
        serve_sites({"handbook.example": themed_handbook, "preview.example": themed_handbook}) as port,
        launch_browser(
            {
                "handbook.example": port,
                "preview.example": port,
                "search.example": read_port(search_service),
            }
        ) as browser,
    ):
        yield browser


@pytest.fixture
def visitor(visit_site: Visit) -> Visitor:
    return visit_site(f"{HANDBOOK}/docs/")


@pytest.mark.parametrize("key", ["Control+k", "Meta+k", "/"])
def test_theme_opens_with_a_key_and_closes_with_escape(visitor: Visitor, key: str) -> None:
    visitor.page.keyboard.press(key)
    expect(visitor.dialog).to_be_visible()
    expect(visitor.box).to_be_focused()
    visitor.page.keyboard.press("Escape")
    expect(visitor.dialog).to_be_hidden()


def test_theme_opens_with_the_button_and_returns_the_focus(visitor: Visitor) -> None:
    button = visitor.page.get_by_role("button", name="Search")
    button.click()
    expect(visitor.box).to_be_focused()
    expect(visitor.box).to_have_attribute("placeholder", "Search the handbook")
    visitor.page.keyboard.press("Escape")
    expect(button).to_be_focused()


def test_theme_suggests_names_while_typing(visitor: Visitor) -> None:
    visitor.page.keyboard.press("Control+k")
    visitor.page.keyboard.type("joi")
    names = visitor.page.get_by_role("group", name="Pages and sections").get_by_role("option")
    expect(names.first).to_contain_text("Joints")
    expect(names.first.locator("mark").first).to_have_text(re.compile("^joi", re.IGNORECASE))


def test_theme_groups_passages_by_page_with_marks_and_breadcrumbs(visitor: Visitor) -> None:
    visitor.search("what limits a revolute joint")
    group = visitor.page.get_by_role("group", name=re.compile("Joints"))
    expect(group).to_have_count(1)
    passage = group.get_by_role("option").first
    expect(passage.locator(".name")).not_to_be_empty()
    expect(passage.locator(".snippet mark").first).to_be_visible()
    assert "`" not in str(passage.inner_text())


def test_theme_opens_results_with_the_keyboard_without_loading_a_page(visitor: Visitor) -> None:
    visitor.page.evaluate("window.isSamePage = true")
    visitor.search("revolute joint limits")
    expect(visitor.selected).to_have_count(1)
    first = visitor.selected.get_attribute("id")
    visitor.page.keyboard.press("ArrowDown")
    expect(visitor.selected).to_have_count(1)
    assert visitor.selected.get_attribute("id") != first
    expect(visitor.box).to_have_attribute("aria-activedescendant", str(visitor.selected.get_attribute("id")))
    visitor.page.keyboard.press("ArrowUp")
    link = visitor.selected.get_attribute("href")
    visitor.page.keyboard.press("Enter")
    expect(visitor.dialog).to_be_hidden()
    expect(visitor.page).to_have_url(f"{HANDBOOK}{link}")
    assert visitor.page.evaluate("window.isSamePage") is True


def test_theme_keeps_the_focus_in_the_dialog(visitor: Visitor) -> None:
    visitor.search("joint")
    labels = set()
    for key in ["Tab"] * 4 + ["Shift+Tab"] * 4:
        visitor.page.keyboard.press(key)
        expect(visitor.page.locator("[data-pertinent=modal]")).to_be_focused()
        labels.add(
            visitor.page.evaluate(
                "document.activeElement.shadowRoot.activeElement.ariaLabel ?? "
                "document.activeElement.shadowRoot.activeElement.textContent"
            )
        )
    assert labels == {"Search the handbook", "Clear the search", "Close"}


def test_theme_offers_recent_searches(visitor: Visitor) -> None:
    visitor.search("revolute joint limits")
    visitor.page.keyboard.press("Enter")
    expect(visitor.dialog).to_be_hidden()
    visitor.page.keyboard.press("Control+k")
    visitor.page.get_by_role("button", name="Clear the search").click()
    recent = visitor.page.get_by_role("group", name="Recent searches").get_by_role("option")
    expect(recent).to_have_text(["revolute joint limits"])
    visitor.page.keyboard.press("Enter")
    expect(visitor.box).to_have_value("revolute joint limits")
    visitor.page.get_by_role("button", name="Clear the search").click()
    visitor.page.get_by_role("button", name="Clear recent searches").click()
    expect(visitor.options).to_have_count(0)


def test_theme_search_page_shows_all_results_of_the_address(visit_site: Visit) -> None:
    visitor = visit_site(f"{HANDBOOK}/search?q=revolute%20joint")
    box = visitor.page.get_by_role("textbox", name="Search the handbook")
    expect(box).to_have_value("revolute joint")
    expect(visitor.page.get_by_role("heading", name=re.compile("Joints")).first).to_be_visible()
    box.fill("humanoid balance")
    expect(visitor.page).to_have_url(re.compile(r"/search/?\?q=humanoid\+balance$"))
    expect(visitor.page.locator(".snippet mark").first).to_be_visible()
    visitor.check_accessibility("main")
    visitor.page.locator(".row").first.click()
    expect(visitor.page).to_have_url(re.compile(f"{HANDBOOK}/docs/"))


@pytest.mark.parametrize("delay", [0, 20])
def test_theme_search_page_keeps_each_typed_letter(visit_site: Visit, delay: int) -> None:
    visitor = visit_site(f"{HANDBOOK}/search")
    visitor.page.context.new_cdp_session(visitor.page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
    box = visitor.page.get_by_role("textbox", name="Search the handbook")
    query = "how does one keep a walking humanoid robot from falling over"
    box.press_sequentially(query, delay=delay)
    expect(visitor.page).to_have_url(re.compile(r"falling\+over$"))
    expect(visitor.page.locator(".snippet mark").first).to_be_visible()
    expect(box).to_have_value(query)
    visitor.page.get_by_role("button", name="Search", exact=True).click()
    visitor.search("revolute joint")
    visitor.page.keyboard.press("ArrowUp")
    visitor.page.keyboard.press("Enter")
    expect(box).to_have_value("revolute joint")


def test_theme_modal_leads_to_the_search_page(visitor: Visitor) -> None:
    visitor.search("revolute joint")
    visitor.page.keyboard.press("ArrowUp")
    expect(visitor.selected).to_have_text("See all results for “revolute joint”")
    visitor.page.keyboard.press("Enter")
    expect(visitor.page).to_have_url(f"{HANDBOOK}/search/?q=revolute+joint")
    expect(visitor.dialog).to_be_hidden()


def test_theme_search_page_searches_the_version_of_the_modal(visit_site: Visit) -> None:
    visitor = visit_site(f"{HANDBOOK}/docs/1.0/joints")
    visitor.search("joint")
    visitor.page.keyboard.press("ArrowUp")
    visitor.page.keyboard.press("Enter")
    rows = visitor.page.locator("main .row")
    box = visitor.page.get_by_role("textbox", name="Search the handbook")
    # The draft is a page of another site.
    addresses = ("/docs/1.0/", PREVIEW)
    for query in ("joint", "revolute"):
        box.fill(query)
        expect(visitor.page).to_have_url(f"{HANDBOOK}/search/?q={query}&version=docs-default-1.0")
        visitor.page.reload()
        expect(visitor.page.locator("main .snippet").first).to_be_visible()
        links = [row.get_attribute("href") or "" for row in rows.all()]
        assert {link.startswith(addresses) for link in links} == {True}
    # The search in the navbar of this page is for the same version.
    visitor.page.get_by_role("button", name="Search", exact=True).click()
    visitor.search("joint")
    links = [option.get_attribute("href") or "" for option in visitor.options.all()]
    assert links.pop() == "/search/?q=joint&version=docs-default-1.0"
    assert {link.startswith(addresses) for link in links} == {True}


@pytest.mark.parametrize("host", [HANDBOOK, PREVIEW])
@pytest.mark.parametrize("docs", ["/docs/", "/docs/1.0/", "/de/docs/", "/de/docs/1.0/"])
def test_theme_contextual_search_stays_in_version_and_locale(visit_site: Visit, host: str, docs: str) -> None:
    visitor = visit_site(f"{host}{docs}{'joints' if '1.0' in docs else ''}")
    visitor.page.keyboard.press("/")
    visitor.box.fill("joint")
    expect(visitor.page.locator(".snippet").first).to_be_visible()
    links = [option.get_attribute("href") or "" for option in visitor.options.all()]
    # The draft is a page of another site, except on the preview.
    pages = [link for link in links if "/search/" not in link and not link.startswith(PREVIEW)]
    matches = [re.match(r"(?:/de)?/docs/(?:1\.0/)?", link) for link in pages]
    assert {match and match[0] for match in matches} == {docs}


def test_theme_knows_pages_that_were_indexed_on_a_preview(visit_site: Visit) -> None:
    visitor = visit_site(f"{PREVIEW}/de/docs/")
    visitor.page.evaluate("window.isSamePage = true")
    visitor.page.keyboard.press("/")
    visitor.box.fill("Drehmomente eines Entwurfs")
    expect(visitor.selected).to_have_attribute("href", "/de/docs/simulation/worlds/")
    visitor.page.keyboard.press("Enter")
    expect(visitor.page).to_have_url(f"{PREVIEW}/de/docs/simulation/worlds/")
    assert visitor.page.evaluate("window.isSamePage") is True


def test_theme_loads_pages_that_are_not_in_its_build(visitor: Visitor) -> None:
    """The router of the build knows neither other sites of the host nor other locales."""
    address = f"{HANDBOOK}/other/walruses"
    suggestion = {"title": "Walruses", "section": "", "url": address, "is_page": True}
    answer = {"suggestions": [suggestion]}
    headers = {"access-control-allow-origin": "*"}
    visitor.page.route("**/api/v1/suggest?*", lambda route: route.fulfill(json=answer, headers=headers))
    visitor.page.route(address, lambda route: route.fulfill(content_type="text/html", body="<h1>Walruses"))
    visitor.search("walruses")
    expect(visitor.selected).to_have_attribute("href", "/other/walruses")
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.get_by_role("heading")).to_have_text("Walruses")


def test_theme_links_have_the_trailing_slash_of_the_site(visitor: Visitor) -> None:
    visitor.search("revolute joint limits")
    links = [option.get_attribute("href") or "" for option in visitor.options.all()]
    assert [link for link in links if not re.search(r"/(?:[#?]|$)", link)] == []


def test_theme_texts_are_those_of_the_locale(visit_site: Visit) -> None:
    visitor = visit_site(f"{HANDBOOK}/de/docs/")
    visitor.page.get_by_role("button", name="Suche").click()
    expect(visitor.page.get_by_role("dialog", name="Suche")).to_be_visible()
    expect(visitor.box).to_have_attribute("placeholder", "Im Handbuch suchen")
    # What is not translated is as in the configuration.
    expect(visitor.page.locator(".keys")).to_contain_text("to leave")


@pytest.mark.parametrize("width", [1100, 390], ids=["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_theme_has_no_accessibility_violation(visit_site: Visit, theme: str, width: int) -> None:
    address = f"{HANDBOOK}/docs/?docusaurus-theme={theme}"
    visitor = visit_site(address, viewport={"width": width, "height": 800})
    expect(visitor.page.locator("[data-pertinent=modal]")).to_have_attribute("data-theme", theme)
    visitor.check_accessibility("nav.navbar button[aria-keyshortcuts]")
    visitor.search("revolute joint limits")
    visitor.check_accessibility("[data-pertinent=modal]")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
    visitor.box.fill("")
    visitor.check_accessibility("[data-pertinent=modal]")


def test_theme_follows_the_colors_of_the_site(visitor: Visitor) -> None:
    panel = visitor.dialog.locator(".panel")

    def read_background() -> str:
        return str(panel.evaluate("(panel) => getComputedStyle(panel).backgroundColor"))

    visitor.page.evaluate("document.documentElement.dataset.theme = 'light'")
    visitor.page.keyboard.press("Control+k")
    light = read_background()
    visitor.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert light == "rgb(255, 255, 255)"
    assert read_background() != light


def test_theme_says_that_the_reader_is_offline_and_recovers(visitor: Visitor) -> None:
    visitor.expected_errors += ["ERR_INTERNET_DISCONNECTED", "can't be reached from this page"]
    visitor.page.keyboard.press("Control+k")
    visitor.page.context.set_offline(True)
    visitor.box.fill("revolute joint")
    expect(visitor.page.get_by_role("alert")).to_contain_text("You are offline.")
    visitor.check_accessibility("[data-pertinent=modal]")
    visitor.page.context.set_offline(False)
    expect(visitor.dialog.locator(".snippet").first).to_be_visible()
    expect(visitor.page.get_by_role("alert")).to_have_count(0)


def test_theme_shows_markup_of_pages_as_text(visitor: Visitor) -> None:
    visitor.search("hostile payload")
    expect(visitor.dialog).to_contain_text("<script>window.harmed = 2</script>")


def test_theme_components_can_be_swizzled(themed_handbook: Path) -> None:
    site = themed_handbook.parent.with_name("swizzled_handbook")
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(themed_handbook.parent, site, ignore=shutil.ignore_patterns("build-*", ".docusaurus"))
    docusaurus = str(site.parent / "node_modules" / ".bin" / "docusaurus")
    for component in ("SearchBar", "SearchPage"):
        options = [component, "--eject", "--typescript"]
        command = [docusaurus, "swizzle", "docusaurus-theme-pertinent", *options]
        run = subprocess.run(command, cwd=site, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
        source = (site / "src" / "theme" / component / "index.tsx").read_text(encoding="utf-8")
        # A copy finds the rest of the theme by its name.
        assert not re.search(r'from "\.\.', source)
        assert 'from "docusaurus-theme-pertinent/client"' in source


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ("undefined", '"themeConfig.pertinent" is required'),
        ("{}", '"themeConfig.pertinent.url" is required'),
        ("{url: 'search.example'}", '"pertinent.url" must be a valid uri'),
        ("{url: 'https://x.example', apiKey: 'short'}", '"pertinent.apiKey" length must be at least 8'),
        ("{url: 'https://x.example', contextual: 'perhaps'}", '"pertinent.contextual" must be a boolean'),
        (
            "{url: 'https://x.example', translations: {hello: 'x'}}",
            '"pertinent.translations.hello" is not allowed',
        ),
        ("{url: 'https://x.example', speed: 1}", '"pertinent.speed" is not allowed'),
    ],
)
def test_theme_configuration_is_validated(tools: Path, configuration: str, message: str) -> None:
    validate = (
        "const {validateThemeConfig} = require(process.argv[1]);"
        "const validate = (schema, value) => {"
        "  const {error, value: checked} = schema.validate(value); if (error) throw error; return checked; };"
        f"validateThemeConfig({{validate, themeConfig: {{pertinent: {configuration}}}}});"
    )
    run = subprocess.run(
        ["node", "-e", validate, str(pack_theme())], capture_output=True, text=True, check=False
    )
    assert run.returncode != 0
    assert message in run.stderr
