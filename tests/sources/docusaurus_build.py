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
from collections.abc import Callable, Iterator, Sequence
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
    """The folder of the built handbook. Without npm the test is skipped."""
    return build_or_skip(lambda: build(BOOK))


@pytest.fixture(scope="session")
def built_cases() -> Path:
    """The folder of the built site of cases."""
    return build_or_skip(lambda: build(CASES))


def build_or_skip(build_site: Callable[[], Path]) -> Path:
    """Build with npm. Without npm the test is skipped, or fails in strict mode."""
    try:
        return build_site()
    except DocusaurusMissing as error:
        pytest.skip(str(error))


def install_packages(package_file: Path) -> Path:
    """Install what a package.json requires, unless it is installed; return the folder."""
    npm = shutil.which("npm")
    if npm is None:
        raise DocusaurusMissing("npm, which installs Docusaurus, is missing: install Node.js 20 or newer")
    folder = CACHE / hash_files(package_file.parent, [package_file.name])
    with build_lock():
        if not (folder / "installed").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            shutil.copy(package_file, folder / "package.json")
            if failure := run_command(
                [npm, "install", "--no-audit", "--no-fund", "--loglevel=error"], folder
            ):
                raise DocusaurusMissing(failure)
            (folder / "installed").touch()
    return folder


def build(source: Path, overlay: Path | None = None, options: Sequence[str] = ()) -> Path:
    """Return the folder of the built site; a build of the same files is used again.

    Args:
        source: The folder of the site.
        overlay: A folder whose files are added to those of the site, and replace them.
        options: Further options of `docusaurus build`.
    """
    # Node finds the modules of the folder above, so that all sites share one installation.
    installed = install_packages(BOOK / "package.json")
    site = installed / (overlay or source).name
    checksum = hash_files(source, _INPUTS)
    if overlay is not None:
        checksum += hash_files(overlay, sorted(path.name for path in overlay.iterdir()))
    built = site / f"build-{checksum}"
    with build_lock():
        if not built.exists():
            _copy_site(source, site)
            if overlay is not None:
                shutil.copytree(overlay, site, dirs_exist_ok=True)
            docusaurus = str(installed / "node_modules" / ".bin" / "docusaurus")
            failure = run_command([docusaurus, "build", "--out-dir", "unfinished", *options], site)
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


def run_command(command: list[str], site: Path) -> str:
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


def hash_files(folder: Path, names: list[str] | tuple[str, ...]) -> str:
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
def build_lock() -> Iterator[None]:
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
