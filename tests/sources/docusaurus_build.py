"""The handbook as the real Docusaurus builds it: installed once with npm, and rebuilt after a change.

`python -m tests.sources.docusaurus_build` installs and builds it, and prints the folder of the site.
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
CACHE = Path(__file__).parents[2] / ".cache" / "docusaurus"
_INPUTS = ("package.json", "docusaurus.config.js", "docs")
_TIMEOUT = 900  # seconds for one command, on a slow machine with a slow network


class DocusaurusMissing(Exception):
    """Docusaurus can't be installed here."""


@pytest.fixture(scope="session")
def built_handbook() -> Path:
    """The folder of the built site. Without npm the test is skipped, or fails in strict mode."""
    try:
        return build()
    except DocusaurusMissing as error:
        if os.environ.get("PERTINENT_TEST_STRICT"):
            pytest.fail(str(error))
        pytest.skip(str(error))


def build() -> Path:
    """Return the folder of the built site; a build of the same files is used again."""
    npm, npx = shutil.which("npm"), shutil.which("npx")
    if npm is None or npx is None:
        raise DocusaurusMissing(
            "npm and npx, which install and run Docusaurus, are missing: install Node.js 20 or newer"
        )
    site = CACHE / _hash_files(["package.json"])
    built = site / f"build-{_hash_files(_INPUTS)}"
    with _build_lock():
        if not (site / "installed").exists():
            shutil.rmtree(site, ignore_errors=True)
            site.mkdir(parents=True)
            shutil.copy(BOOK / "package.json", site)
            if failure := _run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], site):
                raise DocusaurusMissing(failure)
            (site / "installed").touch()
        if not built.exists():
            _copy_handbook(site)
            failure = _run([npx, "--no-install", "docusaurus", "build", "--out-dir", "unfinished"], site)
            assert not failure, failure
            (site / "unfinished").rename(built)
    return built


def _copy_handbook(site: Path) -> None:
    """Copy the handbook to the site and delete earlier builds."""
    for old in (*site.glob("build-*"), site / "docs", site / "unfinished", site / ".docusaurus"):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copy(BOOK / "docusaurus.config.js", site)
    shutil.copytree(BOOK / "docs", site / "docs")


def _run(command: list[str], site: Path) -> str:
    """Run a command; return its output if it fails, else ""."""
    try:
        process = subprocess.run(
            command, cwd=site, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=_TIMEOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{' '.join(command)} took more than {_TIMEOUT} s"
    output = f"{' '.join(command)} failed:\n{process.stdout[-2000:]}\n{process.stderr[-2000:]}"
    return output if process.returncode else ""


def _hash_files(names: list[str] | tuple[str, ...]) -> str:
    """Hash the handbook's files with these names, and those below them."""
    checksum = hashlib.sha256()
    for name in names:
        below = sorted((BOOK / name).rglob("*")) if (BOOK / name).is_dir() else [BOOK / name]
        for path in below:
            if path.is_file():
                checksum.update(f"{path.relative_to(BOOK)}\0".encode())
                checksum.update(hashlib.sha256(path.read_bytes()).digest())
    return checksum.hexdigest()[:16]


@contextmanager
def _build_lock() -> Iterator[None]:
    """Let one worker install and build while the others wait."""
    CACHE.mkdir(parents=True, exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n", encoding="utf-8")
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build()}\n")
    except DocusaurusMissing as error:
        sys.exit(str(error))
