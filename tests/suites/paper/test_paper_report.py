"""Reports of whole studies and of parts, from trials with known means."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from suites.paper.analysis import Analysis
from suites.paper.published import published_study
from suites.paper.report import report_text, write_report
from suites.paper.results import TrialResult, read_trial
from tests.suites.paper.made_results import PAPER, analyse, make_results, make_robot_results

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


@pytest.mark.slow
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


def test_a_variant_of_the_study_says_so():
    results = make_results(["maze"], ["cma-mae", "openai-mae"], options="rank_one published")
    text = markdown(results)
    assert (
        "* This is a variant of the study: rank_one published in cma-mae; the other algorithms have" in text
    )
