"""`Knowledge`: what a robot on a mission knows of itself, and what it works on while it walks."""

import math
from collections.abc import Callable, Iterable

import numpy as np

from adapt.damage.damage import Combination, Damage
from adapt.mission.diagnosis import Diagnosis, Finding, posed, shortened
from adapt.mission.outcomes import Outcomes, Paths, Way
from adapt.mission.searches import Searches
from adapt.mission.steering import HEADINGS, Steering
from adapt.mission.world import Stretch, World
from adapt.records import RefinedGait
from adapt.rehearsal.table import Table
from adapt.selectors.catalogue import SelectorEntry
from adapt.self_model.twin import RefinementSettings, Thinking, Twin
from repertoire.repertoire import Repertoire
from robots.link.observer import Observer

PATH = 5.0  # [s] that each gait is simulated for to plan with
TRIAL = 2.0  # [s] of a trial, and of what is simulated to find out what is wrong
RATE = 20_000  # control steps that a core simulates in a second: what thinking costs on the mission's clock
# Episodes of each gait on a damaged robot, where one that walks may also fall, and on one that cannot stand
_EPISODES, _UNSTEADY = 2, 6
_STEERED = 6  # gaits that are simulated with targets all around on a damaged robot
_PARTS = 4  # in which the remaining gaits are simulated; it plans with each part once that is done
_STUCK = 0.1  # of the speed of the fastest gait


