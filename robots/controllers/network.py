"""`Network`: a frozen feed-forward network that others trained, read from an ONNX file, and its kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from robots.compilation import compiled
from robots.controllers.graph import Graph
from robots.controllers.mlp import linear, tanh
from robots.errors import InvalidFileError, installed

MOST_BYTES = 64 << 20  # of an ONNX file
_LINEAR, _SCALE, _CLIP = range(3)
# what a unit makes of its input x, with a constant a that some of them have
_RELU, _TANH, _SIGMOID, _SWISH, _ELU = range(3, 8)
_ACTIVATIONS = {
    "Relu": (_RELU, 0.0),
    "LeakyRelu": (_RELU, 0.01),
    "Tanh": (_TANH, 0.0),
    "Sigmoid": (_SIGMOID, 0.0),
    "Elu": (_ELU, 1.0),
}
_WRITTEN = {number: name for name, (number, _) in _ACTIVATIONS.items() if number != _RELU}
# steps that leave the numbers of a row as they are, whatever their further inputs, such as shapes, say
_PASSES = ("Identity", "Dropout", "Flatten", "Cast", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Expand")


class Layer(NamedTuple):
    """A step of a network, from so many inputs to so many outputs."""

    kind: int
    inputs: int
    outputs: int
    # float32: weights (inputs, outputs) and biases of a linear layer; factors and then what is added; lower
    # and then upper limits; the constant of an activation
    values: np.ndarray


class Network:
    """A chain of layers from i inputs to o outputs."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = layers
        self.inputs, self.outputs = layers[0].inputs, layers[-1].outputs
        self.width = max(max(layer.inputs, layer.outputs) for layer in layers)

    def program(self) -> tuple[np.ndarray, np.ndarray, int]:
        """What `run_network` needs: four numbers for each layer, flat int64, and all constants, float32.

        The third is no address, unlike that of `Called.program`.
        """
        starts = np.cumsum([0, *(layer.values.size for layer in self._layers)])
        numbers = [(*layer[:3], start) for layer, start in zip(self._layers, starts, strict=False)]
        constants = np.concatenate([layer.values.reshape(-1) for layer in self._layers])
        return np.array(numbers, np.int64).reshape(-1), constants.astype(np.float32), 0

    def check(self) -> None:
        """See `Called.check`: nothing raises."""

    def written(self, graph: Graph, row: str) -> str:
        """The outputs (1, o) in an ONNX graph, of the inputs (1, i)."""
        for layer in self._layers:
            values = layer.values.reshape(-1)
            if layer.kind == _LINEAR:
                weights = values.reshape(layer.inputs + 1, layer.outputs)
                row = graph.of("Gemm", row, weights[:-1], weights[-1])
            elif layer.kind == _CLIP:
                row = graph.clipped(row, *values.reshape(2, -1))
            elif layer.kind == _SCALE:
                factors, added = values.reshape(2, -1)
                row = graph.of("Add", graph.of("Mul", row, factors), added)
            elif layer.kind == _SWISH:
                row = graph.of("Mul", row, graph.of("Sigmoid", row))
            else:
                operation = {_RELU: "LeakyRelu", **_WRITTEN}[layer.kind]
                told = {"alpha": float(values[0])} if layer.kind in (_RELU, _ELU) else {}
                row = graph.of(operation, row, **told)
        return row


@compiled()
def run_network(
    program: np.ndarray, layers: int, constants: np.ndarray, front: np.ndarray, back: np.ndarray
) -> None:
    """Replace the inputs at the beginning of `front` (width,) by the outputs of a network.

    `back` is as large, to work in; the others are those of `Network.program`.
    """
    there, other = front, back
    for layer in range(layers):
        at = 4 * layer
        kind, inputs, outputs, start = program[at], program[at + 1], program[at + 2], program[at + 3]
        if kind == _LINEAR:
            linear(constants, start, inputs, outputs, there, other)
            there, other = other, there
        elif kind == _SCALE:
            for i in range(inputs):
                there[i] = constants[start + i] * there[i] + constants[start + inputs + i]
        elif kind == _CLIP:
            for i in range(inputs):
                there[i] = min(max(there[i], constants[start + i]), constants[start + inputs + i])
        elif kind == _TANH:
            tanh(there, inputs)
        else:
            _activate(kind, constants[start], there, inputs)
    for i in range(program[4 * layers - 2]):
        front[i] = there[i]


