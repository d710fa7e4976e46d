"""The handbook, built by the real Docusaurus, reads as its source does."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from pertinent.indexing.chunking import chunk_page
from pertinent.sources import open_source
from pertinent.sources.front_matter import clean_front_matter
from pertinent.sources.html import Article, parse_html
from pertinent.sources.normal_form import assemble
from pertinent.types import Chunk, Page

from ..docusaurus_build import BOOK

SITE = "https://handbook.example"
MADE_BY_CODE = {"docs/04-intelligence/03-navigation.mdx"}
"""Pages on which a component of their own writes text: what it writes is on the built page alone."""

pytestmark = pytest.mark.slow


class Pair(NamedTuple):
    """One page, from its source and from the built site."""

    source: Page
    built: Page
    article: Article


@pytest.fixture(scope="module")
def pairs(built_handbook: Path) -> list[Pair]:
    pages = []
    for page in open_source(str(BOOK)).read():
        assert isinstance(page, Page)
        file = built_handbook / page.url.removeprefix(SITE).strip("/") / "index.html"
        assert file.exists(), f"{page.source_path} should be at {page.url}"
        article = parse_html(file.read_bytes(), page.url)
        text, sections = assemble(article.pieces, article.title)
        front_matter = clean_front_matter(article.front_matter, article.title, text)
        built = replace(page, title=article.title, text=text, sections=sections, front_matter=front_matter)
        pages.append(Pair(page, built, article))
    return pages


def test_built_pages_have_the_titles_of_the_source(pairs: list[Pair]) -> None:
    assert len(pairs) >= 14
    for source, built, article in pairs:
        assert article.has_article
        assert not article.noindex
        assert built.title == source.title
        assert article.canonical is not None
        assert article.canonical.rstrip("/") == source.url
        assert article.docusaurus_tag == "docs-default-current"


def test_built_pages_have_the_anchors_of_the_source(pairs: list[Pair]) -> None:
    for source, built, article in pairs:
        anchors = [section.anchor for section in source.sections]
        assert [section.anchor for section in built.sections] == anchors
        assert {*anchors} - {""} <= article.anchors


def test_built_pages_have_the_headings_of_the_source(pairs: list[Pair]) -> None:
    for source, built, _ in pairs:
        assert [section.path for section in built.sections] == [section.path for section in source.sections]


def test_built_pages_have_the_text_of_the_source(pairs: list[Pair]) -> None:
    for source, built, _ in pairs:
        if source.source_path not in MADE_BY_CODE:
            assert built.text == source.text, source.source_path


def test_built_pages_have_the_front_matter_of_the_source(pairs: list[Pair]) -> None:
    assert sum(bool(source.front_matter.description) for source, _, _ in pairs) >= 3
    assert sum(bool(source.front_matter.sidebar_label) for source, _, _ in pairs) >= 2
    for source, built, _ in pairs:
        assert built.front_matter == source.front_matter, source.source_path


def test_built_pages_have_nearly_all_chunks_of_the_source(pairs: list[Pair]) -> None:
    same = total = 0
    for source, built, _ in pairs:
        chunks = [
            Counter((chunk.anchor, chunk.section, chunk.text) for chunk in chunks_of(page))
            for page in (source, built)
        ]
        same += (chunks[0] & chunks[1]).total()
        total += chunks[0].total()
    assert same / total > 0.99


def test_internal_links_of_built_pages_resolve(pairs: list[Pair], built_handbook: Path) -> None:
    links = {link for pair in pairs for link in pair.article.links if link.startswith(f"{SITE}/")}
    assert len(links) >= len(pairs)
    for link in links:
        assert (built_handbook / link.removeprefix(SITE).strip("/") / "index.html").exists(), link


def test_generated_index_has_no_article(built_handbook: Path) -> None:
    (file,) = built_handbook.glob("docs/category/*/index.html")
    assert not parse_html(file.read_bytes(), f"{SITE}/docs/category/x").has_article


def chunks_of(page: Page) -> list[Chunk]:
    return chunk_page(page, count, target=200, most=256)


def count(texts: Sequence[str]) -> list[int]:
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]
