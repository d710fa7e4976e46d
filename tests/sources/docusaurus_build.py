"""The handbook as the real Docusaurus builds it: installed once with npm, built again when it has changed.

`python -m tests.sources.docusaurus_build` does both and says where the site is.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "examples" / "handbook"
KEPT = Path(__file__).parents[2] / ".cache" / "docusaurus"
_SOURCES = ("package.json", "docusaurus.config.js", "docs")
_PATIENCE = 900  # seconds for one command, on a slow machine with a slow network


class Missing(Exception):
    """Docusaurus can't be had here."""


@pytest.fixture(scope="session")
def built_handbook() -> Path:
    """The folder of the built site; without npm a test is skipped, and fails where nothing may be skipped."""
    try:
        return build()
    except Missing as error:
        if os.environ.get("PERTINENT_TEST_STRICT"):
            pytest.fail(str(error))
        pytest.skip(str(error))


def build() -> Path:
    """The folder of the built site. What was built before from the same files is taken as it is."""
    npm, npx = shutil.which("npm"), shutil.which("npx")
    if npm is None or npx is None:
        raise Missing(
            "npm and npx, which install and run Docusaurus, are missing: install Node.js 20 or newer"
        )
    site = KEPT / _digest(["package.json"])
    built = site / f"build-{_digest(_SOURCES)}"
    with _alone():
        if not (site / "installed").exists():
            shutil.rmtree(site, ignore_errors=True)
            site.mkdir(parents=True)
            shutil.copy(BOOK / "package.json", site)
            if told := _run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], site):
                raise Missing(told)
            (site / "installed").touch()
        if not built.exists():
            _copy(site)
            told = _run([npx, "--no-install", "docusaurus", "build", "--out-dir", "unfinished"], site)
            assert not told, told
            (site / "unfinished").rename(built)
    return built


def _copy(site: Path) -> None:
    """The handbook as it is now, and nothing of what was built of it before."""
    for old in (*site.glob("build-*"), site / "docs", site / "unfinished", site / ".docusaurus"):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copy(BOOK / "docusaurus.config.js", site)
    shutil.copytree(BOOK / "docs", site / "docs")


def _run(command: list[str], site: Path) -> str:
    """Run it; what it says where it fails, else nothing."""
    try:
        done = subprocess.run(
            command,
            cwd=site,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return f"{' '.join(command)} took more than {_PATIENCE} s"
    told = f"{' '.join(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return told if done.returncode else ""


def _digest(names: list[str] | tuple[str, ...]) -> str:
    """Of the handbook's files by these names, and of those below them."""
    hashed = hashlib.sha256()
    for name in names:
        below = sorted((BOOK / name).rglob("*")) if (BOOK / name).is_dir() else [BOOK / name]
        for path in below:
            if path.is_file():
                hashed.update(f"{path.relative_to(BOOK)}\0".encode())
                hashed.update(hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()[:16]


@contextmanager
def _alone() -> Iterator[None]:
    """One worker installs and builds; the others wait for it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / ".gitignore").write_text("*\n", encoding="utf-8")
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build()}\n")
    except Missing as error:
        sys.exit(str(error))
