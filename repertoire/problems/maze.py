"""`Maze`: a small robot with a small network finds its way to every corner of a maze.

Source: the Kheperax environment, L. Grillotti, A. Cully, "Kheperax: a Lightweight JAX-based Robot Control
Environment for Benchmarking Quality-Diversity Algorithms", GECCO 2023 Companion, at its version of that year,
with the settings of B. Tjanaka et al., "Training Diverse High-Dimensional Controllers by Scaling Covariance
Matrix Adaptation MAP-Annealing", RA-L 2023.
"""

import itertools

import numpy as np

from repertoire.problems.deterministic import DeterministicProblem
from repertoire.problems.maze_simulation import RADIUS, SIZES, START, STEPS, WALLS, simulate
from repertoire.problems.record import ProblemRecord
from robots.controllers.mlp import weight_count


class Maze(DeterministicProblem):
    """Be anywhere in the maze after 250 steps, and turn the wheels little on the way.

    A robot with two wheels, of radius 0.015, starts at (0.15, 0.15), facing up the y axis, in the unit square
    with the walls of `walls`. It senses distances along three lasers, at -45, 0 and 45 degrees and up to 0.2,
    and two bumpers, 1 or -1. A network with hidden layers of 8 and 8 rectified linear units and tanh at its
    end answers with what either wheel moves, in units of 0.025. Within its radius of a wall the robot is
    stuck for good; its bumpers feel that wall a step later.

    A solution holds the network's 138 parameters: layer by layer the weights as an (inputs, outputs) matrix
    in row-major order, then the biases. The objective is 100 - 200 Σ (l² + r²) over the movements l and r of
    the wheels in all steps, those of a stuck robot included: 100 for standing still, 37.5 at full speed. The
    measures are the position before the last step, which a robot stuck in the border may have a little
    outside the square.

    Attributes:
        start: x and y.
        walls: (11, 2, 2), the x and y of both ends of each wall.
        radius: of the robot.
        steps: of an episode.
    """

    learning_rate = 0.01
    start = START
    walls = WALLS
    radius = RADIUS
    steps = STEPS

    def __init__(self) -> None:
        names = ("x of the final position", "y of the final position")
        self.record = ProblemRecord("maze", weight_count(SIZES), ((0.0, 1.0), (0.0, 1.0)), names)

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        """LeCun-uniform weights, of variance 1/inputs, and zero biases, (138,) float32."""
        layers = []
        for inputs, outputs in itertools.pairwise(SIZES):
            bound = np.sqrt(3 / inputs)
            layers += [rng.uniform(-bound, bound, inputs * outputs), np.zeros(outputs)]
        return np.concatenate(layers).astype(np.float32)

    def trajectories(self, solutions: np.ndarray) -> np.ndarray:
        """Where robots are before each of the 250 steps, (n, 250, 2).

        Args:
            solutions: (n, 138), finite, taken as float32.
        """
        solutions = self._checked(solutions)
        paths = np.empty((len(solutions), STEPS, 2))
        n = len(solutions)
        simulate(solutions, np.empty((n, 2)), np.zeros(n), np.zeros(n, np.int64), paths)
        return paths

    def _evaluate(
        self, solutions: np.ndarray, objectives: np.ndarray, measures: np.ndarray, steps: np.ndarray
    ) -> None:
        energies, steps[:] = np.zeros(len(solutions)), 0
        simulate(solutions, measures, energies, steps, np.empty((0, STEPS, 2)))
        objectives[:] = 100 - 200 * energies
