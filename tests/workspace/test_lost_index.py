"""An index whose folder is gone, while its catalog has pages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pertinent.errors import IndexFailure
from pertinent.surfaces.library import Pertinent

from ..conftest import FAST


def test_search_names_an_index_that_is_lost_after_a_rollback(tmp_path: Path) -> None:
    docs, data = tmp_path / "docs", tmp_path / "data"
    docs.mkdir()
    (docs / "joints.md").write_text("# Joints\n\nA revolute joint has limits.\n")
    with Pertinent.open(data, embedder=FAST) as pertinent:
        pertinent.index(docs)
        pertinent.reindex()
        (docs / "knees.md").write_text("# Knees\n\nA knee is a joint.\n")
        pertinent.index(docs)
        pertinent.rollback()  # all pages are pending now
    shutil.rmtree(data / "index")
    with Pertinent.open(data, embedder=FAST) as pertinent:
        with pytest.raises(IndexFailure, match="gone or empty"):
            pertinent.search("joint")
        assert not (data / "index").exists()
        pertinent.reindex()
        assert pertinent.search("joint").hits
