"""`surefoot suite optimization`, `locomotion` and `ablation` as a user types them."""

import csv
import json

import pytest

SMALL = ["--seeds", 2, "--episodes", 2, "--episode-steps", 30]
LOCOMOTION = ["suite", "locomotion", "--algorithms", "sep-cma-mae, map-elites", *SMALL]


@pytest.mark.slow
def test_a_study_runs_and_reports(run, works, tmp_path) -> None:
    study = tmp_path / "new" / "study"
    budgets = ["--robots", "hopper,walker", "--evaluations", "200,hopper=400"]
    command = [*LOCOMOTION, "--algorithms", "map-elites", *budgets, "--out", study]
    out = works(*command)
    assert out.count(" QD ") == 4
    assert all(f"saved {study / name}" in out for name in ("trials.csv", "report.md"))
    with (study / "trials.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["domain"], row["algorithm"], row["evaluations"]) for row in rows] == [
        (robot, "map-elites", evaluations)
        for robot, evaluations in (("hopper", "400"), ("walker", "200"))
        for _ in range(2)
    ]
    assert json.loads((study / "study.json").read_text())["evaluations"] == {"hopper": 400, "walker": 200}
    again = run(*command)
    assert again[0] == 0
    assert " QD " not in again[1]
    assert "the study has 4 trials, 0 of them not finished" in again[1]
    before = {path: path.read_bytes() for path in study.glob("*.*")}
    for path in before:
        if path.name != "study.json":
            path.unlink()
    works(*command, "--seeds", 5, "--report")
    assert {path: path.read_bytes() for path in study.glob("*.*")} == before
