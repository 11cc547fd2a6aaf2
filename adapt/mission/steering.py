"""`Steering`: tells a damaged robot again and again where its goal is, if its gaits see that."""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from adapt.mission.outcomes import SAMPLE, Outcomes, Way
from adapt.mission.pose import wrapped_angle
from adapt.mission.world import Stretch, Until, World

BEARINGS = tuple(np.pi / 3 * np.arange(-2, 4))  # of a target, with which gaits are simulated [rad]
_SAMPLES = 4  # of a stretch, after each of which the gait is told anew where to go
_MAY_FALL = 0.8  # what progress counts of a gait that fell in the simulation
_LOYAL = 0.6  # share of the best gait's progress at which the robot goes on with the gait on its way
_DIRECT = 0.8  # share of the progress with any other bearing at which that of the goal itself is told
_TRUST, _DOUBT = 0.3, 0.6  # weight of a stretch in what a gait held of its promises; of one that went wrong
_WRONG = 0.1  # share of its promises below which a stretch went wrong, as one that ended in a fall
_MOST = 1.5  # share of its promises that counts at most
_LEAST = 0.1  # [m] of progress that any gait promises, so that shares of it are finite


class Steering:
    """Chooses a gait and what it is told for two seconds, and tells it again every half second.

    On a damaged robot a gait leads to a side of the target that it is told, or is slower than in the
    simulation, and where it leads from one pose and another varies by tens of degrees. What a gait promises
    is how far it gets towards the goal in a simulated path, interpolated between targets all around, times
    the share of its promises that it held so far. It is told the bearing of the goal, or another one that
    promises more, and this is corrected as the robot walks and turns. A gait on its way goes on until another
    one promises a lot more, since setting off takes time.

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
        row, aside, promised = self._choose(world.pose.bearing(goal), world.driving)
        parameters, parts, ended, before = self._solutions([row])[0], list[Stretch](), False, world.pose

        def watch(trace: np.ndarray, made: int) -> bool:
            nonlocal ended
            ended = until(trace, made)
            return ended

        while steps > 0 and len(parts) < _SAMPLES and not ended:
            told = wrapped_angle(world.pose.bearing(goal) + aside)
            part = world.drive(row, parameters, min(steps, self._outcomes.every), towards=told, until=watch)
            parts.append(part)
            steps -= len(part.trace)
            ended = ended or part.fell
        trace = np.concatenate([part.trace for part in parts])
        promised *= len(trace) / self._outcomes.steps
        share = (before.distance(goal) - world.pose.distance(goal)) / max(promised, _LEAST * SAMPLE)
        self._learn(row, 0.0 if parts[-1].fell else share, len(trace) / (_SAMPLES * self._outcomes.every))
        return replace(parts[-1], start=parts[0].start, trace=trace)

    def _choose(self, bearing: float, driving: int | None) -> tuple[int, float, float]:
        """The gait to walk with, what it is told beside the bearing of the goal, and what it promises [m]."""
        rows, damage = self.rows, str(self._outcomes.damage)
        asides = np.array([0.0, *(told - bearing for told in BEARINGS)])
        promises = {row: self._promises(row, bearing, bearing + asides) for row in rows}
        held = {row: self._held[damage, row] * promises[row].max() for row in rows}
        row = max(rows, key=lambda row: held[row])
        if driving in held and held[driving] >= _LOYAL * held[row]:
            row = driving
        chosen = int(np.argmax(promises[row]))
        if promises[row][0] >= _DIRECT * promises[row][chosen]:
            chosen = 0
        return row, float(asides[chosen]), float(promises[row][chosen])

    def _promises(self, row: int, bearing: float, told: np.ndarray) -> np.ndarray:
        """How far a gait should get in a whole path towards a bearing where it is told others [m], (n,)."""
        paths, falls = self._outcomes.predicted([Way(row, -one) for one in BEARINGS])
        ends = paths[:, -1, :2] * np.where(np.isinf(falls), 1.0, _MAY_FALL)[:, None]
        x, y = (np.interp(told, BEARINGS, values, period=2 * np.pi) for values in ends.T)
        return np.asarray(x * math.cos(bearing) + y * math.sin(bearing))

    def _learn(self, row: int, share: float, length: float) -> None:
        """Take in what a gait held of its promises in a stretch of some share of the usual length."""
        key, weight = (str(self._outcomes.damage), row), _TRUST * length if share > _WRONG else _DOUBT
        self._held[key] += weight * (min(max(share, 0.0), _MOST) - self._held[key])
