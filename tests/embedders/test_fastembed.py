"""Models of fastembed: from a local folder with the files of bge, and its errors in our words."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from pertinent import build
from pertinent._internal.package_files import locate_package_files
from pertinent.embedders import bge
from pertinent.embedders.fastembed import FastEmbedder
from pertinent.errors import EmbedderError, SettingsError
from pertinent.settings import Settings, load

MODEL = "BAAI/bge-small-en-v1.5"
TEXTS = ["How do ROS 2 nodes communicate?", "Nodes exchange messages over topics.", "word " * 1000]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of bge under the names that fastembed expects."""
    target = tmp_path_factory.mktemp("bge")
    source = locate_package_files(bge.PACKAGE, bge.FILES)[bge.MODEL_FILE].parent
    shutil.copy(source / "model.onnx", target / "model_optimized.onnx")
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        shutil.copy(source / name, target / name)
    return target


@pytest.fixture(scope="module")
def embedder(folder: Path) -> FastEmbedder:
    return FastEmbedder(MODEL, folder)


def test_fastembed_model_is_loaded_from_a_local_folder(folder: Path) -> None:
    settings = Settings(embedder=f"fastembed:{MODEL}", fastembed_folder=folder)
    embedder = build.create_embedder(settings)
    assert (embedder.name, embedder.model) == (f"fastembed:{MODEL}", MODEL)
    assert (embedder.dimension, embedder.max_tokens) == (384, 512)


@pytest.mark.slow
def test_fastembed_vectors_equal_those_of_the_same_files(embedder: FastEmbedder) -> None:
    """fastembed pools this model by its first token and has no prompt, like our documents."""
    expected = np.stack(list(bge.load_bge().embed_documents(TEXTS)))
    assert np.allclose(np.stack(list(embedder.embed_documents(TEXTS))), expected, rtol=0, atol=1e-3)
    assert np.allclose(np.linalg.norm(np.stack(embedder.embed_queries(TEXTS)), axis=1), 1, atol=1e-5)


def test_fastembed_query_has_the_same_vector_alone_and_among_others(embedder: FastEmbedder) -> None:
    alone = [embedder.embed_queries([text])[0] for text in TEXTS]
    assert np.array_equal(np.stack(alone), np.stack(embedder.embed_queries(TEXTS)))


def test_fastembed_counts_tokens_beyond_the_limit_of_the_model(embedder: FastEmbedder) -> None:
    assert embedder.count_tokens(["", "hello world", "word " * 1000]) == [2, 4, 1002]


def test_fastembed_documents_are_embedded_as_they_are_read(embedder: FastEmbedder) -> None:
    vectors = embedder.embed_documents(["joint"] * 10_000)
    assert next(vectors).shape == (384,)


def test_failed_download_says_how_to_get_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")  # as without a network, but without the retries
    with pytest.raises(EmbedderError) as caught:
        FastEmbedder(MODEL)
    message = str(caught.value)
    assert "neither in its cache nor can be downloaded" in message
    assert f"TextEmbedding('{MODEL}', cache_dir='models')" in message
    assert "fastembed_folder" in message


def test_unknown_fastembed_model_and_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"does not know the model acme/small; `pertinent models`"):
        FastEmbedder("acme/small")
    with pytest.raises(SettingsError, match="fastembed_folder: there is no folder"):
        FastEmbedder(MODEL, tmp_path / "none")
    with pytest.raises(EmbedderError, match=f"can't load {MODEL} from {tmp_path}"):
        FastEmbedder(MODEL, tmp_path)


def test_fastembed_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with pytest.raises(SettingsError, match=r"pip install 'pertinent\[fastembed\]'"):
        FastEmbedder(MODEL)


def test_fastembed_folder_in_the_settings_file_is_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "pertinent.toml").write_text("fastembed_folder = 'models/bge'\n")
    assert load(environment={}, start=tmp_path).settings.fastembed_folder == tmp_path / "models" / "bge"
