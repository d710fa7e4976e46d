"""What a reader of a documentation meets: whether the right page comes first for questions and for names.

Questions come from a file, a list of objects with `text` and `pages`. Names are the titles of all pages:
typed exactly, with two letters swapped, and cut off after two thirds. MiniSearch, set up as VitePress does
it, answers the same queries over the same sections in the same run, where Node can install it.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import reliability
from pertinent.surfaces.library import Pertinent

SEED = 7
MIN_TITLE = 4
CUT_TO = 2 / 3
TOP_K = 20
FIRST_RESULTS = (1, 5)
MINISEARCH = Path(__file__).with_name("minisearch.mjs")


class ReaderQuery(NamedTuple):
    """A query with the paths of the pages that answer it."""

    kind: str
    text: str
    pages: frozenset[str]


def measure(folder: Path, questions: Path | None = None) -> dict[str, Any]:
    """Index the folder with the default settings and run all queries.

    Args:
        folder: The documentation.
        questions: The questions; by default `questions.json` beside the folder or in it.
    """
    questions = questions or _find_questions(folder)
    with tempfile.TemporaryDirectory() as directory, Pertinent.open(directory) as pertinent:
        pertinent.index(folder)
        queries = [*_read_questions(questions), *_make_names(pertinent)]
        answers = pertinent.search_many([query.text for query in queries], top_k=TOP_K)
        ranks = [
            _find_rank([hit.chunk.source_path for hit in answer.hits], query.pages)
            for query, answer in zip(queries, answers, strict=True)
        ]
        figures: dict[str, Any] = {"pertinent": _summarize(queries, ranks)}
        figures["reliability"] = reliability.count_bins(
            (answer.hits[0].score, rank == 0)
            for query, answer, rank in zip(queries, answers, ranks, strict=True)
            if query.kind == "questions" and answer.hits
        )
        if minisearch := _measure_minisearch(pertinent, queries, Path(directory)):
            figures["minisearch"] = minisearch
    return figures


def _find_questions(folder: Path) -> Path | None:
    return next(
        (path for path in (folder / "questions.json", folder.parent / "questions.json") if path.exists()),
        None,
    )


def _read_questions(path: Path | None) -> Iterator[ReaderQuery]:
    for question in json.loads(path.read_text(encoding="utf-8")) if path else ():
        yield ReaderQuery("questions", question["text"], frozenset(question["pages"]))


def _make_names(pertinent: Pertinent) -> Iterator[ReaderQuery]:
    pages: dict[str, set[str]] = {}
    for page in pertinent.pages():
        pages.setdefault(page.title, set()).add(page.source_path)
    generator = random.Random(SEED)
    for title, paths in pages.items():
        if len(title) >= MIN_TITLE:
            cut = title[: max(MIN_TITLE + 1, int(len(title) * CUT_TO))]
            yield ReaderQuery("names", title, frozenset(paths))
            yield ReaderQuery("names, letters swapped", _swap_letters(title, generator), frozenset(paths))
            yield ReaderQuery("names, cut off", cut, frozenset(paths))


def _swap_letters(title: str, generator: random.Random) -> str:
    """Swap two letters that stand inside a word."""
    inner = [match.start() for match in re.finditer(r"(?<=\w)\w(?=\w)", title)]
    if not inner:
        return title
    position = generator.choice(inner)
    return title[:position] + title[position + 1] + title[position] + title[position + 2 :]


def _find_rank(paths: Sequence[str], expected: frozenset[str]) -> int | None:
    """Return the rank of the first expected page, from 0, counting each page once."""
    for rank, path in enumerate(dict.fromkeys(paths)):
        if any(path == page or path.endswith(f"/{page}") for page in expected):
            return rank
    return None


def _summarize(queries: Sequence[ReaderQuery], ranks: Sequence[int | None]) -> dict[str, dict[str, float]]:
    by_kind: dict[str, list[int | None]] = {}
    for query, rank in zip(queries, ranks, strict=True):
        by_kind.setdefault(query.kind, []).append(rank)
    return {
        kind: {"n": len(found)}
        | {
            f"in_{count}": round(sum(rank is not None and rank < count for rank in found) / len(found), 4)
            for count in FIRST_RESULTS
        }
        for kind, found in by_kind.items()
    }


def _measure_minisearch(
    pertinent: Pertinent, queries: Sequence[ReaderQuery], directory: Path
) -> dict[str, dict[str, float]] | None:
    """Run the queries with MiniSearch; None where Node or the package is missing."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return None
    install = [
        npm,
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--prefix",
        str(directory),
        "minisearch@7",
    ]
    if subprocess.run(install, check=False, capture_output=True).returncode:
        return None
    script = shutil.copy(MINISEARCH, directory)
    dump = directory / "sections.json"
    body = {"sections": _list_sections(pertinent), "queries": [query.text for query in queries]}
    dump.write_text(json.dumps(body), encoding="utf-8")
    output = subprocess.run([node, script, str(dump)], check=True, capture_output=True, text=True).stdout
    pages = json.loads(output)
    return _summarize(
        queries, [_find_rank(found, query.pages) for query, found in zip(queries, pages, strict=True)]
    )


def _list_sections(pertinent: Pertinent) -> list[dict[str, str]]:
    """Return the sections as VitePress indexes them: heading, headings above, and text."""
    catalog = pertinent.workspace.catalog()
    sections: dict[tuple[str, str], dict[str, str]] = {}
    for page in catalog.pages():
        for chunk in catalog.chunks(page.document_id):
            path = chunk.section.split(" › ") if chunk.section else []
            section = sections.setdefault(
                (chunk.document_id, chunk.section),
                {
                    "page": chunk.source_path,
                    "title": path[-1] if path else chunk.title,
                    "titles": " ".join([chunk.title, *path[:-1]]),
                    "text": "",
                },
            )
            section["text"] += chunk.text + "\n"
    return list(sections.values())
