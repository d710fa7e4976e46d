"""Measure what the documentation states: `python benchmarks/run.py [NAME …] [--beir DIR …] [--docs DIR …]`.

Each figure is a ratio, or a difference, within one run; the raw figures go to `results/NAME.json`. With
`--embedder`, the folders are measured with another model, whose name is part of that of the results.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chunks
import crawling
import embedding
import indexing
import quality
import quantizing
import reading
import searching
import serving
import startup
import suggesting
import validating

HERE = Path(__file__).parent
HANDBOOK = HERE.parent / "examples" / "handbook"
MEASURES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "indexing": indexing.measure,
    "embedding": embedding.measure,
    "searching": searching.measure,
    "suggesting": suggesting.measure,
    "startup": startup.measure,
    "serving": serving.measure,
    "validating": validating.measure,
    "quantizing": quantizing.measure,
    "crawling": crawling.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*MEASURES, []], help="which to run; all by default")
    parser.add_argument("--beir", nargs="*", type=Path, default=[], help="BEIR folders to measure quality on")
    parser.add_argument(
        "--docs", nargs="*", type=Path, default=[], help="folders to measure chunks and reading on"
    )
    parser.add_argument("--embedder", help="the model for --beir and --docs, as in the settings")
    arguments = parser.parse_args()
    suffix = ""
    if arguments.embedder:
        os.environ["PERTINENT_EMBEDDER"] = arguments.embedder
        suffix = "-" + re.split("[:/]", arguments.embedder)[-1]
    by_default = [] if arguments.beir or arguments.docs else MEASURES
    figures = {name: MEASURES[name](HANDBOOK) for name in arguments.names or by_default}
    figures |= {f"quality-{folder.name}{suffix}": quality.measure(folder) for folder in arguments.beir}
    for folder in arguments.docs:
        name = folder.parent.name if folder.name in ("docs", "website") else folder.name
        figures[f"reading-{name}{suffix}"] = reading.measure(folder)
        if not arguments.embedder:
            figures[f"chunks-{name}"] = chunks.measure(folder)
            figures[f"embedding-{name}"] = embedding.measure(folder)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    for name, measured in figures.items():
        target = HERE / "results" / f"{name}.json"
        target.write_text(json.dumps({"machine": machine, **measured}, indent=2) + "\n")
        print(f"{name}: {json.dumps({k: v for k, v in measured.items() if not isinstance(v, list)})}")


if __name__ == "__main__":
    main()
