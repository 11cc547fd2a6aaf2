"""`surefoot suite optimization`, `locomotion` and `ablation` as a user types them."""

import csv
import json
from pathlib import Path

import pytest

from robots.files.locks import locked
from suites.paper.results import read_trial

SMALL = ["--seeds", 2, "--episodes", 2, "--episode-steps", 30, "--no-videos"]
LOCOMOTION = ["suite", "locomotion", "--algorithms", "sep-cma-mae, map-elites", *SMALL]
ABLATION = ["suite", "ablation", *SMALL]


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "trials.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_study_says_how_long_runs_and_reports(run, tmp_path) -> None:
    study = tmp_path / "new" / "study"
    budgets = ["--robots", "hopper,walker", "--evaluations", "200,hopper=400"]
    command = [*LOCOMOTION, "--algorithms", "map-elites", *budgets, "--out", study]
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert "hopper: 2 trials of 400 evaluations, about " in out
    assert "walker: 2 trials of 200 evaluations, about " in out
    assert "in all about " in out
    assert out.count(" QD ") == 4
    assert all(f"saved {study / name}" in out for name in ("trials.csv", "report.md"))
    assert [(row["domain"], row["algorithm"], row["evaluations"]) for row in rows(study)] == [
        (robot, "map-elites", evaluations)
        for robot, evaluations in (("hopper", "400"), ("walker", "200"))
        for _ in range(2)
    ]
    assert json.loads((study / "study.json").read_text())["evaluations"] == {"hopper": 400, "walker": 200}
    again = run(*command)
    assert again[0] == 0
    assert " QD " not in again[1]
    assert "about" not in again[1]
    assert "measuring" not in again[1]
    assert "the study has 4 trials, 0 of them not finished" in again[1]
    before = {path: path.read_bytes() for path in study.glob("*.*")}
    for path in before:
        if path.name != "study.json":
            path.unlink()
    assert run(*command, "--seeds", 5, "--report")[0] == 0
    assert {path: path.read_bytes() for path in study.glob("*.*")} == before


@pytest.mark.slow
def test_the_tasks_of_a_job_array_run_one_trial_each(run, tmp_path) -> None:
    small = ["suite", "optimization", "--domains", "sphere-10", "--evaluations", 400, "--seeds", 1]
    study = [*small, "--algorithms", "cma-mae,openai-mae", "--as-published", "--out", tmp_path]
    assert "the study has 2 trials, 2 of them not finished" in run(*study, "--dry-run")[1]
    path = tmp_path / "trials" / "sphere-10" / "cma-mae-00.h5"
    for trial in (2, 1):
        code, out, err = run(*study, "--only-trial", trial)
        assert (code, err, path.exists()) == (0, "", trial == 1)
        assert "report" not in out
    assert read_trial(path).options == "rank_one published"
    path.unlink()
    with locked(path):
        _, out, _ = run(*study, "--only-trial", 1)
    assert "note: left to the processes that run them now: trial 0 of cma-mae in sphere-10" in out
    assert "--only-trial must be at most 2, the number of trials" in run(*study, "--only-trial", 3)[2]
    assert run(*study)[0] == 0
    assert "rank_one published in cma-mae" in (tmp_path / "report.md").read_text()
    plain = [argument for argument in study if argument != "--as-published"]
    assert "holds another study (study optimization, seed 1, rank_one published" in run(*plain)[2]


def test_bad_input_ends_in_one_sentence_and_code_2(refused, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    other = {"study": "ablation", "seed": 1, "episodes": 2, "evaluations": {"hopper": 400}}
    (tmp_path / "other" / "study.json").write_text(json.dumps(other))
    small = [*LOCOMOTION, "--robots", "hopper", "--evaluations", 400, "--out", tmp_path / "x"]
    rates = [*ABLATION, "--robots", "hopper", "--evaluations", 400, "--out", tmp_path / "x"]
    cases = [
        ([*small, "--algorithms", "magic"], "unknown algorithm 'magic'; available: cma-mae, lm-ma-mae"),
        ([*small, "--algorithms", "me-es,me-es"], "different names with commas between"),
        (
            [*small, "--robots", "hoper"],
            "unknown robot 'hoper' (did you mean 'hopper'?); available: ant",
        ),
        ([*small, "--evaluations", "0"], "0 is not in the range"),
        ([*small, "--evaluations", "5,hopper=x"], "'x' is not a valid integer"),
        ([*small, "--evaluations", "5,6"], "it must give each name one number, not '5,6'"),
        ([*small, "--evaluations", "5,ant=6"], "evaluations are given for ant, which is not among hopper"),
        ([*small, "--evaluations", "9" * 15], "evaluations: "),
        ([*small, "--episodes", "10001"], "episodes must be a whole number from 1 to 10000, not 10001"),
        ([*small, "--parallel", "cores"], "'cores' is not one of 'trials', 'episodes'"),
        ([*small, "--threads", "2000"], "2000 is not in the range: it must be from 1 to 1,024"),
        ([*small, "--out", tmp_path / "file"], "it is a file"),
        ([*small, "--out", tmp_path / "other"], "holds another study (study ablation, seed 1, episodes 2"),
        ([*rates, "--learning-rates", "0.1,2"], "2.0 is not in the range"),
        ([*rates, "--learning-rates", "0.1,0.10"], "it must be different numbers, not '0.1,0.10'"),
        ([*rates, "--learning-rates", "nan"], "nan is not"),
    ]
    refused(cases)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "other"}
