"""An index run that was killed resumes, and pays for no embedding twice, except for batches in flight."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from pertinent._internal.hosted.retries import RetryPolicy
from pertinent._internal.progress import NoProgress
from pertinent.embedders.cohere import CohereEmbedder
from pertinent.embedders.hosted import HostedEmbedder, HostedOptions
from pertinent.embedders.openai import OpenAIEmbedder
from pertinent.errors import EmbedderError
from pertinent.indexing.sync import SyncSummary
from pertinent.settings import Settings
from pertinent.testing.pages import InMemorySource, page
from pertinent.workspace.workspace import Workspace

from ..servers.faulty_api import KEY
from ..servers.forked import ForkedScript, run_to_end
from .wire import EmbedRequest, Wire, join_embedding_threads

DIMENSION = 16
CONCURRENCY = 3
QUICK = RetryPolicy(timeout=60, attempts=2, first_wait=0.001, longest_wait=1)
OPTIONS = HostedOptions(concurrency=CONCURRENCY, documents=QUICK)

LARGE = (400, 60, 40) * 12
"""How many chunks each page has: 6,000 in all, more than one commit, on pages of one batch and of many."""
SMALL = (150, 40)

CHILD = """
import sys
from tests.embedders.test_resume import LARGE, sync

sync("cohere", sys.argv[1], sys.argv[2], LARGE)
"""


def shelf(sizes: tuple[int, ...]) -> InMemorySource:
    pages = (
        page(f"page-{number}", {f"Part {part}": f"Passage {part} of page {number}." for part in range(size)})
        for number, size in enumerate(sizes)
    )
    return InMemorySource(*pages, name="book")


def embedder(provider: str, url: str) -> HostedEmbedder:
    if provider == "cohere":
        return CohereEmbedder("wired", KEY, base_url=url, dimension=DIMENSION, options=OPTIONS)
    return OpenAIEmbedder("wired", base_url=url, dimension=DIMENSION, options=OPTIONS)


def sync(provider: str, folder: str | Path, url: str, sizes: tuple[int, ...]) -> SyncSummary:
    """Index the book with an embedder that asks the wire."""
    hosted = embedder(provider, url)
    settings = Settings(folder=Path(folder), embedder="testing:hashed-words", query_cache=0)
    workspace = Workspace(settings.model_copy(update={"embedder": hosted.name}))
    workspace._embedder = hosted
    try:
        indexer = workspace.create_indexer(NoProgress())
        return indexer.apply(indexer.plan(shelf(sizes)))
    finally:
        join_embedding_threads()
        workspace.close()
        hosted.close()


class Ledger:
    """What the service was paid for, run by run; a run on an existing index embeds one chunk again first."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.paid_texts: set[str] = set()
        self.batches: set[tuple[str, ...]] = set()

    def end_run(self) -> None:
        """Check that no text was paid for twice, except for batches in flight when the last run ended."""
        self.wire.settle()
        paid = self.wire.paid[:]
        self.wire.paid.clear()
        assert len(paid) == len(set(paid))
        first = self.wire.requests[0].texts
        check = set(first) if len(first) == 1 else set()
        lost = [batch for batch in self.batches if not set(batch).isdisjoint({*paid} - check)]
        assert len(lost) <= CONCURRENCY
        assert self.paid_texts & set(paid) <= check.union(*lost)
        self.paid_texts.update(paid)
        self.batches = {tuple(request.texts) for request in self.wire.requests}
        self.wire.requests.clear()


class Killer:
    """Kills a process at its n-th request, or a moment later."""

    def __init__(self, at: int, delay: float) -> None:
        self.at, self.delay = at, delay
        self.victim: Future[int] = Future()
        self.lock = threading.Lock()

    def __call__(self, _: EmbedRequest) -> None:
        with self.lock:
            self.at -= 1
            if self.at == 0:
                threading.Timer(self.delay, os.kill, (self.victim.result(), signal.SIGKILL)).start()


@pytest.mark.slow
def test_index_run_resumes_after_each_of_many_kills(tmp_path: Path, wire: Wire) -> None:
    ledger = Ledger(wire)
    arguments = (CHILD, str(tmp_path / "data"), wire.url)
    for at, delay in ((1, 0.0), (3, 0.0), (18, 0.01), (2, 0.1), (24, 0.02)):
        killer = wire.on_request = Killer(at, delay)
        with ForkedScript(*arguments) as process:
            killer.victim.set_result(process.pid)
            assert process.wait() == -signal.SIGKILL
        ledger.end_run()
    wire.on_request = lambda _: None
    assert run_to_end(ForkedScript(*arguments)).returncode == 0
    ledger.end_run()
    assert len(ledger.paid_texts) == sum(LARGE) == 6_000
    summary = sync("cohere", tmp_path / "data", wire.url, LARGE)
    assert (summary.pages_unchanged, summary.chunks_kept) == (len(LARGE), 6_000)
    assert wire.requests == []


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "requests"), [("cohere", 2), ("openai", 6)])
def test_index_run_resumes_after_a_failure_at_any_batch(tmp_path: Path, provider: str, requests: int) -> None:
    for answered in range(requests):
        with Wire(DIMENSION) as wire:
            ledger = Ledger(wire)
            wire.faults.extend([None] * answered)
            wire.always = "dropped"
            folder = tmp_path / f"after-{answered}"
            with pytest.raises(EmbedderError, match="tried 2 times"):
                sync(provider, folder, wire.url, SMALL)
            ledger.end_run()
            wire.faults.clear()
            wire.always = None
            assert sync(provider, folder, wire.url, SMALL).chunks_kept <= answered * 96
            ledger.end_run()
            assert len(ledger.paid_texts) == sum(SMALL)


@pytest.mark.parametrize("provider", ["cohere", "openai"])
def test_index_run_pays_for_each_chunk_once(tmp_path: Path, wire: Wire, provider: str) -> None:
    assert sync(provider, tmp_path / "data", wire.url, SMALL).chunks_added == sum(SMALL)
    assert len(wire.paid) == len(set(wire.paid)) == sum(SMALL)
    assert sync(provider, tmp_path / "data", wire.url, SMALL).chunks_kept == sum(SMALL)
    assert len(wire.paid) == sum(SMALL)
