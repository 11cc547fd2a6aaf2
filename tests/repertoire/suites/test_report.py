"""The files of a report, of whole studies and of scraps."""

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from synthetic import collect, make_result, make_results

from repertoire.suites.published_optimization import OPTIMIZATION as PAPER
from repertoire.suites.report import write_report
from repertoire.suites.result import TrialResult
from robots.errors import InvalidFileError

NAMES = ["trials.csv", "curves.png", "archives.png", "report.md", "report.html"]


def markdown(results: Sequence[TrialResult], folder: Path, **settings) -> str:
    write_report(collect(results), folder, title="A study", **settings)
    return (folder / "report.md").read_text()


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of all algorithms in two domains."""
    folder = tmp_path_factory.mktemp("study") / "new" / "folder"
    results = make_results(["sphere-100", "arm-100"], PAPER.algorithms)
    assert write_report(collect(results), folder, title="A study", notes=["One core."]) == [
        folder / name for name in NAMES
    ]
    return folder


def test_the_report_has_the_verdicts(study: Path):
    text = (study / "report.md").read_text()
    assert text.startswith("# A study\n\n* One core.\n")
    assert "Incomplete: of the paper's 20 combinations of algorithm and domain 8 ran, 0 of them" in text
    assert "agree with ours: QD score 8 of 8, coverage 8 of 8, best 8 of 8." in text
    assert (
        "lm-ma-mae < cma-mae: not supported (it is in 0 of 2 domains tested). In the paper: not sup" in text
    )
    assert "lm-ma-mae < cma-mae: supported in the 2 of 5 domains tested. In the paper: supported." in text
    assert "nothing can be said of it: sphere-1000, arm-1000, maze." in text


def test_both_formats_have_the_same_tables_and_pictures(study: Path):
    text, page = (study / "report.md").read_text(), (study / "report.html").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) == page.count("<tr>") > 60
    assert page.count("data:image/png;base64,") == text.count(".png)") == 2
    for line in rows:
        for cell in line.strip("| ").split(" | "):
            assert cell.strip("*").replace("<", "&lt;").replace(">", "&gt;").replace("'", "&#x27;") in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_trials_can_be_read_back(study: Path):
    with (study / "trials.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    expected = make_results(["sphere-100", "arm-100"], PAPER.algorithms)
    scalars = [field for field in fields(TrialResult) if field.name not in ("history", "objectives")]
    assert list(rows[0]) == [field.name for field in scalars]
    assert len(rows) == len(expected)
    for row, result in zip(rows, expected, strict=True):
        for field in scalars:
            assert field.type(row[field.name]) == getattr(result, field.name)


def test_the_same_results_give_the_same_files(tmp_path: Path):
    results = make_results(["sphere-100"], ["cma-mae", "openai-mae"], trials=2)
    one = write_report(collect(results), tmp_path / "one", title="A study")
    other = write_report(collect(results[::-1]), tmp_path / "other", title="A study")
    for first, second in zip(one, other, strict=True):
        assert first.read_bytes() == second.read_bytes()


def test_a_single_trial_makes_a_report(tmp_path: Path):
    text = markdown([make_result("sphere-100", "sep-cma-mae", 0)], tmp_path)
    assert "1 ran, 0 of them" in text
    assert "not tested: sep-cma-mae is the only group" in text
    assert text.count("There are no two algorithms to compare.") == 4
    assert "QD score 0 of 1, coverage 1 of 1" in text
    assert text.count(": not tested. In the paper") == 2
    assert "0.5470" in text  # without an interval


def test_what_the_paper_does_not_know_makes_a_report(tmp_path: Path):
    results = make_results(["sphere-20"], ["map-elites", "novelty"], trials=3, evaluations=1000)
    results += make_results(["arm-100"], ["cma-mae"], trials=3, evaluations=1000)
    text = markdown(results, tmp_path)
    assert "None of the paper's means can be compared" in text
    assert "other degrees of freedom): map-elites, novelty." in text
    assert "Domains not in the paper: sphere-20." in text
    assert "agreement with the paper is not judged: cma-mae in arm-100." in text
    assert "sphere-1000, arm-100 (lm-ma-mae, sep-cma-mae, openai-mae), arm-1000, maze." in text
    assert "| map-elites | **0.499" in text
    assert "3 (1,000 evaluations)" in text


def test_a_whole_study_is_called_complete(tmp_path: Path):
    results = make_results(
        PAPER.domains, PAPER.algorithms, trials=10, history={}, objectives=np.zeros((2, 2))
    )
    text = markdown(results, tmp_path)
    assert "* Complete: at least 10 trials of 2,000,000 evaluations" in text
    assert "nothing can be said" not in text
    assert "QD score 20 of 20, coverage 20 of 20, best 20 of 20" in text


def test_titles_and_notes_are_escaped(tmp_path: Path):
    result = make_result("sphere-100", "<b>cma</b>", 0)
    write_report(collect([result]), tmp_path, title="a < b & <i>", notes=["<script>x</script>", "1 | 2"])
    page = (tmp_path / "report.html").read_text()
    assert "<h1>a &lt; b &amp; &lt;i&gt;</h1>" in page
    assert "<title>a &lt; b &amp; &lt;i&gt;</title>" in page
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "<b>" not in page
    assert "\\<script>x\\</script>" in (tmp_path / "report.md").read_text()


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InvalidFileError, match="it is a file"):
        write_report(collect([make_result("maze", "cma-mae", 0)]), tmp_path / "file", title="A study")
