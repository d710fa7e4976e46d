"""The real service over a small book, and a reader: a real Chromium that must not meet an error."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)

from pertinent import Pertinent
from pertinent.settings import Settings
from pertinent.surfaces.http import create_app
from pertinent.workspace.workspace import Workspace

from ..conftest import FAST
from .book import PAGES, SITE

CHROMIUM = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

ORIGIN = "http://127.0.0.1"

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


@dataclass
class Reader:
    """A page of the browser, and what went wrong on it."""

    page: Page
    home: str
    problems: list[str] = field(default_factory=list)
    forgiven: list[str] = field(default_factory=list)
    """What a test means to go wrong, as parts of the browser's words."""

    def open(self, path: str = "/") -> None:
        self.page.goto(self.home + path)
        expect(self.page.locator("#found > *").first).to_be_attached()

    @property
    def box(self) -> Locator:
        return self.page.get_by_role("searchbox", name="Search for a passage")

    @property
    def hits(self) -> Locator:
        return self.page.get_by_role("article")

    @property
    def status(self) -> Locator:
        return self.page.locator("#status")

    def js(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def look_out(self) -> None:
        """Collect everything that a console, a policy or the network has to complain about."""
        self.page.on(
            "console", lambda said: self.problems.append(said.text) if said.type in _BAD_NEWS else None
        )
        self.page.on("pageerror", lambda error: self.problems.append(f"{error}"))
        self.page.on("request", self._check_origin)
        self.page.on("dialog", lambda dialog: self.problems.append(f"a dialog: {dialog.message}"))

    def _check_origin(self, request: Request) -> None:
        foreign = not request.url.startswith((self.home, "data:"))
        if foreign and not request.is_navigation_request():
            self.problems.append(f"a request to {request.url}")

    def unforgiven(self) -> list[str]:
        return [one for one in self.problems if not any(part in one for part in self.forgiven)]


_BAD_NEWS = ("error", "warning")

Visit = Callable[..., Reader]


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the service over the book."""
    place = tmp_path_factory.mktemp("web")
    for name, text in PAGES.items():
        path = place / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    settings = Settings(folder=place / "data", embedder=FAST, chunk_tokens=60)
    with Pertinent(Workspace(settings)) as pertinent:
        pertinent.index(place / "docs", base_url=SITE, name="robots")
        yield from _served(pertinent)


def _served(pertinent: Pertinent) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(create_app(pertinent), port=0, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 20
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    assert server.started, "the service did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"{ORIGIN}:{port}"
    server.should_exit = True
    thread.join(20)


# For the package and not the session: while it runs, Playwright's own loop is this thread's event loop.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("PERTINENT_TEST_STRICT") == "1":
            pytest.fail("there is no chromium; apt-get install chromium")
        pytest.skip("there is no chromium; apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        yield opened
        opened.close()


@contextmanager
def _visits(service: str, browser: Browser) -> Iterator[Visit]:
    readers: list[Reader] = []
    contexts: list[BrowserContext] = []

    def visited(**options: Any) -> Reader:
        given = {"viewport": {"width": 1100, "height": 800}, **options}
        context = browser.new_context(**given)
        context.set_default_timeout(10_000)
        context.add_init_script(WATCH)
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=service)
        context.route(f"{SITE}/**", _site)
        contexts.append(context)
        reader = Reader(context.new_page(), service)
        reader.look_out()
        readers.append(reader)
        return reader

    yield visited
    violations = [one.js("window.violations ?? []") for one in readers if not one.page.is_closed()]
    for context in contexts:
        context.close()
    assert [one.unforgiven() for one in readers] == [[] for _ in readers]
    assert violations == [[] for _ in violations]


@pytest.fixture
def visit(service: str, browser: Browser) -> Iterator[Visit]:
    """Open a page as some reader would; when the test is over, nothing may have gone wrong on it."""
    with _visits(service, browser) as visited:
        yield visited


@pytest.fixture(scope="module")
def bench(service: str, browser: Browser) -> Iterator[Reader]:
    """A page whose modules are tried one by one; nothing else happens on it."""
    with _visits(service, browser) as visited:
        opened = visited()
        opened.open()
        yield opened


def _site(route: Route) -> None:
    """The book's own site, as far as a reader who follows a link sees it."""
    route.fulfill(content_type="text/html", body=f"<title>{urlsplit(route.request.url).path}</title>")


@pytest.fixture
def reader(visit: Visit) -> Reader:
    """A reader at a desk, before any search."""
    opened = visit()
    opened.open()
    return opened
