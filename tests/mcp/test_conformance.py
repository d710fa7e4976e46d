"""The official conformance suite against `pertinent serve`: the scenarios that need no tools of its own."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..http.test_server import Server
from .conformance import suite
from .conftest import ENVIRONMENT

__all__ = ["suite"]  # a fixture

pytestmark = pytest.mark.slow  # Node.js and a service

SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
)
"""The others need the tools, resources and prompts of an example server, or capabilities that we lack."""


@pytest.fixture(scope="module")
def served(closed_folder: Path) -> Iterator[Server]:
    server = Server("--folder", str(closed_folder), **ENVIRONMENT)
    yield server
    server.end()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_server_conforms_to_the_protocol(suite: Path, served: Server, scenario: str, tmp_path: Path) -> None:
    address = f"http://localhost:{served.port}/mcp"
    command = ["node", str(suite), "server", "--url", address, "--scenario", scenario]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    output = process.stdout + process.stderr
    assert process.returncode == 0, output
    assert re.search(r"Passed: ([1-9]\d*)/\1, 0 failed, 0 warnings", output), output
