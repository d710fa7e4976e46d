from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pertinent.sources.markdown import MarkdownSource
from pertinent.types import Page, Unreadable

Make = Callable[[dict[str, str | bytes]], Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes files below a fresh folder called `book` and gives the folder."""
    root = tmp_path / "book"

    def write(files: dict[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return write


def read(path: Path, base_url: str | None = None) -> dict[str, Page | Unreadable]:
    """What a Markdown source gives for a path, by source path."""
    return {item.source_path: item for item in MarkdownSource(path, base_url=base_url).read()}


def pages(path: Path, base_url: str | None = None) -> dict[str, Page]:
    """The same where all of it must be readable."""
    found = {}
    for source_path, item in read(path, base_url).items():
        assert isinstance(item, Page), item
        found[source_path] = item
    return found
