"""Indexing and searching 10,000 to 1,000,000 chunks: `benchmarks/scaling.py [--chunks N …] [--stores …]`.

Every step runs in a process of its own, so that its memory and its opening are measured from the start. The
model is left out, see `synthetic.py`. CPU times are stated as well, since they vary less on a busy machine.
Recall is that of the dense side against exact search of the same index. On a server, the memory is that of
our process without the index engine.
"""

from __future__ import annotations

import argparse
import json
import pickle
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pertinent._internal.progress import NoProgress
from pertinent.stores.candidates import DENSE
from pertinent.surfaces.library import Pertinent
from pertinent.types import Filters, SearchOptions
from synthetic import SentenceVectors, SyntheticBook, read_sentences

HERE = Path(__file__).parent
HANDBOOK = HERE.parent / "examples" / "handbook"
RESULTS = HERE / "results" / "scaling.json"
SIZES = (10_000, 100_000, 1_000_000)
STORES = ("embedded", "server")
QUERIES = 200
EXACT_QUERIES = 50
BEST = 10
EDITED = 7
"""The number of the page that is edited."""


class Stages(NoProgress):
    """Records when each stage of a sync began, and the memory until then."""

    def __init__(self) -> None:
        self.begun: dict[str, float] = {}
        self.begun_cpu: dict[str, float] = {}
        self.peaks: dict[str, int] = {}

    def stage(self, name: str, total: int | None) -> None:  # noqa: ARG002 - the protocol's signature
        self.begun[name] = time.perf_counter()
        self.begun_cpu[name] = time.process_time()
        self.peaks[name] = read_memory("VmHWM")


