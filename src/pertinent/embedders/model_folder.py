"""Folders with an exported sentence model, in the layout of sentence-transformers.

Only `model.onnx` and `tokenizer.json` are required. The other files say how the model is meant to be used:

    modules.json                        the steps from the text to the vector
    1_Pooling/config.json               the pooling
    config_sentence_transformers.json   the prompts, and how vectors are compared
    sentence_bert_config.json           max_seq_length
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from .._internal.onnx_model import find_model_files, hash_model_files, read_tokenizer
from .._internal.safe_json import parse_json
from ..errors import EmbedderError, SettingsError
from .pooling import Encoding, Pooling

if TYPE_CHECKING:
    from tokenizers import Tokenizer

DEFAULT_MAX_TOKENS = 256
"""How many tokens a model reads if no file of its folder says it."""

UNLIMITED = 1_000_000
"""Tokenizers without a limit state a number far above this."""

_POOLING_FLAGS: Mapping[str, str] = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""The flags that older versions of sentence-transformers write instead of `pooling_mode`."""

_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
_KNOWN_STEPS = ("Transformer", "Pooling", "Normalize")


class ModelFolder(NamedTuple):
    """The files of a folder, and what they say about the model."""

    model: Path
    tokenizer: Tokenizer
    max_tokens: int
    encoding: Encoding
    has_further_steps: bool
    """Whether there are steps after the pooling, such as a dense layer, which must be part of the graph."""

    checksum: str
    """SHA-256 of everything that decides about the vectors: graph, tokenizer and configuration."""


def read_model_folder(folder: Path) -> ModelFolder:
    """Read the configuration of a model and find its files.

    Raises:
        SettingsError: A file is missing, or asks for something that is not supported.
        EmbedderError: A file can't be read.
    """
    model, tokenizer_file = find_model_files(folder, "embedder")
    config = _Configuration.read(folder)
    encoding = config.choose_encoding()
    tokenizer = read_tokenizer(tokenizer_file, EmbedderError)
    max_tokens = config.choose_max_tokens(tokenizer)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if config.transformer.get("do_lower_case"):
        _lowercase_texts(tokenizer)
    checksum = _compute_checksum(model, tokenizer, encoding, max_tokens)
    return ModelFolder(model, tokenizer, max_tokens, encoding, config.has_further_steps(), checksum)


