"""Switching the handbook to another model and back, through the gate of its golden set."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner, Result

from pertinent.surfaces.cli.app import app
from pertinent.surfaces.library import Pertinent
from pertinent.validation.golden.golden_set import load_golden_file

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cached_vectors")]

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"
GOLDEN = HANDBOOK / "golden.yaml"
MINILM = "local:all-MiniLM-L6-v2"
BGE = "local:bge-small-en-v1.5"
QUERY = "How do I keep a humanoid from falling over?"

Hits = list[dict[str, Any]]


class Switch(NamedTuple):
    """The data folder after `reindex` to bge, its output, and the hits that MiniLM had before."""

    folder: Path
    output: Result
    minilm_hits: Hits


def run(folder: Path, *arguments: str | Path, exits: int = 0) -> Result:
    result = CliRunner().invoke(app, ["--folder", str(folder), *map(str, arguments)])
    assert result.exit_code == exits, result.output
    return result


def search(folder: Path, embedder: str) -> Hits:
    hits: Hits = json.loads(run(folder, "search", QUERY, "--embedder", embedder, "--json").stdout)["results"]
    return hits


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Switch:
    folder = tmp_path_factory.mktemp("models") / "data"
    run(folder, "index", HANDBOOK)
    minilm_hits = search(folder, MINILM)
    output = run(folder, "reindex", "--embedder", BGE, "--validate", GOLDEN)
    return Switch(folder, output, minilm_hits)


def test_reindex_switches_from_minilm_to_bge_through_the_golden_set(switch: Switch) -> None:
    assert "The index was rebuilt" in switch.output.stdout
    for line in ("new: PASS", "old: PASS"):
        assert line in switch.output.stderr
    hits = search(switch.folder, BGE)
    assert hits[0]["url"] == switch.minilm_hits[0]["url"]
    assert hits[0]["similarity_score"] != switch.minilm_hits[0]["similarity_score"]


def test_index_of_bge_refuses_minilm(switch: Switch) -> None:
    refused = run(switch.folder, "search", QUERY, "--embedder", MINILM, exits=2)
    assert f"embedder is '{BGE}' in the index and '{MINILM}' in the settings" in refused.stderr


def test_reindex_switches_back_to_minilm_with_the_same_hits(switch: Switch, tmp_path: Path) -> None:
    folder = shutil.copytree(switch.folder, tmp_path / "data")
    output = run(folder, "reindex", "--embedder", MINILM, "--validate", GOLDEN)
    assert "new: PASS" in output.stderr
    assert search(folder, MINILM) == switch.minilm_hits


def test_rule_23_a_score_of_one_half_separates_answerable_queries_with_bge(switch: Switch) -> None:
    """The best hit of 95 % of the answerable queries reaches it, and of at most 10 % of the others."""
    reached: dict[bool, list[bool]] = {True: [], False: []}
    with Pertinent.open(switch.folder, embedder=BGE) as pertinent:
        for query in load_golden_file(GOLDEN).queries:
            if query.text.strip():
                hits = pertinent.search(query.text, top_k=1).hits
                is_answerable = query.answerable and any(label.grade > 0 for label in query.labels)
                reached[is_answerable].append(bool(hits) and hits[0].score >= 0.5)
    assert sum(reached[True]) / len(reached[True]) >= 0.95
    assert sum(reached[False]) / len(reached[False]) <= 0.10
