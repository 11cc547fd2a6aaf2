"""Recoveries from random faults that no library lists, each trial simulated: tracks T4 and T3-pairs.

Faults are drawn from the registry of the self-model, strengths and all. A seed decides them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapt.damage.damage import Damage
from adapt.damage.defect import Combination, Defect, damage_kinds
from adapt.damage.kinds.lost import Lost
from adapt.damage.library import family
from adapt.oracle import FINAL_EPISODES, find_oracle, true_objectives
from adapt.records import Outcome
from adapt.recovery import run_trial
from adapt.rehearsal.table import Table
from adapt.selectors.catalogue import find_selector, make_selector
from adapt.selectors.selector import Context, Prior, Selector
from adapt.self_model.registry import Registry
from adapt.self_model.twin import Thinking
from adapt.suite.metrics import interquartile_mean
from adapt.suite.reality_gap import randomised
from adapt.suite.replay import BINDING, Noise
from repertoire.evaluation import Evaluator
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from repertoire.suites.files import keep_identity
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.files import file_exists, make_folder, write_text
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.texts import read_json

BENCHMARK_SEED = 4  # to tune on, take another one, such as 40
_EPISODES = 1  # of every gait, from which the finalists for the oracle follow
_PLACES = (0.1, 0.9)  # of strengths in their ranges
_READINGS = 0.01  # standard deviation of the noise of sensors across the gap, in units of a trace's columns
_ENOUGH = 1000  # draws after which there are no more different faults
_MARKS = (1, 2, 3, 5, 10)
_SOLVED = 0.9


@dataclass(frozen=True)
class OffGridTrack:
    """Which faults there are, and what selectors know of them.

    Attributes:
        name: short.
        title: in words.
        legs: whether faults are two or three lost legs, with no lost leg in the library.
        left_out: whether the self-model lacks the families of the fault.
        gap: whether the robot differs from the rehearsed one, see `randomised`, and its sensors are noisy.
    """

    name: str
    title: str
    legs: bool = False
    left_out: bool = False
    gap: bool = False


OFF_GRID_TRACKS = (
    OffGridTrack("T4", "random faults and pairs of them"),
    OffGridTrack("T4-left-out", "the same, of families that the self-model does not know", left_out=True),
    OffGridTrack("T4-gap", "the same, on a robot that differs, with noisy sensors", gap=True),
    OffGridTrack("T3-pairs", "two and three lost legs, no lost leg in the library", legs=True),
)


def find_off_grid_track(name: str) -> OffGridTrack:
    """The track of a name.

    Raises:
        UnknownNameError: there is no such track.
    """
    known = {track.name: track for track in OFF_GRID_TRACKS}
    if name not in known:
        raise UnknownNameError("track", name, known)
    return known[name]


def random_faults(robot: Robot, count: int, *, seed: int) -> list[Damage]:
    """Different faults, single ones and pairs by turns; every kind is as likely as any other.

    Raises:
        InvalidValueError: the robot has not so many.
    """
    registry, rng = Registry(robot), np.random.default_rng(seed)
    kinds = sorted({kind for _, kind in registry.faults})
    found: dict[str, Damage] = {}
    for _ in range(_ENOUGH * count):
        if len(found) == count:
            break
        defects = [_random_defect(registry, kinds, rng) for _ in range(1 + len(found) % 2)]
        damage = registry.combine(defects)
        if damage is not None:
            found.setdefault(str(damage), damage)
    if len(found) < count:
        raise InvalidValueError(f"the {robot.name} has only {len(found)} different faults, not {count}")
    return list(found.values())


def _random_defect(registry: Registry, kinds: Sequence[str], rng: np.random.Generator) -> Defect:
    """A fault of a random kind, part and strength."""
    kind = kinds[int(rng.integers(len(kinds)))]
    some = [fault for fault in registry.faults.values() if fault.kind == kind]
    fault = some[rng.integers(len(some))]
    if fault.high > fault.low:
        return fault.at(rng.uniform(*_PLACES))
    return fault.of(fault.grid[rng.integers(len(fault.grid))])


def lost_legs(robot: Robot, count: int, *, seed: int) -> list[Damage]:
    """Two and three legs lost by turns, as long as half of the legs are left.

    Raises:
        InvalidValueError: the robot has not so many.
    """
    legs, rng = list(robot.description.legs), np.random.default_rng(seed)
    sizes = [size for size in (2, 3) if 2 * (len(legs) - size) >= len(legs)]
    choices = [rng.permutation(list(combinations(legs, size))).tolist() for size in sizes]
    found = [some for number in range(max(map(len, choices), default=0)) for some in _nth(choices, number)]
    if len(found) < count:
        raise InvalidValueError(f"the {robot.name} can lose legs in {len(found)} such ways, not in {count}")
    return [Combination(tuple(map(Lost, some))) for some in found[:count]]


def _nth(choices: Sequence[Sequence[list[str]]], number: int) -> list[list[str]]:
    """The entries of a number of those lists that have it."""
    return [some[number] for some in choices if number < len(some)]


@dataclass(frozen=True)
class OffGridSettings:
    """What a study of random faults runs.

    Attributes:
        track: name.
        faults: how many.
        selectors: names.
        trials: of each recovery.
        seed: of the faults, the trials and the selectors.
        think_seconds, think_episodes: see `Thinking`.
    """

    track: str = "T4"
    faults: int = 60
    selectors: tuple[str, ...] = ("self-model", "rehearsed")
    trials: int = 10
    seed: int = BENCHMARK_SEED
    think_seconds: float | None = None
    think_episodes: int | None = 1200


class OffGridStudy:
    """Recoveries of selectors from random faults, kept in a folder, a file for each fault.

    Args:
        repertoire: of the whole robot.
        library: its rehearsal, or None for selectors that need none.
        settings: of the study.
        folder: of the results; the same call goes on where another one stopped, also with more faults.
        threads: of the simulation. No result depends on it, if a number of episodes limits the thinking.

    Raises:
        InvalidValueError: the folder holds another study, or the robot has not so many faults.
        UnknownNameError: there is no such track or selector.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        library: Table | None,
        settings: OffGridSettings,
        folder: Path,
        *,
        threads: int | None = None,
    ) -> None:
        self.repertoire, self.settings, self.folder, self.threads = repertoire, settings, folder, threads
        self.track = find_off_grid_track(settings.track)
        for name in settings.selectors:
            find_selector(name)
        draw = lost_legs if self.track.legs else random_faults
        self.faults = draw(repertoire.robot, settings.faults, seed=settings.seed)
        if library is not None and self.track.legs:
            kept = [text for text in library.conditions if not family(text) & {"lost", "pair"}]
            library = library.take(kept)
        self._library = library
        keep_identity(folder, self._identity(), dry=True)

    def run(self, on_fault: Callable[[int, str], None] | None = None) -> pd.DataFrame:
        """Run what is missing; returns a row for each recovery, see `_recover`.

        Args:
            on_fault: called before each fault that is missing, with its number and text.

        Raises:
            InvalidFileError: a file cannot be read or written.
        """
        make_folder(self.folder)
        keep_identity(self.folder, self._identity())
        rows: list[dict[str, Any]] = []
        for number, damage in enumerate(self.faults):
            path = self.folder / f"fault-{number:03d}.json"
            if not file_exists(path):
                if on_fault:
                    on_fault(number, str(damage))
                write_text(path, json.dumps(self._fault(number, damage), indent=1) + "\n")
            rows += _read_fault(path, str(damage))
        return pd.DataFrame(rows)

    def _identity(self) -> dict[str, object]:
        """What the results are a function of."""
        settings = {name: str(value) for name, value in asdict(self.settings).items() if name != "faults"}
        return {"study": "off-grid recovery", "repertoire": fingerprint(self.repertoire)[:16], **settings}

    def _fault(self, number: int, damage: Damage) -> list[dict[str, Any]]:
        """The recoveries of all selectors from a fault."""
        seed, real = self.settings.seed, damage.apply(self._whole(number))
        with Evaluator(self.repertoire, {"damaged": real}, threads=self.threads) as evaluator:
            means = true_objectives(evaluator, seed=seed, episodes=_EPISODES)
            oracle = find_oracle(evaluator, means, seed=seed)
            scores = _Scores(evaluator, seed)
            return [
                {
                    "fault": str(damage),
                    "selector": name,
                    "oracle": scores.of(oracle),
                    "rr_0": scores.of(self.repertoire.best()) / max(scores.of(oracle), 1e-9),
                    **self._recover(number, damage, name, evaluator, scores, scores.of(oracle)),
                }
                for name in self.settings.selectors
            ]

    def _recover(
        self,
        number: int,
        damage: Damage,
        name: str,
        evaluator: Evaluator,
        scores: "_Scores",
        oracle: float,
    ) -> dict[str, Any]:
        """One recovery: ratios after each trial, falls, the selector's own stop, and what thinking took."""
        selector, traced = self._selector(name, number, damage), find_selector(name).thinks
        ratios, falls, seconds, explained = [], [], [], []
        stop = self.settings.trials
        for trial in range(self.settings.trials):
            row = selector.ask()
            seeds = derive_seeds(self.settings.seed + number, SeedFamily.TRIALS, trial, 1)
            outcome, _ = run_trial(evaluator, row, seeds, traced=traced)
            selector.tell(row, self._noisy(outcome, number, trial))
            ratios.append(float(np.clip(scores.of(selector.recommendation()) / max(oracle, 1e-9), 0, 1)))
            falls.append(outcome.fell)
            thought = selector.thought()
            seconds.append(thought.seconds if thought else 0.0)
            explained.append(thought.explained if thought else 0.0)
            if selector.done() and stop == self.settings.trials:
                stop = trial + 1
        return {
            **{f"rr_{trial}": ratio for trial, ratio in enumerate(ratios, start=1)},
            "falls": int(sum(falls)),
            "stop": stop,
            "rr_stop": ratios[stop - 1],
            "seconds": float(np.mean(seconds)),
            "explained": explained[0],
            "diagnosis": (selector.diagnosis() or [("", 0.0)])[0][0],
        }

    def _selector(self, name: str, number: int, damage: Damage) -> Selector:
        """Start a selector."""
        entry, settings, elites = find_selector(name), self.settings, self.repertoire.elites
        defects = damage.defects if isinstance(damage, Combination) else (damage,)
        families = {damage_kinds()[part.kind].family for part in defects if isinstance(part, Defect)}
        thinking = Thinking(
            self.repertoire,
            settings.think_seconds,
            settings.think_episodes,
            without=tuple(sorted(families)) if self.track.left_out else (),
            before=self._before(number) if self.track.gap and entry.thinks else (),
            threads=self.threads,
        )
        context = Context(
            Prior(elites.objectives, elites.measures, self.repertoire.settings.min_objective),
            trials=settings.trials,
            seed=settings.seed + number,
            table=self._library if entry.takes_table else None,
            thinking=thinking if entry.thinks else None,
        )
        return make_selector(name, context)

    def _whole(self, number: int) -> Robot:
        """The real robot before the fault of a number."""
        robot = self.repertoire.robot
        return randomised(robot, self.settings.seed + number) if self.track.gap else robot

    def _before(self, number: int) -> tuple[tuple[int, np.ndarray], ...]:
        """The best gait's trace on the real robot while it was whole."""
        row, seeds = (
            self.repertoire.best(),
            derive_seeds(self.settings.seed + number, SeedFamily.INCUMBENT, 0, 1),
        )
        with Evaluator(self.repertoire, {"whole": self._whole(number)}, threads=1) as evaluator:
            outcome, _ = run_trial(evaluator, row, seeds, traced=True)
        return ((row, self._noisy(outcome, number, self.settings.trials).trace),)

    def _noisy(self, outcome: Outcome, number: int, trial: int) -> Outcome:
        """What a trial measures: its objective, and across the gap its trace, with noise."""
        rng, noise = np.random.default_rng((self.settings.seed, number, trial)), Noise()
        share, offset = noise.share * rng.standard_normal(), noise.offset * rng.standard_normal()
        trace = outcome.trace
        if self.track.gap and len(trace):
            commands = self.repertoire.robot.action_dim  # which nobody has to measure
            trace = np.array(trace)
            trace[:, commands:] += _READINGS * rng.standard_normal(trace[:, commands:].shape)
        return replace(outcome, objective=outcome.objective * (1 + share) + offset, trace=trace)


