"""Small ONNX graphs with a tokenizer, in folders as sentence-transformers and its exporters write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "query", ":", "passage", "joint", "knee", "turns", "Knee")
DIMENSION = 4

TABLE: NDArray[np.float32] = (
    np.random.default_rng(1).standard_normal((len(WORDS), DIMENSION)).astype(np.float32)
)
"""The state of each token: the graph looks it up, whatever the other tokens are."""


def write_graph(path: Path, outputs: Sequence[str], inputs: Sequence[str] = ("input_ids",)) -> None:
    """Write a graph whose states are rows of the table; `sentence_embedding` is their sum."""
    nodes = {
        "last_hidden_state": helper.make_node("Identity", ["states"], ["last_hidden_state"]),
        "token_embeddings": helper.make_node("Identity", ["states"], ["token_embeddings"]),
        "pooler_output": helper.make_node("Neg", ["states"], ["pooler_output"]),
        "sentence_embedding": helper.make_node(
            "ReduceSum", ["states", "axis"], ["sentence_embedding"], keepdims=0
        ),
    }
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["states"]), *(nodes[name] for name in outputs)],
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(np.array([1]), "axis")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)


def make_tokenizer(*, special_tokens: bool = True) -> Tokenizer:
    """Return a tokenizer that knows the words above, as they are written."""
    ids = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))  # noqa: S106 - a token of text
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special_tokens:
        ends = [(token, ids[token]) for token in ("[CLS]", "[SEP]")]
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    return tokenizer


def write_model(
    folder: Path,
    config: Mapping[str, Any] | None = None,
    *,
    outputs: Sequence[str] = ("last_hidden_state",),
    inputs: Sequence[str] = ("input_ids",),
    tokenizer: Tokenizer | None = None,
    model_file: str = "model.onnx",
) -> Path:
    """Write a folder with a model and these configuration files."""
    write_graph(folder / model_file, outputs, inputs)
    (tokenizer or make_tokenizer()).save(str(folder / "tokenizer.json"))
    for name, content in (config or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    return folder


def states_of(*tokens: str) -> NDArray[np.float32]:
    """Return the states of these tokens, which the graph should have."""
    return TABLE[[WORDS.index(token) for token in tokens]]


def unit(vector: NDArray[Any]) -> NDArray[np.float32]:
    """Return the vector at unit length."""
    return np.asarray(vector / np.linalg.norm(vector), np.float32)
