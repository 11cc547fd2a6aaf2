"""`Steering`: tells a robot again and again where its goal is, if its gaits see that."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from adapt.damage.damage import Damage
from adapt.mission.beliefs import Way
from adapt.mission.outcomes import SAMPLE, Outcomes
from adapt.mission.planner import FALL
from adapt.mission.world import Stretch, Until, World, go_on
from robots.pose import Pose, wrapped_angle

HEADINGS = tuple(np.pi / 4 * np.arange(-3, 5))  # [rad] with which gaits that see a target also run, see `Way`
HELD = (-0.4, 0.0, 0.4)  # [rad] with which gaits that hold a heading also run
_SAMPLES = 4  # samples of a stretch, after each of which the gait is told anew where to go
_KNOWN = 8.0  # [s] of walking that the simulation of a gait counts as much as
_AROUND = 4.0  # [m] distance from its goal up to which a robot can be found to walk round it
_ASIDE = np.radians(60)  # least angle between its course and the direction of the goal while it does so
_STRAIGHT = 4.0  # [s] that it then walks straight on
_FAR = 0.4  # share of the expected way from which on a stretch tells where a gait leads
_MOST_OFF = 1.0  # [rad] aside of what was told up to which it does
_GAIN = 0.3  # share of what a stretch tells that is believed
_SLOWEST = 0.01  # [m/s] that a gait is taken to promise at least
_AHEAD = np.radians(45)  # change of what a gait is told up to which it goes on as in episodes straight ahead
_LOYAL = 0.6  # share of the best gait's speed from which on the robot goes on with the gait on its way


class Steering:
    """Chooses a gait and tells it for two seconds where the goal is, every half second.

    Where such a gait leads varies too much to plan with, on a damaged robot from one pose to another by tens
    of degrees. So what is told is the bearing of the goal as it is, or the nearest of the headings with which
    episodes began, and the gait is chosen by how well it turns and walks. Its speed towards targets all
    around in simulated episodes, which begin with these headings, is

        v = sum of progress / (sum of seconds + 25 seconds for each fall),

    and that which is expected of it, once the robot walked with it,

        (8 seconds * v + metres where it was told to go) / (8 seconds + its seconds + 25 for each fall).

    A gait on its way goes on until another one promises a lot more, since setting off takes time. A robot
    that walks round a goal, which is nearer than it can turn, first walks straight on for four seconds.

    Args:
        outcomes: of the gaits with these headings.
        solutions: gives parameters of gaits by their rows, (n, p).
        headings: with which episodes begin; straight ahead alone where they cannot begin with others.
    """

    def __init__(
        self,
        outcomes: Outcomes,
        solutions: Callable[[list[int]], np.ndarray],
        headings: Sequence[float] = HEADINGS,
    ) -> None:
        self._outcomes, self._solutions, self._headings = outcomes, solutions, headings
        most = max(headings) or np.pi
        self._most = defaultdict[int, float](lambda: most)  # that a gait is told to turn at a time [rad]
        self._course, self._straight = 0.0, 0  # in the world [rad], and control steps left on it
        self._goal = (0.0, 0.0)
        # courses of gaits less what was told, on average [rad]
        self._off = defaultdict[tuple[str, int], float](float)
        self._steady: float | None = None  # what was told when it last walked there, in the world [rad]
        self._walked = defaultdict[tuple[str, int], np.ndarray](lambda: np.zeros(2))  # metres and seconds

    def choose(self, rows: Iterable[int], driving: int | None) -> int:
        """The gait to walk with, of those among some that ran with all headings; `driving` is on its way."""
        known = self._outcomes.beliefs.known
        around = [row for row in rows if all(Way(row, heading) in known for heading in self._headings)]
        speeds = {row: self._speed(row) for row in around}
        best = max(speeds, key=lambda row: speeds[row])
        return driving if driving in speeds and speeds[driving] >= _LOYAL * speeds[best] else best

    def turn_by(self, row: int, angle: float) -> None:
        """A gait was made to turn by an angle [rad], which it may be told to do at a time."""
        self._most[row] = max(self._most[row], abs(angle))

    def interrupt(self) -> None:
        """Know that the robot was moved, or did something else than to walk towards its goal."""
        self._steady = None

    def forget(self, damage: Damage) -> None:
        """Forget what gaits did while this was believed, since it was not so."""
        for known in (self._walked, self._off):
            for key in [key for key in known if key[0] == str(damage)]:
                del known[key]

    def walk(
        self,
        world: World,
        goal: tuple[float, float],
        row: int,
        steps: int,
        *,
        abrupt: bool = False,
        until: Until = go_on,
        look: Callable[[np.ndarray, bool], bool] = lambda *_: False,
    ) -> Stretch:
        """Walk with a gait towards a goal [m] for two seconds, or so many control steps; see `World.drive`.

        `until` is called with the trace since the gait was told last, and `look`, before the gait is told
        anew, with the trace so far and whether the robot walks steadily where it is told. True ends the
        stretch.
        The stretch's trace is in the frame that the gait was told first, and its episodes are those since it
        was told last.
        """
        if goal != self._goal:
            self._goal, self._straight = goal, 0
        if world.driving != row:
            self._steady = None
        key = str(self._outcomes.beliefs.damage), row
        parameters, parts, ended = self._solutions([row])[0], list[Stretch](), False
        straight, steady = self._straight > 0, self._steady is not None
        frames, trace = list[Pose](), np.empty(0)

        def ends(trace: np.ndarray, made: int) -> bool:
            nonlocal ended
            ended = until(trace, made)
            return ended

        while steps > 0 and len(parts) < _SAMPLES and not ended:
            pose = world.pose
            ahead = self._course - pose.yaw if straight else pose.bearing(goal)
            told = min(max(wrapped_angle(ahead - self._off[key]), -self._most[row]), self._most[row])
            part = world.drive(
                row, parameters, min(steps, self._outcomes.every),
                towards=told, abrupt=abrupt and not parts, until=ends,
            )  # fmt: skip
            parts.append(part)
            frames.append(part.start._replace(yaw=part.start.yaw + told))
            steps -= len(part.trace)
            trace = self._joined(parts, frames)
            if self._steady is None or abs(wrapped_angle(frames[-1].yaw - self._steady)) > _AHEAD:
                self._steady, steady = None, False
            ended = ended or part.fell or look(trace, steady)
        stretch = replace(parts[-1], start=parts[0].start, trace=trace)
        self._straight = 0 if stretch.fell else max(0, self._straight - len(trace))
        whole = len(parts) == _SAMPLES and not ended
        if whole:
            self._note_course(key, stretch, frames, steady)
        elif stretch.fell:
            self._steady = None
        self._walked[key] += 0.0, FALL * stretch.fell
        if not straight:
            seconds = SAMPLE * len(trace) / self._outcomes.every
            metres = sum(part.end.seen_from(frame).x for part, frame in zip(parts, frames, strict=True))
            self._walked[key] += metres, seconds
            if whole:
                self._see_goal(key, stretch, parts)
        return stretch

    def _see_goal(self, key: tuple[str, int], stretch: Stretch, parts: Sequence[Stretch]) -> None:
        """Walk straight on next if a gait, which walked a whole stretch, walks round the goal."""
        near = stretch.start.distance(self._goal) <= _AROUND
        if not near or not self._gets_somewhere(key, stretch.start.distance(stretch.end)):
            return
        # where it walks, since many a gait walks crabwise
        courses = [
            float(np.arctan2(part.end.y - part.start.y, part.end.x - part.start.x))
            for part in (parts[0], parts[-1])
        ]
        aside = (
            abs(wrapped_angle(pose.yaw + pose.bearing(self._goal) - course))
            for pose, course in zip((stretch.start, stretch.end), courses, strict=True)
        )
        if min(aside) > _ASIDE:
            self._course, self._straight = courses[-1], round(_STRAIGHT / SAMPLE) * self._outcomes.every

    def _note_course(
        self, key: tuple[str, int], stretch: Stretch, told: Sequence[Pose], steady: bool
    ) -> None:
        """Learn where the robot walks that is told to go somewhere, if it did not have to turn first."""
        x, y, _ = stretch.end.seen_from(told[0])
        meant = np.mean([pose.seen_from(told[0]).yaw for pose in told])
        off = wrapped_angle(float(np.arctan2(y, x) - meant))
        if not self._gets_somewhere(key, float(np.hypot(x, y))) or abs(off) >= _MOST_OFF:
            return
        self._steady = told[-1].yaw
        if steady:
            self._off[key] += _GAIN * (off - self._off[key])

    def _gets_somewhere(self, key: tuple[str, int], metres: float) -> bool:
        """Whether a gait got that far in a stretch that the stretch tells where it walks."""
        return metres > _FAR * max(self._speed(key[1]), _SLOWEST) * SAMPLE * _SAMPLES

    def _joined(self, parts: Sequence[Stretch], frames: Sequence[Pose]) -> np.ndarray:
        """Traces that follow each other, each in its frame, as one in the first frame."""
        at, moved = self._outcomes.columns, [part.trace.copy() for part in parts]
        for trace, frame in zip(moved, frames, strict=True):
            x, y, yaw = frame.seen_from(frames[0])
            c, s = np.cos(yaw), np.sin(yaw)
            place = trace[:, at.position : at.position + 2]
            place[:] = place @ np.array([[c, s], [-s, c]]) + (x, y)
            trace[:, at.attitude + 2] += yaw
        return np.concatenate(moved)

    def _speed(self, row: int) -> float:
        """With which a gait is expected to get towards goals [m/s]."""
        paths, falls = self._outcomes.predicted([Way(row, heading) for heading in self._headings])
        x, y, _ = paths[:, -1].T
        ahead = x * np.cos(self._headings) - y * np.sin(self._headings)
        simulated = paths.shape[1] * SAMPLE * len(self._headings) + FALL * np.isfinite(falls).sum()
        metres, seconds = self._walked[str(self._outcomes.beliefs.damage), row]
        return float((_KNOWN * ahead.sum() / simulated + metres) / (_KNOWN + seconds))
