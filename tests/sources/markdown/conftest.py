from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pertinent.sources.markdown import MarkdownSource
from pertinent.types import Page, Skipped, Unreadable

WriteBook = Callable[[dict[str, str | bytes]], Path]


@pytest.fixture
def write_book(tmp_path: Path) -> WriteBook:
    """Write files below a new folder called `book` and return the folder."""
    root = tmp_path / "book"

    def write(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return write


def read_source(path: Path, base_url: str | None = None) -> dict[str, Page | Unreadable]:
    """Read a Markdown source; return its pages by source path."""
    results = MarkdownSource(path, base_url=base_url).read()
    entries = [result for result in results if not isinstance(result, Skipped)]
    by_path = {entry.source_path: entry for entry in entries}
    assert len(by_path) == len(entries)
    return by_path


def read_skipped(path: Path) -> dict[str, int]:
    """Read a Markdown source; return how many files it skipped, by the reason."""
    return {
        result.reason: result.pages for result in MarkdownSource(path).read() if isinstance(result, Skipped)
    }


def read_pages(path: Path, base_url: str | None = None) -> dict[str, Page]:
    """Read a Markdown source in which every page is readable."""
    pages = {}
    for source_path, entry in read_source(path, base_url).items():
        assert isinstance(entry, Page), entry
        pages[source_path] = entry
    return pages
