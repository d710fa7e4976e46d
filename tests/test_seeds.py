"""`docs/seeds.md` names the test that holds each rule of the seeds: every named test exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
REFERENCES = sorted(set(re.findall(r"tests/[\w/]+\.py::\w+(?:::\w+)?", PAGE)))
SEEDS = ("000", "001", "002", "003", "004")


@cache
def defined_names(path: Path) -> frozenset[str]:
    """Return every function and class of a file, and every method as `Class::method`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef))
            names.update(f"{node.name}::{method.name}" for method in methods)
    return frozenset(names)


@pytest.mark.parametrize("reference", REFERENCES)
def test_every_test_that_the_page_names_exists(reference: str) -> None:
    file, _, name = reference.partition("::")
    assert (ROOT / file).is_file(), f"{file} does not exist"
    assert name in defined_names(ROOT / file), f"{file} has no {name}"


@pytest.mark.parametrize("seed", SEEDS)
def test_every_seed_has_a_table_and_every_row_names_a_test(seed: str) -> None:
    section = re.search(rf"^## Seed {seed}\b.*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None, f"docs/seeds.md has no part on seed {seed}"
    rows = [line for line in section[0].splitlines() if line.startswith("|")][2:]
    assert rows, f"docs/seeds.md has no table for seed {seed}"
    without = [row for row in rows if not re.search(r"tests/[\w/]+\.py::\w+", row)]
    assert not without, f"no test is named for: {without}"
