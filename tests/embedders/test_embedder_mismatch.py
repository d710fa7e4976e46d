"""An embedder that differs from the index's is refused before any request to its service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from typer.testing import CliRunner

from pertinent.surfaces.cli.app import app

from ..servers.faulty_api import KEY
from .wire import Wire


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wire: Wire) -> Iterator[Path]:
    """A page that is indexed with another embedder than the service's."""
    for name in ("OPENAI", "COHERE"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", wire.url)
    monkeypatch.setenv("PERTINENT_COHERE_BASE_URL", wire.url)
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "book" / "page.md"
    page.parent.mkdir()
    page.write_text("# A page\n\nIt tells of nodes.\n", encoding="utf-8")
    indexed = CliRunner().invoke(app, ["--embedder", "testing:hashed-words", "index", str(page.parent)])
    assert indexed.exit_code == 0, indexed.output
    page.write_text("# A page\n\nIt tells of joints.\n", encoding="utf-8")
    yield page.parent
    # `serve` in this process has set the logs up for the streams of its test.
    structlog.reset_defaults()


@pytest.mark.parametrize("embedder", ["openai:other", "cohere:other"])
@pytest.mark.parametrize(
    "command", [["index", "book"], ["index", "book", "--dry-run"], ["search", "x"], ["serve"]]
)
def test_other_embedder_is_refused_before_any_request(
    book: Path, wire: Wire, embedder: str, command: list[str]
) -> None:
    result = CliRunner().invoke(app, ["--embedder", embedder, *command])
    assert result.exit_code != 0
    assert (
        f"embedder is 'testing:hashed-words' in the index and '{embedder}' in the settings" in result.stderr
    )
    assert "pertinent reindex" in result.stderr
    assert wire.requests == []
