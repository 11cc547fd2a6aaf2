"""`Diagnosis`: what a robot finds out from trials on the way, and what it then expects of its gaits."""

from dataclasses import replace

import numpy as np

from adapt.damage.damage import Damage
from adapt.damage.text import damage_from
from adapt.evidence import evidence_of
from adapt.mission.beliefs import Cause
from adapt.mission.world import Stretch
from adapt.objective import find_objective
from adapt.records import TRUSTED, Outcome, RefinedGait, diagnosis_words
from adapt.rehearsal.table import Table
from adapt.relearning.refinement import RefinementSettings
from adapt.requests import MissionRequest
from adapt.selectors.catalogue import SelectorEntry, make_selector
from adapt.selectors.multi_prior import UNKNOWN, MultiPrior
from adapt.selectors.selector import Context, Prior, Selector
from adapt.self_model.relearner import Relearner
from adapt.self_model.twin import Thinking, Twin
from repertoire.execution.running import one_blas_thread
from repertoire.repertoire import Repertoire
from robots.robot import Robot
from robots.simulation.trace import TraceColumns
from robots.stance import turned

TRIAL = 2.0  # [s] of a trial, and of what is simulated to find out what is wrong
_LISTED = 80  # gaits of which most is expected that are simulated on what is believed
_TURNING = 30  # gaits that turn most to either side that are simulated, too
_BATCHES = 4  # batches of these, each with the best of what is left
_PRICE = 9.0  # log likelihood that each fault must be worth: trials begin in states that are not simulated
_TRIALS = 100  # trials of a mission, more than it ever makes
_ELSEWHERE = 0.1  # [rad] by which a joint of a robot that stands is not where its servo was told to be


