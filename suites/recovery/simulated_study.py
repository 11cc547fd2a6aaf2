"""`SimulatedStudy`: recoveries of which every trial is simulated, as selectors that think need it.

No table can tell what a simulation between two trials finds, so nothing is replayed here. This takes longer
than `RecoveryStudy`, and allows faults that nobody listed.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapt.damage.damage import Damage
from adapt.oracle import FINAL_EPISODES, find_oracle, true_objectives
from adapt.records import Outcome
from adapt.recovery import run_trial
from adapt.rehearsal.rehearsal import rehearsal, rehearsed_table
from adapt.rehearsal.table import Table, join
from adapt.selectors.catalogue import find_selector, make_selector
from adapt.selectors.selector import Context, Prior, Selector
from adapt.self_model.twin import Thinking
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from repertoire.storage.repertoires import fingerprint
from robots.errors import InvalidFileError
from robots.files.atomic import file_exists, make_folder, write_text
from robots.files.locks import locked
from robots.files.texts import read_json
from robots.randomization import randomised
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from robots.simulation.trace import TraceColumns
from suites.identity import keep_identity
from suites.recovery.cases import SIMULATED_TRACKS, find_tracks
from suites.recovery.faults import draw_faults
from suites.recovery.metrics import EARLY
from suites.recovery.replay import BINDING, Noise

BENCHMARK_SEED = 5  # selectors were tuned on 4 and 40
_EPISODES = 1  # of every gait, from which the finalists for the oracle follow
_TEXTS = {"damage", "selector", "diagnosis"}  # columns; all others are numbers
_FOUND = {"selector", "diagnosis", f"falls_{EARLY}", "stop", "seconds", "explained"}  # by a recovery
_LARGEST = 1e9  # number of a result
_READINGS = 0.01  # standard deviation of the noise of sensors across the gap, in units of a trace's columns


@dataclass(frozen=True)
class SimulatedSettings:
    """What a study runs.

    Attributes:
        track: name, of `SIMULATED_TRACKS`.
        faults: how many, see `draw_faults`.
        selectors: names.
        trials: of each recovery.
        seed: of the faults, the trials and the selectors.
        think_seconds, think_episodes: see `Thinking`.
    """

    track: str = "T4"
    faults: int | None = None
    selectors: tuple[str, ...] = ("self-model", "rehearsed")
    trials: int = 10
    seed: int = BENCHMARK_SEED
    think_seconds: float | None = None
    think_episodes: int | None = 1200


class SimulatedStudy:
    """Recoveries of selectors from faults, kept in a folder, a file for each fault.

    Selectors recover from binding faults alone.

    Args:
        repertoire: of the whole robot.
        library: its rehearsal, or None for selectors that need none.
        settings: of the study.
        folder: of the results; the same call goes on where another one stopped, also with more faults.
        threads: of the simulation. No result depends on it, if a number of episodes limits the thinking.

    Attributes:
        track: of the settings.
        faults: to recover from.

    Raises:
        InvalidValueError: the folder holds another study, or the robot has not so many faults.
        UnknownNameError: there is no such track or selector.
    """

    def __init__(
        self,
        repertoire: Repertoire,
        library: Table | None,
        settings: SimulatedSettings,
        folder: Path,
        *,
        threads: int | None = None,
    ) -> None:
        self.repertoire, self.settings, self.folder, self.threads = repertoire, settings, folder, threads
        (self.track,) = find_tracks([settings.track], among=SIMULATED_TRACKS)
        for name in settings.selectors:
            find_selector(name)
        self.faults = draw_faults(self.track, repertoire.robot, settings.faults, seed=settings.seed)
        self._library = library
        keep_identity(folder, self._identity(), dry=True)

    def run(self, on_fault: Callable[[int, str], None] | None = None) -> pd.DataFrame:
        """Run what is missing.

        Args:
            on_fault: called before each fault that is missing, with its number and text.

        Returns:
            A row for each recovery, with the columns that `metrics` needs, the mean `seconds` of thinking
            after a trial, the share `explained` after the first one, and the `diagnosis` in the end. Of a
            fault that is not binding a row with its `damage`, `oracle` and `rr_0`.

        Raises:
            InUseError: another process is working in the folder.
            InvalidFileError: a file cannot be read or written.
        """
        make_folder(self.folder)
        rows: list[dict[str, Any]] = []
        with locked(self.folder):
            keep_identity(self.folder, self._identity())
            for number, damage in enumerate(self.faults):
                path = self.folder / f"fault-{number:03d}.json"
                if not file_exists(path):
                    if on_fault:
                        on_fault(number, str(damage))
                    write_text(path, json.dumps(self._fault(number, damage), indent=1) + "\n")
                rows += read_fault(path, str(damage), self.settings)
        return pd.DataFrame(rows)

    def _identity(self) -> dict[str, object]:
        """What the results are a function of."""
        settings = {name: str(value) for name, value in asdict(self.settings).items() if name != "faults"}
        return {"study": "simulated recoveries", "repertoire": fingerprint(self.repertoire)[:16], **settings}

    def _fault(self, number: int, damage: Damage) -> list[dict[str, Any]]:
        """The recoveries of all selectors from a fault."""
        seed, real = self.settings.seed, damage.apply(self._whole(number))
        with Evaluator(self.repertoire, {"damaged": real}, threads=self.threads) as evaluator:
            means = true_objectives(evaluator, seed=seed, episodes=_EPISODES)
            scores = _Scores(evaluator, seed)
            oracle = max(scores.of(find_oracle(evaluator, means, seed=seed)), 0.0)
            ratio = scores.of(self.repertoire.best()) / oracle if oracle else 1.0
            known = {"damage": str(damage), "oracle": oracle, "rr_0": ratio}
            if ratio >= BINDING:
                return [known]
            library = self._given(damage)
            return [
                {
                    "selector": name,
                    **known,
                    **self._recover(number, selector, evaluator, scores, oracle),
                }
                for name in self.settings.selectors
                for selector in [self._selector(name, number, damage, library)]
            ]

    def _recover(
        self,
        number: int,
        selector: Selector,
        evaluator: Evaluator,
        scores: "_Scores",
        oracle: float,
    ) -> dict[str, Any]:
        """One recovery: ratios after each trial, falls, the selector's own stop, and what thinking took."""
        ratios, falls, thoughts, stop = [], [], [], None
        for trial in range(self.settings.trials):
            row = selector.ask()
            seeds = derive_seeds(self.settings.seed + number, SeedFamily.TRIALS, trial, 1)
            outcome, _ = run_trial(evaluator, row, seeds, traced=True)
            selector.tell(row, self._noisy(outcome, number, trial))
            ratios.append(float(np.clip(scores.of(selector.recommendation()) / oracle, 0, 1)))
            falls.append(outcome.fell)
            thoughts.append(selector.thought())
            if selector.done() and stop is None:
                stop = trial + 1
        return {
            **{f"rr_{trial}": ratio for trial, ratio in enumerate(ratios, start=1)},
            f"falls_{EARLY}": int(sum(falls[:EARLY])),
            "stop": stop or len(ratios),
            "seconds": float(np.mean([thought.seconds if thought else 0.0 for thought in thoughts])),
            "explained": thoughts[0].explained if thoughts[0] else 0.0,
            "diagnosis": (selector.diagnosis() or [("", 0.0)])[0][0],
        }

    def _selector(self, name: str, number: int, damage: Damage, library: Table | None) -> Selector:
        """Start a selector."""
        entry, settings, elites = find_selector(name), self.settings, self.repertoire.elites
        thinking = Thinking(
            self.repertoire,
            settings.think_seconds,
            settings.think_episodes,
            without=tuple(sorted(damage.families - {"pair"})) if self.track.left_out else (),
            before=self._before(number) if self.track.gap and entry.thinks else (),
            threads=self.threads,
        )
        context = Context(
            Prior(elites.objectives, elites.measures, self.repertoire.settings.min_objective),
            trials=settings.trials,
            seed=settings.seed + number,
            table=library if entry.takes_table else None,
            thinking=thinking if entry.thinks else None,
        )
        return make_selector(name, context)

    def _given(self, damage: Damage) -> Table | None:
        """What selectors are given of the library, and what it lacks if the track gives that too."""
        if self._library is None:
            return None
        wanted = self.track.library(str(damage), self._library.conditions)
        given = self._library.take([text for text in wanted if text in self._library.conditions])
        if len(given) == len(wanted):
            return given
        with rehearsal(
            self.repertoire, [damage], episodes=given.episodes, seed=self.settings.seed, threads=self.threads
        ) as evaluation:
            evaluation.run()
            return join([given, rehearsed_table(evaluation).take([str(damage)])])

    def _whole(self, number: int) -> Robot:
        """The real robot before the fault of a number."""
        robot = self.repertoire.robot
        return randomised(robot, self.settings.seed + number) if self.track.gap else robot

    def _before(self, number: int) -> tuple[tuple[int, np.ndarray], ...]:
        """The best gait's trace on the real robot while it was whole."""
        row = self.repertoire.best()
        seeds = derive_seeds(self.settings.seed + number, SeedFamily.INCUMBENT, 0, 1)
        with Evaluator(self.repertoire, {"whole": self._whole(number)}, threads=1) as evaluator:
            outcome, _ = run_trial(evaluator, row, seeds, traced=True)
        return ((row, self._noisy(outcome, number, self.settings.trials).trace),)

    def _noisy(self, outcome: Outcome, number: int, trial: int) -> Outcome:
        """What a trial measures: its objective, and across the gap its trace, with noise."""
        rng, noise = np.random.default_rng((self.settings.seed, number, trial)), Noise()
        share, offset = noise.share * rng.standard_normal(), noise.offset * rng.standard_normal()
        trace = outcome.trace
        if self.track.gap and len(trace):
            commands = TraceColumns.of(self.repertoire.robot).angle  # the first, which nobody has to measure
            trace = np.array(trace)
            trace[:, commands:] += _READINGS * rng.standard_normal(trace[:, commands:].shape)
        return replace(outcome, objective=outcome.objective * (1 + share) + offset, trace=trace)


