"""The watch of `serve --watch` while another process writes to the same index."""

from __future__ import annotations

import threading
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from pertinent.build import open_catalog
from pertinent.errors import SyncRefused
from pertinent.surfaces.http import watch
from pertinent.surfaces.library import Pertinent


class Log:
    """Records the events of a watch, and runs a function after each failed sync."""

    def __init__(self, after_failure: Any = lambda: None) -> None:
        self.events: list[tuple[str, Any]] = []
        self._after_failure = after_failure

    def error(self, event: str, **fields: Any) -> None:
        self.events.append((event, fields.get("retry_in")))
        self._after_failure()

    def info(self, event: str, **fields: Any) -> None:
        self.events.append((event, fields["added"]))


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "knee.md").write_text("# Knee\n\nThe knee bends.\n")
    return folder


def test_sync_that_another_writer_kept_waiting_is_retried(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "wait_for_changes", lambda *_: iter([None]))
    monkeypatch.setattr(watch, "RETRY_SECONDS", (0.0,))
    data = tmp_path / "data"
    with (
        Pertinent.open(data, embedder="testing:hashed-words", lock_timeout=0) as pertinent,
        closing(open_catalog(pertinent.workspace.settings)) as other,
        ExitStack() as writing,
    ):
        log = Log(after_failure=writing.close)
        writing.enter_context(other.write_lock(lambda: None))
        watch.watch_source(str(docs), lambda: pertinent.index(docs), threading.Event(), log)  # type: ignore[arg-type]
        assert log.events == [("sync failed", 0.0), ("synced", 1)]


def test_refused_sync_is_not_retried(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> Any:
        raise SyncRefused("the sync would remove 3 of the 4 indexed pages")

    monkeypatch.setattr(watch, "wait_for_changes", lambda *_: iter([None]))
    log = Log()
    watch.watch_source(str(docs), refuse, threading.Event(), log)  # type: ignore[arg-type]
    assert log.events == [("sync failed", None)]
