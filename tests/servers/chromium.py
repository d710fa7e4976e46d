"""Chromium for the tests of pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

PROGRAMS = ("chromium-headless-shell", "chromium")
"""The first draws the same pages without a window, and needs less than half of the CPU time."""

OPTIONS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


@contextmanager
def launch_chromium(*options: str) -> Iterator[Browser]:
    """Launch it; without it, the test is skipped, or fails in strict mode."""
    path = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if path is None:
        advice = "there is no chromium; apt-get install chromium-headless-shell"
        if os.environ.get("PERTINENT_TEST_STRICT") == "1":
            pytest.fail(advice)
        pytest.skip(advice)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*OPTIONS, *options])
        yield browser
        browser.close()
