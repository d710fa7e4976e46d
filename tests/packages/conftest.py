"""Sites with the theme and the widget, the service on a host of its own, and real Chromium."""

from __future__ import annotations

import copy
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

from pertinent import Pertinent
from pertinent.settings import Settings
from pertinent.workspace.workspace import Workspace

from ..conftest import FAST
from ..servers.chromium import launch_chromium
from ..servers.service import running_service
from ..sources.docusaurus_build import BOOK, build_or_skip
from ..web.conftest import RECORD_VIOLATIONS
from .npm_build import OVERLAY, build_themed_handbook, install_tools

PUBLIC_KEY = "a-public-key"
HANDBOOK = "http://handbook.example"
PREVIEW = "http://preview.example"
"""The same site on another host, where one page was indexed."""
PREVIEW_PAGE = "# Entwurf\n\nDie Drehmomente eines Entwurfs.\n"
OTHER_SITE = "http://other.example"
POLICY = (
    "default-src 'none'; script-src http://search.example; "
    "connect-src http://search.example http://limited.example http://down.example"
)
"""The policy of the other site: no inline script, no inline style, no eval."""

HOSTILE = """# Hostile <img src=x onerror="window.harmed = 1">

The payload `<script>window.harmed = 2</script>` and \\<img src=x onerror=window.harmed=3> stand in the prose.
"""


@pytest.fixture(scope="session")
def tools() -> Path:
    """The folder with axe-core, DocSearch and the tools that build the packages."""
    return build_or_skip(install_tools)


@pytest.fixture(scope="session")
def themed_handbook() -> Path:
    """The folder of the handbook, built with the theme."""
    return build_or_skip(build_themed_handbook)


@pytest.fixture(scope="package")
def search_workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The index of the handbook, its old version, its German pages and a hostile page."""
    folder = tmp_path_factory.mktemp("packages")
    pages = {"hostile/hostile.md": HOSTILE, "draft/worlds.md": PREVIEW_PAGE}
    for name, text in pages.items():
        (folder / name).parent.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
    settings = Settings(
        folder=folder / "data",
        embedder=FAST,
        api_keys=("a-private-key",),  # type: ignore[arg-type] # the settings convert it
        public_keys=(PUBLIC_KEY,),  # type: ignore[arg-type]
        public_rate_limit=0,
        cors_origins=(HANDBOOK, PREVIEW, OTHER_SITE),
    )
    workspace = Workspace(settings)
    with Pertinent(workspace) as pertinent:
        pertinent.index(BOOK, base_url=f"{HANDBOOK}/docs", name="handbook")
        german = OVERLAY / "i18n" / "de" / "docusaurus-plugin-content-docs"
        for source, base_url in (
            (OVERLAY / "versioned_docs" / "version-1.0", f"{HANDBOOK}/docs/1.0"),
            (german / "current", f"{HANDBOOK}/de/docs"),
            (german / "version-1.0", f"{HANDBOOK}/de/docs/1.0"),
            (folder / "hostile", f"{HANDBOOK}/docs"),
            (folder / "draft", f"{PREVIEW}/de/docs/simulation"),
        ):
            pertinent.index(source, base_url=base_url, name=f"{source.name} at {base_url}")
        yield workspace


@pytest.fixture(scope="package")
def search_service(search_workspace: Workspace) -> Iterator[str]:
    """The address of the service."""
    with running_service(copy.copy(search_workspace)) as address:
        yield address


class SiteHandler(SimpleHTTPRequestHandler):
    """Serves a folder for each host name."""

    def __init__(self, folders: dict[str, Path], *arguments: Any) -> None:
        self._folders = folders
        super().__init__(*arguments)

    def translate_path(self, path: str) -> str:
        self.directory = str(self._folders[self.headers["host"]])
        return super().translate_path(path)

    def end_headers(self) -> None:
        # A connection that is closed before its request has no headers.
        if hasattr(self, "headers") and self.headers["host"] == "other.example":
            self.send_header("content-security-policy", POLICY)
        super().end_headers()

    def log_message(self, *arguments: Any) -> None:
        """Keep the output of the tests short."""


@contextmanager
def serve_sites(folders: dict[str, Path]) -> Iterator[int]:
    """Serve a folder for each host name; give the port."""
    handler = functools.partial(SiteHandler, folders)
    with ThreadingHTTPServer(("127.0.0.1", 0), cast("Any", handler)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@dataclass
class Visitor:
    """A page of the browser with the search on it."""

    page: Page
    axe: Path
    problems: list[str] = field(default_factory=list)
    expected_errors: list[str] = field(default_factory=lambda: ["/favicon.ico"])
    """Parts of the browser's messages about errors that a test provokes; neither site has an icon."""

    def open(self, url: str) -> None:
        """Open a page, and wait until its search listens to keys."""
        self.page.goto(url)
        self.page.locator("[data-pertinent=modal]").wait_for(state="attached")

    def record_problems(self) -> None:
        """Record errors of the console and the page."""
        self.page.on("pageerror", lambda error: self.problems.append(f"{error}"))
        self.page.on("console", self._record_entry)

    def _record_entry(self, entry: ConsoleMessage) -> None:
        if entry.type == "error":
            self.problems.append(f"{entry.text} ({entry.location['url']})")

    @property
    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog", name="Search")

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("combobox")

    @property
    def options(self) -> Locator:
        return self.page.get_by_role("option")

    @property
    def selected(self) -> Locator:
        return self.page.get_by_role("option", selected=True)

    def search(self, query: str) -> None:
        """Open the modal with a key, and type a query that has passages."""
        if not self.dialog.is_visible():
            self.page.keyboard.press("Control+k")
        self.box.fill(query)
        expect(self.dialog.locator(".snippet").first).to_be_visible()

    def check_accessibility(self, selector: str) -> None:
        """Axe-core must find no violation in the element."""
        # Through the debugger, so that the page's content security policy does not matter.
        self.page.evaluate(self.axe.read_text(encoding="utf-8"))
        result = self.page.evaluate("(selector) => axe.run(selector)", selector)
        assert result["passes"]
        violations = {rule["id"]: [node["html"] for node in rule["nodes"]] for rule in result["violations"]}
        assert violations == {}

    def unexpected_problems(self) -> list[str]:
        expected = self.expected_errors
        return [problem for problem in self.problems if not any(part in problem for part in expected)]


