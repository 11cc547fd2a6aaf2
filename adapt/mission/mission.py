"""`Mission`: a robot walks to goals, breaks, notices, finds out what is wrong, and walks on."""

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any, Literal

import numpy as np

from adapt.damage.damage import Combination
from adapt.mission.diagnosis import Finding
from adapt.mission.events import Event
from adapt.mission.knowledge import Knowledge
from adapt.mission.monitor import THRESHOLD, Monitor
from adapt.mission.outcomes import SAMPLE, Paths, Way
from adapt.mission.plan import Plan, PlannedChange
from adapt.mission.planner import PlannedStretch, choose_gait
from adapt.mission.pose import Pose
from adapt.mission.result import MissionResult
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.surprises import Surprises
from adapt.mission.world import ASSISTANCE, Stretch, World
from adapt.records import RefinedGait
from adapt.rehearsal.table import Table
from adapt.relearning.refinement import RefinementSettings
from adapt.selectors.catalogue import choose_selector
from repertoire.repertoire import Repertoire
from robots.arrays import whole_number
from robots.backend import Backend
from robots.errors import InvalidValueError, SurefootError
from robots.robot import Robot
from robots.simulation.threads import ALL_CORES

Response = Literal["diagnosis", "told", "none"]
EPISODES = 400  # to find out what is wrong after a trial
REFINEMENT = 800  # episodes of a search for a better gait
CORES = 2
MAX_FALLS = 3
_PAUSE = 0.5  # [s] to settle
_LONGER = 1.0  # [s] that a stretch goes on towards a goal where it should have ended
_AHEAD = 900.0  # [m] where a robot without a goal walks to
_DOUBT = 0.5  # share of the monitor's threshold up to which a trial went as expected
_PATH = 5  # control steps between two places of a path in the log


