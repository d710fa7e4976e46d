"""The vectors of the real models, computed once in a run of the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from pertinent.embedders.onnx_embedder import OnnxEmbedder
from pertinent.identity import digest
from pertinent.ports import Vector


@pytest.fixture(scope="module")
def cached_vectors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Take the vector of a text that a real model has embedded before from a file of this run.

    Several modules index the handbook with the real model, in several processes. Each text is embedded by
    itself, so that its vector is the same in all of them. Queries are embedded as always.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which all processes share
    folder /= "vectors"
    folder.mkdir(exist_ok=True)
    usual = OnnxEmbedder.embed_documents

    def embed_documents(embedder: OnnxEmbedder, texts: Sequence[str]) -> Iterator[Vector]:
        files = {text: folder / f"{digest(embedder.name, text, length=64)}.npy" for text in texts}
        new_texts = [text for text, file in files.items() if not file.exists()]
        missing = set(new_texts)
        vectors = usual(embedder, new_texts)
        for text in texts:
            if text in missing:
                missing.remove(text)
                _save_vector(files[text], next(vectors))
            yield np.load(files[text])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OnnxEmbedder, "embed_documents", embed_documents)
        yield


def _save_vector(file: Path, vector: Vector) -> None:
    """Write the file at once: another process may look for it."""
    unfinished = file.with_suffix(f".{os.getpid()}")
    with unfinished.open("wb") as content:
        np.save(content, vector)
    unfinished.replace(file)
