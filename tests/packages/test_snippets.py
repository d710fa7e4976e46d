"""Snippets of the search modal: plain text, without the Markdown that a reader does not need."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .npm_build import PACKAGES

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
    bundle = tmp_path / "highlight.cjs"
    esbuild = str(tools / "node_modules" / ".bin" / "esbuild")
    source = str(PACKAGES / "search-modal" / "src" / "highlight.ts")
    bundling = [esbuild, source, "--bundle", "--format=cjs", f"--outfile={bundle}", "--log-level=error"]
    subprocess.run(bundling, check=True)
    script = (
        f"const {{appendSnippet}} = require({json.dumps(str(bundle))});"
        "const draw = (snippet) => { let text = ''; "
        "appendSnippet({append: (part) => { text += part; }}, snippet, []); return text; };"
        "console.log(JSON.stringify(JSON.parse(process.argv[1]).map(draw)));"
    )
    command = ["node", "-e", script, json.dumps(list(SNIPPETS))]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert json.loads(run.stdout) == list(SNIPPETS.values())
