"""`Knowledge`: what a robot on a mission knows of itself, and what it works on while it walks."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from adapt.damage.damage import Combination, Damage, SingleDamage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.mission.beliefs import Beliefs, Cause, Paths, Way
from adapt.mission.diagnosis import Diagnosis, posed, shortened
from adapt.mission.outcomes import Outcomes
from adapt.mission.planner import FALL
from adapt.mission.steering import HEADINGS, HELD, Steering
from adapt.mission.world import Searches, Stretch, World
from adapt.records import WALKING, RefinedGait
from adapt.rehearsal.table import Table
from adapt.relearning.refinement import RefinementSettings
from adapt.requests import MissionRequest
from adapt.selectors.catalogue import SelectorEntry
from adapt.self_model.twin import Thinking, Twin
from repertoire.repertoire import Repertoire
from robots.link.observer import Observer
from robots.pose import wrapped_angle
from robots.robot import Robot
from robots.simulation.backend import Backend
from robots.simulation.trace import TraceColumns

PATH = 5.0  # [s] that each gait is simulated for to plan with
_STEP_COST = 4.5e-6, 1.2e-6  # [s] of a core for a physics step, and for each degree of freedom in it
_EPISODES = 2  # episodes of each gait on a damaged robot, where one that walks may also fall
_UNSTEADY = 6  # episodes of each gait on a robot that cannot stand
_STEERED = 6  # gaits that are simulated with targets all around on a damaged robot
_LISTED = 40  # gaits that a search starts from, of those that get far with what is wrong before they fall
_REHEARSED = 5  # gaits that are tried first, of those that were rehearsed with what is wrong
_OTHER = 0.3  # [rad] by which the goal must lie elsewhere for a search to begin anew
_PARTS = 4  # parts in which the remaining gaits are simulated: it plans with each once that is done
_STUCK = 0.1  # share of the fastest gait's speed below which a robot that cannot stand up is stuck


class Knowledge:
    """Believes in a damage, simulates where gaits lead under it, and refines the best ones.

    Args:
        repertoire: of the whole robot; for the others see `Mission`.
        entry: the selector that finds out what is wrong.
        on_refined: called with a refined gait and its row, when the robot knows it.

    Attributes:
        repertoire: with episodes as long as what is planned.
        beliefs: what it believes.
        twin: simulates the robot.
        outcomes: where gaits lead.
        diagnosis: what trials told, once it is prepared.
        searches: what it works on while it walks.
        steers: whether gaits see where a target is, or hold a heading: they are told where the goal is, and
            not planned with.
        steering: tells them.
    """

    diagnosis: Diagnosis

    def __init__(
        self,
        repertoire: Repertoire,
        entry: SelectorEntry,
        table: Table | None,
        world: World,
        request: MissionRequest,
        *,
        healthy: Paths | None,
        backend: Backend,
        on_refined: Callable[[RefinedGait, int], None],
    ) -> None:
        robot, self.repertoire = repertoire.robot, shortened(repertoire, PATH)
        self._entry, self._table, self._world = entry, table, world
        self._rehearsed = robot.description.episode_steps
        self._request, self._on_refined = request, on_refined
        self._rate = thinking_rate(robot) * request.cores  # control steps that it simulates in a second
        self.beliefs = Beliefs(paths={str(Combination()): dict(healthy or {})})
        self.twin = Twin(Thinking(self.repertoire, sensors=world.sensors, backend=backend))
        self.outcomes = Outcomes(self.twin, repertoire.gaits.measures, self.beliefs)
        self.searches = Searches(world)
        sees = "bearing" in Observer(robot).needs and robot.controller.closed_loop
        self.steers = sees or robot.controller.holds_heading
        # episodes can only begin with another heading where the joint that turns has a name
        named = bool(robot.physics.joint(robot.root_joint).name)
        self._headings = (HEADINGS if sees else HELD) if self.steers and named else (0.0,)
        self._turns = not sees and named and self.steers  # whether a gait can be made for a heading
        # episodes of a gait on a damaged robot, and of one of which only where it leads is to be learned
        self._several, self._fewest = (_EPISODES, 1) if world.holds_pose else (_UNSTEADY, _UNSTEADY)
        self._path_seconds = self.outcomes.steps / self._rate  # that it takes to simulate a path
        self.steering = Steering(self.outcomes, self.twin.solutions, self._headings)

    @property
    def rows(self) -> list[int]:
        """The gaits to walk with: those that ran, on a whole robot none that was made for a damage.

        Where gaits were trained around a policy, a whole robot that is told where to go walks with it alone.
        """
        rows, first = self.beliefs.rows, len(self.repertoire.elites)
        if self.beliefs.damaged or (specialists := self.repertoire.specialists) is None:
            return rows
        whole = [first + i for i, texts in enumerate(specialists.damages) if texts == (str(Combination()),)]
        alone = self.steers and specialists.known.any()
        return [row for row in rows if row in whole or (row < first and not alone)]

    def prepare(self) -> None:
        """Simulate every gait on the whole robot, before the mission begins."""
        rows = range(len(self.repertoire))
        self._simulate(rows, 1, 1)
        paths, falls = self.outcomes.predicted([Way(row) for row in rows])
        self.diagnosis = Diagnosis(
            self.twin.thinking, self._entry, self._table, self._request,
            rehearsed=self._rehearsed, healthy=paths[:, -1], falls=np.isfinite(falls),
        )  # fmt: skip

    def _simulate(self, rows: Iterable[int], episodes: int, turned: int, made: Sequence[int] = ()) -> float:
        """Simulate gaits, and the best with all headings; returns how long that takes [s].

        Each runs in so many episodes, the best in `turned` for each heading. Gaits that were made for the
        damage count among the best.
        """
        ran = self.outcomes.simulate(rows, episodes)
        ran += self.outcomes.simulate([*made, *self._best()[:_STEERED]], turned, self._headings)
        return ran * self._path_seconds

    def begin_anew(self, trial: Stretch) -> None:
        """Look for what is wrong from the beginning, on models that begin as the robot stood in a trial."""
        self._forget(posed(self.repertoire.robot, trial.trace[0]))
        self.beliefs.tried = {trial.row}

    def _forget(self, pose: Robot | None) -> None:
        """Forget what trials and simulations said; models begin in a pose, or in the usual one."""
        self.diagnosis.renew(pose)
        self.twin.pose(pose if pose and self._world.holds_pose else self.repertoire.robot)
        self.beliefs.forget()

    def learn(self, trial: Stretch) -> float:
        """Take in a trial, and simulate the most promising gaits on what comes out; returns how long [s]."""
        cause, episodes = self.diagnosis.learn(trial)
        self._believe(cause)
        first, *others = self.diagnosis.promising()
        self.beliefs.promising = sorted({row for rows in others for row in rows})
        made = self._made_for(cause.damage)
        thought = episodes * self.diagnosis.trial_steps / self._rate
        return thought + self._simulate([*made, *first], self._several, self._several, made)

    def candidates(self, *, untried: bool) -> list[int]:
        """The gaits to choose from: what was refined for the cause, or made or rehearsed for it, comes first.

        What was made or rehearsed does so while it is `untried`: no stretch since the last diagnosis went as
        expected.
        """
        rows, known = self.rows, set(self._made_for(self.beliefs.damage)) if untried else set[int]()
        refined = [row for row in rows if row >= len(self.repertoire)]
        first = refined if self.steers and (self.beliefs.fresh or self.hardly_walks) else []
        self.beliefs.fresh = False
        return first or [row for row in rows if row in known] or rows

    def _made_for(self, damage: Damage) -> list[int]:
        """The specialists for a damage, or else the gaits that get furthest with it in the rehearsal."""
        text, first = str(damage), len(self.repertoire.elites)
        if not damage.singles:
            return []
        specialists = self.repertoire.specialists
        made = [
            first + i for i, texts in enumerate(specialists.damages if specialists else ()) if text in texts
        ]
        return made[:_STEERED] or self.diagnosis.rehearsed_for(text)[:_REHEARSED]

    @property
    def prospects(self) -> str:
        """What is expected of the robot with the damage that is believed, in words."""
        known, whole = self.beliefs.known, self._furthest(self.beliefs.healthy)
        if (ahead := self._furthest(known)) >= WALKING * whole:
            return "a robot with this damage may stumble"
        seconds = self.outcomes.steps * self.repertoire.robot.control_step
        return (
            f"with this damage it hardly walks, its best gait {ahead:.1f} m in {seconds:.0f} s "
            f"instead of {whole:.1f} m"
        )

    @property
    def hardly_walks(self) -> bool:
        """Whether no gait of the repertoire is known that walks with the damage that is believed."""
        own = {way: found for way, found in self.beliefs.known.items() if way.row < len(self.repertoire)}
        return self._furthest(own) < WALKING * self._furthest(self.beliefs.healthy)

    @staticmethod
    def _furthest(paths: Paths) -> float:
        """How far ahead the best of some gaits leads that does not fall [m]."""
        ends = [path[-1, 0] for way, (path, fall) in paths.items() if math.isinf(fall) and not way.heading]
        return float(max(ends, default=0.0))

    def read_off(self, silent: Collection[str], trace: np.ndarray) -> Damage | None:
        """What is wrong where some more motors give no torque; None if these are not all motors of some legs.

        Encoders of a leg that is lost read 0, see `Lost`; a dead one is moved by what it touches.
        """
        description, parts = self.repertoire.robot.description, self.twin.parts
        at, joints, left = TraceColumns.of(self.repertoire.robot), list(description.joints), set(silent)
        found: list[SingleDamage] = []
        for name, leg in description.legs.items():
            if set(leg.joints) <= set(silent):
                angles = trace[-1, [at.angle + joints.index(joint) for joint in leg.joints]]
                found.append(Dead(name) if angles.any() else Lost(name))
                left -= set(leg.joints)
        others = [
            single
            for single in self.beliefs.damage.singles
            if not set(silent) & set(parts.joints(parts.find(single.target)))
        ]
        return Combination((*others, *found)) if found and not left else None

    def know(self, damage: Damage) -> float:
        """Believe at once in what its motors tell; as `learn`, without a trial."""
        self._forget(None)
        self._believe(Cause.sure(damage))
        self.beliefs.promising = []
        made = self._made_for(damage)
        return self._simulate(made or self._best_when_whole(), self._several, self._several, made)

    def be_told(self, damage: Damage) -> None:
        """Know what is wrong, and where all gaits lead then, at once."""
        self.searches.give_up()
        self._believe(Cause.sure(damage))
        self._simulate(range(len(self.repertoire)), self._fewest, self._several)

    def recovers(self) -> bool:
        """Be whole where a motor works that is believed to be dead or lost, if this belief is new.

        What trials and simulations said before is forgotten. A robot that believes the same again looks into
        it first.
        """
        damage = str(self.beliefs.damage)
        if damage in self.beliefs.refuted:
            return False
        self.beliefs.refuted.add(damage)
        self._forget(None)
        self.be_told(Combination())
        return True

    def _believe(self, cause: Cause) -> None:
        """Take this to be what is wrong."""
        if str(cause.damage) != str(self.beliefs.damage):
            self.steering.forget(self.beliefs.damage)
        self.beliefs.believe(cause)

    def search_anew(self, bearing: float) -> None:
        """Refine gaits for this bearing of the goal [rad], if those under way are for another one."""
        sought = self.beliefs.sought
        if sought is not None and self._turns and abs(wrapped_angle(bearing - sought)) > _OTHER:
            self.search_on(0.0, bearing)

    def search_on(self, later: float, bearing: float) -> None:
        """Begin, some seconds later, to simulate further gaits on what is believed, and to refine the best.

        A gait that holds a heading is to turn the robot to the bearing of the goal [rad].
        """
        beliefs = self.beliefs
        # gaits that are told where the goal is would run straight ahead
        others = [] if self.steers or self.hardly_walks else beliefs.promising
        self.searches.give_up()
        beliefs.sought = None
        if later > 0:
            self.searches.add(lambda: None, later, lambda _: None)
        self._run_meanwhile(others, self._several)
        if self._request.refine and beliefs.cause.trusted and beliefs.damaged:
            self._refine_meanwhile(bearing)
        if beliefs.damaged and not self.steers:
            rest = [row for row in range(len(self.repertoire)) if row not in others]
            for first in range(_PARTS):
                self._run_meanwhile(rest[first::_PARTS], self._fewest)

    def _run_meanwhile(self, rows: Iterable[int], episodes: int) -> None:
        """Simulate those of some gaits that did not yet run, while it walks."""
        known = set(self.beliefs.rows)
        ways = [Way(row) for row in rows if row not in known]
        if ways:
            outcomes = self.outcomes.copy()  # over a link the search runs in another thread
            seconds = len(ways) * episodes * self._path_seconds
            self.searches.add(
                lambda: outcomes.run(ways, episodes), seconds, lambda found: self.beliefs.known.update(found)
            )

    def _refine_meanwhile(self, bearing: float) -> None:
        """Search for a better gait on what is believed, while it walks."""
        damage, settings = self.beliefs.damage, RefinementSettings(self._request.refine)
        best, number = self._best(), self.beliefs.searches + 1
        listed = self.diagnosis.rehearsed_for(str(damage), falling=True)[:_LISTED]
        best += [row for row in listed if row not in best]
        seconds = (settings.episodes + self._several * len(self._headings[1:])) * self._path_seconds
        self.beliefs.sought, heading = bearing, -bearing if self._turns else 0.0

        def take(found: RefinedGait | None) -> None:
            self.beliefs.searches, self.beliefs.sought = number, None
            if found is None:
                return
            row = self.twin.add(found.solution)
            self.steering.turn_by(row, heading)
            self.beliefs.fresh = True
            self.outcomes.add(self.repertoire.gaits.measures[found.parent])
            self.outcomes.simulate([row], self._fewest)
            self.outcomes.simulate([row], self._several, self._headings)
            self._on_refined(found, row)

        self.searches.add(
            lambda: self.diagnosis.refine(damage, best, settings, number, heading), seconds, take
        )

    def gait_to_try(self, stretch: Stretch, *, again: bool = False) -> int:
        """The gait that surprised; after a fall, the one that should get furthest on such a robot.

        Args:
            stretch: in which it surprised.
            again: whether a trial went as expected, and it fell all the same: then one not tried yet, and of
                these the gait that fell if a selector knows it.
        """
        if not (again or self.beliefs.damaged):
            self.beliefs.tried = set()
        row = self._gait_to_try(stretch, self.beliefs.tried if again else set())
        self.beliefs.tried.add(row)
        return row

    def _gait_to_try(self, stretch: Stretch, tried: set[int]) -> int:
        known, damaged = stretch.row < len(self.repertoire), self.beliefs.damaged
        if stretch.fell and not damaged:
            furthest = self.diagnosis.furthest_after(stretch.row)
            if furthest is not None and furthest not in tried:
                return furthest
        if known and stretch.row not in tried and (tried or not (damaged and stretch.fell)):
            return stretch.row
        rows = [row for row in self.beliefs.rows if row < len(self.repertoire)]
        rows = [row for row in rows if row not in tried] or rows
        paths, falls = self.outcomes.predicted([Way(row) for row in rows])
        return rows[int(np.argmax(np.where(np.isinf(falls), paths[:, -1, 0], -np.inf)))]

    def stuck(self, stretch: Stretch) -> bool:
        """Whether a robot that cannot stand up lies in a pose out of which its gait does not lead."""
        if self._world.holds_pose or len(stretch.trace) < 2 * self.outcomes.every:
            return False
        paths, _ = self.outcomes.predicted(list(self.beliefs.known))
        fastest = np.linalg.norm(paths[:, -1, :2], axis=1).max() / self.outcomes.steps
        return bool(math.hypot(*stretch.moved[:2]) < _STUCK * fastest * len(stretch.trace))

    def _best_when_whole(self) -> list[int]:
        """The gaits that get furthest ahead on the whole robot."""
        ahead = {way.row: path[-1, 0] for way, (path, _) in self.beliefs.healthy.items() if not way.heading}
        return sorted(ahead, key=lambda row: -ahead[row])[:_LISTED]

    def _best(self) -> list[int]:
        """The repertoire's gaits that ran under the damage, the fastest ahead with its falls first."""
        known = [row for row in self.rows if row < len(self.repertoire)]
        paths, falls = self.outcomes.predicted([Way(row) for row in known])
        seconds = self.outcomes.steps * self.repertoire.robot.control_step + FALL * np.isfinite(falls)
        return [known[i] for i in np.argsort(-paths[:, -1, 0] / seconds, kind="stable")]


def thinking_rate(robot: Robot) -> float:
    """Control steps of a robot that a core is taken to simulate in a second, on the mission's clock.

    With n degrees of freedom a physics step takes 4.5 + 1.2 n microseconds, which is what
    `python -m benchmarks simulation` measured to within 12%; see `docs/benchmarks/simulation.json`.
    """
    least, each = _STEP_COST
    return 1 / (robot.description.substeps * (least + each * robot.physics.nv))
