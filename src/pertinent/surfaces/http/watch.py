"""`pertinent serve --watch`: sync a source whenever one of its files changes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog

from ...errors import EmbedderError, LockTimeout, PertinentError, StoreError
from ...indexing.sync import SyncSummary
from ...types import Skipped

POLL_SECONDS = 1.0
"""How often the path is checked for a folder that was removed, replaced or put back."""

RETRY_SECONDS = (5.0, 15.0, 60.0)
"""How many seconds to wait before each retry of a failed sync; the last value repeats."""


def watch_source(
    source: str, sync: Callable[[], SyncSummary], stop: threading.Event, log: structlog.BoundLogger
) -> None:
    """Call `sync` whenever the source changes, until `stop` is set.

    A failed sync is logged, and the service keeps running. If a store or a model failed, or another process
    held the write lock for too long, the sync is tried again until it succeeds; after any other error, the
    next change starts another one.
    """
    failed = False
    skipped: Sequence[Skipped] = ()
    try:
        for _ in wait_for_changes(Path(source.removeprefix("beir:")).expanduser(), stop):
            try:
                outcome = _retry_sync(source, sync, stop, log)
            except Exception as error:
                is_unexpected = not isinstance(error, PertinentError)
                log.error("sync failed", source=source, detail=str(error), exc_info=is_unexpected)
                failed = True
                continue
            if outcome is None:
                return
            summary, retries = outcome
            has_changes = summary.pages_added or summary.pages_changed or summary.pages_removed
            if has_changes or summary.unreadable or summary.skipped != skipped or failed or retries:
                log_sync(log, source, summary)
            failed, skipped = False, summary.skipped
    except Exception as error:
        # For example: the system has no inotify watches left.
        log.error("watching ended", source=source, detail=str(error), exc_info=True)


def _retry_sync(
    source: str, sync: Callable[[], SyncSummary], stop: threading.Event, log: structlog.BoundLogger
) -> tuple[SyncSummary, int] | None:
    """Call `sync`, and retry it after an error of a store, a model or a lock.

    Return its summary and the number of retries; None if `stop` is set before a retry.
    """
    retries = 0
    while True:
        try:
            return sync(), retries
        except (StoreError, EmbedderError, LockTimeout) as error:
            seconds = RETRY_SECONDS[min(retries, len(RETRY_SECONDS) - 1)]
            log.error("sync failed", source=source, detail=str(error), retry_in=seconds)
            if stop.wait(seconds):
                return None
            retries += 1


def log_sync(log: structlog.BoundLogger, source: str, summary: SyncSummary) -> None:
    """Log what a sync has changed, and what it left out."""
    log.info(
        "synced",
        source=source,
        added=summary.pages_added,
        changed=summary.pages_changed,
        removed=summary.pages_removed,
        chunks=summary.chunks_added,
        unreadable=[page.source_path for page in summary.unreadable],
        skipped={group.reason: group.pages for group in summary.skipped},
    )


def wait_for_changes(folder: Path, stop: threading.Event) -> Iterator[None]:
    """Yield whenever something below the folder may have changed, until `stop` is set.

    The first yield comes as soon as the folder is watched, since it may have changed after it was indexed.
    It also yields once when the folder is removed, and when another folder takes its place.
    """
    from watchfiles import watch

    is_missing = False
    while not stop.is_set():
        with hold_open(folder) as watched:
            if watched is None:
                if not is_missing:
                    yield
                is_missing = True
                stop.wait(POLL_SECONDS)
                continue
            is_missing, is_first = False, True
            try:
                for changes in watch(
                    folder,
                    stop_event=stop,
                    debounce=300,
                    raise_interrupt=False,
                    rust_timeout=int(POLL_SECONDS * 1000),
                    yield_on_timeout=True,
                ):
                    current = _stat(folder)
                    if current is None or not os.path.samestat(current, watched):
                        break
                    if changes or is_first:
                        is_first = False
                        yield
            except FileNotFoundError:
                stop.wait(POLL_SECONDS)  # removed after it was opened


@contextmanager
def hold_open(path: Path) -> Iterator[os.stat_result | None]:
    """Give the status of a file or folder, or None without one.

    It is held open meanwhile, so that no new folder at the path can get the same inode.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        yield _stat(path)  # some systems can't open folders
        return
    try:
        yield os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None
