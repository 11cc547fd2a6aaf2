"""`choose_gait`: which gait to walk with next, and for how long, to be soon at a goal."""

from typing import NamedTuple

import numpy as np

from adapt.mission.outcomes import SAMPLE
from robots.pose import Pose

FALL = 25.0  # [s] that a fall costs: those of being set upright, and what it lost by then
_SWITCH = 0.5  # [s] that a change of gait costs
_USUAL = 0.8  # share of the fastest gaits' speed and turning rate that the rest of the way is taken to have
_SHORTEST = 4  # samples of a stretch that does not end at the goal
_AIM = 0.7  # share of the distance at which a goal is reached, to plan with: not all goes as planned
_DEPTH = 3  # stretches that are looked ahead
_WIDTH = 32  # beginnings of ways that the search follows further


class PlannedStretch(NamedTuple):
    """What to do next."""

    number: int  # of the candidate
    samples: int  # length of the stretch in samples of its path
    moved: Pose  # where that leads, in the robot's frame
    seconds: float  # that the whole way is expected to take [s]
    arrives: bool  # whether the stretch is to end at the goal


def choose_gait(
    pose: Pose,
    goal: tuple[float, float],
    paths: np.ndarray,
    falls: np.ndarray,
    *,
    risk: np.ndarray,
    present: int | None,
    within: float,
) -> PlannedStretch:
    """The first of the stretches that lead to a goal in the least time, by a beam search.

    Three stretches are looked ahead, of which the 32 best beginnings are followed. What is left after them is
    taken to be walked and turned somewhat slower than the fastest gaits do, counting the time of their falls:

        time = distance / speed + |bearing| / rate

    Without looking ahead, a robot could walk round and round a goal that it does not see before it. Without
    counting falls, it would put off a risk again and again.

    Args:
        pose: of the robot.
        goal: place [m].
        paths: of the candidates, (n, t, 3), see `Outcomes.predicted`.
        falls: samples until each falls, (n,).
        risk: probability that a whole path ends in a fall that is not foreseen, (n,).
        present: number of the candidate that the robot walks with, if it is one.
        within: distance at which the goal is reached [m].
    """
    n, t = paths.shape[:2]
    costs = _Costs(paths, falls, risk, goal, _AIM * within)
    starts, spent, firsts = np.array([pose]), np.zeros(1), np.full(1, -1)
    latest = np.array([-1 if present is None else present])
    # time of the whole way, whether more stretches follow, and the first candidate and sample in one number
    best = np.inf, True, 0
    for depth in range(_DEPTH):
        ends = _ends(starts, paths)  # (m, n, t, 3)
        cost, total, reached = costs.score(ends, spent, latest)
        order = np.argsort(total, axis=None, kind="stable")[:_WIDTH]
        order = order[np.isfinite(total.reshape(-1)[order])]
        begun = order % (n * t) if depth == 0 else firsts[order // (n * t)]
        arrived = reached.reshape(-1)[order]
        leaves = arrived if depth < _DEPTH - 1 else np.ones(len(order), np.bool_)
        ways = zip(total.reshape(-1)[order[leaves]], begun[leaves], arrived[leaves], strict=True)
        found = ((float(value), bool(depth) or not there, int(first)) for value, first, there in ways)
        best = min([best, *found])
        order, firsts = order[~arrived], begun[~arrived]
        if not len(order) or cost.flat[order].min() >= best[0]:
            break
        starts, spent = ends.reshape(-1, 3)[order], cost.reshape(-1)[order]
        latest = order % (n * t) // t
    number, sample = divmod(best[2], t)
    moved = Pose(*(float(value) for value in paths[number, sample]))
    return PlannedStretch(number, sample + 1, moved, best[0], not best[1])


class _Costs:
    """What stretches cost, and what is left to the goal after them; see `choose_gait` for the arguments."""

    def __init__(
        self, paths: np.ndarray, falls: np.ndarray, risk: np.ndarray, goal: tuple[float, float], within: float
    ) -> None:
        samples = np.arange(1, paths.shape[1] + 1)
        seconds = SAMPLE * samples
        self._fallen = samples >= falls[:, None]  # whether each candidate fell by each sample, (n, t)
        # of a stretch that ends there, with its falls, (n, t) [s]
        self._price = seconds + FALL * (self._fallen + risk[:, None] * seconds / seconds[-1])
        ahead, turned = (
            float(np.percentile(rates / self._price[:, -1], 99))
            for rates in (np.maximum(paths[:, -1, 0], 0), abs(paths[:, -1, 2]))
        )
        # with which the rest of the way is walked [m/s] and turned [rad/s]
        self._speed, self._rate = max(_USUAL * ahead, 1e-3), max(_USUAL * turned, 1e-2)
        self._goal, self._within = np.array(goal), within

    def score(
        self, ends: np.ndarray, spent: np.ndarray, latest: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Time until some ends, that of the whole way through them, and whether the goal is reached.

        The ends are poses, (m, n, t, 3), of m ways: with the time that is `spent` until the next stretch of
        each begins [s], and the candidate that it walked with, or -1.
        """
        away = self._goal - ends[..., :2]
        distance = np.linalg.norm(away, axis=-1)
        reached = (np.minimum.accumulate(distance, axis=2) <= self._within) & ~self._fallen
        bearing = np.arctan2(away[..., 1], away[..., 0]) - ends[..., 2]
        turn = abs(bearing - 2 * np.pi * np.rint(bearing / (2 * np.pi)))
        left = np.maximum(distance - self._within, 0) / self._speed + turn / self._rate
        cost = spent[:, None, None] + self._price
        cost = cost + _SWITCH * (np.arange(ends.shape[1]) != latest[:, None])[:, :, None]
        total = np.where(reached, cost, cost + left)
        short = min(_SHORTEST, ends.shape[2]) - 1  # episodes may be shorter than the shortest stretch
        too_short = total[..., :short]
        too_short[~reached[..., :short]] = np.inf
        return cost, total, reached


def _ends(starts: np.ndarray, paths: np.ndarray) -> np.ndarray:
    """Poses along paths that begin at some poses, (m, n, t, 3)."""
    c, s = (wave(starts[:, 2])[:, None, None] for wave in (np.cos, np.sin))
    x, y, yaw = np.moveaxis(paths, 2, 0)
    x0, y0, yaw0 = (column[:, None, None] for column in starts.T)
    return np.stack([x0 + c * x - s * y, y0 + s * x + c * y, yaw0 + yaw], axis=-1)
