"""ONNX models that run on the CPU: the files of a model's folder, its tokenizer, and its session."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import PertinentError, SettingsError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

MODEL_FILES = ("model.onnx", "onnx/model.onnx")
TOKENIZER_FILE = "tokenizer.json"

_WEIGHTS_LOCATION = re.compile(rb"\x0a\x08location\x12([\x80-\xff]?[\x01-\x7f])")
"""The beginning of an entry of a graph that names a file with weights: the key, and the name's length."""


def find_model_files(folder: Path, setting: str) -> tuple[Path, Path]:
    """Return the graph and the tokenizer of an exported model.

    Args:
        folder: The folder of the model.
        setting: The setting that names the folder, for messages.

    Raises:
        SettingsError: A file is missing.
    """
    model = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    tokenizer = folder / TOKENIZER_FILE
    if model is None or not tokenizer.is_file():
        missing = MODEL_FILES[0] if model is None else TOKENIZER_FILE
        raise SettingsError(f"{setting}: {folder} has no {missing}; export the model to ONNX there")
    return model, tokenizer


def hash_model_files(model: Path, error_type: type[PertinentError]) -> bytes:
    """Return the SHA-256 of a graph and of each file with its weights, one after the other.

    Raises:
        PertinentError: A file can't be read; it is an `error_type`.
    """
    digests = []
    # Weights beyond 2 GB are beside the graph, most often as model.onnx_data or model.onnx.data.
    beside = sorted(model.parent.glob(f"{model.name}*"))
    path = model
    try:
        for path in dict.fromkeys([*beside, *_list_weights(model)]):
            with path.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").digest())
    except OSError as error:
        raise error_type(f"can't read {path}: {error.strerror}") from error
    return b"".join(digests)


def _list_weights(model: Path) -> list[Path]:
    """List the files in the folder of a graph that it names as those of its weights."""
    content = model.read_bytes()
    names = set()
    for entry in _WEIGHTS_LOCATION.finditer(content):
        # The length is a varint: seven bits in each byte, the lowest first.
        length = sum((byte & 0x7F) << 7 * index for index, byte in enumerate(entry[1]))
        names.add(content[entry.end() : entry.end() + length].decode("utf-8", "replace"))
    folder = model.parent
    paths = [folder / name for name in sorted(names) if "\0" not in name]
    # ONNX Runtime refuses files outside the folder.
    return [path for path in paths if path.is_file() and path.resolve().is_relative_to(folder.resolve())]


def read_tokenizer(path: Path, error_type: type[PertinentError]) -> Tokenizer:
    """Read a tokenizer from its file.

    Raises:
        PertinentError: The file is not that of a tokenizer; it is an `error_type`.
    """
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:
        raise error_type(f"can't read {path}: {error}") from error


def disable_telemetry() -> None:
    """Keep ONNX Runtime from recording its use; call this before the first import of `onnxruntime`.

    Version 1.31 stores an id of the machine and events with the path of the program in the user's cache
    folder, to send them to its makers. A variable that the user has set is left as it is.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def make_session_options() -> SessionOptions:
    """Return the options of a session that runs on the thread of its caller."""
    disable_telemetry()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return options


def open_session(
    name: str,
    model: Path | bytes,
    error_type: type[PertinentError],
    options: SessionOptions | None = None,
) -> InferenceSession:
    """Open a graph.

    Args:
        name: The name of the model, for messages.
        model: The path of the graph, which finds weights beside it, or its bytes.
        error_type: The class of the error.
        options: By default those of `make_session_options`.

    Raises:
        PertinentError: The graph can't be loaded; it is an `error_type`.
    """
    disable_telemetry()
    import onnxruntime

    try:
        return onnxruntime.InferenceSession(
            model if isinstance(model, bytes) else str(model),
            options or make_session_options(),
            providers=["CPUExecutionProvider"],
        )
    except Exception as error:
        raise error_type(f"can't load the model {name}: {error}") from error
