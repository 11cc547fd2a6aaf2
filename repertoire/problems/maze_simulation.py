"""Episodes in the maze: many robots, each until it has done its steps or is known to do no other.

A robot that comes within its radius of a wall never moves again, but pays for what its wheels try until the
episode ends. A step later its bumpers have felt the wall; from then on what it senses, and so what it tries,
is the same in every step, and is computed once.
"""

from typing import NamedTuple

import numpy as np

from repertoire.problems.maze_robot import LANES, RADIUS, WIDTH, actuate, answer, drive, feel, look
from robots.compilation import compiled

STEPS = 250
SIZES = (5, 8, 8, 2)  # units of the network's layers: three lasers and two bumpers in, two wheels out
START = (0.15, 0.15)
_POSE = np.array([*START, 0.0, 1.0])  # x, y, cosine and sine of the heading, which is up the y axis


class _Lanes(NamedTuple):
    """`LANES` robots, each array in rows as `maze_robot` says."""

    pose: np.ndarray
    gap2: np.ndarray
    inputs: np.ndarray  # lasers at -45, 0 and 45 degrees, bumpers on the right and left, and 3 unused
    hidden: np.ndarray
    hidden2: np.ndarray
    wheels: np.ndarray
    weights: np.ndarray  # of the first hidden layer
    weights2: np.ndarray  # of the second
    weights3: np.ndarray  # of the output layer
    robots: np.ndarray  # (LANES,) which controller drives, or -1
    ages: np.ndarray  # (LANES,) steps accounted for
    touching: np.ndarray  # (LANES,) whether the robot touched a wall a step ago


@compiled()
def simulate(
    controllers: np.ndarray, positions: np.ndarray, energies: np.ndarray, steps: np.ndarray, paths: np.ndarray
) -> None:
    """Run an episode with each controller.

    Args:
        controllers: (n, 138) float32, layer by layer the weights as an (inputs, outputs) matrix in row-major
            order and then the biases.
        positions: (n, 2), receives where each robot is before its last step.
        energies: (n,) zeros, receives the sum of squares of what the wheels move.
        steps: (n,) zeros, receives how many steps were computed.
        paths: (n, STEPS, 2), receives where each robot is before each step; or (0, STEPS, 2).
    """
    lanes = _make_lanes()
    # reading a field of the tuple within the loop would each time count references
    pose, gap2, inputs, hidden, hidden2, wheels, weights, weights2, weights3, robots, ages, touching = lanes
    started = finished = 0
    while finished < len(controllers):
        for lane in range(LANES):
            if robots[lane] < 0 and started < len(controllers):
                _begin(lanes, lane, started, controllers[started])
                started += 1
        look(pose, inputs, gap2)
        answer(weights, inputs, hidden, 0.0)
        answer(weights2, hidden, hidden2, 0.0)
        answer(weights3, hidden2, wheels, -np.inf)
        actuate(wheels)
        for lane in range(LANES):
            if robots[lane] >= 0:
                if len(paths):
                    _record(paths[robots[lane], ages[lane] :], pose, lane)
                _account(robots, ages, touching, wheels, energies, steps, lane)
                touching[lane] = gap2[lane] <= RADIUS**2
                if touching[lane]:
                    _stop(lanes, lane)
                if ages[lane] == STEPS:
                    _record(positions[robots[lane] : robots[lane] + 1], pose, lane)
                    robots[lane] = -1
                    finished += 1
        drive(pose, wheels)


@compiled()
def _record(places: np.ndarray, pose: np.ndarray, lane: int) -> None:
    """Write where a robot is to all `places`, (k, 2)."""
    places[:, 0] = pose[lane]
    places[:, 1] = pose[LANES + lane]


@compiled()
def _account(
    robots: np.ndarray,
    ages: np.ndarray,
    touching: np.ndarray,
    wheels: np.ndarray,
    energies: np.ndarray,
    steps: np.ndarray,
    lane: int,
) -> None:
    """Count a robot's step, or all that are left if they are like this one."""
    repeats = STEPS - ages[lane] if touching[lane] else 1
    energies[robots[lane]] += repeats * (wheels[lane] ** 2 + wheels[LANES + lane] ** 2)
    steps[robots[lane]] += 1
    ages[lane] += repeats


@compiled()
def _stop(lanes: _Lanes, lane: int) -> None:
    """Keep a robot from moving, and let its bumpers feel what it touches."""
    lanes.wheels[lane] = lanes.wheels[LANES + lane] = 0
    x, y, cosine, sine = lanes.pose[lane::LANES]
    lanes.inputs[3 * LANES + lane], lanes.inputs[4 * LANES + lane] = feel(x, y, cosine, sine)


@compiled()
def _make_lanes() -> _Lanes:
    """Lanes without robots."""
    return _Lanes(
        pose=np.repeat(_POSE, LANES),
        gap2=np.zeros(LANES),
        inputs=np.zeros(WIDTH * LANES),
        hidden=np.zeros(SIZES[1] * LANES),
        hidden2=np.zeros(SIZES[2] * LANES),
        wheels=np.zeros(SIZES[3] * LANES),
        weights=np.zeros(SIZES[1] * (WIDTH + 1) * LANES),
        weights2=np.zeros(SIZES[2] * (WIDTH + 1) * LANES),
        weights3=np.zeros(SIZES[3] * (WIDTH + 1) * LANES),
        robots=np.full(LANES, -1),
        ages=np.zeros(LANES, np.int64),
        touching=np.zeros(LANES, np.bool_),
    )


@compiled()
def _begin(lanes: _Lanes, lane: int, robot: int, controller: np.ndarray) -> None:
    """Put a robot at the start, with its network and with no bumper pressed."""
    lanes.robots[lane], lanes.ages[lane], lanes.touching[lane] = robot, 0, False
    lanes.pose[lane::LANES] = _POSE
    lanes.inputs[3 * LANES + lane] = lanes.inputs[4 * LANES + lane] = -1
    start = 0
    for layer, weights in enumerate((lanes.weights, lanes.weights2, lanes.weights3)):
        inputs, outputs = SIZES[layer], SIZES[layer + 1]
        biases = start + inputs * outputs
        for unit in range(outputs):
            row = unit * (WIDTH + 1)
            weights[row * LANES + lane] = controller[biases + unit]
            for i in range(inputs):
                weights[(row + 1 + i) * LANES + lane] = controller[start + i * outputs + unit]
        start = biases + outputs
