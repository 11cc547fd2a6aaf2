"""`Maze`: a small robot with a small network finds its way to every corner of a maze.

Source: the Kheperax environment, L. Grillotti, A. Cully, "Kheperax: a Lightweight JAX-based Robot Control
Environment for Benchmarking Quality-Diversity Algorithms", GECCO 2023 Companion, at its version of that year,
with the settings of B. Tjanaka et al., "Training Diverse High-Dimensional Controllers by Scaling Covariance
Matrix Adaptation MAP-Annealing", RA-L 2023.

A step of many robots is computed at once. Their numbers lie in rows of `SLOTS`, one slot for each robot, as
loops over a row vectorise; row k of an array begins at k * SLOTS. No slot's numbers depend on another's. When
a robot has finished, the next one takes its slot.

A robot that comes within its radius of a wall never moves again, but pays for what its wheels try until the
episode ends. One step later its bumpers have felt the wall; from then on what it senses, and what it tries,
is the same in every step, and is computed once.

Numbers are float64, because the closed loop of many controllers is chaotic: rounding errors grow visible
within an episode, and those of float32 do so for twice as many controllers.
"""

import itertools
from typing import NamedTuple

import numpy as np

from repertoire.problems.benchmarks import DeterministicProblem, cosine_ratio, tanh
from repertoire.problems.record import ProblemRecord
from robots.compilation import compiled
from robots.controllers.mlp import weight_count

STEPS = 250
SIZES = (5, 8, 8, 2)  # units of the network's layers: three lasers and two bumpers in, two wheels out
START = (0.15, 0.15)
_POSE = np.array([*START, 0.0, 1.0])  # x, y, cosine and sine of the heading, which is up the y axis
SLOTS = 16
RADIUS = 0.015
_AXLE = 2 * RADIUS  # between the wheels
_SPEED = 0.025  # what a wheel moves in a step at full action
_CLOSEST = 1 / 0.2  # 1/reach of a laser
_DIAGONAL = np.sqrt(0.5)  # cosine and sine of the 45 degrees between lasers
# ends of each wall
WALLS = np.array(
    [
        [(0.0, 0.0), (1.0, 0.0)],
        [(1.0, 0.0), (1.0, 1.0)],
        [(1.0, 1.0), (0.0, 1.0)],
        [(0.0, 1.0), (0.0, 0.0)],
        [(0.25, 0.25), (0.25, 0.75)],
        [(0.14, 0.45), (0.0, 0.65)],
        [(0.25, 0.75), (0.0, 0.8)],
        [(0.25, 0.75), (0.66, 0.875)],
        [(0.355, 0.0), (0.525, 0.185)],
        [(0.25, 0.5), (0.75, 0.215)],
        [(1.0, 0.25), (0.435, 0.55)],
    ]
)
_SPANS = WALLS[:, 1] - WALLS[:, 0]
# of each wall, the x and y of one end, the way to the other end, and 1/length²
_WALLS = np.column_stack([WALLS[:, 0], _SPANS, 1 / np.sum(_SPANS**2, axis=1)])
WIDTH = 8  # inputs of every layer as stored; a layer with fewer has weights of zero for the rest


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
        steps: of an episode.
    """

    learning_rate = 0.01
    start = START
    walls = WALLS
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
        """Where robots are before each of the 250 steps, (n, 250, 2), with solutions (n, 138)."""
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


class _Slots(NamedTuple):
    """`SLOTS` robots, each array in rows as said above."""

    pose: np.ndarray
    gap2: np.ndarray
    inputs: np.ndarray  # lasers at -45, 0 and 45 degrees, bumpers on the right and left, and 3 unused
    hidden: np.ndarray
    hidden2: np.ndarray
    wheels: np.ndarray
    weights: np.ndarray  # of the first hidden layer
    weights2: np.ndarray  # of the second
    weights3: np.ndarray  # of the output layer
    robots: np.ndarray  # (SLOTS,) which controller drives, or -1
    ages: np.ndarray  # (SLOTS,) steps accounted for
    touching: np.ndarray  # (SLOTS,) whether the robot touched a wall a step ago


@compiled()
def simulate(
    controllers: np.ndarray, positions: np.ndarray, energies: np.ndarray, steps: np.ndarray, paths: np.ndarray
) -> None:
    """Run an episode with each of n controllers, see `Maze`.

    It fills in where each robot is before its last step, (n, 2); adds the sums of squares of what the wheels
    move, (n,), and the steps that were computed, (n,), to zeros; and fills `paths`, (n, STEPS, 2) or
    (0, STEPS, 2), with where each robot is before each step.
    """
    slots = _make_slots()
    # reading a field of the tuple within the loop would each time count references
    pose, gap2, inputs, hidden, hidden2, wheels, weights, weights2, weights3, robots, ages, touching = slots
    started = finished = 0
    while finished < len(controllers):
        for slot in range(SLOTS):
            if robots[slot] < 0 and started < len(controllers):
                _begin(slots, slot, started, controllers[started])
                started += 1
        look(pose, inputs, gap2)
        answer(weights, inputs, hidden, 0.0)
        answer(weights2, hidden, hidden2, 0.0)
        answer(weights3, hidden2, wheels, -np.inf)
        actuate(wheels)
        for slot in range(SLOTS):
            if robots[slot] >= 0:
                if len(paths):
                    _record(paths[robots[slot], ages[slot] :], pose, slot)
                _account(robots, ages, touching, wheels, energies, steps, slot)
                touching[slot] = gap2[slot] <= RADIUS**2
                if touching[slot]:
                    _stop(slots, slot)
                if ages[slot] == STEPS:
                    _record(positions[robots[slot] : robots[slot] + 1], pose, slot)
                    robots[slot] = -1
                    finished += 1
        drive(pose, wheels)


@compiled()
def _record(places: np.ndarray, pose: np.ndarray, slot: int) -> None:
    """Write where a robot is to all `places`, (k, 2)."""
    places[:, 0] = pose[slot]
    places[:, 1] = pose[SLOTS + slot]


@compiled()
def _account(
    robots: np.ndarray,
    ages: np.ndarray,
    touching: np.ndarray,
    wheels: np.ndarray,
    energies: np.ndarray,
    steps: np.ndarray,
    slot: int,
) -> None:
    """Count a robot's step, or all that are left if they are like this one."""
    repeats = STEPS - ages[slot] if touching[slot] else 1
    energies[robots[slot]] += repeats * (wheels[slot] ** 2 + wheels[SLOTS + slot] ** 2)
    steps[robots[slot]] += 1
    ages[slot] += repeats


