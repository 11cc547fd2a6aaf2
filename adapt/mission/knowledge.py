"""`Knowledge`: what a robot on a mission knows of itself, and what it works on while it walks."""

import math
from collections.abc import Callable, Collection, Iterable

import numpy as np

from adapt.damage.damage import Combination, Damage, SingleDamage
from adapt.damage.kinds.limbs import Lost
from adapt.damage.kinds.motors import Dead
from adapt.mission.diagnosis import Diagnosis, Finding, posed, shortened
from adapt.mission.outcomes import Outcomes, Paths, Way
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
_STEP_COST = 4.5e-6, 1.2e-6  # [s] of a core for a physics step, and more for each degree of freedom
# Episodes of each gait on a damaged robot, where one that walks may also fall, and on one that cannot stand
_EPISODES, _UNSTEADY = 2, 6
_STEERED = 6  # gaits that are simulated with targets all around on a damaged robot
_LISTED = 40  # gaits that a search starts from, of those that get far with what is wrong before they fall
_REHEARSED = 5  # gaits that are tried first, of those that were rehearsed with what is wrong
_OTHER = 0.3  # [rad] by which the goal must lie elsewhere for a search to begin anew
_PARTS = 4  # in which the remaining gaits are simulated; it plans with each part once that is done
_STUCK = 0.1  # of the speed of the fastest gait


