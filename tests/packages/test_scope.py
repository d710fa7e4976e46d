"""The scope of a contextual search: which pages are of the reader's version and language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .npm_build import run_module

pytestmark = pytest.mark.slow

SITE = "https://site.example"
VERSIONS = {"excludedUrls": [f"{SITE}/docs/next", f"{SITE}/docs/1.0"], "includedUrls": [f"{SITE}/docs"]}
NEXT = {"excludedUrls": [f"{SITE}/docs", f"{SITE}/docs/1.0"], "includedUrls": [f"{SITE}/docs/next"]}
FRENCH = {"url": f"{SITE}/fr/", "excludedUrls": [f"{SITE}/fr/docs/1.0"], "includedUrls": [f"{SITE}/fr/docs"]}
OLD_OF_DOCS_ONLY = {"excludedUrls": [SITE], "includedUrls": [f"{SITE}/", f"{SITE}/1.0"]}
DEFAULT_LOCALE = {"excludedUrls": [f"{SITE}/fr"], "includedUrls": []}

CASES: list[tuple[str, dict[str, Any], bool]] = [
    ("/docs/intro", {}, True),
    ("/docs/intro", VERSIONS, True),
    ("/docs", VERSIONS, True),
    ("/docs/next/intro", VERSIONS, False),
    ("/docs/nextcloud", VERSIONS, True),
    ("/docs/1.0#top", VERSIONS, False),
    ("/blog/first", VERSIONS, True),
    ("/docs/next/intro", NEXT, True),
    ("/docs/intro", NEXT, False),
    ("/docs/1.0/intro", NEXT, False),
    ("/fr/docs/intro", FRENCH, True),
    ("/fr/docs/1.0/intro", FRENCH, False),
    ("/docs/intro", FRENCH, False),
    ("/fr/docs/intro", DEFAULT_LOCALE, False),
    ("/friends", DEFAULT_LOCALE, True),
    ("/intro", OLD_OF_DOCS_ONLY, False),
    ("/1.0/intro", OLD_OF_DOCS_ONLY, True),
]


def test_scope_is_decided_by_the_longest_address(tools: Path, tmp_path: Path) -> None:
    questions = [(SITE + path, scope) for path, scope, _ in CASES]
    code = "result = argument.map(([url, scope]) => module_.isInScope(url, scope))"
    answers = run_module(tools, tmp_path, "options", code, questions)
    assert answers == [expected for _, _, expected in CASES]
