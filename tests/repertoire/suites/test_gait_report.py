"""Reports of studies that train robots, from trials with known means."""

from pathlib import Path

import numpy as np
import pytest
from gaits import make_gait_result, make_gait_results
from PIL import Image

from repertoire.suites import gait_videos
from repertoire.suites.ablation import ABLATION_STUDY
from repertoire.suites.gait_videos import film_trials, read_index
from repertoire.suites.locomotion import ALGORITHMS, LOCOMOTION_STUDY
from robots.errors import InvalidValueError

# In this order H3 holds, and H4 but for cma-mega-es
LADDER = {
    "lm-ma-mae": 0.9,
    "sep-cma-mae": 0.8,
    "openai-mae": 0.7,
    "cma-mega-es": 0.75,
    "me-es": 0.1,
    "map-elites": 0.4,
}
RATES = {"alpha-0": 0.2, "alpha-0.001": 0.9, "alpha-0.01": 0.8, "alpha-0.1": 0.7, "alpha-1": 0.3}


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> tuple[Path, str]:
    """Of all algorithms that run, with two robots, at fewer evaluations than in the paper."""
    folder = tmp_path_factory.mktemp("study")
    results = make_gait_results(["hopper"], LADDER, evaluations=100_000)
    results += make_gait_results(["walker"], LADDER, evaluations=50_000)
    paths = LOCOMOTION_STUDY.report(LOCOMOTION_STUDY.collect(results), folder)
    assert [path.name for path in paths] == [
        "trials.csv",
        "curves.png",
        "archives.png",
        "report.md",
        "report.html",
    ]
    return folder, (folder / "report.md").read_text()