@compiled()
def _activate(kind: int, a: np.float32, values: np.ndarray, count: int) -> None:
    one, zero = np.float32(1), np.float32(0)
    for i in range(count):
        x = values[i]
        if kind == _RELU:
            values[i] = max(x, zero) + a * min(x, zero)
        elif kind == _SIGMOID:
            values[i] = one / (one + np.exp(-x))
        elif kind == _SWISH:
            values[i] = x / (one + np.exp(-x))
        else:
            values[i] = x if x > 0 else a * np.expm1(x)


class _UnreadError(Exception):
    """A step of a graph that no layer stands for."""


class OtherGraphError(InvalidFileError):
    """An ONNX graph that is none of a feed-forward network."""


_Chain = tuple[Layer, ...]


def read_network(content: bytes, origin: str) -> Network:
    """The network of an ONNX file with one input of observations and one output of actions.

    OtherGraphError where the graph has other steps than a feed-forward network, or a memory.
    """
    graph = _model(content, origin).graph
    constants = {part.name: _numbers(part, origin) for part in graph.initializer}
    entries = [entry for entry in graph.input if entry.name not in constants]
    if len(entries) != 1:
        names = ", ".join(entry.name for entry in entries) or "none"
        raise OtherGraphError(
            f"{origin} has the inputs {names}: a policy without a memory has one, its observation"
        )
    sizes = entries[0].type.tensor_type.shape.dim
    if not (width := sizes[-1].dim_value if sizes else 0):
        raise InvalidFileError(f"{origin} does not say how wide its input {entries[0].name!r} is")
    chains: dict[str, _Chain | _UnreadError] = {entries[0].name: ()}
    for node in graph.node:
        _follow(node, width, chains, constants, origin)
    output = graph.output[0].name if graph.output else ""
    found = chains.get(output, _UnreadError(f"its output {output!r} does not depend on its input"))
    if isinstance(found, _UnreadError):
        raise OtherGraphError(f"{origin} is no feed-forward network: {found}")
    if not all(np.isfinite(layer.values).all() for layer in found if layer.kind != _CLIP):
        raise InvalidFileError(f"{origin} has weights that are not finite")
    return Network(found or (_scale(width, 1, 0),))


def read_metadata(content: bytes) -> dict[str, str]:
    """What an ONNX file that `read_network` reads says of itself."""
    return {entry.key: entry.value for entry in _model(content, "the policy").metadata_props}


def _model(content: bytes, origin: str) -> Any:
    with installed("ONNX is read with onnx, which is", "'surefoot[robot]'"):
        import onnx
    if len(content) > MOST_BYTES:
        raise InvalidFileError(
            f"{origin} is larger than {MOST_BYTES >> 20} MB, the most that a policy may be"
        )
    try:
        model = onnx.load_model_from_string(content)
    except Exception as error:  # the parser's own kinds of errors differ between versions
        raise InvalidFileError(f"{origin} is no ONNX file") from error
    if not model.graph.node:
        raise InvalidFileError(f"{origin} is no ONNX file")
    return model


def _numbers(tensor: Any, origin: str) -> np.ndarray:
    from onnx import TensorProto, numpy_helper

    if tensor.data_location == TensorProto.EXTERNAL:
        advice = "export it as one, by torch.onnx.export(..., external_data=False)"
        raise InvalidFileError(f"{origin} keeps its weights in another file: {advice}")
    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError) as error:
        raise InvalidFileError(f"{origin} has weights {tensor.name!r} that cannot be read") from error


def _follow(
    node: Any,
    width: int,
    chains: dict[str, _Chain | _UnreadError],
    constants: dict[str, np.ndarray],
    origin: str,
) -> None:
    """Work out what the outputs of a node are: constants, or chains of layers from the input."""
    from onnx import helper

    attributes = {part.name: helper.get_attribute_value(part) for part in node.attribute}
    try:
        if node.op_type == "Constant":
            constants[node.output[0]] = _numbers(attributes["value"], origin)
        elif all(name in constants for name in node.input if name):
            raise _UnreadError(f"it has the step {node.op_type} on constants")
        else:
            parts = [constants.get(name, chains.get(name)) for name in node.input if name]
            if node.op_type in _PASSES and isinstance(parts[0], tuple):
                parts = parts[:1]
            unread = next((part for part in parts if isinstance(part, _UnreadError)), None)
            if unread:
                raise unread
            for name, chain in zip(node.output, _extended(node, parts, attributes, width), strict=False):
                chains[name] = chain
    except _UnreadError as unread:
        chains.update(dict.fromkeys(node.output, unread))
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise InvalidFileError(f"{origin} has a step {node.op_type} that is not as it must be") from error


