"""The documentation: what it shows runs, and what can be typed is named in it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from pertinent import Pertinent
from pertinent.settings import COMMON_NAMES, Settings
from pertinent.surfaces.cli.app import app

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]

COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_guide(name: str) -> None:
    assert f"pertinent {name}" in GUIDE


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_with_an_example_or_in_one_line(name: str) -> None:
    assert COMMANDS[name].help


def test_every_option_is_in_the_guide() -> None:
    options = {
        option
        for command in [get_command(app), *COMMANDS.values()]
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and option != "--help"
    }
    missing = {option for option in options if f"`{option}`" not in GUIDE and f"{option}`" not in GUIDE}
    missing -= {option for option in missing if f"{option} " in GUIDE}
    assert not missing


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_in_the_guide_with_its_common_name(name: str) -> None:
    (row,) = re.findall(rf"^\| `{name}` \|.*$", GUIDE, re.M)
    if name in COMMON_NAMES:
        assert f"`{COMMON_NAMES[name]}`" in row
    default = Settings.model_fields[name].default
    if default not in (None, ()):
        assert f"`{default}`" in row


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    """In order, in one folder: the second example finds what the first has indexed."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for code in re.findall(r"```python\n(.*?)```", README, re.S):
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
    assert "/docs/robot-description/joints" in _first_output(tmp_path)


def _first_output(folder: Path) -> str:
    code = re.findall(r"```python\n(.*?)```", README, re.S)[0]
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_the_answer_that_the_readme_shows_is_the_real_one(tmp_path: Path) -> None:
    shown = re.search(r"^\$ (pertinent search .*?)\n(.*?)```", README, re.S | re.M)
    assert shown
    command = [str(Path(sys.executable).with_name("pertinent")), *shlex.split(shown[1])[1:]]
    with Pertinent.open(tmp_path) as opened:
        opened.index(ROOT / "examples" / "handbook")
    environment = {**os.environ, "PERTINENT_FOLDER": str(tmp_path), "COLUMNS": "80"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == shown[2].strip()


@pytest.mark.slow
def test_the_page_to_a_first_verdict_runs_as_it_is_written(tmp_path: Path) -> None:
    """In order, in one folder, with the golden set that the page shows."""
    page = (ROOT / "docs" / "first-verdict.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```yaml\n(.*?)```", page, re.S)
    (tmp_path / "golden.yaml").write_text(shown, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = re.findall(r"^\$ pertinent (.*)$", page, re.M)
    assert [command.split()[0] for command in commands] == ["index", "search", "validate"]
    environment = {**os.environ, "COLUMNS": "80"}
    outputs = []
    for command in commands:
        started = [str(Path(sys.executable).with_name("pertinent")), *shlex.split(command)]
        run = subprocess.run(
            started, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr
        outputs.append(run.stdout)
    (address,) = re.findall(r"cancel a running action\?\n    labels: (\S+)", shown)
    assert address in outputs[1]
    assert outputs[2].startswith("PASS")
    assert re.search(r"success@5 +≥ 0.8", outputs[2])
    assert "is lost" not in outputs[2]