def read_memory(name: str) -> int:
    """Return a memory figure of this process in MB."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields[name].split()[0]) // 1024


@contextmanager
def sample_peak(name: str) -> Iterator[list[int]]:
    """Collect a memory figure ten times a second."""
    figures = [read_memory(name)]
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(0.1):
            figures.append(read_memory(name))

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        yield figures
    finally:
        stop.set()
        sampler.join()


class Setup:
    """What every step needs: the book, the vectors and the stores."""

    def __init__(self, folder: Path, chunks: int, url: str | None) -> None:
        self.folder = folder
        self.chunks = chunks
        self.settings: dict[str, Any] = {"query_cache": 0}
        if url:
            self.settings |= {"qdrant_url": url, "qdrant_collection": f"book-{chunks}"}
        with (folder.parent / "vectors.pickle").open("rb") as file:
            self.sentences, self.queries, self.embedder = pickle.load(file)

    @contextmanager
    def open(self) -> Iterator[Pertinent]:
        with Pertinent.open(self.folder, **self.settings) as opened:
            opened.workspace._embedder = self.embedder
            yield opened

    def book(self, *edited: int) -> SyntheticBook:
        return SyntheticBook(self.sentences, self.chunks, frozenset(edited))


def index_book(setup: Setup) -> dict[str, Any]:
    """Index the book for the first time."""
    stages = Stages()
    with setup.open() as opened, sample_peak("RssAnon") as anonymous:
        start, cpu = time.perf_counter(), time.process_time()
        with opened.workspace.writing(stages, new=True):
            indexer = opened.workspace.create_indexer(stages)
            plan = indexer.plan(setup.book())
            chunks = plan.chunks_to_embed
            planned_peak = max(anonymous)
            indexer.apply(plan)
        end, end_cpu = time.perf_counter(), time.process_time()
        optimizing, optimizing_cpu = (
            moments["Optimising the index"] for moments in (stages.begun, stages.begun_cpu)
        )
        return {
            "chunks": chunks,
            "pages": len(plan.changes),
            "plan_s": round(stages.begun["Embedding"] - start, 2),
            "write_s": round(optimizing - stages.begun["Embedding"], 2),
            "optimize_s": round(end - optimizing, 2),
            "chunks_per_second_before_optimize": round(chunks / (optimizing - start)),
            "chunks_per_second": round(chunks / (end - start)),
            "cpu_s_before_optimize": round(optimizing_cpu - cpu, 1),
            "optimize_cpu_s": round(end_cpu - optimizing_cpu, 1),
            "chunks_per_cpu_second_before_optimize": round(chunks / (optimizing_cpu - cpu)),
            "peak_anonymous_mb_planning": planned_peak,
            "peak_mb_before_optimize": stages.peaks["Optimising the index"],
            "peak_mb": read_memory("VmHWM"),
            "disk_mb": measure_disk(setup.folder),
        }


def sync_again(setup: Setup) -> dict[str, Any]:
    """Sync the same book again."""
    start = time.perf_counter()
    with setup.open() as opened, opened.workspace.writing(NoProgress()):
        indexer = opened.workspace.create_indexer(NoProgress())
        summary = indexer.apply(indexer.plan(setup.book()))
        seconds = time.perf_counter() - start
        assert summary.chunks_added == 0, summary
    return {
        "second_run_s": round(seconds, 2),
        "second_run_cpu_s": round(time.process_time(), 2),
        "second_run_peak_mb": read_memory("VmHWM"),
    }


def edit_page(setup: Setup) -> dict[str, Any]:
    """Change one page, and time it until a search lists the new text."""
    with setup.open() as opened:
        opened.workspace.engine().search(setup.queries[0])
        start, cpu = time.perf_counter(), time.process_time()
        with opened.workspace.writing(NoProgress()):
            indexer = opened.workspace.create_indexer(NoProgress())
            plan = indexer.plan(setup.book(EDITED))
            planned = time.perf_counter()
            indexer.apply(plan)
            written = time.perf_counter()
        page = setup.book(EDITED).build_page(EDITED)
        word = page.text.split()[-1].rstrip(".")
        options = SearchOptions(ranking="lexical", correct=False)
        answer = opened.workspace.engine().search(word, options)
        seconds = time.perf_counter() - start
        assert word in answer.hits[0].chunk.text, answer
        assert len(plan.changes) == 1
    return {
        "edit_until_searchable_s": round(seconds, 2),
        "edit_until_searchable_cpu_s": round(time.process_time() - cpu, 2),
        "edit_plan_s": round(planned - start, 2),
        "edit_write_s": round(written - planned, 2),
        "edit_first_search_s": round(start + seconds - written, 2),
    }


def search_book(setup: Setup) -> dict[str, Any]:
    """Open the index, and time searches and their recall."""
    start, cpu = time.perf_counter(), time.process_time()
    with setup.open() as opened:
        engine = opened.workspace.engine()
        opened_at = time.perf_counter()
        engine.search(setup.queries[0])
        first = time.perf_counter()
        below = f"{SyntheticBook.name}/volume-0"
        ways = {
            "dense": SearchOptions(ranking="dense"),
            "hybrid": SearchOptions(ranking="hybrid"),
            "filtered": SearchOptions(ranking="hybrid", filters=Filters(url=below)),
        }
        figures: dict[str, Any] = {
            "open_s": round(opened_at - start, 2),
            "first_search_s": round(first - opened_at, 2),
            "open_and_first_search_cpu_s": round(time.process_time() - cpu, 2),
            "memory_mb_after_first_search": read_memory("VmRSS"),
        }
        for name, options in ways.items():
            for text in setup.queries[:20]:
                engine.search(text, options)
            spans = [timed(partial(engine.search, text, options)) for text in setup.queries]
            for unit, seconds in zip(("ms", "cpu_ms"), zip(*spans, strict=True), strict=True):
                figures[f"{name}_p50_{unit}"] = round(statistics.median(seconds) * 1000, 2)
                figures[f"{name}_p95_{unit}"] = round(statistics.quantiles(seconds, n=20)[-1] * 1000, 2)
        figures["recall_at_10"] = measure_recall(opened, setup.embedder, setup.queries[:EXACT_QUERIES])
        return figures


def measure_recall(opened: Pertinent, embedder: SentenceVectors, queries: Sequence[str]) -> float:
    index = opened.workspace.writable_index()
    recalled = 0
    for vector in embedder.embed_queries(queries):
        approximate = index.candidates(vector, None, by=[DENSE], limit=50, filters=Filters())
        order = np.argsort(-np.asarray(approximate.cosine), kind="stable")[:BEST]
        exact = index.search_exactly(vector, BEST)
        recalled += len({approximate.point_ids[n] for n in order} & exact.keys())
    return round(recalled / (BEST * len(queries)), 4)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Return how long a call took, and the CPU time of this process meanwhile."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def measure_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 2**20


STEPS: dict[str, Callable[[Setup], dict[str, Any]]] = {
    "index": index_book,
    "again": sync_again,
    "search": search_book,
    "edit": edit_page,
}


def make_queries(sentences: Sequence[str]) -> list[str]:
    """Return the beginnings of random sentences, as readers might type them."""
    rng = random.Random(11)
    return [
        " ".join(re.findall(r"\w+", sentence)[: rng.randint(2, 8)])
        for sentence in rng.choices(sentences, k=QUERIES)
    ]


def prepare_vectors(folder: Path) -> None:
    """Have the model embed sentences and queries once, for all steps."""
    sentences = read_sentences(HANDBOOK)
    queries = make_queries(sentences)
    with (folder / "vectors.pickle").open("wb") as file:
        pickle.dump((sentences, queries, SentenceVectors(sentences, queries)), file)


def measure(folder: Path, store: str, chunks: int) -> dict[str, Any]:
    """Run all steps for one size on one store."""
    data = folder / f"{store}-{chunks}"
    data.mkdir()
    figures: dict[str, Any] = {"store": store, "asked_chunks": chunks}
    with start_server(folder / f"qdrant-{chunks}") if store == "server" else nullcontext() as url:
        for name in STEPS:
            command = [
                sys.executable,
                __file__,
                "--step",
                name,
                "--folder",
                str(data),
                "--chunks",
                str(chunks),
            ]
            finished = subprocess.run(
                [*command, *(["--url", url] if url else [])], check=True, stdout=subprocess.PIPE, text=True
            )
            figures |= json.loads(finished.stdout)
            print(f"{store} {chunks:,} {name}: {finished.stdout.strip()}", flush=True)
        if store == "server":
            figures["server_disk_mb"] = measure_disk(folder / f"qdrant-{chunks}")
    shutil.rmtree(data)
    return figures


@contextmanager
def start_server(folder: Path) -> Iterator[str]:
    sys.path.append(str(HERE.parent))
    from tests.servers import binary
    from tests.servers.qdrant import running

    with running(binary.require(), folder) as node:
        yield node.url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--stores", nargs="*", choices=STORES, default=list(STORES))
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help="where to put the indexes; a temporary folder by default")
    parser.add_argument("--url", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        (chunks,) = arguments.chunks
        print(json.dumps(STEPS[arguments.step](Setup(arguments.folder, chunks, arguments.url))))
        return
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    runs = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        prepare_vectors(folder)
        for chunks in arguments.chunks:
            for store in arguments.stores:
                figures = measure(folder, store, chunks)
                runs = [run for run in runs if (run["store"], run["asked_chunks"]) != (store, chunks)]
                runs = sorted([*runs, figures], key=lambda run: (run["store"], run["asked_chunks"]))
                RESULTS.write_text(json.dumps({"machine": machine, "runs": runs}, indent=2) + "\n")


if __name__ == "__main__":
    main()
