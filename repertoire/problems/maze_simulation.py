"""Episodes in the maze: many robots, each until it has used up its steps or stands still for good.

A robot that has come within its radius of a wall never moves again, but pays for what its wheels try until the
episode ends. One step later its bumpers have reported the contact; from then on it senses, and so answers, the
same in every step. That answer is computed once.
"""

import numpy as np
from numba import njit

from repertoire.problems.maze_robot import LANES, RADIUS, Lanes, begin, drive, halt, look, make_lanes, press, think

STEPS = 250


@njit(nogil=True, cache=True)
def simulate(
    controllers: np.ndarray, positions: np.ndarray, energies: np.ndarray, steps: np.ndarray, paths: np.ndarray
) -> None:
    """Run an episode of each controller.

    Args:
        controllers: (n, 138) float32.
        positions: (n, 2), receives where each robot was before its last step.
        energies: (n,), receives the sum of squared wheel movements.
        steps: (n,), receives the steps computed.
        paths: (n, STEPS, 2), receives where each robot was before each step; or (0, STEPS, 2).
    """
    lanes = make_lanes()
    robots = np.full(LANES, -1)  # which controller each lane runs, or -1
    ages = np.zeros(LANES, np.int64)  # steps accounted for
    touching = np.zeros(LANES, np.bool_)  # whether it did a step ago
    started = finished = 0
    while finished < len(controllers):
        for lane in range(LANES):
            if robots[lane] < 0 and started < len(controllers):
                begin(lanes, lane, controllers[started])
                robots[lane], ages[lane], touching[lane] = started, 0, False
                energies[started] = steps[started] = 0
                started += 1
        look(lanes.pose, lanes.inputs, lanes.gap2)
        think(lanes)
        for lane in range(LANES):
            robot = robots[lane]
            if robot >= 0:
                if len(paths):
                    paths[robot, ages[lane] :, 0], paths[robot, ages[lane] :, 1] = (
                        lanes.pose[lane],
                        lanes.pose[LANES + lane],
                    )
                repeats = STEPS - ages[lane] if touching[lane] else 1
                energies[robot] += repeats * _energy(lanes, lane)
                steps[robot] += 1
                ages[lane] += repeats
                touching[lane] = lanes.gap2[lane] <= RADIUS**2
                if touching[lane]:
                    press(lanes, lane)
                    halt(lanes, lane)
                if ages[lane] == STEPS:
                    positions[robot, 0], positions[robot, 1] = lanes.pose[lane], lanes.pose[LANES + lane]
                    robots[lane] = -1
                    finished += 1
        drive(lanes.pose, lanes.wheels)


@njit(nogil=True, cache=True)
def _energy(lanes: Lanes, lane: int) -> float:
    left, right = lanes.wheels[lane], lanes.wheels[LANES + lane]
    return left * left + right * right
