"""`Answers`: what the page is told of a gait or a recovery."""

import base64
import re
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from adapt.records import Outcome, Recovery, RefinedGait, Trial, format_objective
from adapt.selectors.selector import Selector
from repertoire.repertoire import format_cell
from robots.deployment.film import film
from robots.errors import InvalidValueError
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from surefoot.explorer.encoding import packed
from surefoot.explorer.explorer import Explorer
from surefoot.explorer.mission import SCENE as MISSION_SCENE
from surefoot.explorer.recording import CancelledError, replay
from surefoot.explorer.scene import describe_scene

Message = dict[str, Any]
_TRIAL_SECONDS = 5.0  # of a trial that are shown
_TRIAL_STEP = 0.04  # between the poses of a trial [s]
_OF_TRIAL = (
    *("number", "row", "cell", "seed", "predicted", "measured", "fell", "steps", "distance", "objective"),
    *("diagnosis", "confirms", "refined", "specialist"),
)


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

    def walk(self, request: Message, cancel: threading.Event) -> None:
        """Show the episode of a gait in a view."""
        explorer, view, damage = self.explorer, request["view"], request["damage"]
        row = self._row(request["row"])
        if note := explorer.changed():
            self.send({"type": "note", "text": note})
        self.scene(damage)
        solution = self.solution(row)
        episodes = explorer.evaluate(solution, damage)
        step = explorer.repertoire.robot.control_step
        every = max(1, round(self._spacing / step))
        about = {
            "view": view,
            "row": row,
            "damage": damage,
            "title": f"With {damage}" if damage else "Healthy",
            "subtitle": self._label(row),
            "facts": _facts(episodes, step),
            "command": "" if row in self.refined else explorer.deploy_command(row, damage),
            "distance": _number(episodes.distances[0]),
            "measures": [_number(value) for value in episodes.measures[0]],
            "fell": bool(episodes.fell[0]),
            "survived": int(episodes.steps[0]),
            "seconds": every * step,
            "duration": int(episodes.steps[0]) * step,
        }
        self.send({"type": "walk", **about})
        replay(
            explorer.robot(damage),
            solution,
            seed=explorer.choice.request.seed,
            survived=about["survived"],
            every=every,
            pictures=request["pictures"],
            on_part=lambda part: self.send({"type": "part", "view": view, **part}),
            cancelled=cancel.is_set,
        )
        self.send({"type": "walked", "view": view})

    def mission(self, request: Message, cancel: threading.Event) -> None:
        """Play the mission back."""
        mission = self.explorer.mission
        if mission is None:
            raise InvalidValueError("there is no mission: start surefoot explore with --mission LOG")
        if MISSION_SCENE not in self._sent_scenes:
            self._sent_scenes.add(MISSION_SCENE)
            self.send({"type": "scene", **mission.scene()})
        self.send({"type": "walk", "view": 0, **mission.walk()})
        mission.replay(
            pictures=request["pictures"],
            on_part=lambda part: self.send({"type": "part", "view": 0, **part}),
            cancelled=cancel.is_set,
        )
        self.send({"type": "walked", "view": 0})

    def video(self, request: Message, cancel: threading.Event) -> None:
        """Film the episode of a gait."""
        explorer, damage, row = self.explorer, request["damage"], self._row(request["row"])
        robot = explorer.robot(damage)

        def on_frame() -> None:
            if cancel.is_set():
                raise CancelledError

        with TemporaryDirectory() as folder:
            made = Path(folder) / "walk.mp4"
            film(
                robot,
                self.solution(row),
                seconds=robot.control_step * robot.description.episode_steps,
                seed=explorer.choice.request.seed,
                video=made,
                caption=f"{self._label(row)}{' with ' + damage if damage else ''}",
                on_frame=on_frame,
            )
            data = base64.b64encode(made.read_bytes()).decode("ascii")
        name = re.sub(r"[^\w.@+-]+", "-", f"{robot.description.name}-{row}-{damage or 'healthy'}.mp4")
        self.send({"type": "video", "view": request["view"], "name": name, "data": data})

    def recover(self, request: Message, cancel: threading.Event) -> None:
        """Show a recovery, trial after trial."""
        explorer, damage, selector = self.explorer, request["damage"], request["selector"]
        damaged = explorer.robot(damage)
        if not damage:
            raise InvalidValueError("nothing is wrong with the robot: choose a damage first")
        self.scene(damage)
        self.send(
            {"type": "recovery", "command": explorer.recover_command(damage, selector), "damage": damage}
        )
        watched = _Watched(self, damage, damaged, request["pictures"], cancel)
        recovery = explorer.recover(
            damage,
            selector,
            on_start=watched.start,
            on_run=watched.ran,
            on_trial=watched.trial,
            on_progress=watched.progress,
        )
        self.refined = {gait.row: gait for gait in recovery.refined}
        refined = [{"row": row, "label": self._label(row)} for row in self.refined]
        self.send({"type": "recovered", **_summary(recovery), "refined": refined})

    def scene(self, damage: str) -> None:
        """Send the shapes of a damaged robot, unless the page has them."""
        robot = self.explorer.robot(damage)
        if damage not in self._sent_scenes:
            self._sent_scenes.add(damage)
            self.send({"type": "scene", **describe_scene(robot, damage)})

    def _row(self, row: int) -> int:
        count = len(self.explorer.repertoire)
        if not self.explorer.walks or not (row < count or row in self.refined):
            raise InvalidValueError(f"there is no gait {row} that can be shown: there are {count}")
        return row

    def solution(self, row: int) -> np.ndarray:
        """Parameters of a gait, of the repertoire or refined in the last recovery."""
        gait = self.refined.get(row)
        return np.asarray(self.explorer.repertoire.gaits.solutions[row] if gait is None else gait.solution)

    def _label(self, row: int) -> str:
        """What a gait is called."""
        gait, label = self.refined.get(row), self.explorer.repertoire.label
        return label(row) if gait is None else f"refined gait {row - len(self.explorer.repertoire) + 1}"


