"""What a reader of a documentation meets: whether the right page comes first for questions and for names.

Questions come from a file, a list of objects with `text` and `pages`. Names are the titles of all pages:
typed exactly, with two letters swapped, and cut off after two thirds. `comparing.py` asks the same of other
libraries.
"""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import reliability
from pertinent.surfaces.library import Pertinent

SEED = 7
MIN_TITLE = 4
CUT_TO = 2 / 3
TOP_K = 20
FIRST_RESULTS = (1, 5)


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
    questions = questions or find_questions(folder)
    with tempfile.TemporaryDirectory() as directory, Pertinent.open(directory) as pertinent:
        pertinent.index(folder)
        titles = {page.source_path: page.title for page in pertinent.pages()}
        queries = [*read_questions(questions), *make_names(titles)]
        answers = pertinent.search_many([query.text for query in queries], top_k=TOP_K)
        ranks = [
            find_rank([hit.chunk.source_path for hit in answer.hits], query.pages)
            for query, answer in zip(queries, answers, strict=True)
        ]
        figures: dict[str, Any] = {"pertinent": summarize(queries, ranks)}
        figures["reliability"] = reliability.count_bins(
            (answer.hits[0].score, rank == 0)
            for query, answer, rank in zip(queries, answers, ranks, strict=True)
            if query.kind == "questions" and answer.hits
        )
    return figures


def find_questions(folder: Path) -> Path | None:
    return next(
        (path for path in (folder / "questions.json", folder.parent / "questions.json") if path.exists()),
        None,
    )


def read_questions(path: Path | None) -> Iterator[ReaderQuery]:
    for question in json.loads(path.read_text(encoding="utf-8")) if path else ():
        yield ReaderQuery("questions", question["text"], frozenset(question["pages"]))


def make_names(titles: Mapping[str, str]) -> Iterator[ReaderQuery]:
    """Yield the names to search for.

    Args:
        titles: The titles of all pages by their path.
    """
    pages: dict[str, set[str]] = {}
    for path, title in titles.items():
        pages.setdefault(title, set()).add(path)
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


def find_rank(paths: Sequence[str], expected: frozenset[str]) -> int | None:
    """Return the rank of the first expected page, from 0, counting each page once."""
    for rank, path in enumerate(dict.fromkeys(paths)):
        if any(path == page or path.endswith(f"/{page}") for page in expected):
            return rank
    return None


def summarize(queries: Sequence[ReaderQuery], ranks: Sequence[int | None]) -> dict[str, dict[str, float]]:
    by_kind: dict[str, list[int | None]] = {}
    for query, rank in zip(queries, ranks, strict=True):
        by_kind.setdefault(query.kind, []).append(rank)
    return {
        kind: {"n": len(kind_ranks)}
        | {
            f"in_{count}": round(
                sum(rank is not None and rank < count for rank in kind_ranks) / len(kind_ranks), 4
            )
            for count in FIRST_RESULTS
        }
        for kind, kind_ranks in by_kind.items()
    }
