"""The pages about agents and llms.txt: their code runs, and prints what they show."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from pertinent import Pertinent

from ..http.test_server import Server
from ..test_docs import ROOT, matches_shown_output
from .conftest import COMMAND

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cached_vectors")]  # they start processes

AGENTS = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
LLMS_TXT = (ROOT / "docs" / "llms-txt.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the index of the example handbook."""
    folder = tmp_path_factory.mktemp("handbook")
    with Pertinent.open(folder / ".pertinent") as book:
        book.index(ROOT / "examples" / "handbook")
    return folder


def test_agents_page_runs_and_prints_what_it_shows(handbook: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", AGENTS, re.S)
    (expected,) = re.findall(r"Its output over the example handbook:\n\n```json\n(.*?)```", AGENTS, re.S)
    environment = {**os.environ, "PATH": f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"}
    command = code.replace('args=["mcp"]', f'args=["mcp"], cwd={str(handbook)!r}')
    run = subprocess.run(
        [sys.executable, "-c", command], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert matches_shown_output(run.stdout, expected), run.stdout


def test_agents_page_names_commands_that_exist() -> None:
    lines = re.findall(r"pertinent (mcp[^`\"\n]*)", AGENTS)
    for line in lines:
        command = line.partition(" --method")[0]  # the options of the Inspector follow
        options = [word for word in shlex.split(command) if word.startswith("--")]
        assert set(options) <= {"--folder", "--http"}, line
    assert len(lines) > 2


def test_agents_page_shows_what_a_wrong_folder_prints(handbook: Path) -> None:
    folder = "/home/me/book"
    (shown,) = re.findall(rf"```console\n(\$ pertinent mcp --folder {folder}\n.*?)```", AGENTS, re.S)
    run = subprocess.run(
        [str(COMMAND), "mcp", "--folder", str(handbook)], capture_output=True, text=True, check=False
    )
    assert run.stderr.replace(str(handbook), folder) == shown.splitlines(keepends=True)[1]


def test_llms_txt_page_shows_real_output(handbook: Path) -> None:
    _install, served, exported = re.findall(r"```console\n(.*?)```", LLMS_TXT, re.S)
    server = Server("--folder", str(handbook / ".pertinent"))
    try:
        text = server.get("/llms.txt")[1].decode()
    finally:
        server.end()
    assert matches_shown_output(text, served.partition("\n")[2]), text
    command, _, expected = exported.partition("\n")
    arguments = shlex.split(command)[2:]
    run = subprocess.run(
        [str(COMMAND), *arguments], cwd=handbook, capture_output=True, text=True, check=False
    )
    assert run.stdout == expected, run.stderr
    assert (handbook / "build" / "llms.txt").read_text(encoding="utf-8").count("](pages/") == 17