class _Watched:
    """Sends what a recovery does: its progress, and of each trial its poses, its map and what is imagined."""

    def __init__(
        self, answers: Answers, damage: str, robot: Robot, pictures: bool, cancel: threading.Event
    ) -> None:
        self._answers, self._explorer, self._send = answers, answers.explorer, answers.send
        self._damage, self._robot, self._pictures, self._cancel = damage, robot, pictures, cancel
        self._shown: tuple[str, int] = "", -1

    def start(self, selector: Selector) -> None:
        """Remember what chooses the trials, and show what it expects before the first."""
        self._selector = selector
        self._send({"type": "expected", "map": self._map()})

    def progress(self, what: str, share: float) -> None:
        """Say what takes time, in whole percent."""
        if self._cancel.is_set():
            raise CancelledError
        if (what, percent := int(100 * share)) != self._shown:
            self._shown = what, percent
            self._send({"type": "progress", "what": what, "share": percent / 100})

    def ran(self, row: int, outcome: Outcome) -> None:
        """Send that a trial was run, before what is made of it takes its time."""
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
        if self._cancel.is_set():
            raise CancelledError
        self._answers.refined = {gait.row: gait for gait in self._selector.refined}
        known = asdict(trial)
        walked = self._recorded(self._robot, trial.row, trial.seed, trial.steps)
        gait = self._gait(trial)
        about = {
            "title": f"Trial {trial.number}",
            "subtitle": f"gait {gait} with {self._damage}",
            "facts": _outcome(trial),
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
        shown = self._recorded(robot, row, self._explorer.choice.request.seed, steps)
        return {"damage": damage, "row": row, **about, **shown}

    def _gait(self, trial: Trial) -> str:
        """What the gait of a trial is called: by its cell, or by what it was made from."""
        cell = format_cell(trial.cell)
        return f"refined from {cell}" if trial.refined else f"row {trial.row}" if trial.specialist else cell

    def _recorded(self, robot: Robot, row: int, seed: int, survived: int) -> Message:
        """The first seconds of an episode, in parts, and the time between two rows of them [s]."""
        parts: list[Message] = []
        every = max(1, round(_TRIAL_STEP / robot.control_step))
        replay(
            robot,
            self._answers.solution(row),
            seed=seed,
            survived=survived,
            every=every,
            limit=round(_TRIAL_SECONDS / robot.control_step),
            pictures=self._pictures,
            on_part=parts.append,
            cancelled=self._cancel.is_set,
        )
        return {"parts": parts, "seconds": every * robot.control_step}

    def _map(self) -> str:
        """What is expected of each gait of the archive, (k,)."""
        return packed(self._selector.predicted[: len(self._explorer.repertoire.elites)])


def _summary(recovery: Recovery) -> Message:
    """How a recovery ended."""
    performances = {
        name: {"words": f"{format_objective(one.objective)} ± {format_objective(one.standard_error)}",
               "distance": one.distance, "falls": one.falls, "episodes": one.episodes}
        for name, one in recovery.performances().items()
    }  # fmt: skip
    return {
        "verdict": recovery.verdict,
        "effort": recovery.effort,
        "row": recovery.row,
        "incumbent": recovery.incumbent,
        "performances": performances,
        "stop": recovery.stop,
    }


def _outcome(trial: Trial) -> str:
    """How a trial went, in words."""
    return f"It got {trial.distance:.2f} m ahead{', and fell' * trial.fell}."


def _facts(episodes: Episodes, step: float) -> str:
    """How an episode went, in words."""
    how = "It stays on its feet."
    if episodes.diverged[0]:
        how = "The simulation blew up."
    elif episodes.fell[0]:
        how = f"It falls after {episodes.steps[0] * step:.1f} s."
    return f"{episodes.distances[0]:.2f} m ahead. {how}"


def _number(value: float) -> float | None:
    """A number for JSON, which knows neither nan nor infinities."""
    return float(value) if np.isfinite(value) else None
