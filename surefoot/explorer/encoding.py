"""Numbers for the page: arrays as base64 of little-endian bytes, which JavaScript's typed arrays read."""

import base64

import numpy as np


def packed(values: np.ndarray, kind: str = "<f4") -> str:
    """An array as text: base64 of its numbers in rows, float32 unless another kind is asked for."""
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode("ascii")
