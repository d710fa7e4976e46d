"""What a peer reads and writes. Needs nothing but NumPy, so that it runs in every environment.

A task is a folder:

- `documents.jsonl`: a chunk a line (`Document`), and `documents.npy`, a vector for each;
- `queries.jsonl`: an object with `id` and `text` a line, and `queries.npy`, a vector for each;
- `task.json`: `limit`, the number of hits to return, `candidates`, the number that each side of a hybrid
  search proposes where the peer lets one choose it, and `source`, which Pertinent reads.

`python -m peers.NAME_peer TASK RESULT` writes a JSON object with `versions`, `build_s`, `unchanged_s`,
`search_ms` and `search_cpu_ms` (a figure for each query), and `rankings` (document ids by query id).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]

WARM_UP = 5
"""How many queries are searched before the clock starts."""


@dataclass(frozen=True)
class Document:
    """A chunk: `text` is what was embedded, with the title and the headings above it; `body` is without."""

    id: str
    page: str
    title: str
    section: str
    text: str
    body: str


@dataclass(frozen=True)
class Query:
    id: str
    text: str


@dataclass(frozen=True)
class Task:
    """The documents and queries of a set, with their vectors."""

    folder: Path
    source: str
    limit: int
    candidates: int
    documents: Sequence[Document]
    document_vectors: Matrix
    queries: Sequence[Query]
    query_vectors: Matrix


class Peer(Protocol):
    """A library in its documented hybrid set-up; what it needs before it can index is not timed."""

    @property
    def packages(self) -> Sequence[str]:
        """The packages whose versions are recorded."""

    def build(self) -> None:
        """Index all documents of the task."""

    def refresh(self) -> None:
        """Index the same documents again, in the way that the library documents for a second run."""

    def search(self, text: str, vector: Vector) -> Sequence[str]:
        """Return the ids of the best documents, best first."""


def load_task(folder: Path) -> Task:
    settings = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    task = Task(
        folder,
        settings["source"],
        settings["limit"],
        settings["candidates"],
        [Document(**record) for record in _read_lines(folder / "documents.jsonl")],
        np.load(folder / "documents.npy"),
        [Query(**record) for record in _read_lines(folder / "queries.jsonl")],
        np.load(folder / "queries.npy"),
    )
    for name, records, vectors in (
        ("documents", task.documents, task.document_vectors),
        ("queries", task.queries, task.query_vectors),
    ):
        if len(records) != len(vectors):
            raise ValueError(
                f"{folder}: {len(records)} {name}, but {len(vectors)} vectors; delete the folder"
            )
    return task


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def measure(create_peer: Callable[[Task], Peer], task: Task) -> dict[str, Any]:
    """Build, refresh and search, and record how long each took."""
    peer = create_peer(task)
    build_seconds = _time(peer.build)
    unchanged_seconds = _time(peer.refresh)
    pairs = list(zip(task.queries, task.query_vectors, strict=True))
    for query, vector in pairs[:WARM_UP]:
        peer.search(query.text, vector)
    wall, cpu, rankings = [], [], {}
    for query, vector in pairs:
        start, cpu_start = time.perf_counter(), time.process_time()
        ranking = peer.search(query.text, vector)
        cpu.append(round((time.process_time() - cpu_start) * 1000, 3))
        wall.append(round((time.perf_counter() - start) * 1000, 3))
        rankings[query.id] = list(ranking)[: task.limit]
    return {
        "versions": {package: metadata.version(package) for package in peer.packages},
        "build_s": round(build_seconds, 3),
        "unchanged_s": round(unchanged_seconds, 3),
        "search_ms": wall,
        "search_cpu_ms": cpu,
        "rankings": rankings,
    }


def _time(action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main(create_peer: Callable[[Task], Peer]) -> None:
    """Run the peer on the task that the command line names, and write the result file."""
    task_folder, result_file = map(Path, sys.argv[1:])
    result = measure(create_peer, load_task(task_folder))
    result_file.write_text(json.dumps(result), encoding="utf-8")


class StoredVectors:
    """The vectors of a task by text, for libraries that insist on an embedding function."""

    def __init__(self, task: Task) -> None:
        texts = [document.text for document in task.documents] + [query.text for query in task.queries]
        self._vectors = dict(zip(texts, (*task.document_vectors, *task.query_vectors), strict=True))

    def embed(self, texts: Sequence[str]) -> Matrix:
        return np.stack([self._vectors[text] for text in texts])
