"""Models: loaded once for the workspaces that share them, and let go with the workspace that has its own."""

from __future__ import annotations

import weakref
from pathlib import Path

import pytest

from pertinent.errors import FingerprintMismatch
from pertinent.settings import Settings
from pertinent.surfaces.library import Pertinent
from pertinent.workspace.models import Models
from pertinent.workspace.workspace import Workspace


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "joints.md").write_text("# Joints\n\nFriction slows a joint down.\n", encoding="utf-8")
    settings = Settings(folder=tmp_path / "data", embedder="testing:hashed-words")
    with Pertinent(Workspace(settings)) as pertinent:
        pertinent.index(docs, base_url="https://robots.example/docs")
    return settings


def search(settings: Settings, models: Models | None = None) -> Workspace:
    """Open the index, search and close it; return the closed workspace."""
    workspace = Workspace(settings, models)
    with Pertinent(workspace) as pertinent:
        assert pertinent.search("friction").hits
    return workspace


def test_models_stay_loaded_for_the_next_workspace(settings: Settings) -> None:
    models = Models(settings)
    search(settings, models)
    embedder = models.embedder()
    search(settings, models)
    assert models.embedder() is embedder


def test_closed_workspace_keeps_no_model(settings: Settings) -> None:
    workspace = Workspace(settings)
    with Pertinent(workspace) as pertinent:
        pertinent.search("friction")
        embedder = weakref.ref(workspace.embedder())
    assert embedder() is None


def test_loaded_model_is_checked_against_each_index(settings: Settings) -> None:
    models = Models(settings)
    search(settings, models)
    changed = settings.model_copy(update={"chunk_tokens": 100})
    with Pertinent(Workspace(changed)) as pertinent:
        pertinent.reindex()
    with pytest.raises(FingerprintMismatch):
        search(settings, models)
