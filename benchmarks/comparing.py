"""Compare Pertinent with other libraries: `python benchmarks/comparing.py SET … [--peers NAME …] [--again]`.

A set is a BEIR folder, or a folder of documentation with `questions.json` in it or beside it. Everything is
cached in `build/peers/`: environments, tasks, and a result for each peer and set. A second run repeats only
what has changed, so an interrupted run is resumed; `--again` measures the named peers anew. The figures go
to `results/peers.json`, the tables to docs/comparison.md and README.md, the plot to docs/images/.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import hashlib
import json
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from peers import protocol, report, scoring, tasks
from peers.catalog import PACKAGE, PeerEntry, list_peers
from peers.environments import ROOT, hash_files, run_peer
from pertinent import Pertinent

CACHE = ROOT / "build" / "peers"
RESULTS = Path(__file__).parent / "results" / "peers.json"
PROBE = "How do nodes talk to each other?"


def main() -> None:
    peers = {peer.key: peer for peer in list_peers()}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path, help="BEIR folders, and folders of documentation")
    parser.add_argument("--peers", nargs="*", choices=peers, default=list(peers), help="which to run")
    parser.add_argument("--again", action="store_true", help="measure again what is cached")
    arguments = parser.parse_args()
    data_sets = [tasks.DataSet(folder) for folder in arguments.sets]
    failures = [
        message
        for key in arguments.peers
        for message in run_sets(peers[key], data_sets, again=arguments.again)
    ]
    figures = collect(list(peers.values()), data_sets)
    RESULTS.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    report.write_documents(figures)
    print(report.make_tables(figures))
    if failures:
        sys.exit("\n\n".join(failures))


def run_sets(peer: PeerEntry, data_sets: Sequence[tasks.DataSet], *, again: bool) -> list[str]:
    """Install a peer and run it on all sets; return the messages of what failed."""
    try:
        environment = peer.make_environment(CACHE)
        environment.install()
        for data_set in data_sets:
            task = prepare_task(data_set, peer.embedder)
            key = make_key(peer, task)
            target = result_file(peer, data_set)
            if not again and read_result(target, key) is not None:
                continue
            print(f"{peer.title}: {data_set.name}", flush=True)
            output = target.with_suffix(".output.json")
            target.parent.mkdir(parents=True, exist_ok=True)
            run_peer(environment, peer.server, task, output, CACHE / "work" / peer.key)
            size = environment.count_bytes() + (peer.server.count_bytes() if peer.server else 0)
            now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
            result = {"key": key, "date": now, "installed_bytes": size, **json.loads(output.read_text())}
            target.write_text(json.dumps(result), encoding="utf-8")
            output.unlink()
    except Exception as error:
        message = f"{peer.title} failed: {error}"
        print(message, file=sys.stderr, flush=True)
        return [message]
    return []


@functools.cache
def prepare_task(data_set: tasks.DataSet, embedder: str | None) -> Path:
    """Make the task of a set, unless the code, the model and the set are those that it was made with."""
    name = f"{data_set.name}-{embedder.replace(':', '-')}" if embedder else data_set.name
    folder, stamp = CACHE / "tasks" / name, CACHE / "tasks" / f"{name}.sha256"
    key = _hash_origin(data_set, embedder)
    if not stamp.exists() or stamp.read_text() != key:
        print(f"Embedding {name}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        tasks.make_task(data_set, folder, embedder)
        stamp.write_text(key)
    return folder


def _hash_origin(data_set: tasks.DataSet, embedder: str | None) -> str:
    """Hash the code, the files of the set, and a vector of the model, whose file may have changed."""
    with Pertinent.open(CACHE / "none", query_cache=0, embedder=embedder) as pertinent:
        (vector,) = pertinent.workspace.create_embedder().embed_queries([PROBE])
    code = hash_files([*PACKAGE.rglob("*.py"), Path(tasks.__file__)])
    root = data_set.folder if data_set.is_beir else data_set.folder.parent
    files = hash_files([path for path in root.rglob("*") if path.is_file()])
    return hashlib.sha256(f"{code} {files} {embedder} {vector.tobytes().hex()}".encode()).hexdigest()


def make_key(peer: PeerEntry, task: Path) -> str:
    return f"{tasks.hash_task(task)} {hash_files(peer.list_files())}"


def result_file(peer: PeerEntry, data_set: tasks.DataSet) -> Path:
    return CACHE / "results" / peer.key / f"{data_set.name}.json"


def read_result(path: Path, key: str) -> dict[str, Any] | None:
    """Read a result, if it was made with the present task and code."""
    if not path.exists():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result if result["key"] == key else None


def collect(peers: Sequence[PeerEntry], data_sets: Sequence[tasks.DataSet]) -> dict[str, Any]:
    """Score all current results; a peer without any is left out."""
    figures: dict[str, Any] = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "sets": {},
        "peers": {},
    }
    for peer in peers:
        scores: dict[str, Any] = {}
        entry = {"title": peer.title, "setup": peer.setup}
        for data_set in data_sets:
            task = prepare_task(data_set, peer.embedder)
            if peer.embedder is None:
                figures["sets"].setdefault(data_set.name, describe_set(data_set, task))
            if result := read_result(result_file(peer, data_set), make_key(peer, task)):
                entry |= {
                    "versions": result["versions"],
                    "installed_mb": round(result["installed_bytes"] / 1e6, 1),
                }
                scores[data_set.name] = summarize_result(result, data_set, task)
        if scores:
            figures["peers"][peer.key] = {**entry, "sets": scores}
    return figures


def describe_set(data_set: tasks.DataSet, folder: Path) -> dict[str, Any]:
    task = protocol.load_task(folder)
    settings = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    return {
        "kind": "beir" if data_set.is_beir else "docs",
        "chunks": len(task.documents),
        "queries": len(task.queries),
        "embedder": settings["embedder"],
        "embedding_s": settings["embedding_s"],
    }


def summarize_result(result: Mapping[str, Any], data_set: tasks.DataSet, folder: Path) -> dict[str, Any]:
    pages = {document.id: document.page for document in protocol.load_task(folder).documents}
    titles = json.loads((folder / "titles.json").read_text(encoding="utf-8"))
    return {
        "date": result["date"],
        **{name: round(result[name], 3) for name in ("build_s", "unchanged_s")},
        **{
            name: {f"p{share}": round(scoring.percentile(result[name], share / 100), 2) for share in (50, 95)}
            for name in ("search_ms", "search_cpu_ms")
        },
        "scores": scoring.score(result["rankings"], pages, tasks.read_judgments(data_set, titles)),
    }


if __name__ == "__main__":
    main()