def _read_fault(path: Path, text: str) -> list[dict[str, Any]]:
    """The recoveries from a fault that a file holds.

    Raises:
        InvalidFileError: it cannot be read, or is of another fault.
    """
    rows: Any = read_json(path)
    try:
        faults = {row["fault"] for row in rows}
    except (TypeError, LookupError) as error:
        raise InvalidFileError(f"{path} holds no recoveries: {error}") from error
    if faults != {text}:
        raise InvalidFileError(f"{path} holds recoveries from {', '.join(map(str, faults))}, not from {text}")
    return list(rows)


class _Scores:
    """Mean objectives of controllers in fresh episodes, above the minimum objective."""

    def __init__(self, evaluator: Evaluator, seed: int) -> None:
        self._evaluator = evaluator
        self._seeds = derive_seeds(seed, SeedFamily.CONFIRMATION, 0, FINAL_EPISODES)
        self._known: dict[int, float] = {}

    def of(self, row: int) -> float:
        """Of the controller in a row."""
        if row not in self._known:
            episodes = self._evaluator.run(np.full(len(self._seeds), row), self._seeds)
            least = self._evaluator.repertoire.settings.min_objective
            self._known[row] = float(self._evaluator.objectives(episodes).mean()) - least
        return self._known[row]


def off_grid_report(recoveries: pd.DataFrame) -> str:
    """A table in Markdown of the binding faults: those that the healthy robot's best gait does not survive.

    RR@t are interquartile means of the recovery ratio after t trials; solved@5 is the share of faults with at
    least 0.9 after five.
    """
    binding = recoveries[(recoveries["rr_0"] < BINDING) & (recoveries["oracle"] > 0)]
    marks = [mark for mark in _MARKS if f"rr_{mark}" in binding]
    heads = ["selector", "faults", *(f"RR@{mark}" for mark in marks), "solved@5", "stop", "RR@stop", "falls"]
    lines = ["| " + " | ".join([*heads, "seconds a trial"]) + " |", "|---" * (len(heads) + 1) + "|"]
    for name, rows in binding.groupby("selector", sort=False):
        ratios = [f"{float(interquartile_mean(rows[f'rr_{mark}'].to_numpy())):.2f}" for mark in marks]
        solved = f"{(rows['rr_5'] >= _SOLVED).mean():.2f}" if "rr_5" in rows else "-"
        means = (f"{rows[column].mean():.2f}" for column in ("stop", "rr_stop", "falls", "seconds"))
        lines.append("| " + " | ".join([str(name), str(len(rows)), *ratios, solved, *means]) + " |")
    return "\n".join(lines)
