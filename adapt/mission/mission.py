"""`Mission`: a robot walks to goals, breaks, notices, finds out what is wrong, and walks on."""

import math
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from adapt.damage.damage import Damage
from adapt.mission.beliefs import Paths, Way
from adapt.mission.changes import PlannedChange, read_changes
from adapt.mission.knowledge import Knowledge
from adapt.mission.log import COUNTED, Event, MissionResult
from adapt.mission.monitor import SILENCE, THRESHOLD, Monitor
from adapt.mission.outcomes import SAMPLE
from adapt.mission.planner import PlannedStretch, choose_gait
from adapt.mission.simulated import SimulatedWorld
from adapt.mission.states import TRANSITIONS, Outcome, State
from adapt.mission.surprises import Surprises
from adapt.mission.world import ASSISTANCE, Stretch, World
from adapt.records import RefinedGait
from adapt.rehearsal.table import Table
from adapt.requests import MissionRequest
from adapt.selectors.catalogue import DEFAULT_SELECTOR, choose_selector
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError, SurefootError
from robots.pose import Pose
from robots.robot import Robot
from robots.simulation.backend import Backend
from robots.simulation.threads import ALL_CORES
from robots.words import counted

Response = Literal["diagnosis", "told", "none"]
_PAUSE = 0.5  # [s] to settle
_LONGER = 1.0  # [s] that a stretch goes on towards a goal where it should have ended
_AHEAD = 900.0  # [m] where a robot without a goal walks to
_DOUBT = 0.5  # share of the monitor's threshold up to which a trial went as expected
_PATH = 5  # control steps between two places of a path in the log


@dataclass
class _Incident:
    """What the robot deals with from a surprise until it walks on."""

    stretch: Stretch  # in which it was surprised, or its trial once that is made
    going: bool  # whether the gait was on its way before
    down: bool = False  # whether the robot fell, or cannot get on
    works: bool = False  # whether a motor gave torque that is believed to be dead or lost
    puzzled: bool = False  # whether a trial is to follow when the robot is up
    # kind, words and facts of the event that explains the surprise, told when the robot is up
    remark: tuple[str, str, dict[str, Any]] | None = None
    silent: Damage | None = None  # that motors without torque tell; None where a trial is thought about
    again: bool = False  # whether the trial followed one that went as expected
    anew: bool = False  # whether what trials told before no longer counts
    since: float = 0.0  # when thinking began [s]


@dataclass
class _Record:
    """What is noted of a stretch: since when it lasts [s], its path for the log, and what was unusual."""

    world: World
    begun: float
    path: list[list[float]] = field(default_factory=list)
    alarm: str | None = None

    def note_place(self, made: int) -> None:
        """Note where the robot is, every few steps."""
        if made % _PATH == 0:
            clock, pose = self.world.clock, self.world.pose
            self.path.append([round(clock, 3), *(round(value, 4) for value in pose)])


