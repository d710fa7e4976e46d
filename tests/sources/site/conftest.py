from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pertinent.sources.site import Choice, Limits, SiteSource
from pertinent.types import Offer, Page, Unreadable

from .server import LocalSite, served

QUICK = Limits(page_seconds=2, quiet_seconds=0.6, crawl_seconds=30, attempts=2, first_wait=0.02)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """What these tests ask is on this machine."""
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def site() -> Iterator[LocalSite]:
    with served() as up:
        yield up


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "crawl.sqlite3"


def crawl(
    site: LocalSite,
    path: str = "/",
    *,
    base_url: str | None = None,
    memory: Path | None = None,
    limits: Limits = QUICK,
    **choice: tuple[str, ...],
) -> tuple[dict[str, Page], list[Unreadable]]:
    """The pages of a crawl by the path of their url, and what could not be had."""
    source = SiteSource(
        site.address + path, base_url=base_url, memory=memory, limits=limits, choice=Choice(**choice)
    )
    pages, unreadable = {}, []
    for one in source.read():
        if isinstance(one, Offer):
            page = one.page()
            assert page.source_path not in pages
            pages[page.source_path] = page
        elif isinstance(one, Unreadable):
            unreadable.append(one)
    return pages, unreadable
