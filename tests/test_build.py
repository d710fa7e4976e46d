"""Embedders of other packages, found by their entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pertinent import build
from pertinent.errors import SettingsError
from pertinent.settings import Settings, find_plugin, load

Install = Callable[[str], None]

PLUGIN = """
from pertinent.testing.embedder import HashedWords

def create_embedder(model):
    embedder = HashedWords()
    embedder.name, embedder.model = f"acme:{model}", model
    return embedder
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a distribution whose entry point `acme` names the given factory."""

    def write_distribution(factory: str) -> None:
        (tmp_path / "acme_models.py").write_text(PLUGIN, encoding="utf-8")
        info = tmp_path / "acme_models-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-models\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pertinent.embedders]\nacme = {factory}\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        find_plugin.cache_clear()

    yield write_distribution
    find_plugin.cache_clear()


def test_embedder_of_another_package_is_created_by_its_entry_point(install: Install) -> None:
    install("acme_models:create_embedder")
    embedder = build.create_embedder(Settings(embedder="acme:small"))
    assert (embedder.name, embedder.model, embedder.dimension) == ("acme:small", "small", 64)


def test_entry_point_that_fails_to_import_is_reported(install: Install) -> None:
    install("acme_models:missing")
    with pytest.raises(SettingsError, match="acme can't be loaded from acme_models:missing"):
        build.create_embedder(Settings(embedder="acme:small"))


def test_provider_of_no_package_is_refused() -> None:
    with pytest.raises(SettingsError, match="or the provider of an installed package, not 'acme:small'"):
        load({"embedder": "acme:small"}, environment={})


def test_testing_provider_refuses_other_models() -> None:
    with pytest.raises(SettingsError, match="must be testing:hashed-words, not 'testing:other'"):
        build.create_embedder(Settings(embedder="testing:other"))
