"""`Answers`: what the page is told of a gait, a mission or a recovery; CONTRIBUTING.md lists the messages."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

import surefoot
from adapt.damage.text import parse_damage
from adapt.records import Outcome, RefinedGait, Trial, format_objective
from adapt.selectors.catalogue import find_selector
from adapt.selectors.selector import Context, Selector
from repertoire.repertoire import format_cell
from robots.errors import InvalidValueError
from robots.files.records import Record
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from surefoot.explorer.archive import packed
from surefoot.explorer.explorer import Explorer
from surefoot.explorer.mission import SCENE as MISSION_SCENE
from surefoot.explorer.recording import parts_of, replay
from surefoot.explorer.scene import describe_scene

Message = dict[str, Any]
_LONGEST = 300  # characters of a damage
_TRIAL_SECONDS = 5.0  # of a trial that are shown
_TRIAL_STEP = 0.04  # between the poses of a trial [s]
_OF_TRIAL = (
    *("number", "row", "cell", "seed", "predicted", "measured", "fell", "steps", "distance", "objective"),
    *("diagnosis", "confirms", "refined", "specialist"),
)


class Request(Record):
    """What a page asks for: a gait in one of two views, the mission, a recovery, or to stop."""

    do: Literal["walk", "mission", "recover", "stop"]
    row: Annotated[int, Field(ge=0, strict=True)] | None = None
    view: Literal[0, 1] = 0
    damage: Annotated[str, Field(max_length=_LONGEST)] = ""
    selector: str = ""


class CancelledError(Exception):
    """Nobody wants to see any more of this."""


class Answers:
    """Answers the requests of one page.

    Args:
        explorer: the repertoire.
        send: takes answers; called from the thread that asks and from those of the simulation.
        spacing: time between the poses of a gait [s]; 0 for every control step.
    """

    def __init__(self, explorer: Explorer, send: Callable[[Message], None], *, spacing: float = 0.0) -> None:
        self.explorer, self.send, self._spacing = explorer, send, spacing
        self._sent_scenes: set[str] = set()
        self.refined: dict[int, RefinedGait] = {}  # of the last recovery, by row

    def answer(self, request: Request, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Send what was asked for, part by part, until it is cancelled."""

        def check() -> None:
            if cancelled():
                raise CancelledError

        check()
        {"walk": self._walk, "mission": self._mission, "recover": self._recover}[request.do](request, check)

    def _walk(self, request: Request, check: Callable[[], None]) -> None:
        explorer, damage, row = self.explorer, request.damage, request.row
        count = len(explorer.repertoire)
        if row is None or not explorer.walks or not (row < count or row in self.refined):
            raise InvalidValueError(f"there is no gait {row} that can be shown: there are {count}")
        self.scene(damage)
        solution = self.solution(row)
        episodes = explorer.evaluate(solution, damage)
        step = explorer.repertoire.robot.control_step
        every = max(1, round(self._spacing / step))
        survived = int(episodes.steps[0])
        about = {
            "row": row,
            "damage": damage,
            "title": f"With {damage}" if damage else "Healthy",
            "subtitle": self._label(row),
            "facts": _facts(episodes, step),
            "command": "" if row in self.refined else explorer.deploy_command(row, damage),
            "distance": _number(episodes.distances[0]),
            "measures": [_number(value) for value in episodes.measures[0]],
            "fell": bool(episodes.fell[0]),
            "survived": survived,
            "seconds": every * step,
            "duration": survived * step,
        }
        seed = explorer.request.seed
        rows = replay(explorer.robot(damage), solution, seed=seed, survived=survived, every=every)
        self._play(request.view, about, parts_of(rows), check)

    def _mission(self, request: Request, check: Callable[[], None]) -> None:
        mission = self.explorer.mission
        if mission is None:
            raise InvalidValueError("there is no mission: start surefoot explore with --mission LOG")
        if MISSION_SCENE not in self._sent_scenes:
            self._sent_scenes.add(MISSION_SCENE)
            self.send({"type": "scene", **mission.scene()})
        self._play(request.view, mission.walk(), mission.parts(), check)

    def _play(self, view: int, about: Message, parts: Iterable[Message], check: Callable[[], None]) -> None:
        self.send({"type": "walk", "view": view, **about})
        for part in parts:
            check()
            self.send({"type": "part", "view": view, **part})
        self.send({"type": "walked", "view": view})

    def _recover(self, request: Request, check: Callable[[], None]) -> None:
        explorer, damage = self.explorer, request.damage
        if not damage:
            raise InvalidValueError("nothing is wrong with the robot: choose a damage first")
        self.scene(damage)
        command = explorer.recover_command(damage, request.selector)
        self.send({"type": "recovery", "command": command, "damage": damage})
        watched = _Watched(self, damage, check)
        entry = find_selector(request.selector)

        def make(context: Context, **settings: Any) -> Selector:
            return watched.start(entry.kind(context, **settings))

        recovery = surefoot.recover(
            explorer.repertoire,
            parse_damage(damage, explorer.repertoire.robot),
            rehearsal=explorer.rehearsal if entry.takes_table else None,
            threads=explorer.threads,
            on_trial=watched.trial,
            on_progress=watched.progress,
            **{**dict(explorer.request), "selector": replace(entry, kind=make)},
        )
        self.refined = {gait.row: gait for gait in recovery.refined}
        refined = [{"row": row, "label": self._label(row)} for row in self.refined]
        told = {name: getattr(recovery, name) for name in ("verdict", "effort", "row", "incumbent", "stop")}
        self.send({"type": "recovered", **told, "refined": refined})

    def scene(self, damage: str) -> None:
        """Send the shapes of a damaged robot, unless the page has them."""
        robot = self.explorer.robot(damage)
        if damage not in self._sent_scenes:
            self._sent_scenes.add(damage)
            self.send({"type": "scene", **describe_scene(robot, damage)})

    def solution(self, row: int) -> np.ndarray:
        """Parameters of a gait, of the repertoire or refined in the last recovery."""
        gait = self.refined.get(row)
        return np.asarray(self.explorer.repertoire.gaits.solutions[row] if gait is None else gait.solution)

    def _label(self, row: int) -> str:
        gait, label = self.refined.get(row), self.explorer.repertoire.label
        return label(row) if gait is None else f"refined gait {row - len(self.explorer.repertoire) + 1}"


