"""A book of any size: the handbook's own sentences in new combinations, with the vectors that go with them.

A chunk's vector is the normalised sum of the vectors of its sentences, which the model made once, and of
noise that its text determines. So the book's vectors are as clustered as real ones, and no model runs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from pertinent.embedders.local import LocalEmbedder
from pertinent.identity import document_id
from pertinent.ports import Vector
from pertinent.sources import open_source
from pertinent.sources.normal_form import BlockPiece, HeadingPiece, Piece, assemble
from pertinent.types import Page

CHUNKS_PER_PAGE = 20
CHUNKS_PER_SECTION = 2
SENTENCES_PER_CHUNK = 5
NOISE = 0.4
"""The length of the noise, where the sum of the sentences has length one."""

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


def read_sentences(book: Path) -> list[str]:
    """Return the distinct sentences of a book's paragraphs."""
    paragraphs = (
        page.text[block.start : block.end]
        for page in open_source(str(book)).read()
        if isinstance(page, Page)
        for section in page.sections
        for block in section.blocks
        if block.kind == "prose" and "\n" not in page.text[block.start : block.end]
    )
    parts = (part.strip() for text in paragraphs for part in _SENTENCE_END.split(text))
    return sorted({part for part in parts if 30 < len(part) < 300 and part.endswith(".")})


class SyntheticBook:
    """A source of pages with about so many chunks; the same number always gives the same page.

    Every second chunk has a word that no other one has, as identifiers of real documentation are: the
    vocabulary grows with the book.
    """

    name = "https://synthetic.example/docs"
    location = "synthetic"
    language = "english"
    notes = ()

    def __init__(self, sentences: Sequence[str], chunks: int, edited: frozenset[int] = frozenset()) -> None:
        self._sentences = sentences
        self._pages = chunks // CHUNKS_PER_PAGE
        self._edited = edited
        """The numbers of pages that end with another sentence."""

    @property
    def total(self) -> int:
        return self._pages

    def read(self) -> Iterator[Page]:
        for number in range(self._pages):
            yield self.build_page(number)

    def build_page(self, number: int) -> Page:
        rng = random.Random(number)
        title = f"{_make_name(number)} {' '.join(rng.choice(self._sentences).split()[:3])}"
        pieces: list[Piece] = []
        for section in range(CHUNKS_PER_PAGE // CHUNKS_PER_SECTION):
            heading = " ".join(rng.choice(self._sentences).rstrip(".").split()[:4])
            pieces.append(HeadingPiece(2, heading, f"part-{section}"))
            for part in range(CHUNKS_PER_SECTION):
                sentences = rng.choices(self._sentences, k=SENTENCES_PER_CHUNK)
                if part == 0:
                    sentences.append(f"See {_make_name(1_000_000 + number * CHUNKS_PER_PAGE + section)}.")
                pieces.append(BlockPiece("prose", " ".join(sentences)))
        if number in self._edited:
            pieces.append(BlockPiece("prose", f"This page was edited by {_make_name(9_000_000 + number)}."))
        text, sections = assemble(pieces, title)
        url = f"{self.name}/volume-{number // 100}/page-{number}"
        slug = f"page-{number}"
        path = f"docs/volume-{number // 100}/page-{number}.md"
        return Page(document_id(url, slug), url, title, path, slug, "docusaurus-page", text, sections)


class SentenceVectors:
    """Embeds texts by the sentences of which they consist; a query by the model, once."""

    name = "local:all-MiniLM-L6-v2"
    model = "all-MiniLM-L6-v2"
    dimension = 384
    max_tokens = 256

    def __init__(self, sentences: Sequence[str], queries: Sequence[str]) -> None:
        embedder = LocalEmbedder.load_minilm()
        self._vectors = dict(zip(sentences, embedder.embed_documents(list(sentences)), strict=True))
        self._queries = dict(zip(queries, embedder.embed_queries(list(queries)), strict=True))
        noise = np.random.default_rng(7).normal(size=(4096, self.dimension)).astype(np.float32)
        self._noise = noise / np.linalg.norm(noise, axis=1, keepdims=True)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Estimate from the words; the model's tokenizer is left out as well."""
        return [len(text.split()) * 4 // 3 + 2 for text in texts]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        # A corrected query has a text that the model did not see.
        return [self._queries.get(text, self._noise[0]) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        for text in texts:
            yield self.embed_text(text)

    def embed_text(self, text: str) -> Vector:
        """Sum the vectors of the sentences and the noise of two directions that the text picks."""
        total = np.zeros(self.dimension, np.float32)
        for sentence in _SENTENCE_END.split(text.rpartition("\n\n")[2]):
            vector = self._vectors.get(sentence)
            if vector is not None:
                total += vector
        seed = crc32(text.encode())
        noise = self._noise[seed % 4096] + self._noise[seed // 4096 % 4096]
        total = total / max(float(np.linalg.norm(total)), 1e-6) + NOISE / 2**0.5 * noise
        unit: Vector = total / np.linalg.norm(total)
        return unit


def _make_name(number: int) -> str:
    """Return a word that stands for a number, such as `belumazi`."""
    digits = []
    while number:
        number, digit = divmod(number, len(_SYLLABLES))
        digits.append(_SYLLABLES[digit])
    return "".join(digits) + "x"