class Mission:
    """One mission, from the first step to the last; iterate over it for its events.

    The robot is told nothing of what happens to it. What it does, and what it does after that, is a state of
    `State`, and the table `TRANSITIONS`; each state is a method here.

    Thinking takes time: the clock runs on, by the control steps that were simulated and the cores that the
    robot has, so that a mission is the same on every machine. What can be prepared before the mission costs
    nothing of it: the healthy gaits' outcomes and what the monitor takes to be usual for them.

    Args:
        repertoire: of the whole robot.
        request: what it is to do.
        table: the repertoire's rehearsal, if there is one.
        response: to what happens: a diagnosis; none, but that the robot watches itself and gets up; or, to
            compare with, it is told at once, and takes no time to simulate every gait.
        body: the robot that walks, if it differs from its model, which is the repertoire's robot.
        healthy: of another mission of the same repertoire and selector, so that it is prepared at once.
        backend: what runs the episodes of its thinking. The mission does not depend on it.
        world: where the robot walks; by default it is simulated, with what is asked to happen to it.
        on_step: called with that simulation after every control step.

    Attributes:
        repertoire, request: the same.
        state: what the robot does now.
        latest: event, None before the first.
    """

    _incident: _Incident  # since the first stretch

    def __init__(
        self,
        repertoire: Repertoire,
        request: MissionRequest,
        *,
        table: Table | None = None,
        response: Response = "diagnosis",
        body: Robot | None = None,
        healthy: Paths | None = None,
        backend: Backend = ALL_CORES,
        world: World | None = None,
        on_step: Callable[[World], None] = lambda _: None,
    ) -> None:
        if not len(repertoire.elites):
            raise InvalidValueError("the repertoire is empty: there is no gait to walk with")
        entry = choose_selector(request.selector or DEFAULT_SELECTOR, table)
        if not entry.takes_table:
            raise InvalidValueError(
                f"the selector {entry.name} does not find out what is wrong: a mission needs self-model, "
                "rehearsed, or one of your own"
            )
        self.request, self._response = request, response
        self.state = State.WALKING
        self.latest: Event | None = None
        self._events: list[Event] = []
        self._counts = Counter[str]()  # of kinds of events
        self._thought, self._unaided = 0.0, 0
        self._surprises = Surprises()
        self._news: Damage | None = None  # what it is told next
        changes = read_changes(request.changes, repertoire.robot, request.seconds)
        self._world: World = world or SimulatedWorld(
            body or repertoire.robot, changes, seed=request.seed,
            on_change=self._note_change, on_step=on_step,
        )  # fmt: skip
        self._knowledge = Knowledge(
            repertoire, entry, table, self._world, request, healthy=healthy, backend=backend,
            on_refined=self._tell_refined,
        )  # fmt: skip
        self.repertoire = self._knowledge.repertoire
        self._beliefs, self._outcomes = self._knowledge.beliefs, self._knowledge.outcomes
        self._monitor = Monitor(self._knowledge.twin, repertoire.robot)

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
        return MissionResult(
            reached=self._counts["goal"],
            unaided=self._unaided,
            goals=len(self.request.goals),
            seconds=self._world.clock,
            distance=Pose().distance(self._world.pose),
            thinking=self._thought,
            **{f"{kind}s": self._counts[kind] for kind in COUNTED},
        )

    @property
    def healthy(self) -> Paths:
        """Where each gait leads on the whole robot, for other missions; none before it began."""
        return self._beliefs.healthy

    @property
    def _end(self) -> State | None:
        """The state in which the mission ends now, if it does."""
        if self.request.goals and self._counts["goal"] == len(self.request.goals):
            return State.ARRIVED
        if self._counts["fall"] >= self.request.max_falls:
            return State.DAMPED
        return State.OUT_OF_TIME if self._world.clock >= self.request.seconds - 1e-9 else None

    @property
    def _goal(self) -> tuple[float, float]:
        return self.request.goals[self._counts["goal"]] if self.request.goals else (_AHEAD, 0.0)

    def _run(self) -> Iterator[None]:
        """Go from state to state until the mission ends."""
        self._knowledge.prepare()
        self._tell("start", f"The {self.repertoire.robot.name} sets off.", gaits=len(self.repertoire))
        yield
        states = {
            State.WALKING: self._walk,
            State.SUSPECTING: self._suspect,
            State.GETTING_UP: self._get_up,
            State.TRYING: self._try,
            State.THINKING: self._think,
        }
        while self.state in states:
            before, outcome = self.state, states[self.state]()
            self.state = self._end or TRANSITIONS[before, outcome]
            yield
        if before is not State.WALKING:
            self._knowledge.searches.take_found()
        most = self.request.max_falls
        why = f"It fell {counted(most, 'time')}, which is as often as it may, and is damped. "
        self._tell("end", f"{why * (self.state is State.DAMPED)}The mission is over: {self.result.words}.")

    # The states

    def _walk(self) -> Outcome:
        """Walk a stretch towards the goal."""
        self._knowledge.searches.take_found()
        before = self._world.driving
        stretch, alarm = self._steer() if self._knowledge.steers else self._follow_plan()
        self._incident = _Incident(stretch, going=before == stretch.row)
        self._look_around()
        if self._end:
            return Outcome.USUAL
        if self._news is not None:
            self._knowledge.steering.interrupt()
            return Outcome.TOLD
        if stretch.fell or alarm:
            return Outcome.SURPRISED
        self._surprises.pass_stretch(stretch.row)
        self._observe(stretch, going=self._incident.going)
        return Outcome.USUAL

    def _suspect(self) -> Outcome:
        """Is there anything to find out after a fall or an alarm, and what tells it?"""
        incident, stretch = self._incident, self._incident.stretch
        self._knowledge.steering.interrupt()
        incident.down = stretch.fell or self._knowledge.stuck(stretch)
        incident.works, silent = self._monitor.works, self._monitor.silent
        if self._response != "diagnosis":
            self._monitor.calm()
            return Outcome.HALTED
        if silent or self._monitor.listen(stretch.trace):
            incident.silent = self._knowledge.read_off(self._monitor.silent, stretch.trace)
            if incident.silent is not None:
                incident.since = self._world.clock
                return Outcome.SILENT
        self._monitor.calm()
        if incident.works:
            if self._knowledge.recovers():
                return self._take_for_whole()
        elif self._surprises.walks_on(stretch.row, down=incident.down, damaged=self._beliefs.damaged):
            if not incident.down:
                self._observe(stretch, going=incident.going)
            return self._explain("stumble", f"It goes on: {self._knowledge.prospects}.", row=stretch.row)
        incident.puzzled = True
        return Outcome.PUZZLED

    def _get_up(self) -> Outcome:
        """Come to rest, and be set upright if that is needed and there is time."""
        incident = self._incident
        if self._world.holds_pose:
            self._pass(_PAUSE)
        lies = not self._world.upright or (incident.down and not self._world.holds_pose)
        if lies and not self._end:
            self._knowledge.search_anew(self._world.pose.bearing(self._goal))
            if self._beliefs.damaged:  # it lies until a gait is refined
                self._pass(self._knowledge.searches.wait - ASSISTANCE)
            since = self._world.clock
            if not self._end and self._world.set_upright(self.request.seconds - since):
                seconds = round(self._world.clock - since, 3)
                words = f"The robot is set upright where it lies, in {seconds:.1f} s."
                self._tell("assistance", words, seconds=seconds)
        if incident.remark:
            kind, words, facts = incident.remark
            self._tell(kind, words, **facts)
        if self._news is not None:
            self._knowledge.be_told(self._news)
            self._surprises.diagnose(again=False)
            self._news = None
        return Outcome.PUZZLED if incident.puzzled else Outcome.EXPLAINED

    def _try(self) -> Outcome:
        """Make a trial from where the robot stands."""
        incident = self._incident
        # what went as expected does not say why a robot that cannot stand falls again
        again = self._surprises.cleared and incident.down and not self._world.holds_pose
        row = self._knowledge.gait_to_try(incident.stretch, again=again)
        trial, _ = self._drive("trial", row, self._knowledge.diagnosis.trial_steps)
        repaired, highest, before = self._monitor.works, self._monitor.highest, incident.works
        silent = self._monitor.silent
        since = self._world.clock
        self._look_around()
        self._incident = incident = _Incident(trial, going=False, down=trial.fell, again=again, since=since)
        if self._end:
            return Outcome.USUAL
        if repaired and self._knowledge.recovers():
            return self._take_for_whole()
        if silent:
            incident.silent = self._knowledge.read_off(silent, trial.trace)
        elif not trial.fell and not again and highest < _DOUBT * THRESHOLD:
            self._monitor.trust(self._beliefs.damage, row)
            self._surprises.clear(row)
            self._tell("stumble", "It goes on: the trial went as expected.", row=row)
            self._observe(trial, going=False)
            self._monitor.calm()
            return Outcome.USUAL
        same = self._surprises.about_the_same(again=again, damaged=self._beliefs.damaged)
        incident.anew = before or repaired or not same
        return Outcome.PUZZLED

    def _think(self) -> Outcome:
        """Find out what is wrong, and let the time pass that this takes."""
        incident, before = self._incident, str(self._beliefs.damage)
        if incident.silent is not None:
            seconds = self._knowledge.know(incident.silent)
            self._surprises.diagnose(again=False, sure=True)
        else:
            if incident.anew:
                self._knowledge.begin_anew(incident.stretch)
            seconds = self._knowledge.learn(incident.stretch)
            again = str(self._beliefs.damage) == before
            unexplained = incident.again and not self._beliefs.damaged
            if again and not unexplained:
                self._monitor.trust(self._beliefs.damage, incident.stretch.row)
            self._surprises.diagnose(again=again, unexplained=unexplained)
        fell = self._spend(seconds)
        self._monitor.calm()
        incident.down = True  # if it halts
        halts = fell or self._knowledge.stuck(incident.stretch) or not self._world.upright
        return Outcome.HALTED if halts else Outcome.EXPLAINED

    # What they share

    def _explain(self, kind: str, words: str, **facts: Any) -> Outcome:
        """Walk on with an explanation, which is told now, or once the robot is up."""
        if self._incident.down:
            self._incident.remark = kind, words, facts
            return Outcome.HALTED
        self._tell(kind, words, **facts)
        return Outcome.EXPLAINED

    def _take_for_whole(self) -> Outcome:
        """Walk on as a whole robot, since a motor works that was taken for dead or lost."""
        self._surprises.diagnose(again=False)
        self._monitor.calm()
        words, believed = "It believes that it is whole again.", self._beliefs.cause.causes
        return self._explain("thought", words, seconds=0.0, believed=believed)

    def _observe(self, stretch: Stretch, *, going: bool) -> None:
        """Take in where a planned stretch led."""
        if not self._knowledge.steers:
            self._outcomes.observe(Way(stretch.row), stretch.moved, len(stretch.trace), going=going)

    def _look_around(self) -> None:
        """Note a goal that was reached."""
        if not self._end and self._near:
            goal = self._goal
            self._unaided += not self._counts["assistance"]
            self._tell("goal", f"Reached the goal at {goal[0]:g},{goal[1]:g}.", goal=list(goal))

    def _follow_plan(self) -> tuple[Stretch, str | None]:
        """Walk the stretch that is planned to be the first of those to the goal."""
        rows, driving = self._knowledge.candidates(untried=self._surprises.untried), self._world.driving
        paths, falls = self._outcomes.predicted([Way(row) for row in rows], driving)
        stumbles = self._surprises.risk(rows, damaged=self._beliefs.damaged)
        choice = choose_gait(
            self._world.pose, self._goal, paths, falls / self._outcomes.every,
            risk=self._knowledge.diagnosis.risk(rows) + stumbles,
            present=rows.index(driving) if driving in rows else None,
            within=self.request.within,
        )  # fmt: skip
        return self._drive("walk", rows[choice.number], choice.samples * self._outcomes.every, choice)

    def _drive(
        self, kind: str, row: int, planned: int, choice: PlannedStretch | None = None
    ) -> tuple[Stretch, str | None]:
        """Drive a gait for so many control steps, and watch; returns the stretch and what was noticed."""
        record, nearest = self._begin(row), math.inf
        longer = round(_LONGER / self.repertoire.robot.control_step) if choice and choice.arrives else 0

        def until(trace: np.ndarray, made: int) -> bool:
            nonlocal nearest
            before, nearest = nearest, min(nearest, self._world.pose.distance(self._goal))
            record.note_place(made)
            record.alarm = self._monitor.watch(trace, made)
            missed = made > planned and nearest == before
            return (kind == "walk" and (missed or record.alarm is not None)) or self._interrupted

        stretch = self._world.drive(
            row,
            self._knowledge.twin.solutions([row])[0],
            min(planned + longer, self._left),
            abrupt=kind == "trial" or self._sets_off,
            until=until,
        )
        return stretch, self._tell_stretch(kind, stretch, record, choice)

    def _steer(self) -> tuple[Stretch, str | None]:
        """Walk with a gait that is told where the goal is, again and again."""
        steering, searches, watched = self._knowledge.steering, self._knowledge.searches, 0

        def until(trace: np.ndarray, made: int) -> bool:
            record.note_place(made)
            return self._interrupted

        def look(trace: np.ndarray, steady: bool) -> bool:
            nonlocal watched
            while steady and record.alarm is None and watched < len(trace):
                watched += 1
                record.alarm = self._monitor.watch(trace, watched)
            if self._monitor.listen(trace):  # also where it does not get to where it is told
                record.alarm = SILENCE
            return searches.due(SAMPLE) or record.alarm is not None

        rows = self._knowledge.candidates(untried=self._surprises.untried)
        row = steering.choose(rows, self._world.driving)
        record = self._begin(row)
        stretch = steering.walk(
            self._world, self._goal, row, self._left, abrupt=self._sets_off, until=until, look=look
        )
        return stretch, self._tell_stretch("walk", stretch, record)

    def _begin(self, row: int) -> _Record:
        """Begin to watch a stretch of a gait."""
        self._monitor.begin(self._beliefs.damage, row, going=self._world.driving == row)
        return _Record(self._world, self._world.clock)

    @property
    def _near(self) -> bool:
        return bool(self.request.goals) and self._world.pose.distance(self._goal) <= self.request.within

    @property
    def _interrupted(self) -> bool:
        return self._near or self._news is not None

    @property
    def _sets_off(self) -> bool:
        """Whether a damaged robot of servos sets off, which it does at once, as episodes begin."""
        return self._world.holds_pose and self._beliefs.damaged and self._world.driving is None

    @property
    def _left(self) -> int:
        """Control steps until the mission ends, at least one."""
        return max(1, round((self.request.seconds - self._world.clock) / self.repertoire.robot.control_step))

    def _tell_stretch(
        self, kind: str, stretch: Stretch, record: _Record, choice: PlannedStretch | None = None
    ) -> str | None:
        """Tell of a stretch; returns what was noticed."""
        moved, seconds, alarm = stretch.moved, self._world.clock - record.begun, record.alarm
        self._tell(
            kind,
            f"{'Tried' if kind == 'trial' else 'Walked with'} gait {stretch.row} for {seconds:.1f} s: "
            f"{moved.x:.2f} m ahead, {moved.y:.2f} m to the left, "
            f"turned by {np.degrees(moved.yaw) + 0.0:.0f} degrees.",
            row=stretch.row,
            seconds=round(seconds, 3),
            expected=[round(value, 4) for value in choice.moved] if choice else None,
            moved=[round(value, 4) for value in moved],
            path=record.path,
        )
        if alarm is None and not stretch.fell and self._knowledge.stuck(stretch):
            alarm = "it hardly moves"
        if stretch.fell:
            self._tell("fall", "The robot fell.")
        elif alarm and kind == "walk":
            self._tell("alarm", f"Something is wrong: {alarm}.", sums=self._monitor.sums.round(2).tolist())
        return alarm

    def _pass(self, seconds: float) -> None:
        """Let time pass, standing, as long as the mission lasts."""
        if not self._end and seconds > 0:
            up = self._world.upright
            self._world.stand(min(round(seconds / self.repertoire.robot.control_step), self._left))
            if up and not self._world.upright:
                self._tell("fall", "The robot tipped over while it stood.")

    def _spend(self, seconds: float) -> bool:
        """Have the clock run on while the robot thinks for so long [s]; returns whether it lies then.

        It goes on with its gait, or lies where it fell. Of a robot that lies, the time in which somebody
        sets it upright is time to think.
        """
        incident, trial, cause = self._incident, self._incident.stretch, self._beliefs.cause
        begun, lies = incident.since, trial.fell
        left = min(begun + seconds, self.request.seconds) - self._world.clock - ASSISTANCE * lies
        self.latest = Event(self._world.clock, "thought", "It thinks about what is wrong.", self._world.pose)
        parameters = self._knowledge.twin.solutions([trial.row])[0]
        fell = self._world.think(max(0.0, left), None if lies else trial.row, parameters)
        passed = self._world.clock - begun
        seconds = max(passed, seconds) if lies else passed
        self._thought += seconds
        if fell and not lies:
            self._tell("fall", "The robot fell while it thought.")
        why = "" if incident.silent is None else ", since motors give no torque"
        words = f"Thought {seconds:.1f} s. It believes: {cause.words}{why}."
        self._tell("thought", words, seconds=round(passed, 3), believed=cause.causes)
        self._knowledge.search_on(seconds - passed, self._world.pose.bearing(self._goal))
        return fell or lies

    def _note_change(self, change: PlannedChange) -> None:
        """Something happens, of which only a robot is told that others are compared with."""
        if self._response == "told":
            self._news = change.damage
        self._tell("change", f"{change.text}, of which the robot is not told.", damage=str(change.damage))

    def _tell_refined(self, found: RefinedGait, row: int) -> None:
        better = f"{found.score:.2f} m in an episode instead of {found.before:.2f} m"
        words = f"While it walked, it refined gait {found.parent}: {better}."
        facts = {"parent": found.parent, "score": found.score, "before": found.before}
        self._tell("relearned", words, row=row, **facts)

    def _tell(self, kind: str, words: str, **facts: Any) -> None:
        self._counts[kind] += 1
        self.latest = Event(round(self._world.clock, 3), kind, words, self._world.pose, facts)
        self._events.append(self.latest)
