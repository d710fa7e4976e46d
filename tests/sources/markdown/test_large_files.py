"""A large file that is parsed part by part gives the pieces of a whole parse."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pertinent.sources.markdown import large_files
from pertinent.sources.markdown.parser import DocumentParser
from pertinent.sources.markdown.symlinks import LinkBoundary

_BLOCKS = (
    "# Title",
    "## The same heading",
    "### Deeper `code`",
    "A paragraph with a [link][far], an [inline](https://x.org) one and *emphasis*.",
    "[far]: https://far.example",
    "[far]: https://other.example",
    "- first\n- second\n\n  ## in a list\n\n- third",
    "1. one\n2. two",
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
