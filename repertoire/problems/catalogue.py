"""The benchmarks by name: `sphere-100`, `arm-1000`, `maze`."""

from collections.abc import Callable

from repertoire.problems.arm import Arm
from repertoire.problems.problem import Problem
from repertoire.problems.sphere import Sphere
from robots.errors import UnknownNameError

_SCALABLE: dict[str, Callable[[int], Problem]] = {"sphere": Sphere, "arm": Arm}
KNOWN = ("sphere-N", "arm-N")


def make_problem(name: str) -> Problem:
    """Make a benchmark.

    Args:
        name: `sphere-N` or `arm-N`, with N parameters.

    Raises:
        UnknownNameError: there is none of that name.
        InvalidValueError: N is below 2 or above a million.
    """
    kind, _, dim = name.partition("-")
    if kind in _SCALABLE and dim.isdecimal() and dim.isascii() and not dim.startswith("0"):
        return _SCALABLE[kind](int(dim))
    raise UnknownNameError("problem", name, KNOWN)