@dataclass(frozen=True, slots=True)
class _Configuration:
    """The JSON files of a folder; those that it does not have are empty."""

    folder: Path
    steps: Sequence[Mapping[str, Any]]
    pooling: Mapping[str, Any]
    sentences: Mapping[str, Any]
    transformer: Mapping[str, Any]
    tokenizer: Mapping[str, Any]
    network: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> _Configuration:
        """Read the files of a folder.

        Raises:
            EmbedderError: A file is not JSON of the expected type.
        """
        steps: Sequence[Mapping[str, Any]] = _read_json(folder / "modules.json", list)
        if not all(isinstance(step, dict) for step in steps):
            raise EmbedderError(f"can't read {folder / 'modules.json'}: each step must be a JSON dict")
        paths = [step.get("path") for step in steps if _step_name(step) == "Pooling"]
        pooling = paths[0] if paths and isinstance(paths[0], str) else "1_Pooling"
        return cls(
            folder,
            steps,
            _read_json(folder / pooling / "config.json", dict),
            _read_json(folder / "config_sentence_transformers.json", dict),
            _read_json(folder / "sentence_bert_config.json", dict),
            _read_json(folder / "tokenizer_config.json", dict),
            _read_json(folder / "config.json", dict),
        )

    def has_further_steps(self) -> bool:
        """Whether there are other steps than the model, the pooling and the normalisation."""
        return any(_step_name(step) not in _KNOWN_STEPS for step in self.steps)

    def choose_encoding(self) -> Encoding:
        """Return pooling and prompts; mean and none if no file states them.

        Raises:
            SettingsError: The pooling or the comparison of vectors is not supported.
        """
        self._check_comparison()
        return Encoding(
            self._choose_pooling(),
            query_prompt=self._choose_prompt("query"),
            document_prompt=self._choose_prompt(*_DOCUMENT_PROMPTS),
            pools_prompt=bool(self.pooling.get("include_prompt", True)),
        )

    def _choose_pooling(self) -> Pooling:
        flags = [mode for flag, mode in _POOLING_FLAGS.items() if self.pooling.get(flag)]
        modes = self.pooling.get("pooling_mode") or flags or ["mean"]
        modes = modes if isinstance(modes, list) else [modes]
        supported = get_args(Pooling)
        if len(modes) != 1 or modes[0] not in supported:
            raise SettingsError(
                f"embedder: {self.folder} asks for the pooling {' and '.join(map(str, modes))}, and only one "
                f"of {', '.join(supported)} is supported; export the model with its pooling, as the output "
                "sentence_embedding"
            )
        return cast("Pooling", modes[0])

    def _choose_prompt(self, *names: str) -> str:
        """Return the first prompt of these names, or the default one, as sentence-transformers does."""
        prompts = self.sentences.get("prompts") or {}
        if not isinstance(prompts, dict) or not all(map(_is_text, prompts.values())):
            raise EmbedderError(f"can't use the prompts of {self.folder}: they must be texts, by name")
        names = (*names, str(self.sentences.get("default_prompt_name")))
        return next((prompts[name] for name in names if name in prompts), "")

    def _check_comparison(self) -> None:
        """Refuse a model whose vectors differ in length and are compared by it."""
        comparison = self.sentences.get("similarity_fn_name") or "cosine"
        normalizes = any(_step_name(step) == "Normalize" for step in self.steps)
        if comparison != "cosine" and not normalizes:
            raise SettingsError(
                f"embedder: the model in {self.folder} compares vectors by {comparison} and does not "
                "normalise them; Pertinent compares by cosine: choose a model that was trained for it"
            )

    def choose_max_tokens(self, tokenizer: Tokenizer) -> int:
        """Return how many tokens the model reads, from the first file that states it."""
        stated = [
            self.transformer.get("max_seq_length"),
            (tokenizer.truncation or {}).get("max_length"),
            self.tokenizer.get("model_max_length"),
            self.network.get("max_position_embeddings"),
        ]
        return next(
            (limit for limit in stated if type(limit) is int and 0 < limit < UNLIMITED),
            DEFAULT_MAX_TOKENS,
        )


def _is_text(value: object) -> bool:
    """Whether a value is a text without half of a surrogate pair, which no tokenizer reads."""
    return isinstance(value, str) and re.search(r"[\ud800-\udfff]", value) is None


def _step_name(step: Mapping[str, Any]) -> str:
    return str(step.get("type", "")).rpartition(".")[2]


def _read_json(path: Path, expected: type[list[Any]] | type[dict[str, Any]]) -> Any:
    """Read a JSON file; empty if it does not exist."""
    try:
        content = parse_json(path.read_bytes())
    except FileNotFoundError:
        return expected()
    except (OSError, ValueError) as error:
        raise EmbedderError(f"can't read {path}: {error}") from error
    if not isinstance(content, expected):
        raise EmbedderError(f"can't read {path}: it must be a JSON {expected.__name__}")
    return content


def _lowercase_texts(tokenizer: Tokenizer) -> None:
    from tokenizers import normalizers

    steps = [normalizers.Lowercase(), *filter(None, [tokenizer.normalizer])]
    tokenizer.normalizer = normalizers.Sequence(steps)


def _compute_checksum(model: Path, tokenizer: Tokenizer, encoding: Encoding, max_tokens: int) -> str:
    digest = hashlib.sha256(hash_model_files(model, EmbedderError))
    digest.update(tokenizer.to_str().encode())
    digest.update(repr((encoding, max_tokens)).encode())
    return digest.hexdigest()
