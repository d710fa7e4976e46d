"""A text model as an ONNX graph: token ids to the states of its last layer, or to finished vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._internal.onnx_model import open_session
from ..errors import EmbedderError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession

VECTOR_OUTPUT = "sentence_embedding"
"""The output of a graph that contains the pooling."""

OUTPUTS = (VECTOR_OUTPUT, "last_hidden_state", "token_embeddings")
"""The outputs that are used, in order of preference."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")

DYNAMIC_QUANTIZATION = b"DynamicQuantizeLinear"
"""An operator that chooses one scale for a whole batch."""


class OnnxGraph:
    """A graph that is run on the CPU, on the thread of the caller. Thread-safe."""

    def __init__(self, name: str, session: InferenceSession, *, depends_on_batch: bool) -> None:
        self.name = name
        self.depends_on_batch = depends_on_batch
        """Whether the result for a text depends on the other texts of its batch."""

        self._session = session
        self._inputs = self._check_inputs()
        self._output = self._choose_output()

    @classmethod
    def load(cls, name: str, path: Path) -> OnnxGraph:
        """Load a graph from its file.

        Raises:
            EmbedderError: The file can't be read, or is not the graph of a text model.
        """
        try:
            quantized = DYNAMIC_QUANTIZATION in path.read_bytes()
        except OSError as error:
            raise EmbedderError(f"can't read the model {path}: {error.strerror}") from error
        return cls(name, open_session(name, path, EmbedderError), depends_on_batch=quantized)

    @property
    def makes_vectors(self) -> bool:
        """Whether the graph contains the pooling."""
        return self._output == VECTOR_OUTPUT

    @property
    def reads_padding(self) -> bool:
        """Whether the graph has no mask, so that all texts of a batch must have the same length."""
        return "attention_mask" not in self._inputs

    def measure_dimension(self, ids: Sequence[int]) -> int:
        """Return the length of the vectors; a graph that does not state it is run with these tokens."""
        output = next(node for node in self._session.get_outputs() if node.name == self._output)
        stated = output.shape[-1] if output.shape else None
        return stated if isinstance(stated, int) else int(self.run([ids]).shape[-1])

    def run(self, tokens: Sequence[Sequence[int]]) -> NDArray[Any]:
        """Return the states (texts × tokens × dimension) or vectors (texts × dimension) of a batch.

        Raises:
            EmbedderError: The graph failed.
        """
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, text_ids in enumerate(tokens):
            ids[row, : len(text_ids)] = text_ids
            mask[row, : len(text_ids)] = 1
        positions = np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape)
        values = dict(zip(INPUTS, (ids, mask, np.zeros_like(ids), positions), strict=True))
        try:
            (states,) = self._session.run([self._output], {name: values[name] for name in self._inputs})
            states = np.asarray(states, np.float32)
        except Exception as error:
            raise EmbedderError(f"the model {self.name} failed: {error}") from error
        leading = ids.shape[:1] if self.makes_vectors else ids.shape
        if states.shape[:-1] != leading:
            raise EmbedderError(
                f"the model {self.name} returned {self._output} in the shape {states.shape} for {len(ids)} "
                f"texts of {ids.shape[1]} tokens, not {(*leading, 'dimension')}: export it for the task "
                "feature-extraction"
            )
        return states

    def _check_inputs(self) -> list[str]:
        inputs = [node.name for node in self._session.get_inputs()]
        unknown = [name for name in inputs if name not in INPUTS]
        if unknown or INPUTS[0] not in inputs:
            raise EmbedderError(
                f"the model {self.name} has the inputs {', '.join(inputs)}; those of a text model are "
                f"{', '.join(INPUTS)}"
            )
        return inputs

    def _choose_output(self) -> str:
        outputs = [str(node.name) for node in self._session.get_outputs()]
        output = next((name for name in OUTPUTS if name in outputs), None)
        if output is None:
            raise EmbedderError(
                f"the model {self.name} has the outputs {', '.join(outputs)}, and none of "
                f"{', '.join(OUTPUTS)}: export it for the task feature-extraction"
            )
        return output
