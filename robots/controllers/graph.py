"""`Graph`: an ONNX graph as it comes about, in which controllers write what they do, in opset 13."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robots.errors import installed

if TYPE_CHECKING:
    import onnx

OPSET, IR = 13, 7  # runtimes on robots are often years old; 1.15 is the oldest tried


class Graph:
    """Operations on rows of float32 numbers, (1, k), each known by its name.

    What is remembered from one control step to the next goes out as `next_state`, and comes back in as
    `state`, which is zeros at first.

    Raises:
        SurefootError: the package onnx is not installed.
    """

    def __init__(self) -> None:
        with installed("ONNX is written with onnx, which is", "'surefoot[robot]'"):
            import onnx
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._kept: list[str] = []  # names of what each part of the memory becomes
        self._size = 0  # of the memory
        self._step = ""

    def of(self, operation: str, *inputs: str | np.ndarray | float, **attributes: Any) -> str:
        """The result of an ONNX operator on results and constants."""
        names = [one if isinstance(one, str) else self._constant(one) for one in inputs]
        name = attributes.pop("name", f"{operation.lower()}_{len(self._nodes)}")
        self._nodes.append(self._onnx.helper.make_node(operation, names, [name], **attributes))
        return name

    def chosen(self, row: str, places: Sequence[int] | np.ndarray) -> str:
        """Some numbers of a row, in this order."""
        return self.of("Gather", row, np.asarray(places, np.int64), axis=1)

    def together(self, *rows: str) -> str:
        """Rows one after the other."""
        return rows[0] if len(rows) == 1 else self.of("Concat", *rows, axis=1)

    def clipped(self, row: str, low: str | np.ndarray | float, high: str | np.ndarray | float) -> str:
        """A row whose numbers have limits, some of which may be infinite."""
        return self.of("Min", self.of("Max", row, low), high)

    def recalled(self, size: int) -> tuple[str, int]:
        """What is remembered, (1, size), and the number of this part of the memory, see `keep`."""
        places = np.arange(self._size, self._size + size)
        self._kept.append("")
        self._size += size
        return self.chosen("state", places), len(self._kept) - 1

    def keep(self, part: int, row: str) -> None:
        """Remember a row for the next control step as a part of the memory."""
        self._kept[part] = row

    @property
    def step(self) -> str:
        """Control steps since the start, (1, 1)."""
        if not self._step:
            self._step, part = self.recalled(1)
            self.keep(part, self.of("Add", self._step, 1.0))
        return self._step

    def step_in(self, samples: int) -> str:
        """The control step in a period of so many, (1,) int64."""
        number = self.of(
            "Cast", self.of("Reshape", self.step, np.array([1])), to=self._onnx.TensorProto.INT64
        )
        return self.of("Mod", number, np.array([samples]))

    def recent(self, row: str, size: int, lags: int) -> str:
        """A row (1, size) and those before it, the newest first: (1, (1 + lags) size).

        The first row stands for those before the start.
        """
        if not lags:
            return row
        before, part = self.recalled(lags * size)
        first = self.of("Equal", self.step, 0.0)
        past = self.of("Where", first, self.of("Tile", row, np.array([1, lags])), before)
        every = self.together(row, past)
        self.keep(part, self.chosen(every, np.arange(lags * size)))
        return every

    def model(self, inputs: int, outputs: int, names: Sequence[str], told: dict[str, str]) -> onnx.ModelProto:
        """The whole: `obs` (1, inputs) and perhaps `state` in, outputs and perhaps `next_state` out.

        A batch is one, as runtimes in C++ need it.

        Args:
            inputs: numbers of an observation; where there are none, `obs` is left out.
            outputs: numbers of each of the `names`.
            names: of the outputs.
            told: metadata.
        """
        helper, kind = self._onnx.helper, self._onnx.TensorProto.FLOAT
        ins, outs = {"obs": inputs} if inputs else {}, dict.fromkeys(names, outputs)
        if self._size:
            self.of("Concat", *self._kept, axis=1, name="next_state")
            ins["state"] = outs["next_state"] = self._size
        x, y = (
            [helper.make_tensor_value_info(name, kind, [1, size]) for name, size in some.items()]
            for some in (ins, outs)
        )
        graph = helper.make_graph(self._nodes, "gait", x, y, self._constants)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR, producer_name="surefoot")
        helper.set_model_props(model, told)
        self._onnx.checker.check_model(model)
        return model

    def _constant(self, value: np.ndarray | float) -> str:
        array = np.asarray(value)
        array = array if array.dtype == np.int64 else array.astype(np.float32)
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name
