"""Reports of whole studies and of parts, from trials with known means."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from suites.paper.analysis import Analysis
from suites.paper.published import published_study
from suites.paper.report import report_text, write_report
from suites.paper.results import TrialResult, read_trial
from tests.suites.paper.made_results import PAPER, analyse, make_result, make_results, make_robot_results, row

NAMES = ["trials.csv", "curves.png", "times.png", "archives.png", "report.md"]
# In this order H3 holds, and H4 except for cma-mega-es
LADDER = {
    "lm-ma-mae": 0.9,
    "sep-cma-mae": 0.8,
    "openai-mae": 0.7,
    "cma-mega-es": 0.75,
    "me-es": 0.1,
    "map-elites": 0.4,
}
RATES = {"alpha-0": 0.2, "alpha-0.001": 0.9, "alpha-0.01": 0.8, "alpha-0.1": 0.7, "alpha-1": 0.3}


def markdown(results: Sequence[TrialResult], study: str = "optimization") -> str:
    return report_text(Analysis(results, published_study(study)), Path("nowhere"))


@pytest.fixture(scope="module")
def benchmarks(tmp_path_factory) -> Path:
    """The report of all algorithms in two domains."""
    folder = tmp_path_factory.mktemp("study")
    paths = write_report(analyse(make_results(["sphere-100", "arm-100"], PAPER.algorithms)), folder)
    assert paths == [folder / name for name in NAMES]
    return folder


@pytest.fixture(scope="module")
def robots() -> str:
    """The report of two robots at fewer evaluations than in the paper."""
    results = make_robot_results(["hopper"], LADDER, evaluations=100_000)
    results += make_robot_results(["walker"], LADDER, evaluations=50_000)
    return markdown(results, "locomotion")


@pytest.mark.parametrize("name", ["optimization", "optimization-as-published", "locomotion", "ablation"])
def test_the_committed_reports_follow_from_the_committed_trials(name: str):
    folder = Path(__file__).parents[3] / "docs" / "results" / name
    results = [read_trial(path) for path in folder.glob("trials/*/*.h5")]
    study = Analysis(results, published_study(name.removesuffix("-as-published")))
    assert report_text(study, folder) == (folder / "report.md").read_text()


def test_the_report_has_the_verdicts(benchmarks: Path):
    text = (benchmarks / "report.md").read_text()
    assert text.startswith(
        "# Optimisation benchmarks\n\n* Trials ran on: a processor. Threads of each trial: 1."
    )
    assert "5 emitters of 40 solutions each, initial step size 0.02" in text
    assert "incomplete: of the paper's 20 combinations of algorithm and domain 8 ran, 0 of them" in text
    assert (
        "paper's: QD score, 8 means: 7 agree, 0 differ, 1 not answerable; coverage, 8 means: 7 agree" in text
    )
    assert "QD score: of 12 pairs, 7 can be decided by both the paper and our trials; in 7 of these" in text
    ranking = "openai-mae < sep-cma-mae < lm-ma-mae < cma-mae"
    assert f"{ranking}: not supported (supported in 0 of 2 domains tested). In the paper: not sup" in text
    assert (
        f"{ranking}: supported in 2 of 2 domains tested, of 5 in the paper. In the paper: supported." in text
    )
    assert "Before correction" not in text


def test_the_same_results_give_the_same_files(tmp_path: Path):
    results = make_results(["sphere-100"], ["cma-mae", "openai-mae"], trials=2)
    one = [path.read_bytes() for path in write_report(analyse(results), tmp_path)]
    assert [path.read_bytes() for path in write_report(analyse(results[::-1]), tmp_path)] == one


def test_a_single_trial_makes_a_report():
    text = markdown([make_result("sphere-100", "sep-cma-mae", 0)])
    assert "1 ran, 0 of them" in text
    assert "not tested: sep-cma-mae is the only group" in text
    assert "### All pairs" not in text
    assert "QD score, 1 means: 0 agree, 0 differ, 1 not answerable" in text
    assert text.count(": not tested. In the paper") == 2
    assert "0.5470" in text  # without an interval


def test_what_the_paper_does_not_know_makes_a_report():
    results = make_results(["sphere-20"], ["map-elites", "novelty"], trials=3, evaluations=1000)
    results += make_results(["arm-100"], ["cma-mae"], trials=3, evaluations=1000)
    text = markdown(results)
    assert "paper's: none can be compared, because no trial has the paper's number of evaluations." in text
    assert "| map-elites | **0.499" in text
    assert "3 (1,000 evaluations)" in text


def test_a_whole_study_is_called_complete():
    whole = make_results(
        PAPER.domains, PAPER.algorithms, trials=10, history={}, objectives=np.zeros((2, 2), np.float32)
    )
    text = markdown(whole)
    assert "* The study is complete: at least 10 trials of 2,000,000 evaluations" in text
    assert "QD score, 20 means: 11 agree, 0 differ, 9 not answerable" in text


def test_hypotheses_are_judged_by_what_ran(robots: str):
    short = {line[2:4]: line for line in robots.splitlines() if line.startswith("* H")}
    assert ": supported in 2 of 2 domains tested, of 4 in the paper. In the paper: not supp" in short["H3"]
    assert ": not supported (supported in 0 of 2 domains tested). In the paper: " in short["H4"]
    verdicts = robots[robots.index("| hypothesis |") :]
    assert "contradicted by: cma-mega-es > openai-mae; did not run: pga-me, cma-mega-td3-es" in verdicts
    assert "| H6 | walker | **not tested** | supported | did not run: pga-me, cma-mega-td3-es |" in verdicts
    text = markdown(make_robot_results(["hopper"], LADDER | {"cma-mega-es": 0.5}), "locomotion")
    assert "supported in 1 of 1 domains tested, as far as its algorithms ran, of 4 in the paper. In" in text
    assert "| H4 | hopper | **supported as far as tested** | supported | did not run: pga-me," in text


def test_a_variant_of_the_study_says_so():
    results = make_results(["maze"], ["cma-mae", "openai-mae"], options="rank_one published")
    text = markdown(results)
    assert (
        "* This is a variant of the study: rank_one published in cma-mae; the other algorithms have" in text
    )


def test_the_ablation_has_table_7():
    results = [
        one
        for name, score in RATES.items()
        for one in make_robot_results(
            ["hopper", "ant"], {name: score}, learning_rate=float(name.removeprefix("alpha-"))
        )
    ]
    text = markdown(results, "ablation")
    assert row(text, "alpha-0.001", "| hopper | QD score")[:2] == ["**0.9000 ± 0.0059**", "1.173"]
    assert "learning rates 0 and 1 than at those between: supported in 2 of 2 domains tested, of 4" in text
    assert "time [h]" not in text
