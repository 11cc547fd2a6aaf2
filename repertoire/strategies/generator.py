"""The state of a NumPy generator as an array, for checkpoints."""

import numpy as np

from robots.errors import InvalidValueError


def check_generator(rng: np.random.Generator) -> None:
    """Raise if a generator's state is not known here: it must be driven by SFC64.

    Raises:
        InvalidValueError: if it is not.
    """
    if not isinstance(rng.bit_generator, np.random.SFC64):
        raise InvalidValueError(f"rng must be driven by SFC64, got {type(rng.bit_generator).__name__}")


def generator_state(rng: np.random.Generator) -> np.ndarray:
    """Return SFC64's four words, then the half word that it keeps for 32-bit draws, as (6,) uint64."""
    state = rng.bit_generator.state
    return np.array([*state["state"]["state"], state["has_uint32"], state["uinteger"]], np.uint64)


def restore_generator(rng: np.random.Generator, words: np.ndarray) -> None:
    """Take back what `generator_state` returned.

    Raises:
        InvalidValueError: if it has the wrong shape.
    """
    words = np.asarray(words, np.uint64)
    if words.shape != (6,):
        raise InvalidValueError(f"generator must have shape (6,), got {words.shape}")
    rng.bit_generator.state = {
        "bit_generator": "SFC64",
        "state": {"state": words[:4]},
        "has_uint32": int(words[4]),
        "uinteger": int(words[5]),
    }
