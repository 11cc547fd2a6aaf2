"""`GaitSettings`: what decides the results of a study that trains robots."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from repertoire.evaluation import check_episodes
from repertoire.problems.catalogue import find_problem
from repertoire.suites.gait_trial import GaitPlan
from repertoire.suites.study import Study, trial_folder
from repertoire.training.runs import configure
from repertoire.training.training import Training
from robots.files import file_exists, make_folder, write_text
from robots.robot import load_robot

Parallel = Literal["trials", "episodes"]
_IGNORED = (
    "# What trials work on is large, and can be made again; their results lie beside these folders.\n*/*/\n"
)


@dataclass(frozen=True)
class Variant:
    """What runs under a name of its own.

    Attributes:
        name: in tables and files.
        method: name of the algorithm.
        learning_rate: of the archive's thresholds; None for the algorithm's own.
    """

    name: str
    method: str
    learning_rate: float | None = None


@dataclass(frozen=True)
class GaitSettings:
    """What decides the results of a study that trains robots, and how its trials share the machine.

    Attributes:
        name: of the study, e.g. `locomotion`.
        folder: of the study.
        variants: of algorithms, in the order of the tables.
        evaluations: of each trial by robot, in the order of the tables.
        trials: of each variant with each robot.
        episodes: of each elite, for the correction.
        seed: from which every trial's seed derives.
        episode_steps: control steps an episode has at most; None for each robot's own.
        threads: of each trial.
    """

    name: str
    folder: Path
    variants: tuple[Variant, ...]
    evaluations: Mapping[str, int]
    trials: int
    episodes: int
    seed: int
    episode_steps: int | None = None
    threads: int = 1

    @property
    def identity(self) -> Mapping[str, object]:
        """See `Agenda`."""
        floors = {name: load_robot(name).description.min_objective.value for name in self.evaluations}
        return {
            "study": self.name,
            "seed": self.seed,
            "episodes": self.episodes,
            "evaluations": dict(self.evaluations),
            "episode_steps": {name: self.steps_of(name) for name in self.evaluations},
            "min_objective": floors,
        }

    def steps_of(self, robot: str) -> int:
        """Control steps that an episode of a robot has at most."""
        return self.episode_steps or load_robot(robot).description.episode_steps

    def plans(self) -> list[GaitPlan]:
        """All trials, the first of everything before the second of anything."""
        return [
            self.plan(robot, variant, trial)
            for trial in range(self.trials)
            for robot in self.evaluations
            for variant in self.variants
        ]

    def plan(self, robot: str, variant: Variant, trial: int) -> GaitPlan:
        """A trial of a variant with a robot."""
        return GaitPlan(
            robot,
            variant.name,
            trial,
            self.evaluations[robot],
            self.seed,
            method=variant.method,
            learning_rate=variant.learning_rate,
            episode_steps=self.steps_of(robot),
            episodes=self.episodes,
            folder=trial_folder(self.folder, (robot, variant.name, trial)),
            threads=self.threads,
        )


def open_gait_study(settings: GaitSettings, *, dry: bool = False) -> Study:
    """Set a study up in its folder, or take it up again.

    Args:
        settings: of the study.
        dry: whether only to look at the folder, and to make and write nothing.

    Raises:
        InvalidValueError: the folder holds a study of another configuration.
        InvalidFileError: the folder cannot be made or read.
    """
    study = Study(settings, settings.folder, dry=dry)
    if dry:
        return study
    make_folder(settings.folder / "trials")
    ignored = settings.folder / "trials" / ".gitignore"
    if not file_exists(ignored):
        write_text(ignored, _IGNORED)
    return study


def check_plans(settings: GaitSettings) -> list[str]:
    """Find what cannot be run before anything is.

    Returns:
        Remarks that a user should know before the study runs.

    Raises:
        UnknownNameError: there is no such robot or algorithm.
        InvalidValueError: a setting is wrong, or an algorithm does not suit a robot.
    """
    check_episodes(settings.episodes)
    remarks: dict[str, None] = {}
    for robot in settings.evaluations:
        problem = find_problem(load_robot(robot).name, threads=1, episode_steps=settings.episode_steps)
        with closing(problem):
            for variant in settings.variants:
                plan = settings.plan(robot, variant, 0)
                training = Training(problem, configure(problem, plan.method, plan.settings))
                remarks |= dict.fromkeys(training.remarks)
    return list(remarks)


def share_machine(settings: GaitSettings, parallel: Parallel | None, cores: int) -> tuple[GaitSettings, int]:
    """Decide how trials share the cores: several of one thread each, or one at a time with a thread a core.

    Args:
        settings: of the study.
        parallel: what runs side by side; None for trials if there is one for each core.
        cores: that work.

    Returns:
        The settings with their threads, and the number of trials at a time.
    """
    if parallel is None:
        parallel = "trials" if len(settings.plans()) >= cores else "episodes"
    return (settings, cores) if parallel == "trials" else (replace(settings, threads=cores), 1)
