"""Damaged files of the embedded engine that it opens without an error."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pertinent.errors import IndexFailure
from pertinent.stores import edge_shard
from pertinent.surfaces.library import Pertinent

from ..conftest import FAST


def flip_a_bit(log: Path) -> None:
    file = log / "open-1"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)


def delete_file(log: Path) -> None:
    (log / "open-1").unlink()


def write_docs(docs: Path, text: str) -> None:
    docs.mkdir(exist_ok=True)
    (docs / "links.md").write_text("# Links\n\nA link is a rigid body.\n")
    (docs / "joints.md").write_text(f"# Joints\n\n{text}\n")


def search(pertinent: Pertinent) -> list[tuple[str, str]]:
    hits = pertinent.search("revolute prismatic", ranking="lexical").hits
    return [(hit.chunk.citation, hit.chunk.text) for hit in hits]


def edit_a_page(docs: Path) -> None:
    write_docs(docs, "A prismatic joint slides.")


def move_a_page(docs: Path) -> None:
    """Only the addresses of its points change."""
    page = (docs / "joints.md").read_text()
    (docs / "joints.md").write_text(f"---\nslug: /axes\n---\n{page}")


@pytest.mark.parametrize("damage", [flip_a_bit, delete_file, shutil.rmtree])
@pytest.mark.parametrize("change", [edit_a_page, move_a_page])
def test_sync_fails_if_the_index_ignores_changes_and_reindex_repairs_it(
    tmp_path: Path, damage: Callable[[Path], Any], change: Callable[[Path], None]
) -> None:
    docs, data = tmp_path / "docs", tmp_path / "data"
    with Pertinent.open(data, embedder=FAST) as pertinent:
        for text in ("A joint moves.", "A spherical joint turns.") * 5 + ("A revolute joint has limits.",):
            write_docs(docs, text)
            pertinent.index(docs)
    damage(data / "index" / "001" / "wal")
    change(docs)
    with Pertinent.open(data, embedder=FAST) as pertinent:
        with pytest.raises(IndexFailure, match="`pertinent reindex` rebuilds it"):
            pertinent.index(docs)
        pertinent.reindex()
        pertinent.index(docs)
        with Pertinent.open(tmp_path / "fresh", embedder=FAST) as fresh:
            fresh.index(docs)
            assert search(pertinent) == search(fresh)


def test_reindex_repairs_an_index_with_a_damaged_list_of_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_shard, "FULL_SCAN_KB", 10)
    docs, data = tmp_path / "docs", tmp_path / "data"
    write_docs(docs, "A revolute joint has limits.")
    (docs / "more.md").write_text("".join(f"# Axis {number}\n\nIt turns.\n\n" for number in range(100)))
    with Pertinent.open(data, embedder=FAST) as pertinent:
        pertinent.index(docs)
        hits = search(pertinent)
    (words,) = data.glob("index/001/segments/*/vector_index-lexical/inverted_index.dat")
    words.write_bytes(bytes(words.stat().st_size))
    with Pertinent.open(data, embedder=FAST) as pertinent:
        with pytest.raises(IndexFailure, match="`pertinent reindex` rebuilds it"):
            search(pertinent)
        pertinent.reindex()
        assert search(pertinent) == hits
