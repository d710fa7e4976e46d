"""The watch of `serve --watch` while another process writes to the same index."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from pertinent._internal.process_name import name_process
from pertinent.build import open_catalog
from pertinent.errors import SyncRefused
from pertinent.surfaces.http import server, watch
from pertinent.surfaces.library import Pertinent

from ..servers.fixtures import Endpoint


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


class Announcements(list[str]):
    """What the service has announced; a function is run after each announcement."""

    def __init__(self, after: Any = lambda: None) -> None:
        super().__init__()
        self._after = after

    def __call__(self, message: str) -> None:
        self.append(message)
        self._after()


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "knee.md").write_text("# Knee\n\nThe knee bends.\n")
    return folder


def test_watch_retries_sync_after_lock_timeout(
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


def test_log_names_skipped_links_once(tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = tmp_path / "hip.md"
    outside.write_text("# Hip\n\nThe hip turns.\n")

    def change_link(_folder: Path, _stop: threading.Event) -> Iterator[None]:
        yield
        (docs / "hip.md").symlink_to(outside)
        yield
        yield
        (docs / "hip.md").unlink()
        yield

    monkeypatch.setattr(watch, "wait_for_changes", change_link)
    log = Mock()
    with Pertinent.open(tmp_path / "data", embedder="testing:hashed-words") as pertinent:
        watch.watch_source(str(docs), lambda: pertinent.index(docs), threading.Event(), log)
    indexed, added, removed = [call.kwargs["skipped"] for call in log.info.call_args_list]
    assert (indexed, removed) == ({}, {})
    ((reason, pages),) = added.items()
    assert "hip.md" in reason
    assert pages == 1


def serve_without_listening(
    monkeypatch: pytest.MonkeyPatch, pertinent: Pertinent, docs: Path, announce: Any
) -> None:
    """Run the server up to the point where it listens."""

    class ListeningError(Exception):
        """Ends the server."""

    monkeypatch.setattr(server, "open_listener", Mock(side_effect=ListeningError))
    monkeypatch.setattr(server, "configure_logging", lambda: None)
    with pytest.raises(ListeningError):
        server.run_server(pertinent, watch=str(docs), base_url=None, follow_links=False, announce=announce)


def test_first_sync_announces_whom_it_waits_for(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        Pertinent.open(tmp_path / "data", embedder="testing:hashed-words", lock_timeout=20) as pertinent,
        closing(open_catalog(pertinent.workspace.settings)) as other,
        ExitStack() as writing,
    ):
        writing.enter_context(other.write_lock(lambda: None))
        announced = Announcements(after=writing.close)
        serve_without_listening(monkeypatch, pertinent, docs, announced)
        assert announced == [f"Waiting for {name_process()}, which is writing to this index"]
        assert len(pertinent.pages()) == 1


@pytest.mark.slow
def test_index_on_a_server_is_served_while_another_process_writes(
    tmp_path: Path, docs: Path, monkeypatch: pytest.MonkeyPatch, qdrant: Endpoint, collection: str
) -> None:
    located: dict[str, Any] = {"qdrant_url": qdrant.url, "qdrant_api_key": qdrant.key}
    located |= {"qdrant_collection": collection, "lock_timeout": 20}
    with (
        Pertinent.open(tmp_path / "data", embedder="testing:hashed-words", **located) as pertinent,
        closing(open_catalog(pertinent.workspace.settings)) as other,
    ):
        pertinent.index(docs)
        (docs / "hip.md").write_text("# Hip\n\nThe hip turns.\n")
        announced = Announcements()
        with other.write_lock(lambda: None):
            serve_without_listening(monkeypatch, pertinent, docs, announced)
        (message,) = announced
        assert message.startswith(f"{name_process()} is writing to this index: it is served as it is")
        assert [hit.chunk.title for hit in pertinent.search("knee").hits] == ["Knee"]
        serve_without_listening(monkeypatch, pertinent, docs, announced)
        assert announced == [message], "nobody writes any more"
        assert len(pertinent.pages()) == 2
