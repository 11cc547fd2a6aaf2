"""The paper's first study: CMA-MAE's variants on optimisation benchmarks (Tjanaka et al. 2023, Sec. IV)."""

from collections.abc import Sequence
from pathlib import Path

from repertoire.suites.published import published_study
from repertoire.suites.results import collect_results
from repertoire.suites.runner import make_training
from repertoire.suites.study import Study, StudySettings
from repertoire.suites.study_report import write_report

OPTIMIZATION = published_study("optimization")
ALGORITHMS = OPTIMIZATION.algorithms
DOMAINS = OPTIMIZATION.domains
TRIALS = OPTIMIZATION.trials
EVALUATIONS = OPTIMIZATION.evaluations


def optimization_study(
    folder: Path,
    *,
    algorithms: Sequence[str] = ALGORITHMS,
    domains: Sequence[str] = DOMAINS,
    trials: int = TRIALS,
    evaluations: int = EVALUATIONS,
    seed: int = 1,
) -> Study:
    """Set the study up, or take it up again where the folder holds a part of it.

    Args:
        folder: of the study, made if it is missing.
        algorithms: names.
        domains: names of benchmark problems.
        trials: of each algorithm in each domain.
        evaluations: of each trial, rounded up to whole batches.
        seed: from which every trial's seed derives.

    Raises:
        UnknownNameError: there is no such algorithm or domain.
        InvalidValueError: an algorithm does not suit a domain, or the folder holds another study.
        InvalidFileError: the folder cannot be made or read.
    """
    settings = StudySettings("optimization", tuple(algorithms), tuple(domains), trials, evaluations, seed)
    for plan in settings.plans()[: len(settings.algorithms) * len(settings.domains)]:
        make_training(plan)  # what cannot be run is found before anything is
    return Study(settings, folder)


def remarks(study: Study) -> list[str]:
    """What a user should know before the study runs."""
    found = []
    for plan in study.settings.plans():
        if plan.trial == 0:
            found += make_training(plan).remarks
    return found


def report_optimization(study: Study) -> list[Path]:
    """Write the report of what is done, beside the trials; returns its files.

    Raises:
        InvalidValueError: nothing is done yet.
        InvalidFileError: a trial cannot be read, or the report cannot be written.
    """
    return write_report(collect_results(study.results(), OPTIMIZATION), study.folder)
