"""A small site to index, and `pertinent` run in this process or as the installed command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pertinent.surfaces.cli.app import app

Run = Callable[..., Result]
Start = Callable[..., "subprocess.CompletedProcess[str]"]

PAGES = {
    "intro.md": "# Welcome\n\nThis handbook is about robots that walk.\n",
    "nodes.md": (
        "# Nodes\n\nA node is a process that talks to other nodes.\n\n"
        "## Topics\n\nNodes publish messages on topics, and subscribe to them.\n\n"
        "## Services\n\nA service answers a request, once for each call.\n"
    ),
    "joints.md": (
        "# Joints\n\n## Limits\n\nA revolute joint has limits for its angle.\n\n"
        "## Friction\n\nFriction slows a joint down.\n"
    ),
    "guide/launch.md": "# Launch files\n\nA launch file starts many nodes at once.\n",
}


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS", "TTY_COMPATIBLE", "TERM", "PERTINENT_CHUNK_TOKENS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PERTINENT_EMBEDDER", "testing:hashed-words")


def write_pages(folder: Path) -> Path:
    for name, text in PAGES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_pages(tmp_path / "docs")


@pytest.fixture
def run() -> Run:
    """Run `pertinent` in this process, and check its exit code if one is given."""

    def invoke(*arguments: str | Path, stdin: str | None = None, exits: int | None = None) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert exits in (None, result.exit_code), result.output
        return result

    return invoke


@pytest.fixture
def indexed(run: Run, docs: Path) -> Path:
    """The data folder after the site was indexed."""
    run("index", docs, "--base-url", "https://robots.example/docs", "--name", "robots", exits=0)
    return Path.cwd() / ".pertinent"


@pytest.fixture
def start() -> Start:
    """The installed command, as a shell would start it."""
    command = Path(sys.executable).with_name("pertinent")

    def started(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(command), *map(str, arguments)], capture_output=True, encoding="utf-8",
            errors="surrogateescape", env={**os.environ, **environment}, timeout=60, check=False,
        )  # fmt: skip

    return started
