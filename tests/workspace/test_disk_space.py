"""A disk that is nearly full, as a real file system of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pertinent._internal.disk import MIN_FREE
from pertinent.errors import IndexFailure
from pertinent.surfaces.library import Pertinent

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_reindex_checks_beforehand_that_a_second_build_has_space(disk: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "joints.md").write_text("# Joints\n\nA revolute joint has limits.\n")
    with Pertinent.open(disk / "data", embedder="testing:hashed-words") as pertinent:
        pertinent.index(docs)
        # Enough for a small write, too little for another build.
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(shutil.disk_usage(disk).free - MIN_FREE - 2**20))
        with pytest.raises(IndexFailure, match=r"free \d+ MB") as failure:
            pertinent.reindex()
        assert "--drop-previous" in str(failure.value)
        assert pertinent.search("revolute joint").hits
        ballast.unlink()
        pertinent.reindex()
        assert pertinent.search("revolute joint").hits