def _extended(
    node: Any, parts: Sequence[Any], attributes: Mapping[str, Any], width: int
) -> tuple[_Chain, ...]:
    """The chains of a node's outputs, from its inputs: chains of layers and constants."""
    kind, chain = node.op_type, next(part for part in parts if isinstance(part, tuple))
    size = chain[-1].outputs if chain else width
    others = [part for part in parts if part is not chain]
    if kind in _PASSES and (kind != "Expand" or size > 1):  # of one number it can make many
        return (chain,)
    if kind in _ACTIVATIONS:
        number, a = _ACTIVATIONS[kind]
        return ((*chain, _layer(number, size, [attributes.get("alpha", a)])),)
    if kind in ("Gemm", "MatMul"):
        return ((*chain, _linear_layer(kind, parts, attributes, size)),)
    if kind == "Clip" and len(others) == 2:
        low, high = others
        return ((*chain, _layer(_CLIP, size, np.concatenate([_spread(low, size), _spread(high, size)]))),)
    if kind in ("Add", "Sub", "Mul", "Div"):
        return (_arithmetic(kind, parts, size),)
    if kind == "Split":
        return _split(node, chain, size, others, attributes)
    raise _UnreadError(f"it has the step {kind}")


def _layer(kind: int, size: int, values: Any) -> Layer:
    return Layer(kind, size, size, np.asarray(values, np.float32).reshape(-1))


def _scale(size: int, factor: Any, added: Any) -> Layer:
    return _layer(_SCALE, size, np.concatenate([_spread(factor, size), _spread(added, size)]))


def _spread(value: Any, size: int) -> np.ndarray:
    """A constant for each of the numbers."""
    value = np.asarray(value, np.float32)
    return np.broadcast_to(value.reshape(-1) if value.size > 1 else value.reshape(()), (size,))


def _linear_layer(kind: str, parts: Sequence[Any], attributes: Mapping[str, Any], size: int) -> Layer:
    weights = np.asarray(parts[1], np.float32)  # of a chain from the left
    if isinstance(parts[1], tuple) or attributes.get("transA"):
        raise _UnreadError(f"it has the step {kind} whose weights are not constant")
    if attributes.get("transB"):
        weights = weights.T
    if weights.ndim != 2 or len(weights) != size:
        raise ValueError("weights of another shape")
    weights = weights * np.float32(attributes.get("alpha", 1.0))
    bias = parts[2] * np.float32(attributes.get("beta", 1.0)) if len(parts) > 2 else 0.0
    bias = _spread(bias, weights.shape[1])
    return Layer(_LINEAR, size, weights.shape[1], np.concatenate([weights.reshape(-1), bias]))


def _arithmetic(kind: str, parts: Sequence[Any], size: int) -> _Chain:
    first, second = parts
    if isinstance(first, tuple) and isinstance(second, tuple):
        long, short = sorted((first, second), key=len, reverse=True)
        gated = len(long) == len(short) + 1 and long[-1].kind == _SIGMOID
        if kind == "Mul" and gated and all(a is b for a, b in zip(long, short, strict=False)):
            return (*short, _layer(_SWISH, size, [0.0]))
        raise _UnreadError(f"it has the step {kind} of two parts that both depend on the observation")
    if not isinstance(first, tuple):
        if kind not in ("Add", "Mul"):
            raise _UnreadError(f"it has the step {kind} of a constant by what depends on the observation")
        first, second = second, first
    values = np.asarray(second, np.float32)
    if kind in ("Add", "Sub"):
        return (*first, _scale(size, 1, values if kind == "Add" else -values))
    return (*first, _scale(size, values if kind == "Mul" else 1 / values, 0))


def _split(
    node: Any, chain: _Chain, size: int, others: Sequence[np.ndarray], attributes: Mapping[str, Any]
) -> tuple[_Chain, ...]:
    """The chains to parts of the outputs of a linear layer."""
    *before, last = chain or (None,)
    sizes = others[0].tolist() if others else attributes.get("split")
    sizes = sizes or [size // len(node.output)] * len(node.output)
    if not last or last.kind != _LINEAR or attributes.get("axis", 0) == 0 or sum(sizes) != size:
        raise _UnreadError("it splits something else than the numbers of a layer")
    parts = np.split(last.values.reshape(last.inputs + 1, size), np.cumsum(sizes)[:-1], axis=1)
    return tuple((*before, Layer(_LINEAR, last.inputs, part.shape[1], part.reshape(-1))) for part in parts)
