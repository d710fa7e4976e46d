"""The documentation: what it shows runs, and what can be typed is named in it."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from fastapi.testclient import TestClient
from typer.main import get_command

from pertinent import Pertinent
from pertinent.settings import COMMON_NAMES, PREFIX, Settings, load
from pertinent.surfaces.cli.app import app
from pertinent.surfaces.http import create_app

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
PACKAGE = ROOT / "src" / "pertinent"

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
def test_variable_with_our_prefix_is_a_setting(page: Path) -> None:
    variables = set(re.findall(rf"\b{PREFIX}[A-Z_]+", page.read_text(encoding="utf-8")))
    # Every command and `Pertinent.open` refuse a variable with the prefix that is no setting.
    load(environment=dict.fromkeys(variables, ""))


def test_methods_in_the_guide_have_the_parameters_it_names() -> None:
    (table,) = re.findall(r"^\| method \| gives \|\n(.*?)\n\n", GUIDE, re.S | re.M)
    calls = re.findall(r"`(\w+)\((.*?)\)`", re.sub(r"^(\|.*?)\|.*$", r"\1", table, flags=re.M))
    assert {"index", "search", "validate"} <= {name for name, _ in calls}
    for name, arguments in calls:
        parameters = inspect.signature(getattr(Pertinent, name)).parameters
        accepts_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        named = set(re.findall(r"(\w+)(?==|,|$)", re.sub(r"=[^,]*", "=", arguments)))
        assert accepts_any or named <= set(parameters), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    # What a code block shows is output, not a link.
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / target).exists(), target


NAMED_PATHS = sorted(
    {
        span
        for span in re.findall(r"`([^`\s]+)`", ARCHITECTURE)
        if re.fullmatch(r"(?!/)[\w./-]*(/|\.(py|md|toml))[\w./-]*", span)
    }
)


@pytest.mark.parametrize("path", NAMED_PATHS)
def test_architecture_names_paths_that_exist(path: str) -> None:
    assert (PACKAGE / path).exists() or (ROOT / path).exists()


def test_architecture_names_every_package_and_module_at_the_top() -> None:
    names = {f"{path.name}/" if path.is_dir() else path.name for path in PACKAGE.iterdir()}
    names = {name for name in names if name.endswith((".py", "/")) and name != "__pycache__/"}
    assert not {name for name in names if f"`{name}`" not in ARCHITECTURE}


def test_page_on_models_shows_settings_and_commands_that_exist(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```toml\n(.*?)```", page, re.S)
    assert len(blocks) == 2
    for block in blocks:
        (tmp_path / "pertinent.toml").write_text(block, encoding="utf-8")
        assert load(environment={}, start=tmp_path).origins.keys() >= {"embedder"}
    for line in re.findall(r"^\$ pertinent (.+?)(?: +#.*)?$", page, re.M):
        command, *arguments = shlex.split(line)
        options = {option for parameter in COMMANDS[command].params for option in parameter.opts}
        assert {word for word in arguments if word.startswith("--")} <= options | {"--embedder"}, line


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_decision_has_every_part_and_is_in_the_index(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    form = r"# (\d{4})\. .+\n\n- Date: \d{4}-\d\d-\d\d\n- Status: (accepted|superseded by \[\d{4}\]\().*\n"
    head = re.match(form, text)
    assert head
    assert path.name.startswith(f"{head[1]}-")
    assert re.findall(r"^## (.+)$", text, re.M) == ["Context", "Decision", "Consequences"]
    assert f"({path.name})" in path.with_name("index.md").read_text(encoding="utf-8")


def test_decisions_are_numbered_without_gaps() -> None:
    assert [int(path.name[:4]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))


def test_pre_commit_runs_the_checks_of_make_check() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    target = re.search(r"^check:.*\n((?:\t.+\n)+)", makefile, re.M)
    assert target
    checks = [line.split("/", 1)[1].removesuffix(" .") for line in target[1].splitlines()]
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0][
        "hooks"
    ]
    entries = [hook["entry"].removeprefix(".venv/bin/").removesuffix(" --force-exclude") for hook in hooks]
    assert entries == checks


@pytest.mark.slow
def test_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    pages = {page: page.read_text(encoding="utf-8") for page in tmp_path.rglob("*.html")}
    assert "pertinent validate" in pages[tmp_path / "reference" / "commands" / "index.html"]
    assert "generate_query_embedding" in pages[tmp_path / "reference" / "python" / "index.html"]
    loaded = re.compile(r"<(?:script|img|iframe)[^>]+src=.?(?:https?:)?//|<link[^>]+stylesheet[^>]+//", re.I)
    assert not {page.name for page, text in pages.items() if loaded.search(text)}


@pytest.fixture(scope="module")
def handbook_index(cached_vectors: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of the handbook, of which a test copies the folder."""
    folder = tmp_path_factory.mktemp("indexed") / ".pertinent"
    with Pertinent.open(folder) as book:
        book.index(ROOT / "examples" / "handbook")
    return folder


