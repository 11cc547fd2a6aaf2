"""`Steering`: tells a damaged robot again and again where its goal is, if its gaits see that."""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from adapt.mission.outcomes import SAMPLE, Outcomes, Way
from adapt.mission.world import Stretch, Until, World

BEARINGS = tuple(np.radians([-60.0, 0.0, 60.0]))  # of a target, with which gaits are simulated [rad]
_SAMPLES = 4  # of a stretch, after each of which the gait is told anew where to go
_MAY_FALL = 0.8  # what progress counts of a gait that fell in the simulation
_LOYAL = 0.6  # share of the best gait's progress at which the robot goes on with the gait on its way
_TRUST, _DOUBT = 0.3, 0.6  # weight of a stretch in what a gait held of its promises; of one that went wrong
_WRONG = 0.1  # share of its promises below which a stretch went wrong, as one that ended in a fall
_MOST = 1.5  # share of its promises that counts at most
_LEAST = 0.1  # [m] of progress that any gait promises, so that shares of it are finite


class Steering:
    """Chooses the gait that gets furthest towards a goal, and tells it where the goal is every half second.

    On a damaged robot a gait leads to a side, or is slower than in the simulation, and no gait turns towards
    a target behind it. But most turn towards one that is up to 60 degrees to a side. So that is the
    greatest bearing that they are told: where the goal is further round, the robot walks an arc. What a gait
    promises is interpolated between simulations with targets on both sides and ahead, times the share of its
    promises that it held. A gait on its way goes on until another one promises a lot more, since setting off
    takes time, and nobody knows where it leads.

    Args:
        outcomes: of the gaits with these targets.
        solutions: gives parameters of gaits by their rows, (n, p).
    """

    def __init__(self, outcomes: Outcomes, solutions: Callable[[list[int]], np.ndarray]) -> None:
        self._outcomes, self._solutions = outcomes, solutions
        self._held: dict[tuple[str, int], float] = defaultdict(lambda: 1.0)

    @property
    def rows(self) -> list[int]:
        """The gaits that ran with all targets under the damage that is believed."""
        ways = set(self._outcomes.ways)
        return [row for row in self._outcomes.rows if all(Way(row, -told) in ways for told in BEARINGS)]

    def walk(self, world: World, goal: tuple[float, float], steps: int, until: Until) -> Stretch:
        """Walk towards a goal for two seconds.

        Args:
            world: where the robot is.
            goal: place in it [m].
            steps: how many control steps it may take at most.
            until: as of `World.drive`; called with the trace since the gait was told last.
        """
        row = self._choose(_told(world, goal), world.driving)
        parameters, parts, promised, gained = self._solutions([row])[0], list[Stretch](), 0.0, 0.0
        ended = False

        def watch(trace: np.ndarray, made: int) -> bool:
            nonlocal ended
            ended = until(trace, made)
            return ended

        while steps > 0 and len(parts) < _SAMPLES and not ended:
            told = _told(world, goal)
            part = world.drive(row, parameters, min(steps, self._outcomes.every), towards=told, until=watch)
            parts.append(part)
            steps -= len(part.trace)
            ended = ended or part.fell
            promised += self._promises([row], told)[0] * len(part.trace) / self._outcomes.steps
            gained += part.moved.x * math.cos(told) + part.moved.y * math.sin(told)
        trace = np.concatenate([part.trace for part in parts])
        share = 0.0 if parts[-1].fell else gained / max(promised, _LEAST * SAMPLE)
        self._learn(row, share, len(trace) / (_SAMPLES * self._outcomes.every))
        return replace(parts[-1], start=parts[0].start, trace=trace)

    def _choose(self, told: float, driving: int | None) -> int:
        """The gait to walk with."""
        rows, damage = self.rows, str(self._outcomes.damage)
        held = np.array([self._held[damage, row] for row in rows])
        progress = dict(zip(rows, held * self._promises(rows, told), strict=True))
        best = max(rows, key=lambda row: progress[row])
        if driving in progress and progress[driving] >= _LOYAL * progress[best]:
            return driving
        return best

    def _promises(self, rows: list[int], told: float) -> np.ndarray:
        """How far gaits should get in a whole path in the direction that they are told [m], (n,)."""
        columns = []
        for bearing in BEARINGS:
            paths, falls = self._outcomes.predicted([Way(row, -bearing) for row in rows])
            ahead = paths[:, -1, 0] * math.cos(bearing) + paths[:, -1, 1] * math.sin(bearing)
            columns.append(np.where(np.isinf(falls), ahead, _MAY_FALL * ahead))
        return np.array([np.interp(told, BEARINGS, values) for values in np.array(columns).T])

    def _learn(self, row: int, share: float, length: float) -> None:
        """Take in what a gait held of its promises in a stretch of some share of the usual length."""
        key, weight = (str(self._outcomes.damage), row), _TRUST * length if share > _WRONG else _DOUBT
        self._held[key] += weight * (min(max(share, 0.0), _MOST) - self._held[key])


def _told(world: World, goal: tuple[float, float]) -> float:
    """The bearing that a gait is told [rad]."""
    return float(np.clip(world.pose.bearing(goal), BEARINGS[0], BEARINGS[-1]))
