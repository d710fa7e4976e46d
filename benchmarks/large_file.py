"""The memory that a large Markdown file takes: `benchmarks/large_file.py [--megabytes 50]`.

The model is left out, and the index is on a server, so that its engine is not in this process. A small page
is indexed first, to measure what the process takes without the large one.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
from pathlib import Path
from typing import Any

from pertinent._internal.progress import NoProgress
from pertinent.sources.markdown import MarkdownSource
from pertinent.surfaces.library import Pertinent
from scaling import HANDBOOK, HERE, read_memory, sample_peak, start_server
from synthetic import read_sentences

RESULTS = HERE / "results" / "large_file.json"
SENTENCES_PER_SECTION = 5


def write_book(folder: Path, size: int) -> Path:
    """Write one Markdown file of about this many bytes, with dashes and curly quotes as prose has them."""
    sentences = read_sentences(HANDBOOK)
    file = folder / "large.md"
    with file.open("w", encoding="utf-8") as content:
        content.write("# A large page\n")
        section = 0
        while content.tell() < size:
            text = " ".join(
                sentences[(section + number * 7) % len(sentences)] for number in range(SENTENCES_PER_SECTION)
            )
            content.write(f"\n## Section {section}\n\nIt is “large” – {text}\n")
            section += 1
    return file


def measure(folder: Path, url: str, megabytes: int) -> dict[str, Any]:
    """Index the file, and return the most anonymous memory (without mapped files) of each stage."""
    docs, small = folder / "docs", folder / "small"
    docs.mkdir()
    small.mkdir()
    file = write_book(docs, megabytes * 10**6)
    (small / "small.md").write_text("# A small page\n\nIt is small.\n")
    settings = {"embedder": "testing:hashed-words", "qdrant_url": url, "qdrant_collection": "large-file"}
    with Pertinent.open(folder / "data", **settings) as opened:
        opened.index(small)
        before = read_memory("RssAnon")
        with opened.workspace.writing(NoProgress()):
            source = MarkdownSource(docs, name="large")
            indexer = opened.workspace.create_indexer(NoProgress(), source)
            with sample_peak("RssAnon") as planning:
                plan = indexer.plan(source)
            with sample_peak("RssAnon") as writing:
                indexer.apply(plan)
    return {
        "file_mb": round(file.stat().st_size / 10**6, 1),
        "chunks": plan.chunks_to_embed,
        "anonymous_mb_before": before,
        "peak_anonymous_mb_planning": max(planning),
        "peak_anonymous_mb_writing": max(writing),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    megabytes = parser.parse_args().megabytes
    with tempfile.TemporaryDirectory() as name, start_server(Path(name) / "qdrant") as url:
        figures = measure(Path(name), url, megabytes)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    RESULTS.write_text(json.dumps({"machine": machine, **figures}, indent=2) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