class Mission:
    """One mission, from the first step to the last; iterate over it for its events.

    The robot is told nothing of what happens to it. It plans stretches of some seconds by where gaits lead on
    the model that it believes in, see `Outcomes`, and watches itself, see `Monitor`. After an alarm it
    tries its gait once more from where it stands, after a fall the one that should get furthest where that
    gait falls, and a selector finds out what is wrong. From then on it
    believes in that: it simulates gaits on the new model, plans with these, and refines better ones while it
    walks. What surprises it soon afterwards is further evidence.

    Instead of planning, a gait that sees the bearing of a target is told that of the goal again and again,
    see `Steering`.

    Thinking takes time: the clock runs on, by the control steps that were simulated and the cores that the
    robot has, so that a mission is the same on every machine. A robot of servos stands
    meanwhile, another one goes on with its gait, or lies if it fell. What can be prepared before the mission
    costs nothing of it: the healthy gaits' outcomes and what the monitor takes to be usual for them.

    A robot that lies is set upright by somebody, which takes 20 s of the clock. When it has fallen as often
    as it may, it is damped, and the mission is over.

    Args:
        repertoire: of the whole robot.
        plan: goals and what happens.
        table: the repertoire's rehearsal, if there is one.
        seed: from which every random number derives.
        episodes: that the selector simulates after each trial.
        refinement: episodes of a search for a better gait; 0 for none.
        cores: that the robot has to think with.
        max_falls: how often the robot may fall until it is damped, at least once.
        selector: what finds out what is wrong; one that thinks, or `rehearsed`.
        response: to what happens: a diagnosis; none, but that the robot watches itself and gets up; or, to
            compare with, it is told at once, and takes no time to simulate every gait.
        body: the robot that walks, if it differs from its model, which is the repertoire's robot.
        healthy: of another mission of the same repertoire and selector, so that it is prepared at once.
        backend: what runs the episodes of its thinking. The mission does not depend on it.
        world: where the robot walks; by default it is simulated, with what the plan says happens to it.
        on_step: called with that simulation after every control step.

    Attributes:
        repertoire, plan, seed: the same.
        latest: event, None before the first.

    Raises:
        InvalidValueError: the repertoire is empty, its robot cannot turn, or an argument is wrong.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        plan: Plan,
        *,
        table: Table | None = None,
        seed: int = 1,
        episodes: int = EPISODES,
        refinement: int = REFINEMENT,
        cores: int = CORES,
        max_falls: int = MAX_FALLS,
        selector: str | None = None,
        response: Response = "diagnosis",
        body: Robot | None = None,
        healthy: Paths | None = None,
        backend: Backend = ALL_CORES,
        world: World | None = None,
        on_step: Callable[[SimulatedWorld], None] = lambda _: None,
    ) -> None:
        if not len(repertoire.elites):
            raise InvalidValueError("the repertoire is empty: there is no gait to walk with")
        entry = choose_selector(selector, table)
        if entry.needs_truth or not (entry.thinks or entry.needs_table or entry.unregistered):
            raise InvalidValueError(
                f"the selector {entry.name} does not find out what is wrong: a mission needs self-model, "
                "rehearsed, or one of your own"
            )
        seed, cores = whole_number("seed", seed, 0), whole_number("cores", cores, 1)
        self._max_falls = whole_number("max_falls", max_falls, 1)
        searches = RefinementSettings(refinement) if refinement else None
        self._response, self._news = response, False
        self.plan, self.seed = plan, seed
        self._events: list[Event] = []
        self.latest: Event | None = None
        self._surprises = Surprises()
        self._counts = {"fall": 0, "assistance": 0, "trial": 0, "alarm": 0}
        self._thought, self._reached, self._unaided = 0.0, 0, 0
        self._repaired = set[str]()  # damages that it believed in until a motor worked
        self._world: World = world or self._simulated(body or repertoire.robot, on_step)
        self._knowledge = Knowledge(
            repertoire,
            entry,
            table,
            self._world,
            seed=seed,
            episodes=episodes,
            refinement=searches,
            cores=cores,
            healthy=healthy,
            backend=backend,
            on_refined=self._tell_refined,
        )
        self.repertoire = self._knowledge.repertoire
        self._outcomes = self._knowledge.outcomes
        self._monitor = Monitor(self._knowledge.twin, repertoire.robot)

    def _simulated(self, body: Robot, on_step: Callable[[SimulatedWorld], None]) -> SimulatedWorld:
        world = SimulatedWorld(
            body,
            self.plan.changes,
            seed=self.seed,
            on_change=self._note_change,
            on_step=lambda: on_step(world),
        )
        return world

    def __iter__(self) -> Generator[Event]:
        failed = None
        with closing(self._world):  # so that the robot is damped before the end is told
            try:
                for _ in self._run():
                    yield from self._events
                    self._events.clear()
            except SurefootError as error:
                failed = error
        yield from self._events
        if failed is not None:
            raise failed

    @property
    def result(self) -> MissionResult:
        """How it went so far."""
        counts = self._counts
        return MissionResult(
            reached=self._reached,
            unaided=self._unaided,
            goals=len(self.plan.goals),
            seconds=self._world.clock,
            distance=Pose().distance(self._world.pose),
            falls=counts["fall"],
            assistances=counts["assistance"],
            trials=counts["trial"],
            alarms=counts["alarm"],
            thinking=self._thought,
        )

    @property
    def healthy(self) -> Paths:
        """Where each gait leads on the whole robot, for other missions; none before it began."""
        return self._outcomes.healthy

    @property
    def _over(self) -> bool:
        done = self.plan.goals and self._reached == len(self.plan.goals)
        return bool(done) or self._spent or self._world.clock >= self.plan.seconds - 1e-9

    @property
    def _spent(self) -> bool:
        """Whether the robot fell as often as it may."""
        return self._counts["fall"] >= self._max_falls

    @property
    def _goal(self) -> tuple[float, float]:
        return self.plan.goals[self._reached] if self.plan.goals else (_AHEAD, 0.0)

    def _run(self) -> Iterator[None]:
        self._knowledge.prepare()
        self._tell("start", f"The {self.repertoire.robot.name} sets off.", gaits=len(self.repertoire))
        yield
        while not self._over:
            before = self._world.driving
            stretch, alarm = self._walk()
            self._look_around()
            yield
            if self._over:
                break
            if self._news:
                self._take_in_news()
            elif stretch.fell or alarm:
                self._respond(stretch, going=before == stretch.row)
            else:
                self._surprises.pass_stretch(stretch.row)
                self._observe(stretch, going=before == stretch.row)
            self._knowledge.searches.take_found()
            yield
        times = f"{self._max_falls} time{'s' * (self._max_falls != 1)}"
        why = f"It fell {times}, which is as often as it may, and is damped. " if self._spent else ""
        self._tell("end", f"{why}The mission is over: {self.result.words}.")

    def _observe(self, stretch: Stretch, *, going: bool) -> None:
        """Take in where a planned stretch led."""
        if not self._knowledge.steers:
            self._outcomes.observe(Way(stretch.row), stretch.moved, len(stretch.trace), going=going)

    def _walk(self) -> tuple[Stretch, str | None]:
        """Walk a stretch towards the goal."""
        if self._knowledge.steers:
            return self._steer()
        rows, driving = self._knowledge.candidates(untried=self._surprises.untried), self._world.driving
        paths, falls = self._outcomes.predicted([Way(row) for row in rows], driving)
        choice = choose_gait(
            self._world.pose,
            self._goal,
            paths,
            falls / self._outcomes.every,
            risk=self._knowledge.diagnosis.risk(rows)
            + self._surprises.risk(rows, damaged=self._knowledge.damaged),
            present=rows.index(driving) if driving in rows else None,
            within=self.plan.within,
        )
        return self._drive("walk", rows[choice.number], choice.samples * self._outcomes.every, choice)

    def _drive(
        self, kind: str, row: int, steps: int, choice: PlannedStretch | None = None
    ) -> tuple[Stretch, str | None]:
        """Drive a gait, and watch; returns the stretch and what was noticed."""
        world, nearest = self._world, math.inf
        alarm: str | None = None
        planned = steps
        if choice and choice.arrives:
            steps += round(_LONGER / self.repertoire.robot.control_step)
        self._monitor.begin(self._outcomes.damage, row, going=world.driving == row)
        path: list[list[float]] = []
        begun = world.clock

        def until(trace: np.ndarray, made: int) -> bool:
            nonlocal alarm, nearest
            pose = world.pose
            before, nearest = nearest, min(nearest, pose.distance(self._goal))
            self._note_place(path, made)
            alarm = self._monitor.watch(trace, made)
            missed = made > planned and nearest == before
            ended = missed or alarm is not None
            return (ended and kind == "walk") or self._near(pose) or self._news

        abrupt = kind == "trial" or self._sets_off
        parameters = self._knowledge.twin.solutions([row])[0]
        stretch = world.drive(row, parameters, min(steps, self._left), abrupt=abrupt, until=until)
        return stretch, self._tell_stretch(kind, stretch, begun, path, alarm, choice)

    def _steer(self) -> tuple[Stretch, str | None]:
        """Walk with a gait that is told where the goal is, again and again."""
        path: list[list[float]] = []
        alarm: str | None = None
        watched, steering = 0, self._knowledge.steering
        begun = self._world.clock

        def until(_trace: np.ndarray, made: int) -> bool:
            self._note_place(path, made)
            due = made % self._outcomes.every == 0 and self._knowledge.searches.due(SAMPLE)
            return due or self._near(self._world.pose) or self._news

        def watch(trace: np.ndarray) -> bool:
            nonlocal alarm, watched
            while alarm is None and watched < len(trace):
                watched += 1
                alarm = self._monitor.watch(trace, watched)
            return alarm is not None

        rows = self._knowledge.candidates(untried=self._surprises.untried)
        row = steering.choose(rows, self._world.driving)
        self._monitor.begin(self._outcomes.damage, row, going=self._world.driving == row)
        stretch = steering.walk(
            self._world, self._goal, row, self._left, abrupt=self._sets_off, until=until, watch=watch
        )
        return stretch, self._tell_stretch("walk", stretch, begun, path, alarm)

    @property
    def _sets_off(self) -> bool:
        """Whether a damaged robot of servos sets off, which it does at once, as episodes begin."""
        return self._world.stands and self._knowledge.damaged and self._world.driving is None

    @property
    def _left(self) -> int:
        """Control steps until the mission ends, at least one."""
        return max(1, round((self.plan.seconds - self._world.clock) / self.repertoire.robot.control_step))

    def _note_place(self, path: list[list[float]], made: int) -> None:
        """Note where the robot is, every few steps."""
        if made % _PATH == 0:
            path.append([round(self._world.clock, 3), *(round(value, 4) for value in self._world.pose)])

    def _tell_stretch(
        self,
        kind: str,
        stretch: Stretch,
        begun: float,
        path: list[list[float]],
        alarm: str | None = None,
        choice: PlannedStretch | None = None,
    ) -> str | None:
        """Tell of a stretch; returns what was noticed."""
        moved, seconds = stretch.moved, self._world.clock - begun
        self._tell(
            kind,
            f"{'Tried' if kind == 'trial' else 'Walked with'} gait {stretch.row} for {seconds:.1f} s: "
            f"{moved.x:.2f} m ahead, {moved.y:.2f} m to the left, turned by {_degrees(moved.yaw)}.",
            row=stretch.row,
            seconds=round(seconds, 3),
            expected=[round(value, 4) for value in choice.moved] if choice else None,
            moved=[round(value, 4) for value in moved],
            path=path,
        )
        if alarm is None and not stretch.fell and self._knowledge.stuck(stretch):
            alarm = "it hardly moves"
        if stretch.fell:
            self._tell("fall", "The robot fell.")
        elif alarm and kind == "walk":
            self._tell("alarm", f"Something is wrong: {alarm}.", sums=self._monitor.sums.round(2).tolist())
        return alarm

    def _near(self, pose: Pose) -> bool:
        return bool(self.plan.goals) and pose.distance(self._goal) <= self.plan.within

    def _look_around(self) -> None:
        """Note a goal that was reached."""
        if not self._over and self._near(self._world.pose):
            goal = self._goal
            self._reached += 1
            self._unaided += not self._counts["assistance"]
            self._tell("goal", f"Reached the goal at {goal[0]:g},{goal[1]:g}.", goal=list(goal))

    def _respond(self, stretch: Stretch, *, going: bool) -> None:
        """Find out what is wrong after a fall or an alarm, unless all goes as it should after all."""
        self._knowledge.steering.interrupt()
        down = stretch.fell or self._knowledge.stuck(stretch)
        if self._response != "diagnosis":
            self._get_up(down)
            self._monitor.calm()
            return
        if self._has_failed(stretch):
            return
        repaired = self._monitor.works
        if repaired and self._is_whole(down):
            return
        if not repaired and self._walks_on(stretch, down):
            if not down:
                self._observe(stretch, going=going)
            return
        self._get_up(down)
        self._monitor.calm()
        if self._over:
            return
        # what went as expected does not say why a robot that cannot stand falls again
        again = self._surprises.cleared and down and not self._world.stands
        row = self._knowledge.gait_to_try(stretch, again=again)
        trial, _ = self._drive("trial", row, self._knowledge.diagnosis.trial_steps)
        ended = self._world.clock
        self._look_around()
        if self._over or (self._monitor.works and self._is_whole(trial.fell)):
            return
        repaired |= self._monitor.works
        if not trial.fell and not again and self._monitor.highest < _DOUBT * THRESHOLD:
            self._monitor.trust(self._outcomes.damage, row)
            self._surprises.clear(row)
            self._tell("stumble", "It goes on: the trial went as expected.", row=row)
            self._observe(trial, going=False)
        else:
            same = self._knowledge.damaged and (again or self._surprises.fresh)
            if repaired or not (same or (again and self._surprises.unexplained)):
                self._knowledge.begin_anew(trial)
            self._learn(trial, ended, fell=again)
        self._monitor.calm()

    def _is_whole(self, down: bool) -> bool:
        """Whether a robot whose dead motor works takes itself for whole, as it does the first time."""
        damage = str(self._outcomes.damage)
        if damage in self._repaired:
            return False
        self._repaired.add(damage)
        self._knowledge.be_whole()
        self._surprises.diagnose(again=False)
        self._monitor.calm()
        if down:
            self._get_up(down)
        whole = str(Combination())
        self._tell("thought", "It believes that it is whole again.", seconds=0.0, believed={whole: 1.0})
        return True

    def _has_failed(self, stretch: Stretch) -> bool:
        """Whether motors give no torque, by which the robot knows at once what is wrong."""
        if not (self._monitor.silent or self._monitor.listen(stretch.trace)):
            return False
        damage = self._knowledge.read_off(self._monitor.silent, stretch.trace)
        if damage is None:
            return False
        begun = self._world.clock
        belief, seconds = self._knowledge.know(damage)
        self._surprises.diagnose(again=False, sure=True)
        self._spend(begun, seconds, stretch, belief, ", since motors give no torque")
        self._monitor.calm()
        return True

    def _walks_on(self, stretch: Stretch, down: bool) -> bool:
        """Whether a surprise is taken for part of the damage that is believed, as a single one is."""
        if not self._surprises.walks_on(stretch.row, down=down, damaged=self._knowledge.damaged):
            return False
        self._monitor.calm()
        if down:
            self._get_up(down)
        self._tell("stumble", f"It goes on: {self._knowledge.prospects}.", row=stretch.row)
        return True

    def _take_in_news(self) -> None:
        """Know what is wrong, and where all gaits lead then, at once."""
        self._knowledge.steering.interrupt()
        self._get_up(not self._world.upright)
        self._knowledge.be_told(self._damage)
        self._surprises.diagnose(again=False)
        self._news = False

    def _get_up(self, fell: bool) -> None:
        """Stand, be set upright if that is needed and the mission is not over."""
        if self._world.stands:
            self._pass(_PAUSE)
        if self._over:
            return
        if not self._world.upright or (fell and not self._world.stands):
            self._knowledge.search_anew(self._world.pose.bearing(self._goal))
            if self._knowledge.damaged:  # it lies until a gait is refined
                self._pass(self._knowledge.searches.wait - ASSISTANCE)
            self._set_upright()

    def _set_upright(self) -> None:
        """Be set upright, if there is time; it may tip over then, unless it sets off at once."""
        begun = self._world.clock
        if not self._over and self._world.set_upright(self.plan.seconds - begun):
            seconds = round(self._world.clock - begun, 3)
            self._tell(
                "assistance", f"The robot is set upright where it lies, in {seconds:.1f} s.", seconds=seconds
            )

    def _pass(self, seconds: float) -> None:
        """Let time pass, standing, as long as the mission lasts."""
        if not self._over and seconds > 0:
            up = self._world.upright
            self._world.stand(min(round(seconds / self.repertoire.robot.control_step), self._left))
            if up and not self._world.upright:
                self._tell("fall", "The robot tipped over while it stood.")

    def _learn(self, trial: Stretch, ended: float, *, fell: bool) -> None:
        """Take in a trial that ended at a time, after it `fell` again or not, and believe what comes out."""
        before = str(self._outcomes.damage)
        belief, seconds = self._knowledge.learn(trial)
        again, unexplained = str(belief.damage) == before, fell and not self._knowledge.damaged
        if again and not unexplained:
            self._monitor.trust(belief.damage, trial.row)
        self._surprises.diagnose(again=again, unexplained=unexplained)
        self._spend(ended, seconds, trial, belief)

    def _tell_refined(self, found: RefinedGait, row: int) -> None:
        self._tell(
            "relearned",
            f"While it walked, it refined gait {found.parent}: {found.score:.2f} m in an episode instead of "
            f"{found.before:.2f} m.",
            row=row,
            parent=found.parent,
            score=found.score,
            before=found.before,
        )

    def _spend(self, begun: float, seconds: float, trial: Stretch, belief: Finding, why: str = "") -> None:
        """Have the clock run on while the robot thinks: it goes on with its gait, or lies where it fell.

        Of a robot that lies, the time in which somebody sets it upright is time to think.

        Args:
            begun: when it began.
            seconds: that it takes.
            trial: that it thinks about.
            belief: what came out.
            why: in words.
        """
        lies = trial.fell
        left = min(begun + seconds, self.plan.seconds) - self._world.clock - ASSISTANCE * lies
        row = None if lies else trial.row
        self.latest = Event(self._world.clock, "thought", "It thinks about what is wrong.", self._world.pose)
        fell = self._world.think(max(0.0, left), row, self._knowledge.twin.solutions([trial.row])[0])
        passed = self._world.clock - begun
        seconds = max(passed, seconds) if lies else passed
        self._thought += seconds
        if fell and not lies:
            self._tell("fall", "The robot fell while it thought.")
        words = f"Thought {seconds:.1f} s. It believes: {belief.words}{why}."
        self._tell("thought", words, seconds=round(passed, 3), believed=belief.causes)
        self._knowledge.search_on(belief, seconds - passed, self._world.pose.bearing(self._goal))
        if fell or lies or self._knowledge.stuck(trial) or not self._world.upright:
            self._get_up(True)

    def _note_change(self, change: PlannedChange) -> None:
        self._damage, self._news = change.damage, self._response == "told"
        self._tell("change", f"{change.text}, of which the robot is not told.", damage=str(change.damage))

    def _tell(self, kind: str, words: str, **facts: Any) -> None:
        if kind in self._counts:
            self._counts[kind] += 1
        self.latest = Event(round(self._world.clock, 3), kind, words, self._world.pose, facts)
        self._events.append(self.latest)


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle) + 0.0:.0f} degrees"
