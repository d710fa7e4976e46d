"""The official conformance suite of MCP: installed once with npm.

`python -m tests.mcp.conformance` installs it.
"""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VERSION = "0.1.13"
"""The newest version that runs with Node.js 20."""
PACKAGE = f"@modelcontextprotocol/conformance@{VERSION}"
CACHE = Path(__file__).parents[2] / ".cache" / "mcp-conformance"
PROGRAM = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
_TIMEOUT = 600


class SuiteMissing(Exception):
    """The suite can't be installed here."""


def install() -> Path:
    """Return the program of the suite; install it if it is not there."""
    npm = shutil.which("npm")
    if npm is None:
        raise SuiteMissing(
            "npm, which installs the conformance suite, is missing: install Node.js 20 or newer"
        )
    folder = CACHE / VERSION
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n", encoding="utf-8")
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "installed").exists():
            folder.mkdir(exist_ok=True)
            (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
            command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", PACKAGE]
            process = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, check=False, timeout=_TIMEOUT
            )
            if process.returncode:
                raise SuiteMissing(f"npm install {PACKAGE} failed: {process.stderr[-500:]}")
            (folder / "installed").touch()
    return folder / PROGRAM


@pytest.fixture(scope="session")
def suite() -> Path:
    """The program of the suite. Without npm the test is skipped."""
    try:
        return install()
    except SuiteMissing as error:
        pytest.skip(str(error))


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{install()}\n")
    except SuiteMissing as error:
        sys.exit(str(error))
