"""The GitHub Action: its files fit GitHub's schemas, and each script of its steps runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from pertinent.validation.report_files import load_report

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "github-action.md").read_text(encoding="utf-8")
WORKFLOWS = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]

DOCS = {
    "docs/joints.md": "# Joints\n\n## Limits\n\nA revolute joint has limits for its angle.\n",
    "docs/nodes.md": "# Nodes\n\n## Topics\n\nNodes publish messages on topics.\n",
    "pertinent.toml": 'embedder = "testing:hashed-words"\n',
    "golden.yaml": "queries:\n- {text: limits of a revolute joint, labels: docs/joints.md#limits}\n",
    "wrong.yaml": "queries:\n- {text: limits of a revolute joint, labels: docs/nodes.md#topics}\n",
}
REQUIRE = "queries_reaching=0\nmrr=0.9\n\nsuccess@5=0.8\n"


@dataclass
class Runner:
    """What GitHub does with the steps of an action: fill in expressions, run scripts, collect outputs."""

    folder: Path
    program_folder: Path
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""

    def run_step(self, name: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the script of a step as GitHub runs `shell: bash`."""
        (step,) = (step for step in STEPS if step["name"] == name)
        files = {name: self.folder.parent / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("", encoding="utf-8")
        variables = {
            **os.environ,
            **{name: self.evaluate(value) for name, value in step["env"].items()},
            **{name: str(path) for name, path in files.items()},
            **environment,
            "PATH": f"{self.program_folder}{os.pathsep}{os.environ['PATH']}",
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        result = subprocess.run(
            command, cwd=self.folder, env=variables, capture_output=True, text=True, check=False
        )
        lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
        if lines:
            self.outputs = dict(line.split("=", 1) for line in lines)
        self.summary += files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        return result

    def evaluate(self, text: str) -> str:
        """Fill in the expressions that the action uses."""
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda match: self._evaluate_expression(match[1]), text)

    def _evaluate_expression(self, expression: str) -> str:
        defaults = {name: entry.get("default", "") for name, entry in ACTION["inputs"].items()}
        values: Mapping[str, str] = {
            **{f"inputs.{name}": value for name, value in {**defaults, **self.inputs}.items()},
            **{f"steps.validate.outputs.{name}": value for name, value in self.outputs.items()},
            "github.action_path": str(ROOT),
            "runner.temp": str(self.folder.parent / "temp"),
        }
        return next((values[term] for term in expression.split(" || ") if values[term]), "")


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A checked-out repository, and the installed `pertinent`."""
    folder = tmp_path / "repository"
    for name, text in DOCS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    inputs = {"source": "docs", "base-url": "https://book.example/docs", "require": REQUIRE}
    return Runner(folder, Path(sys.executable).parent, inputs)


def check_schema(schema: str, path: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
def test_action_fits_githubs_schema() -> None:
    check_schema("vendor.github-actions", ROOT / "action.yml")


@pytest.mark.slow
def test_workflow_of_the_docs_fits_githubs_schema(tmp_path: Path) -> None:
    (text,) = WORKFLOWS
    path = tmp_path / "workflow.yaml"
    path.write_text(text, encoding="utf-8")
    check_schema("vendor.github-workflows", path)


def test_workflow_of_the_docs_uses_inputs_of_the_action() -> None:
    (text,) = WORKFLOWS
    steps = yaml.safe_load(text)["jobs"]["validate"]["steps"]
    (step,) = (step for step in steps if "pertinent@" in step["uses"])
    required = {name for name, entry in ACTION["inputs"].items() if entry.get("required")}
    assert required <= step["with"].keys() <= ACTION["inputs"].keys()


def test_page_names_every_input_with_its_default_and_every_output() -> None:
    for name, entry in ACTION["inputs"].items():
        (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.M)
        default = entry.get("default")
        assert not default or f"`{default}`" in row
    assert all(f"| `{name}` |" in PAGE for name in ACTION["outputs"])


def test_no_input_becomes_part_of_a_script() -> None:
    """An input in a script could run commands of whoever opens a pull request."""
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert scripts
    assert not [script for script in scripts if "${{" in script]


@pytest.mark.parametrize("golden", ["golden.yaml", "wrong.yaml", "missing.yaml"])
def test_output_of_pertinent_gives_github_no_commands(runner: Runner, golden: str) -> None:
    """A page or a query may hold `##[error]` or `::add-mask::`, which GitHub would obey."""
    runner.inputs["golden"] = golden
    tokens = set()
    for name in ("Index", "Validate"):
        lines = runner.run_step(name).stdout.splitlines()
        token = lines[0].removeprefix("::stop-commands::")
        assert re.fullmatch("[0-9a-f]{32}", token), lines[0]
        assert lines[-1] == f"::{token}::"
        tokens.add(token)
    assert len(tokens) == 2


def test_commands_start_again_after_a_failed_sync(runner: Runner) -> None:
    runner.inputs["source"] = "nowhere"
    result = runner.run_step("Index")
    assert result.returncode == 2
    lines = result.stdout.splitlines()
    assert lines[-1] == f"::{lines[0].removeprefix('::stop-commands::')}::"


def test_outputs_are_those_of_the_step(runner: Runner) -> None:
    values = [output["value"] for output in ACTION["outputs"].values()]
    runner.outputs = {"verdict": "PASS", "report": "report.json", "junit": "junit.xml"}
    assert [runner.evaluate(value) for value in values] == ["PASS", "report.json", "junit.xml"]


@pytest.mark.slow
def test_install_step_installs_this_version(runner: Runner, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    runner.program_folder = tmp_path / "venv" / "bin"
    (packages,) = (tmp_path / "venv").glob("lib/python*/site-packages")
    # The dependencies are those of this environment: downloading them again would prove nothing.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    result = runner.run_step("Install")
    assert result.returncode == 0, result.stderr
    assert (packages / "pertinent" / "integrations" / "pytest_plugin.py").exists()
    result = runner.run_step("Index")
    assert result.returncode == 0, result.stderr
    assert (runner.folder / ".pertinent").is_dir()


@pytest.mark.slow
def test_passing_run_reports_and_succeeds(runner: Runner) -> None:
    assert runner.run_step("Index").returncode == 0
    result = runner.run_step("Validate")
    assert result.returncode == 0, result.stderr
    assert runner.outputs["verdict"] == "PASS"
    report = load_report(runner.outputs["report"])
    assert report.verdict == "PASS"
    assert report.test_cases[0].actual_results[0].url == "https://book.example/docs/joints"
    junit = ET.parse(runner.outputs["junit"]).getroot()  # noqa: S314 - it is our own
    assert junit.get("failures") == "0"
    assert runner.run_step("Summary").returncode == 0
    assert runner.summary.startswith("## ✓ PASS")
    assert runner.run_step("Verdict").returncode == 0


@pytest.mark.slow
def test_failing_run_reports_and_fails(runner: Runner) -> None:
    runner.run_step("Index")
    runner.inputs["golden"] = "wrong.yaml"
    result = runner.run_step("Validate")
    assert (result.returncode, runner.outputs["verdict"]) == (0, "FAIL"), result.stderr
    runner.run_step("Summary")
    assert "✕ FAIL" in runner.summary
    assert runner.run_step("Verdict").returncode == 1


@pytest.mark.slow
def test_baseline_and_requirements_reach_the_command(runner: Runner) -> None:
    runner.run_step("Index")
    runner.run_step("Validate")
    runner.inputs |= {"baseline": runner.outputs["report"], "max-regression": "0.1", "artifact": "second"}
    result = runner.run_step("Validate")
    report = load_report(runner.outputs["report"])
    assert result.returncode == 0, result.stderr
    names = [criterion.name for criterion in report.criteria]
    assert {"success@5", "baseline"} <= set(names)
    assert Path(runner.outputs["report"]).parent.name == "second"


@pytest.mark.slow
def test_missing_golden_set_is_invalid_and_says_so(runner: Runner) -> None:
    runner.run_step("Index")
    runner.inputs["golden"] = "missing.yaml"
    result = runner.run_step("Validate")
    assert "missing.yaml can't be read" in result.stderr
    assert (runner.outputs["verdict"], runner.outputs["report"]) == ("INVALID", "")
    assert runner.outputs["junit"] == ""
    runner.run_step("Summary")
    assert runner.summary.startswith("## ? INVALID: no report was written\n\n```text\npertinent: golden: mis")
    assert runner.run_step("Verdict").returncode == 2


@pytest.mark.slow
def test_run_without_a_report_does_not_show_that_of_an_earlier_run(runner: Runner) -> None:
    runner.run_step("Index")
    runner.run_step("Validate")
    earlier = Path(runner.outputs["report"])
    runner.inputs["golden"] = "missing.yaml"
    runner.run_step("Validate")
    runner.run_step("Summary")
    assert runner.outputs == {"code": "2", "verdict": "INVALID", "report": "", "junit": ""}
    assert "missing.yaml" in runner.summary
    assert "PASS" not in runner.summary
    assert not (earlier.parent / "junit.xml").exists()
    assert earlier.exists()


@pytest.mark.slow
def test_missing_baseline_is_named_as_the_input(runner: Runner) -> None:
    runner.run_step("Index")
    runner.inputs["baseline"] = "baseline.json"
    runner.run_step("Validate")
    runner.run_step("Summary")
    assert "pertinent: --baseline: baseline.json can't be read: No such file" in runner.summary


@pytest.mark.slow
def test_input_with_shell_characters_is_text(runner: Runner) -> None:
    runner.inputs |= {"source": "docs; touch broken", "golden": "$(touch broken).yaml", "base-url": ""}
    assert runner.run_step("Index").returncode != 0
    runner.run_step("Validate")
    assert not (runner.folder / "broken").exists()


@pytest.mark.slow
@pytest.mark.parametrize("golden", ["--help", "--version", "-h"])
def test_golden_set_that_looks_like_an_option_is_no_pass(runner: Runner, golden: str) -> None:
    runner.run_step("Index")
    runner.inputs["golden"] = golden
    runner.run_step("Validate")
    assert runner.outputs["verdict"] == "INVALID"
    assert runner.run_step("Verdict").returncode == 2
