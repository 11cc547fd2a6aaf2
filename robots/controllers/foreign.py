"""`Foreign`: policies that no kernel of ours computes, which onnxruntime runs.

Compiled episodes call it back, one observation at a time. A graph with a memory, such as a recurrent one, has
further inputs, which are its further outputs of the control step before, and zeros at first.
"""

import ctypes
from typing import Any

import numpy as np

from robots.controllers.graph import Graph
from robots.errors import InvalidFileError, InvalidValueError, installed, one_line

_CALLED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Foreign:
    """A policy from i inputs to o outputs; InvalidFileError where onnxruntime finds none in a file."""

    def __init__(self, content: bytes, origin: str) -> None:
        self._session = open_session(content, origin)
        first, *states = self._session.get_inputs()
        actions, *after = self._session.get_outputs()
        widths = first.shape[-1:] + actions.shape[-1:]
        if len(after) < len(states) or not all(isinstance(width, int) for width in widths):
            raise InvalidFileError(
                f"{origin} is no policy: it must say how wide its observation and its actions are, "
                "and have an output for each further input"
            )
        self.inputs, self.outputs = widths
        self.width = max(widths)  # the most numbers that it takes or makes
        self._observation = first.name
        self._names = [actions.name, *(output.name for output in after[: len(states)])]
        shapes = [[size if isinstance(size, int) else 1 for size in state.shape] for state in states]
        self._first = {
            state.name: np.zeros(shape, np.float32) for state, shape in zip(states, shapes, strict=True)
        }
        self._called: list[Any] = []  # ctypes frees what nobody holds
        self._check(origin)

    def program(self) -> tuple[np.ndarray, np.ndarray, int]:
        """No layers and constants, and the address of a function for one episode at a time.

        Compiled code calls it with the address of its numbers and the control step. It replaces the inputs by
        the outputs, and by NaN where the policy raises an error.
        """
        memory = dict(self._first)

        def call(place: int, number: int | None) -> None:
            numbers = np.ctypeslib.as_array((ctypes.c_float * self.width).from_address(place))
            try:
                if not number:
                    memory.update(self._first)
                numbers[: self.outputs] = self._step(numbers[: self.inputs].copy(), memory)
            except Exception:  # compiled code cannot be left by one: `_check` tells of it
                numbers[: self.outputs] = np.nan

        self._called.append(_CALLED(call))
        address = ctypes.cast(self._called[-1], ctypes.c_void_p).value or 0
        return np.zeros(0, np.int64), np.zeros(0, np.float32), address

    def written(self, _graph: Graph, _row: str) -> str:
        """See `Network.written`: its operators are not known."""
        raise InvalidValueError(
            "the policy has other operators than a feed-forward network, so that no gait around it can "
            "be written into one ONNX file"
        )

    def _step(self, inputs: np.ndarray, memory: dict[str, np.ndarray]) -> np.ndarray:
        """The outputs, (o,) float32; the memory becomes that of the next step."""
        made, *kept = self._session.run(self._names, {self._observation: inputs.reshape(1, -1), **memory})
        memory.update(zip(memory, kept, strict=True))
        return np.asarray(made, np.float32).reshape(-1)

    def _check(self, origin: str) -> None:
        try:
            found = self._step(np.zeros(self.inputs, np.float32), dict(self._first))
        except Exception as error:
            raise InvalidFileError(f"{origin} fails at an observation of zeros: {one_line(error)}") from error
        if found.shape != (self.outputs,):
            raise InvalidFileError(
                f"{origin} must make {self.outputs} numbers of an observation, not an array of "
                f"shape {found.shape}"
            )
        if not np.isfinite(found).all():
            raise InvalidFileError(f"{origin} makes numbers of an observation of zeros that are not finite")


def open_session(content: bytes, origin: str) -> Any:
    """A graph for onnxruntime, on one thread; InvalidFileError where it is none."""
    with installed(f"{origin} is run by onnxruntime, which is", "onnxruntime"):
        import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of onnxruntime's own kinds
        raise InvalidFileError(f"{origin} cannot be run by onnxruntime: {one_line(error)}") from error
