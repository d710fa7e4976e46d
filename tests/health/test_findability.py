"""Damaged search structures of an optimised index: every point can be read, and searches miss them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pertinent.health.audit import REMEDY_REINDEX, take_inventory
from pertinent.health.findability import HITS_PER_SEARCH, find_unfindable_chunks
from pertinent.stores import edge_checksums, edge_shard
from pertinent.stores.edge_requests import OVERSAMPLING
from pertinent.surfaces.library import Pertinent
from pertinent.testing.embedder import HashedWords

from ..conftest import FAST

OFFSET_BYTES = 4
"""How many bytes of a stored 8-bit vector precede its elements."""
LARGEST = 127
"""The largest element of an 8-bit vector."""
DISPLACING = int(HITS_PER_SEARCH * OVERSAMPLING) - 2
"""How many vectors leave place for two others among those that a search scores exactly."""

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


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The handbook in an index that is searched by graph and 8-bit vectors, as large ones are."""
    monkeypatch.setattr(edge_shard, "FULL_SCAN_KB", 10)
    with Pertinent.open(tmp_path, embedder=FAST) as pertinent:
        pertinent.index(HANDBOOK)
    assert examine(tmp_path) == []
    # As in an index of an earlier version, which is opened although these files are damaged.
    (tmp_path / "index" / "001" / edge_checksums.FILE_NAME).unlink()
    return tmp_path


@pytest.mark.parametrize(
    ("damaged", "side"),
    [
        ("vector_index-lexical/inverted_index.dat", "words"),
        ("vector_storage-dense/quantized.data", "vectors"),
    ],
)
def test_damaged_search_structures_are_found(data: Path, damaged: str, side: str) -> None:
    files = list(data.glob(f"index/001/segments/*/{damaged}"))
    assert files
    for file in files:
        file.write_bytes(bytes(file.stat().st_size))
    (problem,) = examine(data)
    assert problem.startswith(f"searches by {side} do not find")


def test_8_bit_vectors_that_displace_others_are_found(data: Path) -> None:
    """Some damaged vectors seem to be nearest to every query: chunks are found, but not those around them."""
    (file,) = data.glob("index/001/segments/*/vector_storage-dense/quantized.data")
    vectors = np.fromfile(file, np.uint8).reshape(-1, OFFSET_BYTES + HashedWords().dimension)
    vectors[:DISPLACING, OFFSET_BYTES:] = LARGEST
    vectors.tofile(file)
    (problem,) = examine(data)
    assert problem.startswith("searches by vectors do not find")