def read_fault(path: Path, text: str, settings: SimulatedSettings) -> list[dict[str, Any]]:
    """The recoveries from a fault that a file holds.

    Raises:
        InvalidFileError: it cannot be read, is of another fault, or holds what no study with these settings
            finds.
    """
    rows: Any = read_json(path)
    known = {"damage", "oracle", "rr_0"}
    recovered = known | _FOUND | {f"rr_{trial}" for trial in range(1, settings.trials + 1)}
    try:
        texts = [[row[name] for name in row.keys() & _TEXTS] for row in rows]
        numbers = [abs(row[name]) for row in rows for name in row.keys() - _TEXTS]
        sound = all(isinstance(one, str) for some in texts for one in some) and all(
            one <= _LARGEST for one in numbers
        )
        faults = {row["damage"] for row in rows}
        selectors = tuple(row["selector"] for row in rows if row.keys() == recovered)
        stops = [row["stop"] for row in rows if "stop" in row]
    except (TypeError, LookupError, AttributeError) as error:
        raise InvalidFileError(f"{path} holds no recoveries: {error}") from error
    whole = selectors == settings.selectors if len(selectors) == len(rows) else [known] == [*map(set, rows)]
    if not (sound and whole and all(stop in range(1, settings.trials + 1) for stop in stops)):
        raise InvalidFileError(f"{path} holds no recoveries of {', '.join(settings.selectors)}")
    if faults != {text}:
        raise InvalidFileError(f"{path} holds recoveries from {', '.join(faults)}, not from {text}")
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