@compiled()
def _stop(slots: _Slots, slot: int) -> None:
    slots.wheels[slot] = slots.wheels[SLOTS + slot] = 0
    x, y, cosine, sine = slots.pose[slot::SLOTS]
    slots.inputs[3 * SLOTS + slot], slots.inputs[4 * SLOTS + slot] = feel(x, y, cosine, sine)


@compiled()
def _make_slots() -> _Slots:
    return _Slots(
        pose=np.repeat(_POSE, SLOTS),
        gap2=np.zeros(SLOTS),
        inputs=np.zeros(WIDTH * SLOTS),
        hidden=np.zeros(SIZES[1] * SLOTS),
        hidden2=np.zeros(SIZES[2] * SLOTS),
        wheels=np.zeros(SIZES[3] * SLOTS),
        weights=np.zeros(SIZES[1] * (WIDTH + 1) * SLOTS),
        weights2=np.zeros(SIZES[2] * (WIDTH + 1) * SLOTS),
        weights3=np.zeros(SIZES[3] * (WIDTH + 1) * SLOTS),
        robots=np.full(SLOTS, -1),
        ages=np.zeros(SLOTS, np.int64),
        touching=np.zeros(SLOTS, np.bool_),
    )


@compiled()
def _begin(slots: _Slots, slot: int, robot: int, controller: np.ndarray) -> None:
    """Put a robot at the start, with its network and with no bumper pressed."""
    slots.robots[slot], slots.ages[slot], slots.touching[slot] = robot, 0, False
    slots.pose[slot::SLOTS] = _POSE
    slots.inputs[3 * SLOTS + slot] = slots.inputs[4 * SLOTS + slot] = -1
    start = 0
    for layer, weights in enumerate((slots.weights, slots.weights2, slots.weights3)):
        inputs, outputs = SIZES[layer], SIZES[layer + 1]
        biases = start + inputs * outputs
        for unit in range(outputs):
            row = unit * (WIDTH + 1)
            weights[row * SLOTS + slot] = controller[biases + unit]
            for i in range(inputs):
                weights[(row + 1 + i) * SLOTS + slot] = controller[start + i * outputs + unit]
        start = biases + outputs


@compiled(fastmath={"contract"})
def look(pose: np.ndarray, inputs: np.ndarray, gap2: np.ndarray) -> None:
    """Measure the lasers and the gaps to the nearest wall.

    Args:
        pose: rows x, y, and cosine and sine of the heading.
        inputs: of the network; receives the lengths of the lasers at -45, 0 and 45 degrees in rows 0 to 2.
        gap2: receives the squared distance to the nearest wall.
    """
    n = SLOTS
    for i in range(n):
        inputs[i] = inputs[n + i] = inputs[2 * n + i] = _CLOSEST
        gap2[i] = np.inf
    for wall in range(len(_WALLS)):
        x, y, dx, dy, per_length2 = _WALLS[wall]
        for i in range(n):
            right, ahead, left, distance2 = _view(
                x - pose[i], y - pose[n + i], dx, dy, per_length2, pose[2 * n + i], pose[3 * n + i]
            )
            inputs[i] = max(inputs[i], right)
            inputs[n + i] = max(inputs[n + i], ahead)
            inputs[2 * n + i] = max(inputs[2 * n + i], left)
            gap2[i] = min(gap2[i], distance2)
    for i in range(3 * n):
        inputs[i] = 1 / inputs[i]


