"""Makes tasks: the chunks of a set as Pertinent cuts them, with their vectors, and the queries with theirs.

A set is a BEIR folder, or a documentation with `questions.json` in it or beside it. The task of the latter
has the questions and the page names of `reading`, of which one kind each has typos and is cut off.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import reading
from peers.protocol import Document, Query
from pertinent.indexing.chunking import embedded_text
from pertinent.ports import Embedder, Vector
from pertinent.surfaces.library import Pertinent

LIMIT = 20
CANDIDATES = 50


@dataclass(frozen=True)
class DataSet:
    """A set to compare on."""

    folder: Path

    @property
    def name(self) -> str:
        return self.folder.parent.name if self.folder.name in ("docs", "website") else self.folder.name

    @property
    def is_beir(self) -> bool:
        return (self.folder / "corpus.jsonl").exists()

    @property
    def source(self) -> str:
        return f"beir:{self.folder.resolve()}" if self.is_beir else str(self.folder.resolve())


@dataclass(frozen=True)
class Judgments:
    """What is right: grades of pages by query for a BEIR set, or reader queries by id."""

    qrels: Mapping[str, Mapping[str, int]]
    readers: Mapping[str, reading.ReaderQuery]


class RecordingEmbedder:
    """Keeps the vector of every text that an embedder embeds, and how long documents took."""

    def __init__(self, inner: Embedder) -> None:
        self.name, self.model = inner.name, inner.model
        self.dimension, self.max_tokens = inner.dimension, inner.max_tokens
        self.count_tokens = inner.count_tokens
        self.vectors: dict[str, Vector] = {}
        self.document_seconds = 0.0
        self._inner = inner

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        vectors = self._inner.embed_queries(texts)
        self.vectors |= dict(zip(texts, vectors, strict=True))
        return vectors

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        start = time.perf_counter()
        vectors = list(self._inner.embed_documents(texts))
        self.document_seconds += time.perf_counter() - start
        self.vectors |= dict(zip(texts, vectors, strict=True))
        return iter(vectors)


def read_judgments(data_set: DataSet, pages: Mapping[str, str]) -> Judgments:
    """Read what is right for each query.

    Args:
        data_set: The set.
        pages: The titles of a documentation's pages by their path.
    """
    if not data_set.is_beir:
        questions = reading.read_questions(reading.find_questions(data_set.folder))
        readers = [*questions, *reading.make_names(pages)]
        return Judgments({}, {str(number): query for number, query in enumerate(readers)})
    qrels: dict[str, dict[str, int]] = {}
    for line in (data_set.folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, page, grade = line.split("\t")
        qrels.setdefault(query, {})[page] = int(grade)
    return Judgments(qrels, {})


def make_task(data_set: DataSet, folder: Path, embedder: str | None = None) -> None:
    """Write the task of a set into a folder, with the vectors of the default model or of another."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"embedder": embedder} if embedder else {}
    with (
        tempfile.TemporaryDirectory() as directory,
        Pertinent.open(directory, query_cache=0, **settings) as pertinent,
    ):
        recorder = RecordingEmbedder(pertinent.workspace.create_embedder())
        pertinent.workspace._embedder = recorder
        pertinent.index(data_set.source)
        titles = {page.source_path: page.title for page in pertinent.pages()}
        queries = _list_queries(data_set, read_judgments(data_set, titles))
        texts = [query.text for query in queries]
        query_vectors = recorder.embed_queries(texts)
        pertinent.search_many(texts)  # records the vectors of corrected queries too
        documents = list(_list_documents(pertinent))
    document_vectors = [recorder.vectors[document.text] for document in documents]
    _write_lines(folder / "documents.jsonl", documents)
    np.save(folder / "documents.npy", np.stack(document_vectors))
    _write_lines(folder / "queries.jsonl", queries)
    np.save(folder / "queries.npy", np.stack(query_vectors))
    _write_json(folder / "texts.json", list(recorder.vectors))
    np.save(folder / "texts.npy", np.stack(list(recorder.vectors.values())))
    _write_json(folder / "titles.json", titles)
    body = {
        "source": data_set.source,
        "limit": LIMIT,
        "candidates": CANDIDATES,
        "settings": settings,
        "embedder": recorder.name,
        "embedding_s": round(recorder.document_seconds, 1),
    }
    _write_json(folder / "task.json", body)


def hash_task(folder: Path) -> str:
    """Return a hash of what the peers read."""
    names = ("documents.jsonl", "documents.npy", "queries.jsonl", "queries.npy")
    return hashlib.sha256(b"".join((folder / name).read_bytes() for name in names)).hexdigest()


def _list_queries(data_set: DataSet, judgments: Judgments) -> list[Query]:
    if not data_set.is_beir:
        return [Query(key, query.text) for key, query in judgments.readers.items()]
    lines = (data_set.folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return [Query(row["_id"], row["text"]) for row in rows if row["_id"] in judgments.qrels]


def _list_documents(pertinent: Pertinent) -> Iterator[Document]:
    catalog = pertinent.workspace.catalog()
    for record in catalog.pages():
        page = catalog.page(record.document_id)
        assert page is not None
        for chunk in catalog.chunks(record.document_id):
            text = embedded_text(chunk, page.front_matter)
            yield Document(chunk.chunk_id, chunk.source_path, chunk.title, chunk.section, text, chunk.text)


def _write_lines(path: Path, records: Sequence[Document] | Sequence[Query]) -> None:
    lines = [json.dumps(asdict(record), ensure_ascii=False) + "\n" for record in records]
    path.write_text("".join(lines), encoding="utf-8")


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
