"""A large file that is parsed part by part gives the pieces of a whole parse."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent.sources.markdown import MarkdownSource, large_files
from pertinent.sources.markdown.parser import DocumentParser
from pertinent.sources.markdown.symlinks import LinkBoundary
from pertinent.sources.normal_form import Piece
from pertinent.types import Page, Unreadable

_BLOCKS = (
    "# Title",
    "## The same heading",
    "### Deeper `code`",
    "A paragraph with a [link][far], an [inline](https://x.org) one and *emphasis*.",
    "[far]: https://far.example",
    "[far]: https://other.example",
    "- first\n- second\n\n  ## in a list\n\n- third",
    "1. one\n2. two",
    "3. three\n3. four\n\n   - nested\n3. five",
    " - item 1\n  - item 2\n   - item 3\n    - item 4\n     - not an item",
    "- a\n  - b\n - c\n   - d\nlazy\n* e\n-\n-",
    "```python\n# a comment\n\n# another, below a blank line\n[far]: https://code.example\n```",
    "~~~\n```\n\n# not a heading\n~~~",
    "````md\n```\n\n# not a heading\n```\n````",
    "    indented code\n\n    # still code",
    "> quoted\n>\n> # quoted heading",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "Setext\n======",
    "```` not a fence: it has `a` mark ````",
    "---",
    "- unclosed in a list\n\n  ```bash\n  a",
    "- closed at the margin\n\n  ```bash\n  a\n```",
    "1. code at the margin\n\n   ```bash\n# comment\n\n# another\n   ```",
    "- - ```bash\n\n# a\n\n    ```",
    "> ```bash\n> unclosed in a quote",
    "```bash\n\n# comment\n\n```",
    "[far]: https://far.example 'a title\non two lines'",
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(_BLOCKS), max_size=14), st.sampled_from(["\n", "\n\n", "\n\n\n"]))
@pytest.mark.parametrize("name", ["page.md", "page.mdx"])
def test_parts_give_the_pieces_of_the_whole(name: str, blocks: list[str], gap: str) -> None:
    content = gap.join(blocks)
    page = Path(name)
    whole = DocumentParser(Path(), LinkBoundary([])).parse(page, {}, content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_files, "LARGE_CHARACTERS", 0)
        patch.setattr(large_files, "PART_CHARACTERS", 1)
        assert DocumentParser(Path(), LinkBoundary([])).parse(page, {}, content) == whole


@pytest.mark.parametrize(
    "construct",
    [
        "<Tabs>",
        "  <div>",
        "{/* comment */}",
        ":::note",
        "import X from './x.md'",
        "Text.[^1]",
        "1. - {`",
        "$$",
    ],
)
def test_constructs_that_reach_beyond_headings_are_not_divided(construct: str) -> None:
    filler = "# Heading\n\nA paragraph.\n\n" * 60_000
    assert large_files.is_divisible(filler)
    assert not large_files.is_divisible(f"{filler}{construct}\n\n{filler}")
    assert not large_files.is_divisible("# Heading\n\nA paragraph.\n\n")


def parse(content: str) -> list[Piece]:
    return DocumentParser(Path(), LinkBoundary([])).parse(Path("page.md"), {}, content)


def test_long_list_is_parsed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(large_files, "check_size", lambda part: sizes.append(len(part)))
    assert len(parse("- an item of a list\n" * 20_000)) == 20_000
    assert max(sizes) < 2 * large_files.PART_CHARACTERS


@pytest.mark.parametrize(
    "content",
    [
        "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 300_000,
        "> a\n" * 600_000,
        "<div>\n\n</div>\n\n" + "- a\n" * 500_000,
    ],
    ids=["table", "quote", "file with a tag"],
)
def test_page_that_would_need_gigabytes_is_refused_before_it_is_parsed(content: str) -> None:
    with pytest.raises(large_files.PageTooLarge, match="Divide it into several pages"):
        parse(content)


@pytest.mark.parametrize(
    "content",
    ["[" * 400_000, "*a **b " * 200_000, "~~a " * 200_000, "<b>\n\n" + "Some `code`.\n\n" * 160_000],
    ids=["brackets", "emphasis", "tildes", "file with a tag"],
)
def test_more_marks_than_fit_into_memory_are_refused(content: str) -> None:
    with pytest.raises(large_files.PageTooLarge, match="more than 300,000 marks"):
        parse(content)


@pytest.mark.parametrize(
    "content",
    ["```\n" + "*a **b [c]\n" * 80_000 + "```\n", "Some *words* and `code`.\n\n" * 80_000],
    ids=["code", "paragraphs"],
)
def test_marks_in_code_and_in_other_parts_do_not_count(content: str) -> None:
    assert parse(content)


def test_page_that_is_too_large_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("# Good\n\nSome text.\n")
    (tmp_path / "large.md").write_text("# Large\n\n<b>\n" + "a\n\n" * 500_000)
    (tmp_path / "shows.mdx").write_text("import Large from './_large.md'\n\n<Large />\n")
    (tmp_path / "_large.md").write_text("a | b\n" * 300_000)
    pages = list(MarkdownSource(tmp_path).read())
    unreadable = {page.source_path: page.reason for page in pages if isinstance(page, Unreadable)}
    assert [page.title for page in pages if isinstance(page, Page)] == ["Good"]
    assert "more than 500,000 lines" in unreadable[f"{tmp_path.name}/large.md"]
    assert "_large.md, which it imports, has more than" in unreadable[f"{tmp_path.name}/shows.mdx"]
