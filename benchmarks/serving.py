"""The service at the handbook's size: latency above model and index, and throughput with 50 clients."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import searching
from pertinent.embedders.local import LocalEmbedder
from pertinent.sources import open_source
from pertinent.stores.edge import EdgeIndex
from pertinent.surfaces.library import Pertinent
from pertinent.types import Page

CLIENTS = 50
SECONDS = 10.0
BATCH = 8
ROUNDS = 60
A_ROUND = 20
"""The machine may be busy with other things: the parts and the service take turns, so that both are."""


def measure(book: Path) -> dict[str, Any]:
    queries = make_queries(book)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as copy:
        with Pertinent.open(folder) as opened:
            opened.index(book)
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        embedder = LocalEmbedder.load_minilm()
        before = _alone(embedder, queries)
        server, port = _start(folder)
        try:
            parts, latencies = _by_turns(copy, port, queries, embedder)
            fresh = _throughput(port, itertools.cycle(queries))
            repeated = _throughput(port, itertools.cycle(queries[:20]))
        finally:
            server.terminate()
            server.wait()
        alone = (before + _alone(embedder, queries)) / 2
        together = _alone(embedder, queries, BATCH)
    embed, raw = (statistics.median(times) for times in zip(*parts, strict=True))
    latency = statistics.median(latencies)
    return {
        "model_alone_per_s": round(alone, 1), "model_alone_in_batches_per_s": round(together, 1),
        "median_embed_ms": round(embed, 3), "median_raw_index_ms": round(raw, 3),
        "median_latency_ms": round(latency, 3), "latency_beyond_ms": round(latency - embed - raw, 3),
        "clients": CLIENTS, "throughput_per_s": round(fresh, 1),
        "throughput_over_model": round(fresh / alone, 3),
        "throughput_over_model_in_batches": round(fresh / together, 3),
        "repeated_per_s": round(repeated, 1), "repeated_over_model": round(repeated / alone, 2),
    }  # fmt: skip


def make_queries(book: Path) -> list[str]:
    """Questions of a reader's length, none twice: beginnings of the book's sentences."""
    text = " ".join(page.text for page in open_source(str(book)).read() if isinstance(page, Page))
    words = re.findall(r"[a-zA-Z]+", text)
    return [" ".join(words[start : start + 6]) for start in range(0, len(words) - 6, 3)]


def _alone(embedder: LocalEmbedder, queries: list[str], batch: int = 1) -> float:
    """Queries a second that the model embeds on all cores, with nothing else to do."""
    sample = queries[:1200]
    parts = [sample[start : start + batch] for start in range(0, len(sample), batch)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        start = time.perf_counter()
        list(pool.map(embedder.embed_queries, parts))
        return len(sample) / (time.perf_counter() - start)


def _by_turns(
    folder: str, port: int, queries: list[str], embedder: LocalEmbedder
) -> tuple[list[tuple[float, float]], list[float]]:
    """Milliseconds to embed a query and to ask the index for it, and to have it answered by the service."""
    parts, latencies = [], []
    with Pertinent.open(folder) as opened, Client(port) as client:
        index = opened.workspace.index()
        assert isinstance(index, EdgeIndex)
        for start in range(0, ROUNDS * A_ROUND, A_ROUND):
            of_this_round = queries[start : start + A_ROUND]
            for text in of_this_round:
                began = time.perf_counter()
                (vector,) = embedder.embed_queries([text])
                took = (time.perf_counter() - began) * 1000
                parts.append((took, searching._raw(index._shard, vector, text)))
            latencies += [client.ask(text) for text in of_this_round]
    return parts, latencies


_END = re.compile(rb"content-length: (\d+)\r\n.*?\r\n\r\n", re.DOTALL)
"""How long an answer is, up to the end of its headers."""


class Client:
    """A connection that sends a request in one piece, and reads the answer when it is all there.

    Python's own client sends two pieces, and takes a tenth of a millisecond to read the headers.
    """

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, text: str) -> float:
        body = json.dumps({"query": text}).encode()
        headers = f"host: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        began = time.perf_counter()
        self._socket.sendall(f"POST /search HTTP/1.1\r\n{headers}\r\n\r\n".encode() + body)
        answer = b""
        while not (end := _END.search(answer)) or len(answer) < end.end() + int(end[1]):
            received = self._socket.recv(1 << 16)
            assert received, "the service hung up"
            answer += received
        took = (time.perf_counter() - began) * 1000
        assert answer.startswith(b"HTTP/1.1 200 "), answer
        assert json.loads(answer[end.end() :])["results"], answer
        return took


def _start(folder: str) -> tuple[subprocess.Popen[str], int]:
    command = [str(Path(sys.executable).with_name("pertinent")), "serve", "--port", "0", "--folder", folder]
    log = Path(folder) / "serve.log"
    with log.open("w") as file:
        server = subprocess.Popen(command, stderr=file, text=True)
    while not (match := re.search(r":(\d+) ", log.read_text())):
        assert server.poll() is None, log.read_text()
        time.sleep(0.05)
    return server, int(match[1])


def _throughput(port: int, queries: Any) -> float:
    """Answers a second with many clients; the clients run in a process of their own, and are few threads."""
    script = Path(__file__).with_name("load.lua")
    sample = list(itertools.islice(queries, 6000))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(sample))
        file.flush()
        run = subprocess.run(
            [
                "wrk", "-t1", f"-c{CLIENTS}", f"-d{int(SECONDS)}s", "-s", str(script),
                f"http://127.0.0.1:{port}/search",
            ],
            env={**os.environ, "QUERIES": file.name},
            capture_output=True,
            text=True,
            check=True,
        )  # fmt: skip
    assert "Non-2xx" not in run.stdout, run.stdout
    match = re.search(r"Requests/sec:\s+([\d.]+)", run.stdout)
    assert match, run.stdout
    return float(match[1])