class Knowledge:
    """Believes in a damage, simulates where gaits lead under it, and refines the best ones.

    Args:
        repertoire: of the whole robot.
        entry: the selector that finds out what is wrong.
        table: the repertoire's rehearsal, if there is one.
        world: where the robot walks.
        seed: from which every random number derives.
        episodes: that the selector simulates after each trial.
        refinement: of searches for better gaits; None for none.
        cores: that the robot has to think with.
        healthy: see `Outcomes`.
        threads: of the simulation.
        on_refined: called with a refined gait and its row, when the robot knows it.

    Attributes:
        repertoire: with episodes as long as what is planned.
        twin: simulates the robot.
        outcomes: where gaits lead.
        diagnosis: what trials told, once it is prepared.
        searches: what it works on while it walks.
        stands: whether the robot can stand, as far as is known.
        steers: whether gaits see where a target is: they are told where the goal is, and not planned with.
        steering: tells them.
    """

    diagnosis: Diagnosis

    def __init__(
        self,
        repertoire: Repertoire,
        entry: SelectorEntry,
        table: Table | None,
        world: World,
        *,
        seed: int,
        episodes: int,
        refinement: RefinementSettings | None,
        cores: int,
        healthy: Paths | None,
        threads: int | None,
        on_refined: Callable[[RefinedGait, int], None],
    ) -> None:
        self.repertoire = shortened(repertoire, PATH)
        self._entry, self._table, self._world = entry, table, world
        self._rehearsed = repertoire.robot.description.episode_steps
        self._seed, self._episodes, self._threads = seed, episodes, threads
        self._refinement, self._on_refined = refinement, on_refined
        self._rate = RATE * cores  # control steps that the robot simulates in a second
        self._refined = 0
        self._others: list[int] = []  # gaits that are promising, too, after the last trial
        self._tried: set[int] = set()  # gaits, since it began to look for what is wrong
        robot = repertoire.robot
        self.twin = Twin(Thinking(self.repertoire, sensors=world.sensors, threads=threads))
        self.outcomes = Outcomes(self.twin, repertoire.gaits.measures, healthy)
        self.searches = Searches(world)
        self.stands = world.stands
        self.steers = "bearing" in Observer(robot).needs and robot.controller.closed_loop
        # episodes can only begin with another heading where the joint that turns has a name
        named = bool(robot.physics.joint(robot.root_joint).name)
        self._headings = HEADINGS if self.steers and named else (0.0,)
        self.steering = Steering(self.outcomes, self.twin.solutions, self._headings)

    @property
    def damaged(self) -> bool:
        """Whether it believes that something is broken."""
        return bool(self.outcomes.damage.defects)

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
        self._look_all_round(self._best()[:_STEERED], 1)
        paths, falls = self.outcomes.predicted([Way(row) for row in rows])
        self.diagnosis = Diagnosis(
            self.repertoire,
            self._entry,
            self._table,
            rehearsed=self._rehearsed,
            healthy=paths[:, -1],
            falls=np.isfinite(falls),
            seconds=TRIAL,
            episodes=self._episodes,
            sensors=self._world.sensors,
            seed=self._seed,
            threads=self._threads,
        )

    def begin_anew(self, trial: Stretch) -> None:
        """Look for what is wrong from the beginning, on models that begin as the robot stood in a trial."""
        pose = posed(self.repertoire.robot, trial.trace[0]) if self.stands else None
        self.diagnosis.renew(pose)
        self._tried = {trial.row}
        self.twin.pose(pose or self.repertoire.robot)
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
        ran = self.outcomes.simulate(first, self._several)
        ran += self._look_all_round(self._best()[:_STEERED], self._several)
        thought = belief.episodes * self.diagnosis.trial_steps / self._rate
        return belief, thought + ran * self._path_seconds

    def be_told(self, damage: Damage) -> None:
        """Know what is wrong, and where all gaits lead then, at once."""
        self.searches.give_up()
        self._believe(damage)
        self.outcomes.simulate(range(len(self.repertoire)), self._fewest)
        self._look_all_round(self._best()[:_STEERED], self._several)

    def be_whole(self) -> None:
        """Know at once that nothing is wrong any more, and forget what trials and simulations said before."""
        self.diagnosis.renew(None)
        self.twin.pose(self.repertoire.robot)
        self.outcomes.forget()
        self.be_told(Combination())

    def _believe(self, damage: Damage) -> None:
        """Take this to be what is wrong."""
        if str(damage) != str(self.outcomes.damage):
            self.steering.forget(self.outcomes.damage)
        self.outcomes.believe(damage)
        if not self.damaged:
            self.stands = self._world.stands

    def search_on(self, belief: Finding) -> None:
        """Begin to simulate further gaits on what is believed, and to refine the best, while it walks."""
        others = [] if self.steers else self._others  # which would run straight ahead alone
        self.searches.give_up()
        self._run_meanwhile(others, self._several)
        if (settings := self._refinement) and belief.trusted and self.damaged:
            best, number = self._best(), self._refined + 1
            seconds = (settings.episodes + self._several * len(self._headings[1:])) * self._path_seconds
            self.searches.add(
                lambda: self.diagnosis.refine(belief.damage, best, settings, number),
                seconds,
                self._take_refined,
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
        if self.stands or len(stretch.trace) < 2 * self.outcomes.every:
            return False
        paths, _ = self.outcomes.predicted(self.outcomes.ways)
        fastest = np.linalg.norm(paths[:, -1, :2], axis=1).max() / self.outcomes.steps
        return bool(math.hypot(*stretch.moved[:2]) < _STUCK * fastest * len(stretch.trace))

    @property
    def _fewest(self) -> int:
        """Episodes of a gait of which nothing else is to be learned than where it leads."""
        return 1 if self._world.stands else _UNSTEADY

    @property
    def _several(self) -> int:
        """Episodes of a gait on a damaged robot."""
        return _EPISODES if self._world.stands else _UNSTEADY

    @property
    def _path_seconds(self) -> float:
        """Seconds that it takes to simulate where a gait leads."""
        return self.outcomes.steps / self._rate

    def _look_all_round(self, rows: list[int], episodes: int) -> int:
        """Simulate some gaits with targets all around, if they see them; returns how many episodes ran."""
        return self.outcomes.simulate(rows, episodes, self._headings)

    def _best(self) -> list[int]:
        """The repertoire's gaits that ran under the damage, that which gets furthest ahead first."""
        known = [row for row in self.rows if row < len(self.repertoire)]
        paths, _ = self.outcomes.predicted([Way(row) for row in known])
        return [known[i] for i in np.argsort(-paths[:, -1, 0], kind="stable")]

    def _take_refined(self, found: RefinedGait | None) -> None:
        """Walk with a refined gait too."""
        self._refined += 1
        if found is None:
            return
        row = self.twin.add(found.solution)
        self.outcomes.add(self.repertoire.gaits.measures[found.parent])
        self.outcomes.simulate([row], self._fewest)
        self._look_all_round([row], self._several)
        self._on_refined(found, row)
