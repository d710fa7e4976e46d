"""Sites as the real Docusaurus builds them: installed once with npm, and rebuilt after a change.

`python -m tests.sources.docusaurus_build` installs Docusaurus, builds the handbook and the site of cases,
and prints the folders of the built sites.
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
CASES = Path(__file__).parent / "docusaurus_cases"
CACHE = Path(__file__).parents[2] / ".cache" / "docusaurus"
_INPUTS = ("docusaurus.config.js", "docs")
_TIMEOUT = 900  # seconds for one command, on a slow machine with a slow network


class DocusaurusMissing(Exception):
    """Docusaurus can't be installed here."""


@pytest.fixture(scope="session")
def built_handbook() -> Path:
    """The folder of the built handbook. Without npm the test is skipped, or fails in strict mode."""
    return _build_or_skip(BOOK)


@pytest.fixture(scope="session")
def built_cases() -> Path:
    """The folder of the built site of cases."""
    return _build_or_skip(CASES)


def _build_or_skip(source: Path) -> Path:
    try:
        return build(source)
    except DocusaurusMissing as error:
        if os.environ.get("PERTINENT_TEST_STRICT"):
            pytest.fail(str(error))
        pytest.skip(str(error))


def build(source: Path) -> Path:
    """Return the folder of the built site; a build of the same files is used again."""
    npm = shutil.which("npm")
    if npm is None:
        raise DocusaurusMissing("npm, which installs Docusaurus, is missing: install Node.js 20 or newer")
    installed = CACHE / _hash_files(BOOK, ["package.json"])
    # Node finds the modules of the folder above, so that both sites share one installation.
    site = installed / source.name
    built = site / f"build-{_hash_files(source, _INPUTS)}"
    with _build_lock():
        if not (installed / "installed").exists():
            shutil.rmtree(installed, ignore_errors=True)
            installed.mkdir(parents=True)
            shutil.copy(BOOK / "package.json", installed)
            if failure := _run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], installed):
                raise DocusaurusMissing(failure)
            (installed / "installed").touch()
        if not built.exists():
            _copy_site(source, site)
            docusaurus = str(installed / "node_modules" / ".bin" / "docusaurus")
            failure = _run([docusaurus, "build", "--out-dir", "unfinished"], site)
            assert not failure, failure
            (site / "unfinished").rename(built)
    return built


def _copy_site(source: Path, site: Path) -> None:
    """Copy the files of a site and delete earlier builds."""
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir()
    shutil.copy(BOOK / "package.json", site)
    shutil.copy(source / "docusaurus.config.js", site)
    shutil.copytree(source / "docs", site / "docs")


def _run(command: list[str], site: Path) -> str:
    """Run a command; return its output if it fails, else ""."""
    try:
        process = subprocess.run(
            command,
            cwd=site,
            # The cache is in the modules, which the sites share: a site would get the other's languages.
            env={**os.environ, "DOCUSAURUS_NO_PERSISTENT_CACHE": "true"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_TIMEOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{' '.join(command)} took more than {_TIMEOUT} s"
    output = f"{' '.join(command)} failed:\n{process.stdout[-2000:]}\n{process.stderr[-2000:]}"
    return output if process.returncode else ""


def _hash_files(folder: Path, names: list[str] | tuple[str, ...]) -> str:
    """Hash the files of a folder with these names, and those below them."""
    checksum = hashlib.sha256()
    for name in names:
        below = sorted((folder / name).rglob("*")) if (folder / name).is_dir() else [folder / name]
        for path in below:
            if path.is_file():
                checksum.update(f"{path.relative_to(folder)}\0".encode())
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
        for source in (BOOK, CASES):
            sys.stdout.write(f"{build(source)}\n")
    except DocusaurusMissing as error:
        sys.exit(str(error))
