"""Whether what recoveries hand over is ever worse than the gait that the robot walked with."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapt.damage import HEALTHY
from adapt.damage.text import parse_damage
from adapt.objective import find_objective
from adapt.recovery import recover
from adapt.rehearsal.storage import read_table
from adapt.rehearsal.table import Table
from adapt.requests import RecoveryRequest
from repertoire.evaluation.evaluator import Evaluator
from repertoire.repertoire import Repertoire
from repertoire.storage.files import FILE_NAME, RunFiles
from repertoire.storage.repertoires import read_repertoire
from repertoire.training.runs import resume_training, start_training
from robots.errors import UnknownNameError
from robots.files.atomic import write_text
from robots.importing.draft import draft_robot
from robots.robot import Robot
from robots.seeds import SeedFamily, derive_seeds
from suites.recovery.results import BINDING
from surefoot.shipped import DATA, included

MODELS = Path(__file__).parents[1] / "examples" / "robots"
TRAINED = ("half_cheetah", "hopper", "walker")  # robots of the package without an included repertoire
_EVALUATIONS = 5000  # with which these and the example models are trained
_SELECTORS = ("rehearsed", "map-bo-tuned", "thompson")
_MILD_SELECTORS = ("rehearsed", "self-model")  # which use a rehearsal
_SEEDS = (3, 4)  # not those with which the rule of confirmation was made
_EPISODES = 20  # in which the old gait and the new one are compared
_KEYS = ["robot", "damage", "selector", "seed"]
_CLEAR = 2.0  # standard errors of a difference


@dataclass(frozen=True, eq=False)
class _Subject:
    """A robot's repertoire, with its rehearsal if it has one."""

    name: str
    repertoire: Repertoire
    table: Table | None

    def cases(self) -> Iterator[tuple[str, str, str, int]]:
        """What identifies each recovery."""
        for damage in _damages(self.repertoire.robot):
            for selector in _SELECTORS:
                if selector != "rehearsed" or self.table:
                    yield from ((self.name, damage, selector, seed) for seed in _SEEDS)


def run_recoveries(out: Path, folder: Path, *, say: Callable[[str], None]) -> dict[str, Any]:
    """Recover every robot from mild and severe damages, and compare the gait handed over with the old one.

    The included repertoires are used as they are. The other robots of the package, and those of
    `examples/robots` as they are drafted, are trained for 5,000 evaluations first.

    Args:
        out: CSV with a row for each recovery. Those that it holds are not run again, so start another file
            when anything has changed.
        folder: for the repertoires that are trained; training goes on where it was interrupted.
        say: told of progress.

    Returns:
        By robot and in all, of the gaits that were `found` by the search, before any was confirmed, and of
        those `handed over`: how many are worse or better than the old one by more than two standard errors,
        as good as it, or the old one itself.
    """
    return _run(((subject, case) for subject in _subjects(folder, say) for case in subject.cases()), out, say)


def run_mild(faults: Path, out: Path, *, say: Callable[[str], None]) -> dict[str, Any]:
    """Recover the included Hexapod from faults that do not bind, see `run_recoveries`.

    What counts is progress while up, as in `surefoot recover`.

    Args:
        faults: CSV of a recovery study, of which those count whose `rr_0` is at least 0.9.
        out: see `run_recoveries`.
        say: told of progress.
    """
    every, file = pd.read_csv(faults), DATA / "hexapod.h5"
    repertoire = read_repertoire(file)
    subject = _Subject("hexapod", repertoire, read_table(RunFiles(file).rehearsal, repertoire))
    mild = every.loc[every["rr_0"] >= BINDING, "damage"].unique()
    return _run(
        (
            (subject, ("hexapod", damage, selector, _SEEDS[0]))
            for selector in _MILD_SELECTORS
            for damage in mild
        ),
        out,
        say,
        objective="progress",
    )


def run_library(names: Collection[str], out: Path, *, say: Callable[[str], None]) -> dict[str, Any]:
    """Recover included robots from every damage that they were rehearsed under, see `run_recoveries`.

    The selector is `rehearsed`. What counts is progress while up, as in `surefoot recover`.
    """
    subjects = list(_included(names))
    return _run(
        (
            (subject, (subject.name, damage, "rehearsed", seed))
            for seed in _SEEDS
            for subject in subjects
            for damage in (subject.table.conditions if subject.table else ())
            if damage != HEALTHY
        ),
        out,
        say,
        objective="progress",
    )


def _run(
    cases: Iterable[tuple[_Subject, tuple[str, str, str, int]]],
    out: Path,
    say: Callable[[str], None],
    *,
    objective: str = "reward",
) -> dict[str, Any]:
    """Run the cases that a file lacks, and count all of them."""
    rows = pd.read_csv(out).to_dict("records") if out.exists() else []
    done = {tuple(row[key] for key in _KEYS) for row in rows}
    for subject, case in cases:
        if case in done:
            continue
        rows.append(dict(zip(_KEYS, case, strict=True)) | _recovery(subject, *case[1:], objective))
        write_text(out, pd.DataFrame(rows).to_csv(index=False, float_format="%.6g"))
        say(f"{' '.join(map(str, case))}: {rows[-1]['handed over']}")
    robots = [row["robot"] for row in rows]
    return {
        what: pd.crosstab(robots, [row[what] for row in rows], margins=True).to_dict("index")
        for what in ("found", "handed over")
    }


