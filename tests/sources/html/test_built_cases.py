"""Every case of headings, admonitions, tabs and front matter reads as the real Docusaurus builds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pertinent.sources import open_source
from pertinent.sources.front_matter import clean_front_matter
from pertinent.sources.html import parse_html
from pertinent.sources.normal_form import assemble
from pertinent.types import Page

from ..docusaurus_build import CASES

NAMES = sorted(file.stem for file in (CASES / "docs").iterdir())

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", NAMES)
def test_built_page_has_the_text_and_the_sections_of_its_source(name: str, built_cases: Path) -> None:
    pages = [page for page in open_source(str(CASES)).read() if isinstance(page, Page)]
    (page,) = (page for page in pages if page.url.endswith(f"/docs/{name}"))
    article = parse_html((built_cases / "docs" / name / "index.html").read_bytes(), page.url)
    text, sections = assemble(article.pieces, article.title)
    assert article.title == page.title
    assert clean_front_matter(article.front_matter, article.title, text) == page.front_matter
    assert text == page.text
    assert sections == page.sections
    assert {section.anchor for section in sections} - {""} <= article.anchors
