"""The commands as a user types them."""

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import h5py
import numpy as np
import pytest

from repertoire.algorithms.catalogue import ALGORITHMS
from repertoire.storage.repertoires import read_repertoire
from repertoire.strategies.table import STRATEGIES
from robots.rendering.camera import rendering_problem
from surefoot.commands import demo, main
from surefoot.commands.main import COMMANDS, cli

SMALL = ["--evaluations", 96, "--emitters", 2, "--batch-size", 8, "--sigma0", 0.1, "--episode-steps", 40]


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Path:
    """The file of a small run that has finished."""
    folder = tmp_path_factory.mktemp("runs") / "ant"
    command = [sys.executable, "-m", "surefoot", "train", "ant", "--seed", "3", "--out", str(folder)]
    command += map(str, SMALL)
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert finished.stderr == ""
    assert "QD score" in finished.stdout
    return folder / "repertoire.h5"


def test_the_summaries_of_all_commands_lead_to_commands() -> None:
    for name in COMMANDS:
        assert cli.get_command(click.Context(cli), name).name == name
    modules = {path.stem for path in Path(main.__file__).parent.glob("*.py")}
    assert set(COMMANDS) <= modules


def test_help_lists_the_commands(run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    for command in ("train", "show", "recover", "deploy", "demo", "algorithms", "suite"):
        assert command in out
    assert out.count("...") == 1, "more than the usage is cut short"


def test_algorithms_and_strategies_are_listed(run) -> None:
    code, out, _ = run("algorithms")
    assert code == 0
    for name, algorithm in ALGORITHMS.items():
        assert f"{name} {algorithm.summary}" in out
    for name, strategy in STRATEGIES.items():
        assert f"{name} {strategy.summary}" in out


def test_another_algorithm_trains(run, tmp_path) -> None:
    choice = ["--algorithm", "map-elites-line", "--line-sigma", "0.3"]
    code, out, err = run("train", "ant", "--out", tmp_path / "run", *choice, *SMALL)
    assert (code, err) == (0, "")
    assert "note: " not in out
    settings = read_repertoire(tmp_path / "run" / "repertoire.h5").settings
    assert (settings.algorithm, settings.search["line_sigma"]) == ("map-elites-line", 0.3)
    assert "map-elites-line, seed 1" in run("show", tmp_path / "run" / "repertoire.h5")[1]


def test_show_prints_facts_and_draws(run, trained, tmp_path) -> None:
    code, out, _ = run("show", trained, "--picture", tmp_path / "archive.png")
    assert code == 0
    facts = ("QD score", "coverage", "21,256 parameters", "sep-cma-mae, seed 3", "96 of 96", "6 x 6 x 6 x 6")
    assert all(fact in out for fact in facts)
    assert (tmp_path / "archive.png").read_bytes().startswith(b"\x89PNG")


def test_recover_prints_trials_and_saves(run, trained, tmp_path) -> None:
    broken = ["recover", trained, "--damage", "front_left:lost"]
    code, out, _ = run(*broken, "--selector", "map-bo", "--trials", 3, "--out", tmp_path / "new", "--oracle")
    assert code == 0
    record = json.loads((tmp_path / "new" / "recovery.json").read_text())
    assert 1 <= len(record["trials"]) <= 3
    for trial in record["trials"]:
        assert f"trial {trial['number']} cell {','.join(map(str, trial['cell']))}" in out
    for level in ("healthy", "broken", "recovered", "oracle"):
        assert re.search(rf" {level} .*{record[level]['distance']:.2f} m", out)
    assert (tmp_path / "new" / "recovery.png").exists()


def test_deploy_writes_telemetry(run, trained, tmp_path) -> None:
    code, out, _ = run("deploy", trained, "--best", "--seconds", "0.5", "--csv", tmp_path / "walk.csv")
    assert code == 0
    assert "m ahead" in out
    with (tmp_path / "walk.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[0]["time [s]"]) == pytest.approx(0.0165)


def test_deploy_by_cell_and_damaged_differs_from_best(run, trained) -> None:
    repertoire = read_repertoire(trained)
    worst = ",".join(map(str, repertoire.cell(int(np.argmin(repertoire.elites.objectives)))))
    best = run("deploy", trained, "--best", "--seconds", "0.5")[1]
    assert run("deploy", trained, "--cell", worst, "--seconds", "0.5")[1] != best
    assert run("deploy", trained, "--best", "--seconds", "0.5", "--damage", "front_left:lost")[1] != best


def test_deploy_films_with_an_overlay_or_plain(run, trained, tmp_path) -> None:
    sizes = []
    for name, plain in (("walk.mp4", []), ("plain.mp4", ["--plain"])):
        film = ["--best", "--seconds", "0.3", "--video", tmp_path / name, *plain]
        code, out, _ = run("deploy", trained, *film)
        assert code == 0
        assert ("note: drawn by ray casting" in out) == (rendering_problem() is not None)
        sizes.append((tmp_path / name).stat().st_size)
    assert 1000 < sizes[1] < sizes[0]


def test_a_finished_run_says_so(run, trained) -> None:
    code, out, _ = run("train", "--resume", trained.parent)
    assert code == 0
    assert "has finished already" in out


def test_bad_input_ends_in_one_sentence_and_code_2(refused, trained, tmp_path) -> None:
    (tmp_path / "text.h5").write_text("not a repertoire")
    (tmp_path / "cut.h5").write_bytes(trained.read_bytes()[:-5000])
    (tmp_path / "file").write_text("")
    (tmp_path / "study" / "trials" / "sphere-10").mkdir(parents=True)
    (tmp_path / "study" / "trials" / "sphere-10" / "sep-cma-mae-00.h5").write_text("not a trial")
    identity = {"study": "optimization", "seed": 1, "evaluations": {"sphere-10": 400}}
    (tmp_path / "study" / "study.json").write_text(json.dumps(identity))
    small = ["suite", "optimization", "--seeds", 1, "--evaluations", 400, "--out", tmp_path / "x"]
    choice = ["train", "ant", "--out", tmp_path / "x", "--algorithm"]
    before = trained.read_bytes()
    empty = next(c for c in range(6**4) if c not in read_repertoire(trained).elites.cells)
    empty_cell = ",".join(map(str, np.unravel_index(empty, (6, 6, 6, 6))))
    cases = [
        (["train", "aunt"], "unknown robot or problem 'aunt'"),
        (["train"], "name a robot or another problem to train"),
        ([*choice, "magic"], "unknown algorithm 'magic'; available: cma-mae, lm-ma-mae, sep-cma-mae"),
        ([*choice, "sep-cma-mae", "--learning-rate", "1.5"], "it must be from 0 to 1"),
        ([*choice, "sep-cma-mae", "--archive", "4,4"], "has cells along 2 measures, but there are 4"),
        (
            [*choice, "sep-cma-mae", "--archive", "99,99,99,99"],
            "at most 1,000,000 cells in all, not 96,059,601",
        ),
        (
            [*choice, "cma-me", "--vectors", "5"],
            "cma-me has no setting vectors: it has emitters, batch_size, sigma0",
        ),
        ([*choice, "cma-me", "--strategy", "cma"], "unknown strategy 'cma'"),
        ([*choice, "openai-mae", "--batch-size", "7"], "batch_size must be even"),
        (
            [*choice, "cma-mae", "--emitters", "1000"],
            "1000 emitters of cma-mae would take 14,458 GB of memory",
        ),
        (
            ["suite", "fly"],
            "unknown command 'fly'; available: ablation, locomotion, mission, optimization, recovery, "
            "transfer",
        ),
        ([*small, "--domains", "sphere-10,cube-10"], "unknown problem 'cube-10'"),
        (
            [*small, "--domains", "arm-10,sphere-0"],
            "dim of the sphere must be a whole number from 2 to 1000000, not 0",
        ),
        (
            [*small, "--algorithms", "cma-mae", "--domains", "arm-90000"],
            "5 emitters of cma-mae would take 1,296 GB",
        ),
        ([*small, "--domains", "sphere-10", "--out", tmp_path / "study"], "sep-cma-mae-00.h5"),
        (["train", "ant", "--sigma0", "nan", "--out", tmp_path / "x"], "nan is not a finite number"),
        (["train", "ant", "--out", ""], "a path cannot be empty"),
        (["demo", "--out", trained.parent], "already holds a run"),
        (["deploy", trained, "--best", "--seconds", "1e300"], "at most 3600"),
        (["deploy", trained, "--best", "--csv", tmp_path / "no" / "x.csv"], "x.csv cannot be written"),
        (["recover", trained, "--damage", "front_left:lost", "--out", tmp_path / "file"], "it is a file"),
        (["train", "ant", "--out", trained.parent], "already holds a run"),
        (["train", "ant", "--out", tmp_path / "file" / "run"], "cannot make the folder"),
        (["train", "--resume", tmp_path], "holds no run to resume"),
        (["train", "--resume", trained.parent, "--seed", "9"], "leave out --seed"),
        (["train", "ant", "--resume", trained.parent], "leave out PROBLEM"),
        (["show", tmp_path / "text.h5"], "text.h5"),
        (["show", tmp_path / "cut.h5"], "cut.h5"),
        (["show", tmp_path], str(tmp_path)),
        (["show", trained, "--picture", tmp_path / "no" / "x.png"], "x.png"),
        (["show", trained, "--picture", tmp_path / "x.png", "--history", tmp_path / "no" / "x.png"], "x.png"),
        (["show", trained, "--picture", tmp_path / "x.png", "--history", tmp_path / "x.png"], "named twice"),
        (["recover", trained, "--damage", "tail:lost"], "available: front_left, back_left"),
        (["deploy", trained], "either --best, --cell or --row"),
        (["deploy", trained, "--row", 9999], "there is no row 9999: the repertoire has"),
        (["deploy", trained, "--cell", "1,2"], "the archive has 6 x 6 x 6 x 6 cells"),
        (["deploy", trained, "--cell", "1,2,x,4"], "whole numbers with commas"),
        (["deploy", trained, "--cell", "9,9,9,9"], "there is no cell 9,9,9,9"),
        (["deploy", trained, "--cell", empty_cell], f"cell {empty_cell} is empty; the nearest that are not"),
        (["deploy", trained, "--best", "--video", tmp_path / "walk.avi"], ".mp4"),
        (["deploy", trained, "--best", "--video", trained], "repertoire.h5 is named twice"),
        (["deploy", trained, "--best", "--csv", tmp_path / "x.xml"], "written as .csv, not x.xml"),
        (["fly"], "unknown command 'fly'"),
    ]
    refused(cases)
    assert trained.read_bytes() == before
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["cut.h5", "file", "study", "text.h5"], "something was left behind"
    trials = [path.name for path in (tmp_path / "study").glob("trials/*/*")]
    assert trials == ["sep-cma-mae-00.h5"], "a trial was run although another cannot be read"


def test_a_repertoire_that_was_tampered_with_is_refused(run, trained, tmp_path) -> None:
    copy = tmp_path / "copy.h5"
    copy.write_bytes(trained.read_bytes())
    with h5py.File(copy, "r+") as file:
        file["elites/solutions"][0, 0] = np.nan
    code, _, err = run("show", copy)
    assert code == 2
    assert "copy.h5" in err


def test_overwrite_replaces_a_run(run, tmp_path) -> None:
    for seed in ("1", "2"):
        code, _, err = run("train", "ant", "--seed", seed, "--out", tmp_path, "--overwrite", *SMALL)
        assert code == 0, err
    assert read_repertoire(tmp_path / "repertoire.h5").settings.seed == 2


@pytest.mark.slow
def test_the_demo_runs_from_start_to_end_and_draws_without_opengl(run, tmp_path, monkeypatch) -> None:
    small = {"episode_steps": 40, "kept": 9, "thinking": 20, "refinement": 80, "trials": 3, "seconds": 0.3}
    monkeypatch.setattr(demo, "TRAINED_HERE", replace(demo.TRAINED_HERE, **small))
    monkeypatch.setattr("robots.rendering.camera.rendering_problem", lambda: "install libegl1")
    code, out, err = run("demo", "--out", tmp_path / "demo", "--evaluations", "200")
    assert code == 0, err
    made = {path.name for path in (tmp_path / "demo").iterdir()}
    assert {"repertoire.h5", "repertoire.png", "recovery.json", "recovery.png"} <= made
    assert "trial 1 cell" in out
    assert {"1_healthy.mp4", "2_damaged_old_gait.mp4", "3_damaged_new_gait.mp4"} <= made
    assert out.count("note: drawn by ray casting, as install libegl1") == 1


def test_controllers_and_cells_can_be_chosen(run, tmp_path) -> None:
    small = ["--evaluations", 4, "--emitters", 1, "--batch-size", 4, "--episode-steps", 20]
    code, _, err = run(
        "train", "hexapod", "--hidden", "8,4", "--archive", "2,3,2,3,2,3", "--out", tmp_path, *small
    )
    assert (code, err) == (0, "")
    repertoire = read_repertoire(tmp_path / "repertoire.h5")
    assert repertoire.controller.startswith("mlp-")
    assert repertoire.controller.endswith("-8-4-18")
    assert repertoire.grid == (2, 3, 2, 3, 2, 3)
