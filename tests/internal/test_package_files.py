"""Files of installed packages: found by their record, without an import, and checked."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from pertinent._internal.package_files import locate_package_files
from pertinent.errors import EmbedderError, SettingsError

PACKAGE = "carried-models==1.2.0"
WEIGHTS = b"weights"
FILES = {"carried_models/data/model.onnx": hashlib.sha256(WEIGHTS).hexdigest()}


@pytest.fixture
def site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path with an installed package that can't be imported."""
    model = tmp_path / "carried_models" / "data" / "model.onnx"
    model.parent.mkdir(parents=True)
    model.write_bytes(WEIGHTS)
    (tmp_path / "carried_models" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    info = tmp_path / "carried_models-1.2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: carried-models\nVersion: 1.2.0\n")
    (info / "RECORD").write_text("carried_models/data/model.onnx,,\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_locate_package_files_returns_paths_without_an_import(site_packages: Path) -> None:
    paths = locate_package_files(PACKAGE, FILES)
    assert paths == {name: site_packages / name for name in FILES}
    assert "carried_models" not in sys.modules


def test_locate_package_files_refuses_a_changed_file(site_packages: Path) -> None:
    (site_packages / "carried_models/data/model.onnx").write_bytes(b"weightz")
    with pytest.raises(EmbedderError, match=r"model\.onnx is damaged.*--no-deps carried-models==1\.2\.0"):
        locate_package_files(PACKAGE, FILES)


def test_locate_package_files_names_a_missing_file(site_packages: Path) -> None:
    (site_packages / "carried_models/data/model.onnx").unlink()
    with pytest.raises(EmbedderError, match=r"can't read .*model\.onnx \(No such file.*pip install"):
        locate_package_files(PACKAGE, FILES)


def test_locate_package_files_names_the_package_to_install(site_packages: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent-models is not installed: pip install absent-models==1"):
        locate_package_files("absent-models==1", FILES)
    with pytest.raises(SettingsError, match=r"the version 1\.2\.0: pip install carried-models==1\.3\.0"):
        locate_package_files("carried-models==1.3.0", FILES)
