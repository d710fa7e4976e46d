"""What every test may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pertinent.build import Workspace
from pertinent.settings import Settings
from pertinent.surfaces import library

FAST = "testing:hashed-words"


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reads this machine's settings, nor leaves an index open."""
    for name in (
        "COHERE_API_KEY",
        "DATABASE_URL",
        "QDRANT_API_KEY",
        "QDRANT_COLLECTION_NAME",
        "QDRANT_URL",
        "PERTINENT_EMBEDDER",
        "PERTINENT_FOLDER",
    ):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    yield
    library.close_default()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Real stores in an empty folder, and an embedder that needs no model."""
    opened = Workspace(Settings(folder=tmp_path / "data", embedder=FAST, chunk_tokens=60))
    yield opened
    opened.close()