@pytest.fixture
def indexed_examples(handbook_index: Path, tmp_path: Path) -> Path:
    """A folder with the examples and their index; the test of the README's commands tests making it."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    shutil.copytree(handbook_index, tmp_path / ".pertinent")
    return tmp_path


@pytest.mark.slow
def test_readme_python_runs(tmp_path: Path) -> None:
    """In order, in one folder: the second example finds what the first has indexed."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    outputs = []
    for code in re.findall(r"```python\n(.*?)```", README, re.S):
        run = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        outputs.append(run.stdout)
    assert "/docs/robot-description/joints" in outputs[0]


CONSOLE_EXAMPLES = [
    (command, output)
    for block in re.findall(r"```console\n(.*?)```", README, re.S)
    for command, output in re.findall(r"^\$ pertinent (.+)\n((?:(?!\$ ).*\n)+)", block, re.M)
]
"""The commands of the README that show their output."""


def matches_shown_output(output: str, expected: str) -> bool:
    """Compare real output with that of the README, where `…` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.strip().split("…"))
    return re.fullmatch(pattern, output.strip(), re.S) is not None


@pytest.fixture(scope="module")
def example_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, where the commands of the README run one after the other."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


@pytest.mark.slow
def test_readme_commands_print_what_it_shows(example_folder: Path) -> None:
    assert [command.split()[0] for command, _ in CONSOLE_EXAMPLES] == ["index", "search", "validate"]
    for command, expected in CONSOLE_EXAMPLES:
        program = str(Path(sys.executable).with_name("pertinent"))
        environment = {**os.environ, "COLUMNS": "80"}
        run = subprocess.run(
            [program, *shlex.split(command)], cwd=example_folder, env=environment, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        assert matches_shown_output(run.stdout, expected), run.stdout


@pytest.mark.slow
def test_readme_request_gets_the_response_it_shows(example_folder: Path) -> None:
    example = re.search(r"localhost:8000(/\S+) .*?-d '(.+?)'.*?json\.tool\n(.*?)```", README, re.S)
    assert example
    route, body, expected = example.groups()
    with Pertinent.open(example_folder / ".pertinent") as book:
        book.index(ROOT / "examples" / "handbook")
        with TestClient(create_app(book), base_url="http://localhost") as client:
            response = client.post(route, json=json.loads(body))
    assert matches_shown_output(json.dumps(response.json(), indent=4), expected), response.text


@pytest.mark.slow
def test_first_verdict_page_runs_as_it_is_written(indexed_examples: Path) -> None:
    """In order, in one folder, with the golden set that the page shows."""
    page = (ROOT / "docs" / "first-verdict.md").read_text(encoding="utf-8")
    (expected,) = re.findall(r"```yaml\n(.*?)```", page, re.S)
    (indexed_examples / "golden.yaml").write_text(expected, encoding="utf-8")
    commands = re.findall(r"^\$ pertinent (.*)$", page, re.M)
    assert [command.split()[0] for command in commands] == ["index", "search", "validate"]
    environment = {**os.environ, "COLUMNS": "80"}
    outputs = []
    for command in commands:
        started = [str(Path(sys.executable).with_name("pertinent")), *shlex.split(command)]
        run = subprocess.run(
            started, cwd=indexed_examples, env=environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stdout + run.stderr
        outputs.append(run.stdout)
    (address,) = re.findall(r"cancel a running action\?\n    labels: (\S+)", expected)
    assert address in outputs[1]
    assert outputs[2].startswith("PASS")
    assert re.search(r"success@5 +≥ 0.8", outputs[2])
    assert "is lost" not in outputs[2]
