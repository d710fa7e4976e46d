"""The published schemas: those of the code, and what the example files obey."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema_rs
import pytest
import yaml

from pertinent.validation import report
from pertinent.validation.golden import golden_set as golden

from .conftest import Judge

ROOT = Path(__file__).parents[2]


def published(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((ROOT / "docs" / "schemas" / f"{name}.schema.json").read_text())
    return schema


@pytest.mark.parametrize(("name", "module"), [("golden", golden), ("report", report)])
def test_published_schemas_match_the_models(name: str, module: ModuleType) -> None:
    assert published(name) == module.json_schema(), f"write docs/schemas/{name}.schema.json anew"


@pytest.mark.parametrize("name", ["golden.yaml", "golden-hard.yaml"])
def test_golden_schema_accepts_the_handbook_sets(name: str) -> None:
    data = yaml.safe_load((ROOT / "examples" / "handbook" / name).read_text(encoding="utf-8"))
    jsonschema_rs.validate(published("golden"), data)


@pytest.mark.parametrize("page", ["validation.md", "first-verdict.md"])
def test_golden_schema_accepts_the_sets_in_the_docs(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    sets = [example for example in re.findall(r"```yaml\n(.*?)```", text, re.S) if "queries:" in example]
    assert sets
    for example in sets:
        jsonschema_rs.validate(published("golden"), yaml.safe_load(example))
        assert len(golden.parse_golden(example, "shown.yaml").queries) >= 2


def test_golden_schema_accepts_the_short_form_with_a_text() -> None:
    short = {
        "queries": [
            {"text": "a", "labels": "docs/a.md#b"},
            {"text": "b", "labels": {"page": "docs/a.md"}},
            {"text": "c", "labels": ["docs/a.md", {"url": "https://x.org/a#b"}]},
            {"text": "d", "expected_criteria": {"reviewer": {"name": "ann"}}},
        ]
    }
    jsonschema_rs.validate(published("golden"), short)
    assert len(golden.parse_golden(json.dumps(short), "short.json").queries) == 4
    assert not jsonschema_rs.is_valid(published("golden"), {"queries": [{"labels": "docs/a.md"}]})
    assert not jsonschema_rs.is_valid(published("golden"), {"queries": [{"text": "a", "labels": 7}]})


def test_golden_schema_refuses_grade_3() -> None:
    label = {"page": "docs/x.md", "grade": 3}
    data = {"version": 1, "queries": [{"id": "x", "text": "y", "labels": [label]}]}
    assert not jsonschema_rs.is_valid(published("golden"), data)


def test_report_schema_accepts_a_report(judged: Judge) -> None:
    jsonschema_rs.validate(published("report"), json.loads(judged(audit=True).model_dump_json()))
