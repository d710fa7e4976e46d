"""Embeddings with any ONNX sentence model: tokens, prompts, batches and pooling."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from .._internal.concurrency import map_ahead
from ..errors import EmbedderError, SettingsError
from ..ports import Vector
from .model_folder import read_model_folder
from .onnx_graph import VECTOR_OUTPUT, OnnxGraph
from .pooling import Encoding, normalize, pool_states

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_LENGTH_RATIO = 1.5
"""Longest to shortest text of a padded batch, in tokens."""


class OnnxEmbedder:
    """A sentence model in ONNX, with vectors of unit length. Thread-safe.

    Documents are embedded one by one, on all cores, since a batch of texts of their length is no faster on a
    CPU. Queries are embedded in batches, unless the graph would then give other vectors.

    Args:
        name: `provider:model`.
        graph: The model.
        tokenizer: Its tokenizer, without truncation and padding.
        max_tokens: How many tokens the model reads, special tokens and prompt included.
        encoding: Its pooling and prompts.
        workers: How many documents are embedded at a time; by default one for each core.
    """

    def __init__(
        self,
        name: str,
        graph: OnnxGraph,
        tokenizer: Tokenizer,
        max_tokens: int,
        encoding: Encoding,
        workers: int | None = None,
    ) -> None:
        self.name = name
        self.model = name.partition(":")[2]
        self._graph = graph
        self._tokenizer = tokenizer
        self._limit = max_tokens
        self._encoding = encoding
        self._workers = workers or os.cpu_count() or 1
        self.dimension = graph.measure_dimension(self._tokenize("a"))
        self.max_tokens = max_tokens - self._count_prompt_tokens(encoding.document_prompt)
        if self.max_tokens < 1:
            raise SettingsError(
                f"embedder: the prompt of {name} for documents leaves no room for a text in the {max_tokens} "
                "tokens that the model reads"
            )

    @classmethod
    def load_folder(cls, path: Path, workers: int | None = None) -> Self:
        """Load an exported sentence model from a folder, as its configuration says.

        Raises:
            SettingsError: A file is missing, or the configuration asks for something unsupported.
            EmbedderError: A file can't be read.
        """
        folder = read_model_folder(path)
        # The checksum, not the path, identifies the model in an index's fingerprint.
        name = f"onnx:{path.name}@{folder.checksum[:12]}"
        graph = OnnxGraph.load(name, folder.model)
        if folder.has_further_steps and not graph.makes_vectors:
            raise SettingsError(
                f"embedder: {path / 'modules.json'} lists steps after the pooling, which {folder.model.name} "
                f"does not contain; export the model with the output {VECTOR_OUTPUT}"
            )
        return cls(name, graph, folder.tokenizer, folder.max_tokens, folder.encoding, workers)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, special tokens included."""
        with self._translate_errors():
            return [len(encoding.ids) for encoding in self._tokenizer.encode_batch_fast(list(texts))]

    def embed_queries(self, texts: Sequence[str]) -> list[Vector]:
        """Return a vector for each text; texts of similar length are run as one batch.

        Queries are so short that most of the time goes into reading the weights, once for each batch.
        """
        prompt = self._encoding.query_prompt
        if self._graph.depends_on_batch:
            return list(self._embed_each(texts, prompt))
        tokens = [self._tokenize(prompt + text) for text in texts]
        vectors: dict[int, Vector] = {}
        ratio = 1.0 if self._graph.reads_padding else MAX_LENGTH_RATIO
        for positions in group_by_length([len(ids) for ids in tokens], ratio):
            batch = [tokens[position] for position in positions]
            vectors.update(zip(positions, self._run(batch, prompt), strict=True))
        return [vectors[position] for position in range(len(texts))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        """Yield a vector for each text, in order, with only a few texts in progress at a time."""
        return self._embed_each(texts, self._encoding.document_prompt)

    def _embed_each(self, texts: Sequence[str], prompt: str) -> Iterator[Vector]:
        embed = partial(self._embed, prompt=prompt)
        if len(texts) == 1:
            yield embed(texts[0])
            return
        with ThreadPoolExecutor(self._workers) as pool:
            yield from map_ahead(pool, embed, texts, ahead=self._workers * 4)

    def _embed(self, text: str, prompt: str) -> Vector:
        return self._run([self._tokenize(prompt + text)], prompt)[0]

    def _tokenize(self, text: str) -> list[int]:
        """Return the ids of a text, cut to what the model reads; a special token at the end stays there."""
        with self._translate_errors():
            encoding = self._tokenizer.encode(text)
        ids: list[int] = encoding.ids
        if len(ids) <= self._limit:
            return ids or [0]  # a graph can't be run without a token
        end = ids[-1:] if encoding.special_tokens_mask[-1] else []
        return ids[: self._limit - len(end)] + end

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:  # the tokenizer has no class of its own for its errors
            raise EmbedderError(f"the tokenizer of {self.name} failed: {error}") from error

    def _run(self, tokens: Sequence[Sequence[int]], prompt: str) -> list[Vector]:
        """Return the vectors of a batch of tokenized texts, which begin with the prompt."""
        states = self._graph.run(tokens)
        if self._graph.makes_vectors:
            return [normalize(vector) for vector in states]
        skipped = 0 if self._encoding.pools_prompt else self._count_leading_tokens(prompt)
        return pool_states(states, [len(ids) for ids in tokens], self._encoding.pooling, skipped)

    def _count_prompt_tokens(self, prompt: str) -> int:
        return len(self._tokenizer.encode(prompt, add_special_tokens=False).ids) if prompt else 0

    def _count_leading_tokens(self, prompt: str) -> int:
        """Return how many tokens come before the text: those of the prompt, and a special token before it."""
        if not prompt:
            return 0
        encoding = self._tokenizer.encode(prompt)
        return len(encoding.ids) - encoding.special_tokens_mask[-1]


def group_by_length(lengths: Sequence[int], max_ratio: float) -> Iterator[list[int]]:
    """Yield the positions of texts of similar length, so that little padding is needed, or none."""
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and lengths[position] > lengths[group[0]] * max_ratio:
            yield group
            group = []
        group.append(position)
    if group:
        yield group
