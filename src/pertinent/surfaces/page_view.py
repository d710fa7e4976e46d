"""Read a page with its text and its chunks, and count the pages that a sync has not completed."""

from __future__ import annotations

from ..errors import NotFound
from ..ports import CatalogReader
from ..validation.target import PageView
from ..workspace.workspace import Workspace


def read_page(catalog: CatalogReader, document_id: str) -> PageView:
    """Return the page; raise NotFound if no page has this id."""
    page = catalog.page(document_id)
    if page is None:
        raise NotFound(f"no document has the id {document_id!r}; `pertinent list --json` shows ids")
    return PageView.from_page(page, catalog.chunks(document_id))


def count_pending(workspace: Workspace) -> int:
    """Count the pages that a sync has begun to change in the index and not committed to the catalog."""
    if workspace.catalog().fingerprint() is None:
        return 0  # Pertinent does not write to this collection.
    return len(workspace.writable_catalog().pending())
