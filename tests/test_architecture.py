"""The packages, and which of them may import which (ARCHITECTURE.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pertinent

ROOT = Path(pertinent.__file__).parent
TESTS = Path(__file__).parent

BASE = {"types", "errors", "identity", "limits", "ports", "_internal"}
ALLOWED: dict[str, set[str]] = {
    "types": set(),
    "errors": set(),
    "identity": set(),
    "_internal": {"errors", "identity"},
    "limits": {"types", "errors"},
    "ports": {"types"},
    "settings": {"types", "errors", "_internal"},
    "search": BASE,
    "indexing": BASE,
    "validation": BASE,
    "sources": BASE,
    "embedders": BASE,
    "rerankers": BASE,
    "stores": BASE | {"search"},
    "build": BASE | {"settings", "embedders", "rerankers", "stores", "search", "indexing"},
    "workspace": BASE | {"settings", "build", "search", "indexing"},
    "health": BASE | {"settings", "build", "workspace", "search", "indexing"},
    "testing": BASE | {"sources", "indexing", "search"},
    "surfaces": BASE
    | {"settings", "build", "workspace", "health", "search", "indexing", "validation", "sources", "stores"},
    "integrations": BASE | {"settings", "validation", "surfaces"},
    "__main__": {"surfaces"},
}
"""Each package or module, and those that it may import. Only integrations and `__main__` import a surface."""

TOP_LEVEL_MODULES = 8


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_packages(path: Path) -> Iterator[str]:
    package = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            target = (*base, *(node.module.split(".") if node.module else ()))
            yield from [target[0]] if target else [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pertinent."):
            yield (node.module or "").split(".")[1]


MODULES = sorted(path for path in ROOT.rglob("*.py") if package_of(path) != "__init__")


@pytest.mark.parametrize("package", sorted(ALLOWED))
def test_imports_point_one_way(package: str) -> None:
    for path in (path for path in MODULES if package_of(path) == package):
        forbidden = {name for name in imported_packages(path) if name != package} - ALLOWED[package]
        assert not forbidden, f"{path.relative_to(ROOT)} must not import {sorted(forbidden)}"


def test_every_package_is_listed() -> None:
    assert {package_of(path) for path in MODULES} == ALLOWED.keys()


def test_top_level_holds_few_modules() -> None:
    assert len(list(ROOT.glob("*.py"))) <= TOP_LEVEL_MODULES


ADAPTERS = {
    "embedders": {"local", "fastembed", "cohere", "openai"},
    "rerankers": {"local", "cohere", "http"},
    "sources": {"markdown", "beir", "site"},
}


@pytest.mark.parametrize("folder", sorted(ADAPTERS))
def test_adapters_do_not_import_each_other(folder: str) -> None:
    adapters = ADAPTERS[folder]
    for path in (ROOT / folder).rglob("*.py"):
        adapter = path.relative_to(ROOT / folder).parts[0].removesuffix(".py")
        if adapter in adapters:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            level = len(path.relative_to(ROOT / folder).parts)
            siblings = {
                (node.module or "").split(".")[0]
                for node in ast.walk(tree)
                if isinstance(node, ast.ImportFrom) and node.level == level
            }
            assert not (siblings & (adapters - {adapter}))


def test_only_the_settings_read_the_environment() -> None:
    for path in MODULES:
        source = path.read_text(encoding="utf-8")
        if package_of(path) != "settings" and "surfaces/cli" not in path.as_posix():
            # A variable that only ONNX Runtime reads.
            source = source.replace('os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")', "")
            assert "os.environ" not in source, path
            assert "getenv" not in source, path


def test_no_file_is_longer_than_400_lines() -> None:
    assert {path.name: n for path in MODULES if (n := len(path.read_text().splitlines())) > 400} == {}
