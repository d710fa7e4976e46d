"""Damaged search structures of an optimised index: every point can be read, and searches miss them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pertinent.health.audit import REMEDY_REINDEX, take_inventory
from pertinent.health.findability import find_unfindable_chunks
from pertinent.stores import edge_shard
from pertinent.surfaces.library import Pertinent

from ..conftest import FAST

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"


def examine(folder: Path) -> list[str]:
    """Return what the check finds, with the remedies."""
    with Pertinent.open(folder, embedder=FAST) as pertinent:
        workspace = pertinent.workspace
        inventory = take_inventory(workspace.index(), workspace.catalog())
        fingerprint = workspace.catalog().fingerprint()
        assert fingerprint is not None
        findings = find_unfindable_chunks(inventory, workspace.writable_index(), fingerprint.lexical)
    assert {finding.remedy for finding in findings} <= {REMEDY_REINDEX}
    return [finding.problem for finding in findings]


@pytest.mark.parametrize(
    ("damaged", "side"),
    [
        ("vector_index-lexical/inverted_index.dat", "words"),
        ("vector_storage-dense/quantized.data", "vectors"),
    ],
)
def test_damaged_search_structures_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: str, side: str
) -> None:
    monkeypatch.setattr(edge_shard, "FULL_SCAN_KB", 10)
    with Pertinent.open(tmp_path, embedder=FAST) as pertinent:
        pertinent.index(HANDBOOK)
    assert examine(tmp_path) == []
    files = list(tmp_path.glob(f"index/001/segments/*/{damaged}"))
    assert files
    for file in files:
        file.write_bytes(bytes(file.stat().st_size))
    (problem,) = examine(tmp_path)
    assert problem.startswith(f"searches by {side} do not find")