class Knowledge:
    """Believes in a damage, simulates where gaits lead under it, and refines the best ones.

    Args:
        repertoire: of the whole robot.
        entry: the selector that finds out what is wrong.
        table: the repertoire's rehearsal, if there is one.
        world: where the robot walks.
        request: of the mission.
        healthy: see `Outcomes`.
        backend: what runs the episodes.
        on_refined: called with a refined gait and its row, when the robot knows it.

    Attributes:
        repertoire: with episodes as long as what is planned.
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
        self.repertoire = shortened(repertoire, PATH)
        self._entry, self._table, self._world = entry, table, world
        self._rehearsed = repertoire.robot.description.episode_steps
        self._request, self._backend, self._on_refined = request, backend, on_refined
        # control steps that it simulates in a second
        self._rate = thinking_rate(repertoire.robot) * request.cores
        self._refined = 0  # searches
        self._recovered = set[str]()  # damages that it believed in until a motor worked
        self._fresh = False  # whether the last search found a gait that was not tried yet
        self._others: list[int] = []  # gaits that are promising, too, after the last trial
        self._tried: set[int] = set()  # gaits, since it began to look for what is wrong
        robot = repertoire.robot
        self.twin = Twin(Thinking(self.repertoire, sensors=world.sensors, backend=backend))
        self.outcomes = Outcomes(self.twin, repertoire.gaits.measures, healthy)
        self.searches = Searches(world)
        sees = "bearing" in Observer(robot).needs and robot.controller.closed_loop
        self.steers = sees or robot.controller.holds_heading
        # episodes can only begin with another heading where the joint that turns has a name
        named = bool(robot.physics.joint(robot.root_joint).name)
        self._headings = (HEADINGS if sees else HELD) if self.steers and named else (0.0,)
        self._turns = not sees and named and self.steers  # whether a gait can be made for a heading
        self._sought: tuple[Finding, float] | None = None  # what gaits are refined for, and which heading
        self.steering = Steering(self.outcomes, self.twin.solutions, self._headings)

    @property
    def damaged(self) -> bool:
        """Whether it believes that something is broken."""
        return bool(self.outcomes.damage.singles)

    @property
    def rows(self) -> list[int]:
        """The gaits to walk with: those that ran, on a whole robot none that was made for a damage."""
        rows, first = self.outcomes.rows, len(self.repertoire.elites)
        if self.damaged or (specialists := self.repertoire.specialists) is None:
            return rows
        whole = [i for i, texts in enumerate(specialists.damages) if texts == (str(Combination()),)]
        return [row for row in rows if row < first or row - first in whole]

    def prepare(self) -> None:
        """Simulate every gait on the whole robot, before the mission begins."""
        rows = range(len(self.repertoire))
        self.outcomes.simulate(rows)
        self.outcomes.simulate(self._best()[:_STEERED], 1, self._headings)
        paths, falls = self.outcomes.predicted([Way(row) for row in rows])
        self.diagnosis = Diagnosis(
            self.repertoire,
            self._entry,
            self._table,
            rehearsed=self._rehearsed,
            healthy=paths[:, -1],
            falls=np.isfinite(falls),
            request=self._request,
            sensors=self._world.sensors,
            backend=self._backend,
        )

    def begin_anew(self, trial: Stretch) -> None:
        """Look for what is wrong from the beginning, on models that begin as the robot stood in a trial."""
        self._forget(posed(self.repertoire.robot, trial.trace[0]))
        self._tried = {trial.row}

    def _forget(self, pose: Robot | None) -> None:
        """Forget what trials and simulations said; models begin in a pose, or in the usual one."""
        self.diagnosis.renew(pose)
        self.twin.pose(pose if pose and self._world.holds_pose else self.repertoire.robot)
        self.outcomes.forget()

    def learn(self, trial: Stretch) -> tuple[Finding, float]:
        """Take in a trial, and simulate the most promising gaits on what comes out.

        Returns:
            What it believes then, and how long it takes to find out [s].
        """
        belief = self.diagnosis.learn(trial)
        self._believe(belief.damage)
        first, *others = self.diagnosis.promising()
        self._others = sorted({row for rows in others for row in rows})
        made = self._made_for(belief.damage)
        ran = self.outcomes.simulate([*made, *first], self._several)
        ran += self.outcomes.simulate([*made, *self._best()[:_STEERED]], self._several, self._headings)
        thought = belief.episodes * self.diagnosis.trial_steps / self._rate
        return belief, thought + ran * self._path_seconds

    def candidates(self, *, untried: bool) -> list[int]:
        """The gaits to choose from: what was refined for the cause, or made or rehearsed for it, comes first.

        Args:
            untried: whether no stretch went as expected since the last diagnosis.
        """
        rows, known = self.rows, set(self._made_for(self.outcomes.damage)) if untried else set[int]()
        refined = [row for row in rows if row >= len(self.repertoire)]
        first = refined if self.steers and (self._fresh or self.hardly_walks) else []
        self._fresh = False
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
        known, whole = self.outcomes.known, self._furthest(self.outcomes.healthy)
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
        own = {way: found for way, found in self.outcomes.known.items() if way.row < len(self.repertoire)}
        return self._furthest(own) < WALKING * self._furthest(self.outcomes.healthy)

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
            for single in self.outcomes.damage.singles
            if not set(silent) & set(parts.joints(parts.find(single.target)))
        ]
        return Combination((*others, *found)) if found and not left else None

    def know(self, damage: Damage) -> tuple[Finding, float]:
        """Believe at once in what its motors tell; as `learn`, without a trial."""
        self._forget(None)
        self._believe(damage)
        text = str(damage)
        made = self._made_for(damage)
        ran = self.outcomes.simulate(made or self._best_when_whole(), self._several)
        ran += self.outcomes.simulate([*made, *self._best()[:_STEERED]], self._several, self._headings)
        self._others = []
        return Finding(damage, {text: 1.0}, text, 0, trusted=True), ran * self._path_seconds

    def be_told(self, damage: Damage) -> None:
        """Know what is wrong, and where all gaits lead then, at once."""
        self.searches.give_up()
        self._believe(damage)
        self.outcomes.simulate(range(len(self.repertoire)), self._fewest)
        self.outcomes.simulate(self._best()[:_STEERED], self._several, self._headings)

    def recovers(self) -> bool:
        """Be whole where a motor works that is believed to be dead or lost, if this belief is new.

        What trials and simulations said before is forgotten. A robot that believes the same again looks into
        it first.
        """
        damage = str(self.outcomes.damage)
        if damage in self._recovered:
            return False
        self._recovered.add(damage)
        self._forget(None)
        self.be_told(Combination())
        return True

    def _believe(self, damage: Damage) -> None:
        """Take this to be what is wrong."""
        if str(damage) != str(self.outcomes.damage):
            self.steering.forget(self.outcomes.damage)
        self.outcomes.believe(damage)

    def search_anew(self, bearing: float) -> None:
        """Refine gaits for this bearing of the goal [rad], if those under way are for another one."""
        if self._sought and self._turns and abs(wrapped_angle(bearing - self._sought[1])) > _OTHER:
            self.search_on(self._sought[0], 0.0, bearing)

    def search_on(self, belief: Finding, later: float, bearing: float) -> None:
        """Begin to simulate further gaits on what is believed, and to refine the best, while it walks.

        Args:
            belief: what is believed.
            later: after how many seconds it begins [s].
            bearing: of the goal, to which a gait that holds a heading is to turn the robot [rad].
        """
        others = [] if self.steers or self.hardly_walks else self._others  # which would run straight ahead
        self.searches.give_up()
        self._sought = None
        if later > 0:
            self.searches.add(lambda: None, later, lambda _: None)
        self._run_meanwhile(others, self._several)
        if self._request.refine and belief.trusted and self.damaged:
            settings = RefinementSettings(self._request.refine)
            best, number = self._best(), self._refined + 1
            listed = self.diagnosis.rehearsed_for(str(belief.damage), falling=True)[:_LISTED]
            best += [row for row in listed if row not in best]
            seconds = (settings.episodes + self._several * len(self._headings[1:])) * self._path_seconds
            self._sought, heading = (belief, bearing), -bearing if self._turns else 0.0
            self.searches.add(
                lambda: self.diagnosis.refine(belief.damage, best, settings, number, heading),
                seconds,
                lambda found: self._take_refined(found, heading),
            )
        if self.damaged and not self.steers:
            rest = [row for row in range(len(self.repertoire)) if row not in others]
            for first in range(_PARTS):
                self._run_meanwhile(rest[first::_PARTS], self._fewest)

    def _run_meanwhile(self, rows: Iterable[int], episodes: int) -> None:
        """Simulate those of some gaits that did not yet run, while it walks."""
        known = set(self.outcomes.rows)
        ways = [Way(row) for row in rows if row not in known]
        if ways:
            outcomes = self.outcomes.copy()  # over a link the search runs in another thread
            seconds = len(ways) * episodes * self._path_seconds
            self.searches.add(lambda: outcomes.run(ways, episodes), seconds, self.outcomes.take)

    def gait_to_try(self, stretch: Stretch, *, again: bool = False) -> int:
        """The gait that surprised; after a fall, the one that should get furthest on such a robot.

        Args:
            stretch: in which it surprised.
            again: whether a trial went as expected, and it fell all the same: then one not tried yet, and of
                these the gait that fell if a selector knows it.
        """
        if not (again or self.damaged):
            self._tried = set()
        row = self._gait_to_try(stretch, self._tried if again else set())
        self._tried.add(row)
        return row

    def _gait_to_try(self, stretch: Stretch, tried: set[int]) -> int:
        known = stretch.row < len(self.repertoire)
        if stretch.fell and not self.damaged:
            furthest = self.diagnosis.furthest_after(stretch.row)
            if furthest is not None and furthest not in tried:
                return furthest
        if known and stretch.row not in tried and (tried or not (self.damaged and stretch.fell)):
            return stretch.row
        rows = [row for row in self.outcomes.rows if row < len(self.repertoire)]
        rows = [row for row in rows if row not in tried] or rows
        paths, falls = self.outcomes.predicted([Way(row) for row in rows])
        return rows[int(np.argmax(np.where(np.isinf(falls), paths[:, -1, 0], -np.inf)))]

    def stuck(self, stretch: Stretch) -> bool:
        """Whether a robot that cannot stand up lies in a pose out of which its gait does not lead."""
        if self._world.holds_pose or len(stretch.trace) < 2 * self.outcomes.every:
            return False
        paths, _ = self.outcomes.predicted(self.outcomes.ways)
        fastest = np.linalg.norm(paths[:, -1, :2], axis=1).max() / self.outcomes.steps
        return bool(math.hypot(*stretch.moved[:2]) < _STUCK * fastest * len(stretch.trace))

    @property
    def _fewest(self) -> int:
        """Episodes of a gait of which nothing else is to be learned than where it leads."""
        return 1 if self._world.holds_pose else _UNSTEADY

    @property
    def _several(self) -> int:
        """Episodes of a gait on a damaged robot."""
        return _EPISODES if self._world.holds_pose else _UNSTEADY

    @property
    def _path_seconds(self) -> float:
        """Seconds that it takes to simulate where a gait leads."""
        return self.outcomes.steps / self._rate

    def _best_when_whole(self) -> list[int]:
        """The gaits that get furthest ahead on the whole robot."""
        ahead = {way.row: path[-1, 0] for way, (path, _) in self.outcomes.healthy.items() if not way.heading}
        return sorted(ahead, key=lambda row: -ahead[row])[:_LISTED]

    def _best(self) -> list[int]:
        """The repertoire's gaits that ran under the damage, the fastest ahead with its falls first."""
        known = [row for row in self.rows if row < len(self.repertoire)]
        paths, falls = self.outcomes.predicted([Way(row) for row in known])
        seconds = self.outcomes.steps * self.repertoire.robot.control_step + FALL * np.isfinite(falls)
        return [known[i] for i in np.argsort(-paths[:, -1, 0] / seconds, kind="stable")]

    def _take_refined(self, found: RefinedGait | None, heading: float) -> None:
        """Walk with a refined gait too."""
        self._refined, self._sought = self._refined + 1, None
        if found is None:
            return
        row = self.twin.add(found.solution)
        self.steering.turn_by(row, heading)
        self._fresh = True
        self.outcomes.add(self.repertoire.gaits.measures[found.parent])
        self.outcomes.simulate([row], self._fewest)
        self.outcomes.simulate([row], self._several, self._headings)
        self._on_refined(found, row)


def thinking_rate(robot: Robot) -> float:
    """Control steps of a robot that a core is taken to simulate in a second, on the mission's clock.

    With n degrees of freedom a physics step takes 4.5 + 1.2 n microseconds, which is what
    `python -m benchmarks simulation` measured to within 12%; see `docs/benchmarks/simulation.json`.
    """
    least, each = _STEP_COST
    return 1 / (robot.description.substeps * (least + each * robot.physics.nv))