def row(text: str, first: str, start: str) -> list[str]:
    """Cells of the row that begins with a text, in the table that comes after another."""
    after = text[text.index(start) :]
    line = next(line for line in after.splitlines() if line.startswith(f"| {first} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_what_was_reduced_is_said(report):
    _, text = report
    assert "of the paper's 32 combinations of algorithm and domain 12 ran, 0 of them with at least" in text
    assert "10 trials of 1,000,000 evaluations: hopper (5 of 100,000), walker (5 of 50,000)." in text
    assert "nothing can be said of it: ant, half_cheetah." in text
    assert row(text, "pga-me", "| trials |") == ["**none**"] * 4
    assert row(text, "me-es", "| trials |")[2:] == [
        "**5 (100,000 evaluations)**",
        "**5 (50,000 evaluations)**",
    ]


def test_deep_learning_is_said_to_be_missing(report):
    _, text = report
    for name in ("pga-me", "cma-mega-td3-es"):
        assert f"* {name} cannot be run here: it trains networks by deep reinforcement learning (TD3)" in text
    h6 = next(line for line in text.splitlines() if line.startswith("* H6"))
    cannot = "It cannot be tested on pga-me and cma-mega-td3-es, which cannot be run here."
    assert f"pga-me and cma-mega-td3-es: not tested. {cannot} In the paper: supported." in h6


def test_the_papers_means_stand_beside_ours_as_those_of_another_engine(report):
    _, text = report
    # Half width t(0.975, 4) * 0.006 * sqrt(0.625 / 5)
    cells = row(text, "lm-ma-mae", "| hopper | QD score")
    assert cells[:2] == ["**0.9000 ± 0.0059**", "1.135"]
    assert cells[3] == "0.54"
    assert cells[6:] == ["**2.000 ± 0.016**", "4.45", "**112 ± 0**", "77"]
    assert text.count("| paper (PyBullet) |") == 2 * 5
    assert "agrees" not in text
    assert "Agreement with the paper's means is not judged: they were measured in PyBullet, another" in text


def test_pairs_are_compared_with_the_papers(report):
    _, text = report
    assert "these are found here too: QD score 16 of 24, execution time 4 of 6." in text
    assert row(text, "sep-cma-mae", "| QD score, hopper |") == [
        "**< / -**",
        "∅",
        "**> / -**",
        "> / >",
        "> / >",
        "> / >",
    ]
    assert row(text, "openai-mae", "| QD score, hopper |")[3] == "**< / >**"


def test_hypotheses_are_judged_by_what_ran(report):
    _, text = report
    short = {line[2:4]: line for line in text.splitlines() if line.startswith("* H")}
    assert ": supported in the 2 of 4 domains tested. In the paper: not supported." in short["H3"]
    assert ": not supported (it is in 0 of 2 domains tested). It cannot be tested on pga-me" in short["H4"]
    assert ": not supported (it is in 0 of 2 domains tested). In the paper: not" in short["H5"]
    verdicts = text[text.index("| hypothesis |") :]
    assert "contradicted by: cma-mega-es > openai-mae; did not run: pga-me, cma-mega-td3-es" in verdicts
    assert "| H4 | hopper | **not supported** | supported |" in verdicts
    assert "| H6 | walker | **not tested** | supported | did not run: pga-me, cma-mega-td3-es |" in verdicts


def test_without_what_contradicts_it_h4_holds_as_far_as_it_was_tested(tmp_path):
    ladder = {**LADDER, "cma-mega-es": 0.5}
    LOCOMOTION_STUDY.report(LOCOMOTION_STUDY.collect(make_gait_results(["hopper"], ladder)), tmp_path)
    text = (tmp_path / "report.md").read_text()
    h4 = next(line for line in text.splitlines() if line.startswith("* H4"))
    assert "supported in the 1 of 4 domains tested, as far as its algorithms ran. It cannot be" in h4
    assert "| H4 | hopper | **supported as far as tested** | supported | did not run: pga-me," in text


def test_losses_stand_beside_uncorrected_metrics(report):
    _, text = report
    cells = row(text, "me-es", "### Before correction")
    # 0.6 of the cells before, 0.5 after
    assert cells[2:6] == ["0.60 ± 0.00", "16.7", "1,000.00 ± 0.00", "10.0"]
    assert cells[6] == "0"


def test_both_formats_have_the_same_tables(report):
    folder, text = report
    page = (folder / "report.html").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == page.count("<tr>") > 60


def test_the_csv_has_what_only_these_studies_have(report):
    folder, _ = report
    header, *lines = (folder / "trials.csv").read_text().splitlines()
    assert {"raw_qd_score", "learning_rate", "min_objective", "steps"} <= set(header.split(","))
    assert len(lines) == 2 * 6 * 5


def test_every_robots_archive_has_colours_of_its_own(tmp_path):
    results = [make_gait_result("hopper", "me-es", 0), make_gait_result("ant", "me-es", 0)]
    results += [make_gait_result("walker", "me-es", 0, objectives=np.full((32, 32), np.nan, np.float32))]
    LOCOMOTION_STUDY.report(LOCOMOTION_STUDY.collect(results), tmp_path)
    with Image.open(tmp_path / "archives.png") as image:
        assert image.size == (round(150 * (3 * 2.3 + 1.3)), round(150 * 2.75))


def test_the_ablation_has_table_7_and_a_curve(tmp_path):
    results = [
        one
        for name, score in RATES.items()
        for one in make_gait_results(
            ["hopper", "ant"], {name: score}, learning_rate=float(name.removeprefix("alpha-"))
        )
    ]
    paths = ABLATION_STUDY.report(ABLATION_STUDY.collect(results), tmp_path)
    assert paths[-1].name == "learning_rates.png"
    text = (tmp_path / "report.md").read_text()
    assert "![learning_rates](learning_rates.png)" in text
    assert row(text, "alpha-0.001", "| hopper | QD score")[:2] == ["**0.9000 ± 0.0059**", "1.173"]
    assert "learning rates 0 and 1 than at those between: supported in the 2 of 4 domains tested" in text
    assert "The paper on QD score: It falls at the extreme values, 0 and 1" in text
    assert "time [h]" not in text


def test_the_ablations_statement_can_fail(tmp_path):
    results = make_gait_results(["hopper"], {**RATES, "alpha-1": 0.75})
    ABLATION_STUDY.report(ABLATION_STUDY.collect(results), tmp_path)
    text = (tmp_path / "report.md").read_text()
    assert "| hopper | **not supported** | - | contradicted by: alpha-1 > alpha-0.1" in text


def test_the_median_trial_is_filmed_once(tmp_path, monkeypatch):
    filmed: list[str] = []
    monkeypatch.setattr(gait_videos, "read_repertoire", lambda path: path)
    monkeypatch.setattr(
        gait_videos, "film_places", lambda source, path: (filmed.append(source.parent.name), path.touch())
    )
    trials = LOCOMOTION_STUDY.collect(
        make_gait_results(["hopper"], {"me-es": 0.1, "map-elites": 0.2}, trials=3)
    )
    for trial in range(3):
        (tmp_path / "trials" / "hopper" / f"me-es-{trial:02d}").mkdir(parents=True)
        (tmp_path / "trials" / "hopper" / f"me-es-{trial:02d}" / "corrected.h5").touch()
    for _ in range(2):
        film_trials(trials, tmp_path, say=lambda _: None)
    assert filmed == ["me-es-02"]  # what is not there cannot be filmed
    assert read_index(tmp_path).keys() == {"hopper-me-es.mp4"}
    LOCOMOTION_STUDY.report(trials, tmp_path)
    assert "* videos/hopper-me-es.mp4: trial 2, seed " in (tmp_path / "report.md").read_text()


def test_algorithms_are_those_that_run():
    assert ALGORITHMS == ("lm-ma-mae", "sep-cma-mae", "openai-mae", "cma-mega-es", "me-es", "map-elites")


def test_nothing_is_no_study():
    with pytest.raises(InvalidValueError, match="no results"):
        LOCOMOTION_STUDY.collect([])
