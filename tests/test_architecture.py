"""The rooms of the house: which may know of which."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pertinent

ROOT = Path(pertinent.__file__).parent

CORE = {
    "types",
    "errors",
    "identity",
    "timing",
    "memory",
    "limits",
    "ranking",
    "chunking",
    "ports",
    "progress",
    "wording",
    "nesting",
}
ALLOWED: dict[str, set[str]] = {
    "types": set(),
    "errors": set(),
    "timing": set(),
    "memory": set(),
    "progress": set(),
    "identity": set(),
    "wording": {"identity"},
    "nesting": set(),
    "limits": {"types", "errors"},
    "ranking": {"types"},
    "chunking": {"types", "identity"},
    "ports": {"types"},
    "settings": {"types", "errors", "wording"},
    "disk": {"errors"},
    "succession": CORE,
    "engine": CORE,
    "indexing": CORE,
    "audit": CORE,
    "links": {"errors"},
    "doctor": CORE | {"audit", "links"} | {"engine", "indexing", "build", "workspace", "settings"},
    "sources": CORE | {"sources"},
    "embedders": CORE,
    "stores": CORE | {"stores"},
    "validation": CORE,
    "migrating": CORE | {"build", "workspace", "settings", "stores"},
    "testing": CORE | {"testing", "sources"},
    "build": CORE | {"settings", "embedders", "stores", "testing"},
    "workspace": CORE | {"build", "disk", "succession", "engine", "indexing", "settings"},
    "surfaces": CORE
    | {"engine", "indexing", "validation", "migrating", "audit", "doctor", "settings", "build", "sources"}
    | {"stores", "surfaces", "workspace"},
}
"""A room, and the rooms whose code it may import. Arrows point one way; nothing imports a surface."""


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[str]:
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            target = (*base, *(node.module.split(".") if node.module else ()))
            yield from [target[0]] if target else [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pertinent."):
            yield (node.module or "").split(".")[1]


MODULES = sorted(path for path in ROOT.rglob("*.py") if room(path) != "__init__")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_arrow_points_back(path: Path) -> None:
    here = room(path)
    assert here in ALLOWED, f"{here} is no room of DESIGN.md"
    foreign = {name for name in imports(path) if name != here} - ALLOWED[here]
    assert not foreign, f"{path.relative_to(ROOT)} must not import {sorted(foreign)}"


@pytest.mark.parametrize("folder", ["embedders", "sources"])
def test_adapters_do_not_import_each_other(folder: str) -> None:
    adapters = {"embedders": {"local", "cohere", "openai"}, "sources": {"markdown", "beir", "site"}}[folder]
    for path in (ROOT / folder).glob("*.py"):
        if path.stem in adapters:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            known = {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.level == 1}
            assert not (known & (adapters - {path.stem}))


def test_only_the_settings_read_the_environment() -> None:
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        if room(path) != "settings" and "surfaces/cli" not in path.as_posix():
            assert "os.environ" not in source, path
            assert "getenv" not in source, path


def test_no_file_holds_two_ideas() -> None:
    assert {p.name: n for p in MODULES if (n := len(p.read_text().splitlines())) > 400} == {}
