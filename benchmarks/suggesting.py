"""Suggestions at 20,000 names: what each letter that a reader types costs, in CPU time."""

from __future__ import annotations

import random
import statistics
import time
from pathlib import Path
from typing import Any

from pertinent.search.book_words import BookWords
from pertinent.search.suggest import suggest
from pertinent.search.terms import Analyzer, words
from pertinent.sources import open_source
from pertinent.types import Page, SectionName, Vocabulary

SECTIONS_PER_PAGE = 20


def make_names(book: Path, count: int) -> list[SectionName]:
    """Names of one to six words; the handbook's words, with endings so that most of them are distinct."""
    rng = random.Random(1)
    text = " ".join(page.text for page in open_source(str(book)).read() if isinstance(page, Page))
    stems = sorted({word for word in words(text) if word.isalpha() and len(word) > 2})
    vocabulary = [stem + ending for stem in stems for ending in ("", "s", "ing", "able")]
    names = []
    for number in range(count):
        heading = " ".join(rng.choices(vocabulary, k=rng.randint(1, 6))).capitalize()
        page_number, is_section = divmod(number, SECTIONS_PER_PAGE)
        url = f"https://book.example/docs/{page_number}"
        section, anchor = (heading, f"section-{number}") if is_section else ("", "")
        names.append(SectionName(str(page_number), url, anchor, heading, section))
    return names


def make_typed(names: list[SectionName], count: int) -> dict[str, list[str]]:
    """What readers type: each beginning of a name, inner words of it, and either with two letters swapped."""
    rng = random.Random(2)
    typed: dict[str, list[str]] = {"prefix": [], "inner": [], "typo": []}
    for name in rng.sample(names, count):
        heading = name.section or name.title
        typed["prefix"] += [heading[:length] for length in range(1, len(heading) + 1)]
        typed["inner"].append(" ".join(reversed(heading.split())))
        position = rng.randrange(len(heading) - 1)
        swapped = heading[position + 1] + heading[position]
        misspelt = heading[:position] + swapped + heading[position + 2 :]
        typed["typo"] += [misspelt[:length] for length in range(position + 2, len(misspelt) + 1)]
    return typed


def measure(book: Path, names: int = 20_000, sampled: int = 60) -> dict[str, Any]:
    sections = make_names(book, names)
    book_words = BookWords(Vocabulary({}, 0), sections, Analyzer())
    start = time.thread_time()
    suggest("robot", book_words, 8)
    figures: dict[str, Any] = {"names": names, "first_ms": _round((time.thread_time() - start) * 1000)}
    figures["distinct_words"] = len(book_words.names.words)
    for kind, texts in make_typed(sections, sampled).items():
        milliseconds = []
        for text in texts:
            start = time.thread_time()
            suggest(text, book_words, 8)
            milliseconds.append((time.thread_time() - start) * 1000)
        figures[f"{kind}_median_ms"] = _round(statistics.median(milliseconds))
        figures[f"{kind}_p99_ms"] = _round(statistics.quantiles(milliseconds, n=100)[98])
    return figures


def _round(value: float) -> float:
    return round(value, 3)
