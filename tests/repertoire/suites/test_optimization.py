"""The study of the paper's benchmarks: what it consists of by default, and what it says before and after."""

from pathlib import Path

import pytest

from repertoire.algorithms import ALGORITHMS
from repertoire.suites import optimization
from repertoire.suites.optimization import OPTIMIZATION as PAPER
from repertoire.suites.optimization import optimization_study, remarks, report_optimization
from repertoire.suites.runner import TrialPlan, make_training, run_trial
from robots.errors import InvalidValueError, SurefootError


def small(folder: Path, **changes):
    settings = {"algorithms": ["lm-ma-mae", "cma-mae"], "domains": ["arm-12", "arm-50"], "trials": 3}
    return optimization_study(folder, **{**settings, "evaluations": 200, **changes})


def test_by_default_it_is_the_papers():
    assert set(optimization.ALGORITHMS) <= set(ALGORITHMS)
    assert set(PAPER.means) == {(d, a) for d in optimization.DOMAINS for a in optimization.ALGORITHMS}
    assert PAPER.evaluations == optimization.EVALUATIONS
    for name in optimization.DOMAINS:
        settings = make_training(TrialPlan(name, "cma-mae", 0, 1000, 1)).settings
        assert settings.learning_rate == (0.01 if name == "maze" else 0.001)


def test_remarks_are_made_once_for_each_algorithm_and_domain(tmp_path):
    remark = "lm-ma-es can use no more vectors than there are parameters: 12 instead of 40"
    assert remarks(small(tmp_path / "study")) == [remark]
    assert remarks(small(tmp_path / "study", algorithms=["cma-mae"])) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"algorithms": ["cma-mae", "magic"]},
        {"domains": ["arm-12", "leg-12"]},
        {"domains": ["arm-12", "arm-1"]},
        {"domains": ["arm-100000"]},
        {"evaluations": 0},
    ],
)
def test_what_cannot_be_run_is_refused_before_a_folder_is_made(tmp_path, changes):
    with pytest.raises(SurefootError):
        small(tmp_path / "study", **changes)
    assert list(tmp_path.iterdir()) == []


def test_the_report_says_how_the_study_was_run(tmp_path):
    study = small(tmp_path / "study")
    with pytest.raises(InvalidValueError, match="there are no results to report"):
        report_optimization(study)
    study._save(run_trial(study.settings.plans()[0]))
    paths = report_optimization(study)
    assert all(path.parent == tmp_path / "study" for path in paths)
    text = (tmp_path / "study" / "report.md").read_text()
    assert (
        f"Trials ran on: {study.results()[0].machine}. Threads of each trial: 1. Software: python 3." in text
    )
    assert "5 emitters of 40 solutions each, initial step size 0.02" in text
