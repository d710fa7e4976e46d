"""A rollback to a build that has lost chunks: its pages are written again by the next sync."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import qdrant_edge as qdrant
from typer.testing import CliRunner

from pertinent.identity import point_id
from pertinent.stores.edge import EdgeIndex
from pertinent.surfaces.cli.app import app
from pertinent.surfaces.library import Pertinent
from pertinent.types import readable_chunks

from .pages import write_pages

NAMES = ("gripper", "knee", "camera")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_pages(tmp_path / "docs", NAMES)


@pytest.fixture
def library(tmp_path: Path, docs: Path) -> Iterator[Pertinent]:
    options = {"embedder": "testing:hashed-words", "chunk_tokens": 20, "query_cache": 0}
    with Pertinent.open(tmp_path / "data", **options) as opened:
        opened.index(docs)
        yield opened


def knee_chunk_ids(library: Pertinent) -> list[str]:
    """Return the ids of the chunks of a page in the index, in order."""
    stored = readable_chunks(library.workspace.index().scan())
    chunks = [chunk for chunk in stored if chunk.title == "The knee"]
    return [chunk.chunk_id for chunk in sorted(chunks, key=lambda chunk: chunk.position)]


@pytest.mark.parametrize("kept", [slice(0), slice(1), slice(1, None)], ids=["none", "first", "not the first"])
def test_sync_after_a_rollback_restores_lost_chunks(library: Pertinent, docs: Path, kept: slice) -> None:
    complete = knee_chunk_ids(library)
    assert len(complete) == 3
    document_id = next(page.document_id for page in library.pages() if page.title == "The knee")
    library.workspace.writable_index().delete_stale_points(
        document_id, keep=[point_id(chunk_id) for chunk_id in complete[kept]]
    )
    library.reindex()
    assert knee_chunk_ids(library) == complete
    library.rollback()
    assert library.workspace.writable_catalog().pending() == [document_id]
    assert library.index(docs).pages_changed == 1
    assert knee_chunk_ids(library) == complete
    assert library.workspace.writable_catalog().pending() == []
    assert {page.chunks for page in library.pages()} == {3}


def test_rollback_command_says_that_pages_may_be_out_of_date(library: Pertinent, docs: Path) -> None:
    library.reindex()
    (docs / "knee.md").write_text("# The knee\n\nThe knee is replaced once a year.\n")
    library.index(docs)
    library.close()
    data = library.workspace.settings.folder
    options = ["--folder", f"{data}", "--embedder", "testing:hashed-words", "reindex", "--rollback"]
    rolled = CliRunner().invoke(app, options)
    assert rolled.stdout.splitlines()[-1] == (
        "3 pages of it may be out of date. Now run `pertinent index` for each source."
    )


def test_sync_after_a_rollback_deletes_emptied_points(library: Pertinent, docs: Path) -> None:
    complete = knee_chunk_ids(library)
    document_id = next(page.document_id for page in library.pages() if page.title == "The knee")
    index = library.workspace.writable_index()
    assert isinstance(index, EdgeIndex)
    emptied = qdrant.Point(uuid4(), {}, {"document_id": document_id})
    index._update(qdrant.UpdateOperation.upsert_points([emptied]))
    library.reindex()
    library.rollback()
    assert library.workspace.index().count() == len(NAMES) * 3 + 1
    assert library.workspace.writable_catalog().pending() == [document_id]
    library.index(docs)
    assert library.workspace.index().count() == len(NAMES) * 3
    assert knee_chunk_ids(library) == complete