Visit = Callable[..., Visitor]


@contextmanager
def open_visitors(browser: Browser, tools: Path) -> Iterator[Visit]:
    """Give a function that opens a new browser context; at the end, no page may have had a problem."""
    visitors: list[Visitor] = []
    with ExitStack() as contexts:

        def open_visitor(url: str, **options: Any) -> Visitor:
            context = browser.new_context(**{"viewport": {"width": 1100, "height": 800}, **options})
            contexts.callback(context.close)
            context.set_default_timeout(10_000)
            context.add_init_script(RECORD_VIOLATIONS)
            visitor = Visitor(context.new_page(), tools / "node_modules" / "axe-core" / "axe.min.js")
            visitors.append(visitor)
            visitor.record_problems()
            visitor.open(url)
            return visitor

        yield open_visitor
        violations = [visitor.page.evaluate("window.violations ?? []") for visitor in visitors]
        harms = [visitor.page.evaluate("window.harmed ?? 0") for visitor in visitors]
    assert [visitor.unexpected_problems() for visitor in visitors] == [[] for _ in visitors]
    assert violations == [[] for _ in visitors]
    assert harms == [0 for _ in visitors]


@pytest.fixture
def visit_site(site_browser: Browser, tools: Path) -> Iterator[Visit]:
    """Open a page of the site, which each module serves with its own `site_browser`."""
    with open_visitors(site_browser, tools) as open_visitor:
        yield open_visitor


def launch_browser(addresses: dict[str, int]) -> AbstractContextManager[Browser]:
    """Launch Chromium, for which each host name is a port of this machine."""
    rules = ", ".join(f"MAP {name} 127.0.0.1:{port}" for name, port in addresses.items())
    return launch_chromium(f"--host-resolver-rules={rules}")


def draw_script(attributes: str = "") -> str:
    """Return the line that adds the widget to a page."""
    source = 'src="http://search.example/widget.js"'
    return f'<script {source} data-key="{PUBLIC_KEY}" {attributes} defer></script>'


@contextmanager
def serve_pages(folder: Path, pages: dict[str, str], service: str) -> Iterator[Browser]:
    """Serve pages of the other site from the folder, and give a browser that knows the service, too."""
    for name, page in pages.items():
        text = f'<!doctype html><html lang="en"><title>{name}</title>{page}'
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    with (
        serve_sites({"other.example": folder}) as port,
        launch_browser({"other.example": port, "search.example": read_port(service)}) as browser,
    ):
        yield browser


def read_port(address: str) -> int:
    """Return the port of an address."""
    port = urlsplit(address).port
    assert port is not None
    return port
