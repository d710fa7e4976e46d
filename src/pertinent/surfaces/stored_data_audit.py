"""The audit of all stored data, for `pertinent validate --audit`."""

from __future__ import annotations

from ..health import audit, findability
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
    index = workspace.writable_index()
    inventory = audit.take_inventory(index, workspace.catalog())
    findings = [
        *audit.find_unreadable_pages(inventory),
        *audit.find_repeated_pages(inventory),
        *audit.find_drift(inventory),
        *audit.find_wrong_descriptions(inventory, workspace.catalog()),
        *audit.find_altered_texts(inventory),
        *audit.find_altered_pages(inventory),
        *audit.find_wrong_slices(inventory),
        *audit.find_wrong_positions(inventory),
        *audit.find_stale_vectors(inventory, index, fingerprint.embedder),
        *audit.find_damaged_vectors(inventory, index),
        *audit.find_wrong_word_weights(inventory, index, fingerprint.lexical),
        *audit.find_damaged_filters(inventory, index),
        *findability.find_unfindable_chunks(inventory, index, fingerprint.lexical),
        *audit.find_wrong_vocabulary(inventory, workspace.catalog()),
        *audit.find_wrong_vectors(inventory, index, workspace.embedder()),
    ]
    incomplete = integrity.describe_faults(
        chunk for chunk in inventory.in_index.values() if integrity.find_damage(chunk)
    )
    problems = [finding.problem for finding in findings]
    return [*integrity.describe_damaged_points(inventory.damaged), *incomplete, *problems]
