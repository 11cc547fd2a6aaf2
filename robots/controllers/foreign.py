"""`Called`: policies that compiled episodes call back, one observation at a time.

They are ONNX files that no kernel of ours computes (`called_graph`), and functions in Python.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robots.controllers.graph import Graph
from robots.errors import InvalidFileError, InvalidValueError, SurefootError, installed, one_line
from robots.registry import Registry

_CALLED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


# from observations (n, i) float32 to actions (n, o), by names, under which files of repertoires know them
POLICIES: Registry[Callable[[np.ndarray], Any]] = Registry("policy")


_Memory = dict[str, np.ndarray]


class Called:
    """A policy from i inputs to o outputs.

    Args:
        step: makes outputs of inputs (1, i) and of a memory, which becomes that of the next control step.
        first: the memory of an episode that begins.
        widths: i and o.
        origin: what errors call it.
    """

    def __init__(
        self, step: Callable[[np.ndarray, _Memory], Any], first: _Memory, widths: Sequence[int], origin: str
    ) -> None:
        self._step, self._first, self._origin = step, first, origin
        self.inputs, self.outputs = widths
        self.width = max(widths)  # the most numbers that it takes or makes
        self._called: list[Any] = []  # ctypes frees what nobody holds
        self._failure = ""
        try:
            found = self._made(np.zeros(self.inputs, np.float32), dict(first))
        except Exception as error:
            raise InvalidFileError(f"{origin} fails at an observation of zeros: {_words(error)}") from error
        if not np.isfinite(found).all():
            raise InvalidFileError(f"{origin} makes numbers of an observation of zeros that are not finite")

    def program(self) -> tuple[np.ndarray, np.ndarray, int]:
        """No layers and constants, and the address of a function for one episode at a time.

        Compiled code calls it with the address of its numbers and the control step. It replaces the inputs by
        the outputs, and by NaN where the policy raises an error, of which `check` tells.
        """
        memory = dict(self._first)

        def call(place: int, number: int | None) -> None:
            numbers = np.ctypeslib.as_array((ctypes.c_float * self.width).from_address(place))
            try:
                if not number:
                    memory.update(self._first)
                numbers[: self.outputs] = self._made(numbers[: self.inputs], memory)
            except Exception as error:  # compiled code cannot be left by one
                numbers[: self.outputs] = np.nan
                self._failure = f"{self._origin} fails: {_words(error)}"

        self._called.append(_CALLED(call))
        address = ctypes.cast(self._called[-1], ctypes.c_void_p).value or 0
        return np.zeros(0, np.int64), np.zeros(0, np.float32), address

    def check(self) -> None:
        """Raise an InvalidValueError of what the policy raised since the last check."""
        failure, self._failure = self._failure, ""
        if failure:
            raise InvalidValueError(failure)

    def written(self, _graph: Graph, _row: str) -> str:
        """See `Network.written`: its operators are not known."""
        raise InvalidValueError(
            "the policy has other operators than a feed-forward network, so that no gait around it can "
            "be written into one ONNX file"
        )

    def _made(self, inputs: np.ndarray, memory: _Memory) -> np.ndarray:
        found = np.asarray(self._step(inputs.reshape(1, -1).copy(), memory), np.float32)
        if found.size != self.outputs:
            raise InvalidValueError(
                f"it must make {self.outputs} numbers, not an array of shape {found.shape}"
            )
        return found.reshape(-1)


def _words(error: Exception) -> str:
    kind = "" if isinstance(error, SurefootError) else f"{type(error).__name__}: "
    return f"{kind}{one_line(error)}"


def called_graph(content: bytes, origin: str) -> Called:
    """A policy that onnxruntime runs; InvalidFileError where it finds none in a file.

    A graph with a memory, such as a recurrent one, has further inputs, which are its further outputs of the
    control step before, and zeros at first.
    """
    session = open_session(content, origin)
    observed, *states = session.get_inputs()
    actions, *after = session.get_outputs()
    widths = observed.shape[-1:] + actions.shape[-1:]
    if len(after) < len(states) or not all(isinstance(width, int) for width in widths):
        raise InvalidFileError(
            f"{origin} is no policy: it must say how wide its observation and its actions are, "
            "and have an output for each further input"
        )
    names = [actions.name, *(output.name for output in after[: len(states)])]
    shapes = {state.name: [size if isinstance(size, int) else 1 for size in state.shape] for state in states}

    def step(row: np.ndarray, memory: _Memory) -> np.ndarray:
        made, *kept = session.run(names, {observed.name: row, **memory})
        memory.update(zip(memory, kept, strict=True))
        return made

    first = {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}
    return Called(step, first, widths, origin)


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