@compiled(fastmath={"contract"})
def _view(
    x: float, y: float, dx: float, dy: float, per_length2: float, cosine: float, sine: float
) -> tuple[float, float, float, float]:
    """Closeness (1/distance) of a wall along the three lasers, where it meets them, and its squared distance.

    In the robot's frame the wall reaches from a to b = a + e, of components (forward, leftward). The ray
    along d meets its line at the distance (a x e)/(d x e), and does so between its ends if d x a and d x b
    differ in sign or one is 0, as when the first look at -45 degrees grazes the wall at (0.25, 0.25).
    Closeness takes one division for all lasers, and is negative for what lies behind.
    """
    a_f, a_l = x * cosine + y * sine, y * cosine - x * sine
    e_f, e_l = dx * cosine + dy * sine, dy * cosine - dx * sine
    b_f, b_l = a_f + e_f, a_l + e_l
    scale = 1 / (a_f * e_l - a_l * e_f)
    diagonal = scale * _DIAGONAL
    right = (e_l + e_f) * diagonal if (a_l + a_f) * (b_l + b_f) <= 0 else 0.0
    ahead = e_l * scale if a_l * b_l <= 0 else 0.0
    left = (e_l - e_f) * diagonal if (a_l - a_f) * (b_l - b_f) <= 0 else 0.0
    share = min(max(-(a_f * e_f + a_l * e_l) * per_length2, 0.0), 1.0)  # of the wall, up to its nearest point
    near_f, near_l = a_f + share * e_f, a_l + share * e_l
    return right, ahead, left, near_f * near_f + near_l * near_l


@compiled()
def feel(x: float, y: float, cosine: float, sine: float) -> tuple[float, float]:
    """The bumpers on the front's right and left: 1 if the nearest point of a wall presses it, else -1."""
    right = left = -1.0
    for wall in range(len(_WALLS)):
        x0, y0, dx, dy, per_length2 = _WALLS[wall]
        share = min(max(((x - x0) * dx + (y - y0) * dy) * per_length2, 0.0), 1.0)
        to_x, to_y = x0 + share * dx - x, y0 + share * dy - y
        if to_x * cosine + to_y * sine > 0 and to_x * to_x + to_y * to_y < RADIUS**2:
            leftward = to_y * cosine - to_x * sine
            right = 1.0 if leftward <= 0 else right
            left = 1.0 if leftward >= 0 else left
    return right, left


@compiled(fastmath={"contract"})
def answer(weights: np.ndarray, x: np.ndarray, y: np.ndarray, lowest: float) -> None:
    """Compute a layer of the networks: y = max(W x + b, lowest).

    Args:
        weights: `WIDTH` + 1 rows for each unit, its bias and then its weights; the units are even in number.
        x: `WIDTH` rows.
        y: a row for each unit.
        lowest: what an answer is at least.
    """
    n = SLOTS
    for pair in range(len(y) // (2 * n)):  # two units at a time, which loads x half as often
        for i in range(n):
            w = 2 * pair * (WIDTH + 1) * n + i
            x0, x1, x2, x3 = x[i], x[n + i], x[2 * n + i], x[3 * n + i]
            x4, x5, x6, x7 = x[4 * n + i], x[5 * n + i], x[6 * n + i], x[7 * n + i]
            total = weights[w] + weights[w + n] * x0 + weights[w + 2 * n] * x1 + weights[w + 3 * n] * x2
            total += weights[w + 4 * n] * x3 + weights[w + 5 * n] * x4 + weights[w + 6 * n] * x5
            y[2 * pair * n + i] = max(total + weights[w + 7 * n] * x6 + weights[w + 8 * n] * x7, lowest)
            w += (WIDTH + 1) * n
            total = weights[w] + weights[w + n] * x0 + weights[w + 2 * n] * x1 + weights[w + 3 * n] * x2
            total += weights[w + 4 * n] * x3 + weights[w + 5 * n] * x4 + weights[w + 6 * n] * x5
            y[2 * pair * n + n + i] = max(total + weights[w + 7 * n] * x6 + weights[w + 8 * n] * x7, lowest)


@compiled()
def actuate(wheels: np.ndarray) -> None:
    """Turn what the network's last layer answers, rows left and right, into what the wheels move."""
    for i in range(len(wheels)):
        wheels[i] = _SPEED * tanh(wheels[i])


@compiled(fastmath={"contract"})
def drive(pose: np.ndarray, wheels: np.ndarray) -> None:
    """Move along an arc, whose chord points half of the turn away from the heading."""
    n = SLOTS
    for i in range(n):
        half = (wheels[n + i] - wheels[i]) / (2 * _AXLE)  # of the turn [rad]
        c, ratio = cosine_ratio(half * half)
        s = half * ratio
        cosine, sine = pose[2 * n + i] * c - pose[3 * n + i] * s, pose[3 * n + i] * c + pose[2 * n + i] * s
        chord = (wheels[i] + wheels[n + i]) / 2 * ratio
        pose[i] += chord * cosine
        pose[n + i] += chord * sine
        pose[2 * n + i], pose[3 * n + i] = cosine * c - sine * s, sine * c + cosine * s
