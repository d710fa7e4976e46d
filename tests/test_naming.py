"""Names say what they hold: vague words are rare among the names that the source binds."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pertinent

SOURCE = Path(pertinent.__file__).parent

_WORDS = """
    one ones other others found told made given known said asked wanted kept left shown held taken there
    here place places way ways whole rest some each more before after again such
"""
VAGUE = frozenset(_WORDS.split())
"""Words that do not say what a value is (CONTRIBUTING.md)."""

MOST_VAGUE = 0.005
"""The share of vague names that is accepted."""


def bound_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names of arguments, variables and functions that a module binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def test_vague_names_are_rare() -> None:
    names: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for path in sorted(SOURCE.rglob("*.py")):
        for name in bound_names(ast.parse(path.read_text(encoding="utf-8"))):
            names[name.strip("_")] += 1
            places[str(path.relative_to(SOURCE))] += name.strip("_") in VAGUE
    vague = sum(count for name, count in names.items() if name in VAGUE)
    assert vague / names.total() < MOST_VAGUE, places.most_common(5)


def test_class_names_are_unique() -> None:
    """One name, one meaning: a reader who finds a class by its name finds one class."""
    classes: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name.strip("_"), []).append(str(path.relative_to(SOURCE)))
    assert not {name: places for name, places in classes.items() if len(places) > 1}