class _Watched:
    """Sends what a recovery does: its progress, and of each trial its poses, its map and what is imagined."""

    def __init__(self, answers: Answers, damage: str, check: Callable[[], None]) -> None:
        self._answers, self._explorer, self._send = answers, answers.explorer, answers.send
        self._damage, self._check = damage, check
        self._shown: tuple[str, int] = "", -1

    def start(self, selector: Selector) -> Selector:
        """Show what a selector expects; have each trial told before the selector thinks about it."""
        self._selector, learn = selector, selector.tell

        def tell(row: int, outcome: Outcome) -> None:
            self._ran(row, outcome)
            learn(row, outcome)

        selector.tell = tell  # type: ignore[method-assign]
        self._send({"type": "expected", "map": self._map()})
        return selector

    def progress(self, what: str, share: float) -> None:
        """Say what takes time, in whole percent."""
        self._check()
        if (what, percent := int(100 * share)) != self._shown:
            self._shown = what, percent
            self._send({"type": "progress", "what": what, "share": percent / 100})

    def _ran(self, row: int, outcome: Outcome) -> None:
        repertoire, number = self._explorer.repertoire, len(self._selector.rows) + 1
        elite, known = row < len(repertoire.elites), row < len(repertoire)
        self._send({
            "type": "ran",
            "number": number,
            "gait": format_cell(repertoire.cell(row)) if elite else f"row {row}" if known else "refined",
            "predicted": _number(self._selector.predicted[row]),
            "measured": outcome.objective,
            "fell": outcome.fell,
        })  # fmt: skip

    def trial(self, trial: Trial) -> None:
        """Send a trial and what is believed after it."""
        self._check()
        self._answers.refined = {gait.row: gait for gait in self._selector.refined}
        known = asdict(trial)
        walked = self._recorded(self._explorer.robot(self._damage), trial.row, trial.seed, trial.steps)
        gait = self._gait(trial)
        about = {
            "title": f"Trial {trial.number}",
            "subtitle": f"gait {gait} with {self._damage}",
            "facts": f"It got {trial.distance:.2f} m ahead{', and fell' * trial.fell}.",
        }
        self._send({
            "type": "trial",
            **{name: known[name] for name in _OF_TRIAL},
            "gait": gait,
            "thought": trial.thought.words if trial.thought else "",
            "map": self._map(),
            "walk": {"damage": self._damage, **about, **walked},
            "imagined": self._imagined(trial),
        })  # fmt: skip

    def _imagined(self, trial: Trial) -> Message | None:
        """The gait that is now expected to be best, on a robot with the likeliest cause; None without one."""
        cause = next((cause for cause in trial.diagnosis if cause != "unknown"), None)
        if cause is None:
            return None
        row = int(np.argmax(self._selector.predicted))
        robot, damage = self._explorer.robot(cause), "" if cause == "healthy" else cause
        self._answers.scene(damage)
        expected = format_objective(float(self._selector.predicted[row]))
        about = {
            "title": "Imagined",
            "subtitle": f"{self._explorer.repertoire.label(row)} with {damage or 'nothing wrong'}",
            "facts": f"The gait now expected to be best, {expected}, simulated with the likeliest cause.",
        }
        steps = robot.description.episode_steps
        shown = self._recorded(robot, row, self._explorer.request.seed, steps)
        return {"damage": damage, "row": row, **about, **shown}

    def _gait(self, trial: Trial) -> str:
        """What the gait of a trial is called: by its cell, or by what it was made from."""
        cell = format_cell(trial.cell)
        return f"refined from {cell}" if trial.refined else f"row {trial.row}" if trial.specialist else cell

    def _recorded(self, robot: Robot, row: int, seed: int, survived: int) -> Message:
        """The first seconds of an episode, in parts, and the time between two rows of them [s]."""
        every, limit = (max(1, round(time / robot.control_step)) for time in (_TRIAL_STEP, _TRIAL_SECONDS))
        solution = self._answers.solution(row)
        rows = replay(robot, solution, seed=seed, survived=survived, every=every, limit=limit)
        parts = []
        for part in parts_of(rows):
            self._check()
            parts.append(part)
        return {"parts": parts, "seconds": every * robot.control_step}

    def _map(self) -> str:
        """What is expected of each gait of the archive, (k,)."""
        return packed(self._selector.predicted[: len(self._explorer.repertoire.elites)])


def _facts(episodes: Episodes, step: float) -> str:
    how = "It stays on its feet."
    if episodes.diverged[0]:
        how = "The simulation blew up."
    elif episodes.fell[0]:
        how = f"It falls after {episodes.steps[0] * step:.1f} s."
    return f"{episodes.distances[0]:.2f} m ahead. {how}"


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