def _subjects(folder: Path, say: Callable[[str], None]) -> Iterator[_Subject]:
    """The included repertoires, and then those that have to be trained."""
    yield from _included(included())
    robots: list[str | Path] = [*TRAINED, *sorted(MODELS.glob("*.xml"))]
    for robot in robots:
        name = Path(robot).stem
        say(f"training {name}")
        yield _Subject(name, _trained(robot, folder / name), None)


def _included(names: Iterable[str]) -> Iterator[_Subject]:
    """Included repertoires.

    Raises:
        UnknownNameError: there is no such one.
    """
    for name in names:
        if name not in included():
            raise UnknownNameError("included repertoire", name, included())
        repertoire = read_repertoire(file := DATA / f"{name}.h5")
        yield _Subject(name, repertoire, read_table(RunFiles(file).rehearsal, repertoire))


def _trained(robot: str | Path, folder: Path) -> Repertoire:
    """Train with the defaults, or go on with that; an MJCF is drafted first."""
    if (folder / FILE_NAME).exists():
        opening = resume_training(folder)
    else:
        if isinstance(robot, Path):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / robot.name).write_bytes(robot.read_bytes())
            robot = draft_robot(folder / robot.name, overwrite=True).path
        opening = start_training(str(robot), "sep-cma-mae", out=folder, evaluations=_EVALUATIONS, seed=1)
    with opening as training:
        if training is not None:
            training.run(folder / FILE_NAME)
    return read_repertoire(folder / FILE_NAME)


def _damages(robot: Robot) -> list[str]:
    """Damages of which most are mild, so that the old gait is hard to beat."""
    description = robot.description
    legs = list(description.legs)
    mild = [
        "all:weak@0.7",
        f"{legs[0]}:weak@0.4",
        f"{legs[-1]}:short@0.7",
        f"foot={next(iter(description.feet))}:slip",
        f"joint={description.joints[-1]}:locked",
    ]
    return [*mild, f"{legs[0]}:lost"] if len(legs) > 2 else mild


def _recovery(
    subject: _Subject, damage_text: str, selector: str, seed: int, objective: str
) -> dict[str, Any]:
    """Run a recovery, and then the old gait, the one found and the one handed over in fresh episodes."""
    repertoire = subject.repertoire
    damage = parse_damage(damage_text, repertoire.robot)
    table = subject.table if selector in _MILD_SELECTORS else None
    request = RecoveryRequest(seed=seed, selector=selector, objective=objective)
    recovery = recover(repertoire, damage, request, table=table)
    aim = find_objective(objective, repertoire, recovery.healthy.distance)
    incumbent, new = recovery.incumbent, recovery.row
    confirmed = (trial.row for trial in recovery.trials if trial.confirms and trial.row != incumbent)
    found = next(confirmed, new)
    robot = damage.apply(repertoire.robot)
    damaged = Evaluator(repertoire, {"damaged": robot}, objective=aim.of)
    for gait in recovery.refined:
        damaged.add(gait.solution[None])
    rows = np.repeat([incumbent, found, new], _EPISODES)
    seeds = np.tile(derive_seeds(seed, SeedFamily.EVALUATION, 0, _EPISODES), 3)
    episodes = damaged.run(rows, seeds)
    objectives = damaged.objectives(episodes).reshape(3, _EPISODES)
    gaits = dict(zip(("old", "found", "new"), objectives, strict=True))
    cause, probability = next(iter(recovery.diagnosis.items()), ("", 0.0))
    return {
        "cause": cause,
        "probability": probability,
        "trials": len(recovery.trials),
        "falls": sum(trial.fell for trial in recovery.trials),
        **{f"{name} mean": gait.mean() for name, gait in gaits.items()},
        **{f"{name} sd": gait.std(ddof=1) for name, gait in gaits.items()},
        "healthy distance": recovery.healthy.distance,
        **{
            f"{name} distance": some.mean()
            for name, some in zip(gaits, episodes.distances.reshape(3, _EPISODES), strict=True)
        },
        "new falls": int(episodes.fell[-_EPISODES:].sum()),
        "found": "the old gait" if found == incumbent else _verdict(gaits["found"], gaits["old"]),
        "handed over": "the old gait" if new == incumbent else _verdict(gaits["new"], gaits["old"]),
    }


def _verdict(new: np.ndarray, old: np.ndarray) -> str:
    """Whether objectives of single episodes are clearly better or worse than others."""
    difference = new.mean() - old.mean()
    error = np.sqrt(new.var(ddof=1) / len(new) + old.var(ddof=1) / len(old))
    if abs(difference) <= _CLEAR * error:
        return "as good"
    return "better" if difference > 0 else "worse"
