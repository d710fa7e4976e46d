"""docs/seeds.md: every rule of a seed names a test that exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "seeds.md").read_text(encoding="utf-8")
SEEDS = ("000", "002")
REFERENCES = sorted(set(re.findall(r"tests/[\w/]+\.py::\w+(?:::\w+)?", PAGE)))


@cache
def names_of_tests(path: Path) -> frozenset[str]:
    """The test functions of a file, and those of its classes as `Class::function`."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)}
    return frozenset(names)


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_named_test_exists(reference: str) -> None:
    path, _, name = reference.partition("::")
    assert (ROOT / path).is_file(), f"{path} does not exist"
    assert name.rpartition("::")[2].startswith("test_"), f"{name} is no test"
    assert name in names_of_tests(ROOT / path), f"{path} has no {name}"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_has_a_table(seed: str) -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (section,) = (section for section in sections if section.startswith(f"Seed {seed}"))
    assert re.search(r"^\|---", section, re.MULTILINE), f"seed {seed} has no table"


def test_every_rule_names_a_test() -> None:
    rows = re.findall(r"^\| .*", PAGE, re.MULTILINE)
    for row in rows:
        assert "| test |" in row or re.search(r"`tests/[\w/]+\.py::[\w:]+` \|$", row), f"no test: {row}"
