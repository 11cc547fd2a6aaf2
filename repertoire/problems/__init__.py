"""Problems: what is being solved, each a map from solutions to objectives and measures.

* `problem`: `Problem`, the contract, and `Evaluations`, what evaluating gives.
* `normaliser`: `Normaliser`, how solutions take up statistics of observations.
* `locomotion`: `Locomotion`, robots that walk.
* `deterministic`: `DeterministicProblem`, what the benchmarks below have in common.
* `sphere`: `Sphere`, a smooth function.
* `arm`: `Arm`, a planar arm with many joints.
* `maze`: `Maze`, a robot in a maze; `maze_simulation` and `maze_robot` compute its episodes and steps, and
  `maze_plot` draws them.
* `elementary`: functions for the kernels of `arm` and `maze`.
* `catalogue`: `make_problem`, which makes one of the benchmarks by its name.
"""

from repertoire.problems.arm import Arm
from repertoire.problems.catalogue import make_problem
from repertoire.problems.deterministic import DeterministicProblem
from repertoire.problems.locomotion import Locomotion
from repertoire.problems.maze import Maze
from repertoire.problems.problem import Evaluations, Problem
from repertoire.problems.sphere import Sphere

__all__ = [
    "Arm",
    "DeterministicProblem",
    "Evaluations",
    "Locomotion",
    "Maze",
    "Problem",
    "Sphere",
    "make_problem",
]
