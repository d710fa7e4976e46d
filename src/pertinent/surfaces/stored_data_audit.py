"""The audit of all stored data, for `pertinent validate --audit`."""

from __future__ import annotations

from ..health.audit import take_inventory
from ..health.stored_data import STORED_DATA_CHECKS, StoredData
from ..types import damaged_points, readable_chunks
from ..validation import integrity
from ..workspace.workspace import Workspace


def audit_stored_data(workspace: Workspace) -> list[str]:
    """Check every page and point of an index, and return a line for each fault."""
    fingerprint = workspace.catalog().fingerprint()
    if fingerprint is None:
        # Pertinent did not make the index: only what holds for every point can be checked.
        points = list(workspace.index().scan())
        damaged = integrity.describe_damaged_points(damaged_points(points))
        return [*damaged, *integrity.describe_faults(readable_chunks(points))]
    index, catalog = workspace.writable_index(), workspace.catalog()
    inventory = take_inventory(index, catalog)
    data = StoredData(inventory, index, catalog, fingerprint, workspace.embedder())
    problems = [finding.problem for check in STORED_DATA_CHECKS for finding in check.find(data)]
    incomplete = integrity.describe_faults(
        chunk for chunk in inventory.in_index.values() if integrity.find_damage(chunk)
    )
    return [*integrity.describe_damaged_points(inventory.damaged), *incomplete, *problems]
