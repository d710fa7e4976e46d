"""Snippets of the search modal: plain text, without the Markdown that a reader does not need."""

from __future__ import annotations

from pathlib import Path

import pytest

from .npm_build import run_module

pytestmark = pytest.mark.slow

DASHES = "-" * 100
SNIPPETS = {
    "| Policy | Depth |\n|:---|---:|\n| keep | 5 |": "Policy | Depth |\n\nkeep | 5 |",
    "a | b\n --- | :--: \nc | d": "a | b\n\nc | d",
    "above\n---\nbelow": "above\n\nbelow",
    # A pattern that tries every way to split the dashes would never end.
    f"{DASHES} summary": f"{DASHES} summary",
    f"{DASHES}+{DASHES}": f"{DASHES}+{DASHES}",
    f"|{'--|' * 50} x": f"|{'--|' * 50} x",
    f"| {' ' * 2000}x": "x",
}


def test_snippet_is_plain_text_and_quickly_drawn(tools: Path, tmp_path: Path) -> None:
    code = (
        "const draw = (snippet) => { let text = ''; "
        "module_.appendSnippet({append: (part) => { text += part; }}, snippet, []); return text; }; "
        "result = argument.map(draw)"
    )
    assert run_module(tools, tmp_path, "highlight", code, list(SNIPPETS)) == list(SNIPPETS.values())
