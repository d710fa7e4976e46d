"""The example handbook: what it holds, and that it is read as Docusaurus would build it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pertinent.sources import open_source
from pertinent.types import Page

BOOK = Path(__file__).parent.parent / "examples" / "handbook"


@pytest.fixture(scope="module")
def pages() -> list[Page]:
    results = list(open_source(str(BOOK)).read())
    assert all(isinstance(result, Page) for result in results)
    return [result for result in results if isinstance(result, Page)]


def test_handbook_has_at_least_14_pages_in_4_modules(pages: list[Page]) -> None:
    assert len(pages) >= 14
    assert len({page.source_path.split("/")[1] for page in pages if page.source_path.count("/") == 2}) == 4


def test_each_page_has_700_words_or_more(pages: list[Page]) -> None:
    for page in pages:
        prose = [
            page.text[block.start : block.end]
            for section in page.sections
            for block in section.blocks
            if block.kind in ("prose", "item")
        ]
        assert len(" ".join(prose).split()) >= 700, page.source_path


def test_handbook_uses_the_features_of_docusaurus() -> None:
    files = {path: path.read_text(encoding="utf-8") for path in BOOK.rglob("*.md*")}
    text = "\n".join(files.values())
    for pattern in (
        r"^#+ .*\{#[\w-]+\}",
        r"^#+ .*\{/\* #[\w-]+ \*/\}",
        r"^```\w+ title=",
        r"^\|.*\|$",
        r"^:::\w+",
        r"<TabItem",
        r"^import .* from",
        r"^(id|slug|title|sidebar_position): ",
    ):
        assert re.search(pattern, text, re.M), pattern
    assert any(path.name.startswith("_") for path in files)
    assert any(path.suffix == ".mdx" and not path.name.startswith("_") for path in files)
    assert list(BOOK.rglob("_category_.*"))


@pytest.mark.parametrize(
    ("url", "anchor"),
    [
        ("https://handbook.example/docs", ""),
        ("https://handbook.example/docs/ros2/services", "pitfalls-1"),
        ("https://handbook.example/docs/ros2/long-running-actions", ""),
        ("https://handbook.example/docs/intelligence/humanoid-control", "poincaré-maps-and-gait-stability"),
        ("https://handbook.example/docs/launch", ""),
    ],
)
def test_addresses_are_those_of_the_built_site(pages: list[Page], url: str, anchor: str) -> None:
    """As `docusaurus build` (3.10.2) makes them."""
    (page,) = (page for page in pages if page.url == url)
    if anchor:
        assert anchor in {section.anchor for section in page.sections}


def test_text_has_no_mdx(pages: list[Page]) -> None:
    for page in pages:
        prose = re.sub(r"^```.*?^```$", "", page.text, flags=re.S | re.M)
        for trace in ("import ", "<Tab", ":::", "{#", "{/*", "</"):
            assert not re.search(rf"^{re.escape(trace)}", prose, re.M), (page.source_path, trace)
