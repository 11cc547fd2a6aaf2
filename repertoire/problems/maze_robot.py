"""The robot of the maze: what it senses, how its network answers, and how it moves.

Each step of many robots is computed at once, in rows of `LANES` numbers with a place for each robot: loops over
a row vectorise, which makes a robot's step several times as fast. No lane's numbers depend on another's.

In float64: the closed loop of some controllers is so chaotic that a difference of 1e-16 grows to one in the
second digit within an episode, and float32 would let far more of them drift from what the definition says.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from repertoire.problems.elementary import cosine_ratio, tanh

LANES = 16
SIZES = (5, 8, 8, 2)  # units of the network's layers: three lasers and two bumpers in, two wheels out
START = np.array([0.15, 0.15, 0.0, 1.0])  # x, y, cosine and sine of the heading
RADIUS = 0.015
_AXLE = 2 * RADIUS  # between the wheels
_SPEED = 0.025  # of a wheel at full action, in lengths a step
_REACH = 0.2  # of a laser
_DIAGONAL = np.sqrt(0.5)  # cosine and sine of the angle between the lasers, 45 degrees
# ends (x, y) of each wall, from one to the other
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
# of each wall one end, the way to the other, and 1/length²
_WALLS = np.column_stack([WALLS[:, 0], _SPANS, 1 / np.sum(_SPANS**2, axis=1)])
_WIDTH = 8  # inputs of each layer as stored; the first has fewer, and zero weights for the rest
_ROWS = _WIDTH + 1  # of a unit: its bias and its weights


class Lanes(NamedTuple):
    """`LANES` robots: in each array, rows of `LANES` float64 one after another."""

    pose: np.ndarray  # x, y, cosine and sine of the heading
    gap2: np.ndarray  # squared distance to the nearest wall
    inputs: np.ndarray  # lasers at -45, 0 and 45 degrees, the bumpers on the right and left, and three zeros
    hidden: np.ndarray  # units of the first hidden layer
    hidden2: np.ndarray  # units of the second
    wheels: np.ndarray  # what the left wheel moves in this step, and the right one
    weights: np.ndarray  # by layer and unit, the bias and then the weights


@njit(nogil=True, cache=True)
def make_lanes() -> Lanes:
    """Lanes whose robots stand still."""
    return Lanes(
        pose=np.zeros(4 * LANES),
        gap2=np.zeros(LANES),
        inputs=np.zeros(_WIDTH * LANES),
        hidden=np.zeros(_WIDTH * LANES),
        hidden2=np.zeros(_WIDTH * LANES),
        wheels=np.zeros(2 * LANES),
        weights=np.zeros(sum(SIZES[1:]) * _ROWS * LANES),
    )


@njit(nogil=True, cache=True)
def begin(lanes: Lanes, lane: int, controller: np.ndarray) -> None:
    """Put a robot with a controller (138,) at the start; it stands still in the step under way."""
    lanes.pose[lane::LANES] = START
    lanes.inputs[3 * LANES + lane] = lanes.inputs[4 * LANES + lane] = -1  # no bumper is pressed
    halt(lanes, lane)
    start = row = 0
    for layer in range(len(SIZES) - 1):
        inputs, outputs = SIZES[layer], SIZES[layer + 1]
        for unit in range(outputs):
            lanes.weights[row * LANES + lane] = controller[start + inputs * outputs + unit]
            for i in range(inputs):
                lanes.weights[(row + 1 + i) * LANES + lane] = controller[start + i * outputs + unit]
            row += _ROWS
        start += (inputs + 1) * outputs


@njit(nogil=True, cache=True)
def halt(lanes: Lanes, lane: int) -> None:
    """Keep a robot from moving in the step under way."""
    lanes.wheels[lane] = lanes.wheels[LANES + lane] = 0


@njit(nogil=True, cache=True)
def think(lanes: Lanes) -> None:
    """Set the wheels to what the network answers to the inputs."""
    second, third = SIZES[1] * _ROWS * LANES, (SIZES[1] + SIZES[2]) * _ROWS * LANES
    _layer(lanes.weights[:second], lanes.inputs, lanes.hidden, 0.0)
    _layer(lanes.weights[second:third], lanes.hidden, lanes.hidden2, 0.0)
    _layer(lanes.weights[third:], lanes.hidden2, lanes.wheels, -np.inf)
    for i in range(lanes.wheels.size):
        lanes.wheels[i] = _SPEED * tanh(lanes.wheels[i])


@njit(nogil=True, cache=True, fastmath={"contract"})
def _layer(weights: np.ndarray, x: np.ndarray, y: np.ndarray, lowest: float) -> None:
    """Write a layer's answer to x to y, at least `lowest`; two units at a time, to load x half as often."""
    n = LANES
    for unit in range(0, y.size // n, 2):
        for i in range(n):
            w = unit * _ROWS * n + i
            x0, x1, x2, x3 = x[i], x[n + i], x[2 * n + i], x[3 * n + i]
            x4, x5, x6, x7 = x[4 * n + i], x[5 * n + i], x[6 * n + i], x[7 * n + i]
            total = weights[w] + weights[w + n] * x0 + weights[w + 2 * n] * x1 + weights[w + 3 * n] * x2
            total += weights[w + 4 * n] * x3 + weights[w + 5 * n] * x4 + weights[w + 6 * n] * x5
            y[unit * n + i] = max(total + weights[w + 7 * n] * x6 + weights[w + 8 * n] * x7, lowest)
            w += _ROWS * n
            total = weights[w] + weights[w + n] * x0 + weights[w + 2 * n] * x1 + weights[w + 3 * n] * x2
            total += weights[w + 4 * n] * x3 + weights[w + 5 * n] * x4 + weights[w + 6 * n] * x5
            y[unit * n + n + i] = max(total + weights[w + 7 * n] * x6 + weights[w + 8 * n] * x7, lowest)


@njit(nogil=True, cache=True, fastmath={"contract"})
def drive(pose: np.ndarray, wheels: np.ndarray) -> None:
    """Move as the wheels say: along an arc, whose chord points half of the turn away from the heading."""
    n = LANES
    for i in range(n):
        half = (wheels[n + i] - wheels[i]) / (2 * _AXLE)  # of the turn [rad]
        c, ratio = cosine_ratio(half * half)
        s = half * ratio
        cosine, sine = pose[2 * n + i] * c - pose[3 * n + i] * s, pose[3 * n + i] * c + pose[2 * n + i] * s
        chord = (wheels[i] + wheels[n + i]) / 2 * ratio
        pose[i] += chord * cosine
        pose[n + i] += chord * sine
        pose[2 * n + i], pose[3 * n + i] = cosine * c - sine * s, sine * c + cosine * s


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def look(pose: np.ndarray, inputs: np.ndarray, gap2: np.ndarray) -> None:
    """Measure the lasers and the distance to the nearest wall."""
    n = LANES
    farthest = 1 / _REACH  # closeness is 1/distance, and that of a diagonal divided by √2
    for i in range(n):
        inputs[i], inputs[n + i], inputs[2 * n + i] = farthest / _DIAGONAL, farthest, farthest / _DIAGONAL
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
    for i in range(n):
        inputs[i] = 1 / (inputs[i] * _DIAGONAL)
        inputs[n + i] = 1 / inputs[n + i]
        inputs[2 * n + i] = 1 / (inputs[2 * n + i] * _DIAGONAL)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _view(
    x: float, y: float, dx: float, dy: float, per_length2: float, cosine: float, sine: float
) -> tuple[float, float, float, float]:
    """Closeness of a wall along the three lasers, and its squared distance.

    In the robot's frame the wall reaches from a to b = a + e, whose components are (forward, leftward). A ray
    along d meets its line at the distance (a x e)/(d x e), and between its ends if d x a and d x b differ in
    sign or one is zero, as when the first look at -45 degrees grazes the wall at (0.25, 0.25). The inverse of
    the distance takes one division for all lasers, and is negative for what lies behind.
    """
    af, al = x * cosine + y * sine, y * cosine - x * sine
    ef, el = dx * cosine + dy * sine, dy * cosine - dx * sine
    bf, bl = af + ef, al + el
    scale = 1 / (af * el - al * ef)
    ahead = el * scale if al * bl <= 0 else 0.0
    # along (1, -1) and (1, 1), which are √2 long
    right = (el + ef) * scale if (al + af) * (bl + bf) <= 0 else 0.0
    left = (el - ef) * scale if (al - af) * (bl - bf) <= 0 else 0.0
    share = min(max(-(af * ef + al * el) * per_length2, 0.0), 1.0)  # of the wall, to its nearest point
    near_f, near_l = af + share * ef, al + share * el
    return right, ahead, left, near_f * near_f + near_l * near_l


@njit(nogil=True, cache=True)
def press(lanes: Lanes, lane: int) -> None:
    """Set a robot's bumpers: pressed (1) if a wall's nearest point lies in front on that side, else -1."""
    x, y, cosine, sine = lanes.pose[lane::LANES]
    right = left = -1.0
    for wall in range(len(_WALLS)):
        x0, y0, dx, dy, per_length2 = _WALLS[wall]
        share = min(max(((x - x0) * dx + (y - y0) * dy) * per_length2, 0.0), 1.0)
        to_x, to_y = x0 + share * dx - x, y0 + share * dy - y
        if to_x * cosine + to_y * sine > 0 and to_x * to_x + to_y * to_y < RADIUS**2:
            leftward = to_y * cosine - to_x * sine
            right = 1.0 if leftward <= 0 else right
            left = 1.0 if leftward >= 0 else left
    lanes.inputs[3 * LANES + lane], lanes.inputs[4 * LANES + lane] = right, left