class Diagnosis:
    """Finds out what is wrong, by a selector that begins anew when something else breaks.

    Args:
        thinking: with the repertoire of the whole robot, whose episodes are as long as what is planned.
        entry: the selector.
        table: the repertoire's rehearsal, if there is one.
        request: of the mission.
        rehearsed: control steps of an episode of the rehearsal.
        healthy: where each gait leads in an episode of the repertoire on the whole robot, (k, 3), see
            `Outcomes.predicted`.
        falls: whether it falls there, (k,) bool.

    Attributes:
        thinking: with what the selector thinks, and what it is after.
        trial_steps: control steps of a trial: of 2 s at most for a selector that thinks, and of what it
            simulates; for another one a trial is as long as what is planned.
    """

    def __init__(
        self,
        thinking: Thinking,
        entry: SelectorEntry,
        table: Table | None,
        request: MissionRequest,
        *,
        rehearsed: int,
        healthy: np.ndarray,
        falls: np.ndarray,
    ) -> None:
        planned = thinking.repertoire
        short = shortened(planned, TRIAL) if entry.thinks else planned
        self.trial_steps = short.robot.description.episode_steps
        share = self.trial_steps / planned.robot.description.episode_steps
        ahead = np.where(falls, -np.inf, share * healthy[:, 0])
        aim = find_objective("progress", short, float(ahead.max()))
        self.thinking = replace(
            thinking, repertoire=short, episodes=request.think_episodes, objective=aim, price=_PRICE
        )
        self._entry, self._seed, self._planned = entry, request.seed, planned.robot.description.episode_steps
        self._whole, self._aim, self._turns = short.robot, aim, healthy[:, 2]
        self._far = find_objective("progress", planned, float(ahead.max()) / share)
        self._rehearsed, scale = planned.robot.with_episode_steps(rehearsed), self.trial_steps / rehearsed
        whole = _with_robot(planned, self._rehearsed)
        of_whole = find_objective("progress", whole, float(ahead.max()) / scale)
        table = table and of_whole.of_table(table)
        # of progress in shorter episodes
        self._table = table and replace(table, objectives=table.objectives * scale, noise=table.noise * scale)
        objectives = np.maximum(ahead, aim.least) if aim.name == "progress" else planned.gaits.objectives
        prior = Prior(objectives, planned.gaits.measures, aim.least)
        self._context = Context(prior, trials=_TRIALS, seed=self._seed, table=self._table)
        self._selector: Selector | None = None
        self._begun = 0

    def renew(self, pose: Robot | None) -> None:
        """Begin anew, with episodes that begin in a pose, see `posed`, or in the usual one."""
        self._selector = None
        robot = (pose or self._whole).with_episode_steps(self.trial_steps)
        self.thinking = replace(self.thinking, repertoire=_with_robot(self.thinking.repertoire, robot))

    def furthest_after(self, fallen: int) -> int | None:
        """The gait that gets furthest where another one falls, as far as the rehearsal knows.

        Its conditions are weighted by how often the other gait falls under them. None without a rehearsal, or
        where that gait falls under none.
        """
        table = self._table
        if table is None or fallen >= table.falls.shape[1] or not (weights := table.falls[:, fallen]).any():
            return None
        return int(np.argmax(weights @ table.objectives))

    def rehearsed_for(self, text: str, *, falling: bool = False) -> list[int]:
        """The gaits that got furthest under a damage in the rehearsal; without those that fell, or with."""
        if self._table is None or text not in self._table.conditions:
            return []
        number = self._table.conditions.index(text)
        objectives, stood = self._table.objectives[number], self._table.falls[number] == 0
        return [int(row) for row in np.argsort(-objectives, kind="stable") if stood[row] or falling]

    def learn(self, trial: Stretch) -> tuple[Cause, int]:
        """Take in a trial from where the robot stood; returns what is wrong, and the episodes simulated."""
        thinks = self._entry.thinks
        if self._selector is None:
            self._begun += 1
            seed, thinking = self._seed + self._begun, self.thinking if thinks else None
            self._selector = make_selector(self._entry, replace(self._context, seed=seed, thinking=thinking))
        selector = self._selector
        # what was rehearsed is of whole episodes, as are those that end in a fall
        whole = trial.fell or self.trial_steps == self._rehearsed.description.episode_steps
        outcome = Outcome(
            objective=float(self._aim.of(trial.episodes)[0]),
            fell=trial.fell,
            evidence=evidence_of(trial.episodes, self._rehearsed)[0] if whole else np.empty(0),
            trace=trial.trace if thinks else np.empty((0, 0)),
        )
        with one_blas_thread():
            selector.tell(trial.row, outcome)
        reported, thought = selector.reported_diagnosis(), selector.thought()
        text = next((text for text, _ in selector.diagnosis() if text != UNKNOWN), "healthy")
        trusted = thought is None or thought.explained >= TRUSTED
        cause = Cause(damage_from(text), dict(reported[:5]), diagnosis_words(reported), trusted)
        return cause, thought.episodes if thought else 0

    def promising(self) -> list[list[int]]:
        """Gaits worth simulating on what is believed: the best, and of the better half those that turn."""
        assert self._selector is not None
        order = np.argsort(-self._selector.predicted, kind="stable")
        half = order[: max(_LISTED, len(order) // 2)]
        turning = half[np.argsort(self._turns[half], kind="stable")]
        listed = order[:_LISTED], turning[:_TURNING], turning[::-1][:_TURNING]
        parts = zip(*(np.array_split(rows, _BATCHES) for rows in listed), strict=True)
        return [[int(row) for rows in some for row in rows] for some in parts]

    def risk(self, rows: list[int]) -> np.ndarray:
        """Probability that each of some gaits falls in an episode, (n,)."""
        known = self._selector.fall_probability if isinstance(self._selector, MultiPrior) else ()
        return np.array([float(known[row]) if row < len(known) else 0.0 for row in rows])

    def refine(
        self, damage: Damage, rows: list[int], settings: RefinementSettings, number: int, heading: float = 0.0
    ) -> RefinedGait | None:
        """Search for a gait that leads further ahead under a damage, from those of some rows, the best first.

        Episodes are as long as those that gaits are planned with, since in shorter ones gaits that turn get
        as far, and begin with a heading, see `Way`. Random numbers derive from the number of the search:
        those that are given up do not count.
        """
        repertoire, backend = self.thinking.repertoire, self.thinking.backend
        robot = repertoire.robot.with_episode_steps(self._planned)
        repertoire = _with_robot(repertoire, turned(robot, heading) if heading else robot)
        twin = Twin(Thinking(repertoire, objective=self._far, refinement=settings, backend=backend))
        return Relearner(twin, seed=self._seed + number).refine([(damage, 1.0)], rows)


def shortened(repertoire: Repertoire, seconds: float) -> Repertoire:
    """A repertoire whose episodes last at most so many seconds."""
    robot = repertoire.robot
    steps = min(robot.description.episode_steps, round(seconds / robot.control_step))
    return _with_robot(repertoire, robot.with_episode_steps(steps))


def _with_robot(repertoire: Repertoire, robot: Robot) -> Repertoire:
    return replace(repertoire, problem=replace(repertoire.problem, robot=robot))


def posed(robot: Robot, reading: np.ndarray) -> Robot:
    """A robot whose episodes begin with those joints that hang elsewhere where a reading of it has them."""
    at, names = TraceColumns.of(robot), robot.description.joints
    shares = reading[at.angle : at.torque].astype(np.float64)
    angles = robot.joint_middles + robot.joint_half_ranges * shares
    start = dict(robot.start)
    for name, share, angle in zip(names, shares, angles, strict=True):
        elsewhere = abs(angle - robot.start_of(name)) > _ELSEWHERE
        if share != 0 and elsewhere:  # a joint that was lost reads 0
            start[name] = np.array([angle])
    return replace(robot, start=start)
