import pytest

from repertoire.problems.arm import Arm
from repertoire.problems.catalogue import make_problem
from repertoire.problems.maze import Maze
from repertoire.problems.sphere import Sphere
from robots.errors import InvalidValueError, UnknownNameError


@pytest.mark.parametrize(
    ("name", "kind", "dim"),
    [("sphere-2", Sphere, 2), ("sphere-100", Sphere, 100), ("arm-1000", Arm, 1000), ("maze", Maze, 138)],
)
def test_problems_are_made_by_name(name: str, kind: type, dim: int) -> None:
    problem = make_problem(name)
    assert type(problem) is kind
    assert problem.solution_dim == dim
    assert problem.name == name


@pytest.mark.parametrize(
    "name",
    ["", "sphere", "sphere-", "sphere-x", "sphere--3", "sphere-1.5", "sphere-٣", "ball-3", "maze-3", "Maze"],
)
def test_unknown_names_are_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown problem .*; available: arm-N, maze, sphere-N$"):
        make_problem(name)


@pytest.mark.parametrize(
    "name", ["sphere-0", "sphere-1", "arm-1", "arm-1000001", "sphere-999999999999999999999"]
)
def test_impossible_dimensions_are_refused(name: str) -> None:
    with pytest.raises(InvalidValueError, match=r"dim of the (sphere|arm) must be a whole number from 2 to "):
        make_problem(name)
