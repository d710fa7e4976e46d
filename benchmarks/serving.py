"""The service at the handbook's size: latency above model and index, and throughput with 50 clients."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import searching
from pertinent.embedders.local import LocalEmbedder
from pertinent.sources import open_source
from pertinent.stores.edge import EdgeIndex
from pertinent.surfaces.library import Pertinent
from pertinent.types import Page

CLIENTS = 50
SECONDS = 10.0


def measure(book: Path) -> dict[str, Any]:
    queries = _queries(book)
    with tempfile.TemporaryDirectory() as folder:
        with Pertinent.open(folder) as opened:
            opened.index(book)
        alone = _model_alone(queries)
        embed, raw = _parts(folder, queries)
        server, port = _start(folder)
        try:
            latency = _latencies(port, queries)
            fresh = _throughput(port, itertools.cycle(queries))
            repeated = _throughput(port, itertools.cycle(queries[:20]))
        finally:
            server.terminate()
            server.wait()
    return {
        "model_alone_per_s": round(alone, 1),
        "median_embed_ms": round(embed, 3),
        "median_raw_index_ms": round(raw, 3),
        "median_latency_ms": round(latency, 3),
        "latency_beyond_ms": round(latency - embed - raw, 3),
        "clients": CLIENTS,
        "throughput_per_s": round(fresh, 1),
        "throughput_over_model": round(fresh / alone, 3),
        "repeated_per_s": round(repeated, 1),
        "repeated_over_fresh": round(repeated / fresh, 2),
    }


def _queries(book: Path) -> list[str]:
    """Questions of a reader's length, none twice: beginnings of the book's sentences."""
    text = " ".join(one.text for one in open_source(str(book)).read() if isinstance(one, Page))
    words = re.findall(r"[a-zA-Z]+", text)
    return [" ".join(words[start : start + 6]) for start in range(0, len(words) - 6, 3)]


def _model_alone(queries: list[str]) -> float:
    """Queries a second that the model embeds on all cores, with nothing else to do."""
    embedder = LocalEmbedder.minilm()
    sample = queries[:1200]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        start = time.perf_counter()
        list(pool.map(lambda text: embedder.embed_queries([text]), sample))
        return len(sample) / (time.perf_counter() - start)


def _parts(folder: str, queries: list[str]) -> tuple[float, float]:
    with Pertinent.open(folder) as opened:
        index = opened.workspace.index()
        assert isinstance(index, EdgeIndex)
        embedder = LocalEmbedder.minilm()
        embeds, raws = [], []
        for text in queries[:200]:
            start = time.perf_counter()
            vector = embedder.embed_queries([text])[0]
            embeds.append((time.perf_counter() - start) * 1000)
            raws.append(searching._raw(index._shard, vector, text))
        return statistics.median(embeds), statistics.median(raws)


def _start(folder: str) -> tuple[subprocess.Popen[str], int]:
    command = [str(Path(sys.executable).with_name("pertinent")), "serve", "--port", "0", "--folder", folder]
    log = Path(folder) / "serve.log"
    with log.open("w") as file:
        server = subprocess.Popen(command, stderr=file, text=True)
    while not (found := re.search(r":(\d+) ", log.read_text())):
        assert server.poll() is None, log.read_text()
        time.sleep(0.05)
    return server, int(found[1])


def _ask(connection: http.client.HTTPConnection, text: str) -> None:
    body = json.dumps({"query": text})
    connection.request("POST", "/search", body, {"content-type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    assert answer.status == 200, answer.status


def _latencies(port: int, queries: list[str]) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times = []
    for text in queries[-300:]:
        start = time.perf_counter()
        _ask(connection, text)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[50:])


def _throughput(port: int, queries: Any) -> float:
    """Answers a second with many clients; the clients run in a process of their own, and are few threads."""
    script = Path(__file__).with_name("load.lua")
    sample = list(itertools.islice(queries, 6000))
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(sample))
        file.flush()
        run = subprocess.run(
            [
                "wrk",
                "-t1",
                f"-c{CLIENTS}",
                f"-d{int(SECONDS)}s",
                "-s",
                str(script),
                f"http://127.0.0.1:{port}/search",
            ],
            env={**os.environ, "QUERIES": file.name},
            capture_output=True,
            text=True,
            check=True,
        )
    assert "Non-2xx" not in run.stdout, run.stdout
    found = re.search(r"Requests/sec:\s+([\d.]+)", run.stdout)
    assert found, run.stdout
    return float(found[1])
