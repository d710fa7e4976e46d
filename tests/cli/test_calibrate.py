"""`pertinent calibrate`: the plot, the proposal, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .conftest import Run, Start

pytestmark = pytest.mark.usefixtures("indexed")

GOLDEN = """
name: robots
answer_threshold: 0.9
queries:
  - {id: joints, text: A revolute joint has limits for its angle, labels: [{page: docs/joints.md, grade: 2}]}
  - {id: nodes, text: A node is a process that talks to nodes, labels: [{page: docs/nodes.md, grade: 2}]}
  - {id: launch, text: A launch file starts many nodes, labels: [{page: docs/guide/launch.md, grade: 2}]}
  - {id: empty, text: "", query_type: edge, answerable: false}
  - {id: pizza, text: pizza oven temperature, answerable: false}
  - {id: tax, text: income tax deadline, answerable: false}
"""


@pytest.fixture
def golden() -> Path:
    path = Path("golden.yaml")
    path.write_text(GOLDEN, encoding="utf-8")
    return path


def test_calibrate_prints_the_threshold_and_where_to_set_it(run: Run, golden: Path) -> None:
    result = run("calibrate", golden, exits=0)
    output = result.stdout
    assert "robots, ranking hybrid: 3 queries with an answer, 2 without; 1 gave no score" in output
    (threshold,) = re.findall(r"^  answer_threshold: (0\.\d+)$", output, re.MULTILINE)
    assert f'pertinent search "…" --ranking hybrid --threshold {threshold}' in output
    assert re.search(
        rf"proposed {threshold} +3 of 3 \(100%\) +3 of 3 \(100%\) +0 of 2 \(0%\) +100\.0%", output
    )
    assert re.search(r"present 0\.90 +3 of 3 \(100%\) +3 of 3 \(100%\) +0 of 2 \(0%\) +100\.0%", output)
    assert "only 2 queries have no answer" in " ".join(output.split())


def test_calibrate_plot_fits_80_columns_and_marks_both_thresholds(run: Run, golden: Path) -> None:
    lines = run("calibrate", golden).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line for line in lines if "%" in line and "of" not in line and "█" in line]
    assert len(rows) > 5
    assert sum(line.endswith("← proposed") for line in lines) == 1
    assert sum(line.endswith("← present") for line in lines) == 1
    assert "█████████████ 100%" in rows[0]


def test_calibrate_keeps_a_threshold_that_is_optimal(run: Run, golden: Path) -> None:
    threshold = json.loads(run("calibrate", golden, "--json").stdout)["threshold"]
    golden.write_text(GOLDEN.replace("0.9\n", f"{threshold}\n"), encoding="utf-8")
    second = json.loads(run("calibrate", golden, "--json").stdout)
    assert second["present"] == second["proposed"]
    # A mark for both would hide one of them.
    assert "← proposed" in run("calibrate", golden).stdout


def test_calibrate_json_is_the_calibration_alone(run: Run, golden: Path) -> None:
    calibration = json.loads(run("calibrate", golden, "--json", "--ranking", "lexical").stdout)
    assert calibration["ranking"] == "lexical"
    assert calibration["present"]["threshold"] == 0.9
    assert calibration["left_out"].keys() == {"empty"}
    assert calibration["curve"][0]["threshold"] == 0
    assert calibration["low"] <= calibration["threshold"] <= calibration["high"]


def test_calibrate_writes_no_file(run: Run, golden: Path) -> None:
    before = golden.read_text(encoding="utf-8")
    run("calibrate", golden)
    assert golden.read_text(encoding="utf-8") == before
    assert {path.name for path in Path.cwd().iterdir()} == {".pertinent", "golden.yaml"}


def test_calibrate_requires_unanswerable_queries(run: Run, golden: Path) -> None:
    golden.write_text(GOLDEN.partition("  - {id: empty")[0], encoding="utf-8")
    result = run("calibrate", golden, exits=2)
    assert result.stdout == ""
    assert "answerable: false" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.yaml"], "nowhere.yaml can't be read"),
        (["golden.docx"], "unknown format"),
    ],
)
def test_calibrate_refuses_a_bad_golden_set(
    run: Run, golden: Path, arguments: list[str], message: str
) -> None:
    result = run("calibrate", *arguments, exits=2)
    assert message in result.stderr
    assert result.stdout == ""


def test_calibrate_without_an_index_names_the_command_to_run(run: Run, golden: Path) -> None:
    result = run("calibrate", golden, "--folder", "elsewhere", exits=2)
    assert "pertinent index" in result.stderr
    assert not Path("elsewhere").exists()


def test_calibrate_draws_ascii_bars_without_unicode(start: Start, golden: Path) -> None:
    result = start("calibrate", golden, PYTHONIOENCODING="ascii")
    assert result.returncode == 0, result.stderr
    assert "############# 100%" in result.stdout
    assert "<- proposed" in result.stdout
    assert "?" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
