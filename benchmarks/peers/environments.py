"""Installs each peer into an environment of its own, below a cache folder, and runs it there."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1]
ROOT = BENCHMARKS.parent
HERE = Path(__file__).parent
STAMP = "installed.sha256"
QUIET = {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
}
"""No peer calls home, and none loads a model."""


@dataclass(frozen=True)
class PythonEnvironment:
    """A virtual environment with the packages that pip is asked for."""

    folder: Path
    script: Path
    requirements: Sequence[str]
    pinned_in: Sequence[Path]
    """The files whose change makes a new installation necessary."""
    editable: Sequence[Path] = ()
    """Folders that are installed as links, and count as installed."""

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def install(self) -> None:
        if _is_current(self.folder, self.pinned_in):
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        venv.create(self.folder, symlinks=True)
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        _run([*pip, "--disable-pip-version-check", *self.requirements])
        _write_stamp(self.folder, self.pinned_in)

    def command(self) -> list[str]:
        return [str(self.python), "-m", f"peers.{self.script.stem}"]

    def count_bytes(self) -> int:
        """Return the size of all packages without compiled bytecode; there is no pip among them."""
        folders = [*self.folder.glob("lib/python*/site-packages"), *self.editable]
        return sum(_count_bytes(folder) for folder in folders)


@dataclass(frozen=True)
class NodeEnvironment:
    """A folder with npm packages, and the script beside them, since Node looks there for its imports."""

    folder: Path
    script: Path
    packages: Sequence[str]

    def install(self) -> None:
        if not _is_current(self.folder, [self.script]):
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder.mkdir(parents=True)
            npm = [_find_program("npm"), "install", "--silent", "--no-audit", "--no-fund"]
            _run([*npm, "--prefix", str(self.folder), *self.packages])
            shutil.copy(self.script, self.folder)
            _write_stamp(self.folder, [self.script])

    def command(self) -> list[str]:
        return [_find_program("node"), str(self.folder / self.script.name)]

    def count_bytes(self) -> int:
        return _count_bytes(self.folder / "node_modules")


@dataclass(frozen=True)
class Server:
    """The Qdrant server of the tests, for the peer that is a client of it."""

    @contextmanager
    def running(self, folder: Path) -> Iterator[Mapping[str, str]]:
        sys.path.append(str(ROOT))
        from tests.servers import binary
        from tests.servers.qdrant import running

        with running(binary.find(), folder) as node:
            yield {"PEERS_QDRANT_URL": node.url}

    def count_bytes(self) -> int:
        sys.path.append(str(ROOT))
        from tests.servers import binary

        return binary.find().stat().st_size


Environment = PythonEnvironment | NodeEnvironment


def run_peer(environment: Environment, server: Server | None, task: Path, result: Path, work: Path) -> None:
    """Run a peer on a task in an empty folder, which is deleted afterwards."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    context: AbstractContextManager[Mapping[str, str]] = (
        server.running(work / "server") if server else nullcontext({})
    )
    with context as variables:
        command = [*environment.command(), str(task.resolve()), str(result.resolve())]
        _run(command, work, {**QUIET, "PYTHONPATH": str(BENCHMARKS), **variables})
    shutil.rmtree(work)


def _run(
    command: Sequence[str], folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> None:
    environment = {**os.environ, **(variables or {})}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(run.stderr or run.stdout)[-3000:]}")


def _find_program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise RuntimeError(f"{name} is missing: install Node.js, or leave minisearch out with --peers")
    return path


def hash_files(paths: Sequence[Path]) -> str:
    """Return a hash of the names and contents of files."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _is_current(folder: Path, files: Sequence[Path]) -> bool:
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_text() == hash_files(files)


def _write_stamp(folder: Path, files: Sequence[Path]) -> None:
    (folder / STAMP).write_text(hash_files(files))


def _count_bytes(folder: Path) -> int:
    return sum(
        path.lstat().st_size
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
