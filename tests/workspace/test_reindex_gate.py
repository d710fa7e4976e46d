"""The gate of `reindex --validate` measures the old build with the settings that it was made with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pertinent.surfaces.library import Pertinent
from pertinent.surfaces.reindex_gate import ReindexGate

from ..conftest import FAST

WORDS = ("joint", "sensor", "wheel", "camera", "battery", "gripper")


def opened(folder: Path, **settings: Any) -> Pertinent:
    usual = {"embedder": FAST, "query_cache": 0, "ranking": "lexical"}
    return Pertinent.open(folder / "data", **usual, **settings)


def test_reindex_gate_measures_the_old_build_in_its_own_language(tmp_path: Path) -> None:
    docs, golden = tmp_path / "docs", tmp_path / "golden.yaml"
    docs.mkdir()
    for word in WORDS:
        (docs / f"{word}.md").write_text(f"# Part\n\nEach {word} is checked.\n")
    with opened(tmp_path, language="english") as pertinent:
        pertinent.index(docs, name="docs")
        queries = [
            f"  - {{id: {Path(page.source_path).stem}, text: checking {Path(page.source_path).stem}s, "
            f"labels: [{{page: {page.source_path}, grade: 2}}]}}"
            for page in pertinent.pages()
        ]
        golden.write_text("\n".join(["version: 1", "queries:", *queries]))
        usual = measure_build_in_use(pertinent, golden)
    with opened(tmp_path, language="none") as pertinent:
        assert measure_build_in_use(pertinent, golden) == usual


def measure_build_in_use(pertinent: Pertinent, golden: Path) -> list[float | None]:
    """Return the scores that a reindex finds in the build in use."""
    gate = ReindexGate(pertinent.workspace, golden, lambda _: None)
    fingerprint, _ = pertinent.workspace.open_current_build()
    report = gate._validate_old(fingerprint)
    return [result.similarity_score for case in report.test_cases for result in case.actual_results]
