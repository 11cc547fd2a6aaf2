"""The benchmarks by name: `sphere-100`, `arm-1000`, `maze`."""

from repertoire.problems.arm import Arm
from repertoire.problems.maze import Maze
from repertoire.problems.problem import Problem
from repertoire.problems.sphere import Sphere
from robots.errors import UnknownNameError

_OF_ANY_DIM: dict[str, type[Sphere | Arm]] = {"sphere": Sphere, "arm": Arm}
DIFFERENTIABLE = tuple(f"{kind}-N" for kind, problem in _OF_ANY_DIM.items() if problem.differentiable)
_KNOWN = (*(f"{kind}-N" for kind in _OF_ANY_DIM), Maze.name)


def make_problem(name: str) -> Problem:
    """Make a benchmark.

    Args:
        name: `maze`, or `sphere-N` or `arm-N` with N parameters.

    Raises:
        UnknownNameError: there is none of that name.
        InvalidValueError: N is below 2 or above a million.
    """
    if name == Maze.name:
        return Maze()
    kind, _, dim = name.partition("-")
    if kind in _OF_ANY_DIM and dim.isascii() and dim.isdecimal() and len(dim) <= 100:
        return _OF_ANY_DIM[kind](int(dim))
    raise UnknownNameError("problem", name, _KNOWN)
