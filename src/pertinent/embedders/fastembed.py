"""Embeddings with any model that fastembed knows (extra `fastembed`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._internal.onnx_model import disable_telemetry
from ..errors import EmbedderError, SettingsError
from ..ports import Vector
from .pooling import normalize

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

FOLDER_SETTING = "fastembed_folder"


class FastEmbedder:
    """A model of fastembed, with vectors of unit length. Thread-safe.

    Texts are embedded one by one: in a batch, the vectors of a quantised model depend on the other texts.

    Args:
        model: The name of the model, such as `BAAI/bge-small-en-v1.5`.
        folder: The folder with its files; by default fastembed's cache, to which it downloads a new model.

    Raises:
        SettingsError: fastembed is not installed or does not know the model, or the folder does not exist.
        EmbedderError: The model can't be downloaded or loaded.
    """

    def __init__(self, model: str, folder: Path | None = None) -> None:
        self.name = f"fastembed:{model}"
        self.model = model
        self._embedding = _load_model(model, folder)
        self.dimension: int = self._embedding.embedding_size
        tokenizer: Tokenizer = self._embedding.model.tokenizer  # type: ignore[attr-defined]
        # fastembed truncates with every model.
        self.max_tokens = int((tokenizer.truncation or {})["max_length"])
        self._tokenizer = _copy_without_truncation(tokenizer)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, special tokens included."""
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each query."""
        return list(self._read_vectors(self._embedding.query_embed(list(texts), batch_size=1)))

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield a vector for each document, in order."""
        return self._read_vectors(self._embedding.passage_embed(texts, batch_size=1))

    def _read_vectors(self, vectors: Iterable[NDArray[Any]]) -> Iterator[Vector]:
        """Yield the vectors of fastembed at unit length, and translate its errors."""
        try:
            for vector in vectors:
                yield normalize(vector)
        except Exception as error:
            raise EmbedderError(f"the model {self.name} failed: {error}") from error


def _load_model(model: str, folder: Path | None) -> TextEmbedding:
    disable_telemetry()
    try:
        from fastembed import TextEmbedding
    except ImportError as error:
        raise SettingsError(
            f"embedder: fastembed:{model} requires fastembed: pip install 'pertinent[fastembed]'"
        ) from error
    names = [str(description["model"]) for description in TextEmbedding.list_supported_models()]
    if model not in names:
        raise SettingsError(
            f"embedder: fastembed does not know the model {model}; `pertinent models` lists what it knows"
        )
    if folder is not None and not folder.is_dir():
        raise SettingsError(f"{FOLDER_SETTING}: there is no folder {folder}")
    try:
        return TextEmbedding(model, specific_model_path=str(folder) if folder else None)
    except Exception as error:
        if folder is not None:
            raise EmbedderError(f"fastembed can't load {model} from {folder}: {error}") from error
        raise EmbedderError(_explain_download(model, error)) from error


def _explain_download(model: str, error: Exception) -> str:
    return (
        f"fastembed can't load {model}, which is neither in its cache nor can be downloaded: {error}\n"
        "Get it on a machine with access to huggingface.co:\n"
        f"  python -c \"from fastembed import TextEmbedding; TextEmbedding('{model}', cache_dir='models')\"\n"
        f"Then copy the folder below models/ that has tokenizer.json, and set {FOLDER_SETTING} to it"
    )


def _copy_without_truncation(tokenizer: Tokenizer) -> Tokenizer:
    copy = type(tokenizer).from_str(tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy
