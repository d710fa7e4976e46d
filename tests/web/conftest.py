"""The real service over a small book, and real Chromium, in which no page may report an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    Request,
    Route,
    expect,
)

from pertinent import Pertinent
from pertinent.settings import Settings
from pertinent.workspace.workspace import Workspace

from ..conftest import FAST
from ..servers.chromium import launch_chromium
from ..servers.service import running_service
from .book import PAGES, SITE

RECORD_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


@dataclass
class Reader:
    """A page of the browser, and the errors on it."""

    page: Page
    home: str
    problems: list[str] = field(default_factory=list)
    expected_errors: list[str] = field(default_factory=list)
    """Parts of the browser's messages about errors that a test provokes."""

    def open(self, path: str = "/") -> None:
        self.page.goto(self.home + path)
        expect(self.page.locator("#hits > *").first).to_be_attached()

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("combobox", name="Search for a passage")

    @property
    def hits(self) -> Locator:
        return self.page.get_by_role("article")

    @property
    def status(self) -> Locator:
        return self.page.locator("#status")

    def js(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def change_answers(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Change the answer to each search before the page gets it."""

        def answer(route: Route) -> None:
            response = route.fetch()
            body: dict[str, Any] = response.json()
            change(body)
            route.fulfill(response=response, json=body)

        self.page.route("**/api/v1/search", answer)

    def record_problems(self) -> None:
        """Record errors of the console and the page, dialogs, and requests to other origins."""
        self.page.on(
            "console",
            lambda entry: self.problems.append(entry.text) if entry.type in ("error", "warning") else None,
        )
        self.page.on("pageerror", lambda error: self.problems.append(f"{error}"))
        self.page.on("request", self._check_origin)
        self.page.on("dialog", lambda dialog: self.problems.append(f"a dialog: {dialog.message}"))

    def _check_origin(self, request: Request) -> None:
        is_cross_origin = not request.url.startswith((self.home, "data:"))
        if is_cross_origin and not request.is_navigation_request():
            self.problems.append(f"a request to {request.url}")

    def unexpected_problems(self) -> list[str]:
        expected = self.expected_errors
        return [problem for problem in self.problems if not any(part in problem for part in expected)]


Visit = Callable[..., Reader]


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the service over the book."""
    with (
        open_book(tmp_path_factory.mktemp("web")) as pertinent,
        running_service(pertinent.workspace) as address,
    ):
        yield address


@contextmanager
def open_book(folder: Path, **settings: Any) -> Iterator[Pertinent]:
    """Write the book into the folder, and index it."""
    for name, text in PAGES.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    chosen = Settings(folder=folder / "data", embedder=FAST, chunk_tokens=60, **settings)
    with Pertinent(Workspace(chosen)) as pertinent:
        pertinent.index(folder / "docs", base_url=SITE, name="robots")
        yield pertinent


# For the package and not the session: while it runs, Playwright's own loop is this thread's event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with launch_chromium() as launched:
        yield launched


@contextmanager
def open_readers(service: str, browser: Browser) -> Iterator[Visit]:
    """Give a function that opens a new browser context; at the end, no page may have had a problem."""
    readers: list[Reader] = []
    contexts: list[BrowserContext] = []

    def open_reader(**options: Any) -> Reader:
        context = browser.new_context(**{"viewport": {"width": 1100, "height": 800}, **options})
        context.set_default_timeout(10_000)
        context.add_init_script(RECORD_VIOLATIONS)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=service)
        context.route(f"{SITE}/**", _serve_site)
        contexts.append(context)
        reader = Reader(context.new_page(), service)
        reader.record_problems()
        readers.append(reader)
        return reader

    yield open_reader
    violations = [reader.js("window.violations ?? []") for reader in readers if not reader.page.is_closed()]
    for context in contexts:
        context.close()
    assert [reader.unexpected_problems() for reader in readers] == [[] for _ in readers]
    assert violations == [[] for _ in violations]


@pytest.fixture
def visit(service: str, browser: Browser) -> Iterator[Visit]:
    """Open a new browser context on the service."""
    with open_readers(service, browser) as open_reader:
        yield open_reader


@pytest.fixture(scope="module")
def bench(service: str, browser: Browser) -> Iterator[Reader]:
    """A page on which single JavaScript modules are called."""
    with open_readers(service, browser) as open_reader:
        reader = open_reader()
        reader.open()
        yield reader


def _serve_site(route: Route) -> None:
    """Stand in for the published site that the hits link to."""
    route.fulfill(content_type="text/html", body=f"<title>{urlsplit(route.request.url).path}</title>")


@pytest.fixture
def reader(visit: Visit) -> Reader:
    """The search page in a desktop browser, before any search."""
    reader = visit()
    reader.open()
    return reader
