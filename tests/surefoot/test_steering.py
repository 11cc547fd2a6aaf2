"""A repertoire over speed and turn rate: trained, resumed, shown, and refused like any other."""

from pathlib import Path

import numpy as np

from repertoire.storage.files import FILE_NAME
from repertoire.storage.repertoires import fingerprint, read_repertoire, write_repertoire
from repertoire.training.runs import start_training
from surefoot.explorer.archive import describe_archive

MEASURES = "forward_speed=-0.5:0.5,turn_rate=-2:2"
SMALL = ("--evaluations", 32, "--emitters", 1, "--batch-size", 16, "--episode-steps", 50, "--archive", "6,6")


def test_from_training_to_a_recovery(tmp_path: Path, run) -> None:
    command = ("train", "hexapod", "--measures", MEASURES, "--reward", "steering", *SMALL)
    code, _, err = run(*command, "--out", tmp_path / "a")
    assert (code, err) == (0, "")
    repertoire = read_repertoire(tmp_path / "a" / FILE_NAME)
    assert repertoire.robot.description.measures == {"forward_speed": (-0.5, 0.5), "turn_rate": (-2.0, 2.0)}
    assert repertoire.robot.description.reward.preset == "steering"
    assert repertoire.problem.measure_labels == ("forward speed [m/s]", "turn rate [rad/s]")
    assert len(repertoire) > 3
    assert (np.sign(repertoire.elites.measures[:, 1]) != 1).any()
    code, out, _ = run("show", tmp_path / "a", "--picture", tmp_path / "a.png")
    assert "measures forward speed [m/s], turn rate [rad/s]" in out
    assert (
        "To the right: forward speed [m/s]. Upwards: turn rate [rad/s]."
        in describe_archive(repertoire)["axes"]
    )
    found = run(
        "recover", tmp_path / "a", "--damage", "left_front:dead", "--selector", "map-bo", "--trials", 3
    )
    assert found[0] == 0


def test_a_resumed_run_is_the_uninterrupted_one(tmp_path: Path, run) -> None:
    settings = {
        "evaluations": 32, "seed": 1, "emitters": 1, "batch_size": 16, "episode_steps": 50,
        "measures": MEASURES, "reward": "steering", "archive": "6,6",
    }  # fmt: skip
    for name, steps in (("whole", 2), ("half", 1)):
        path = tmp_path / name / FILE_NAME
        with start_training("hexapod", "sep-cma-mae", out=path.parent, **settings) as training:
            for _ in range(steps):
                training.step()
            training.save(path)
    assert run("train", "--resume", tmp_path / "half")[0] == 0
    assert run("train", "--resume", tmp_path / "whole")[0] == 0
    whole, half = (read_repertoire(tmp_path / name / FILE_NAME) for name in ("whole", "half"))
    for name, column in vars(whole.elites).items():
        np.testing.assert_array_equal(column, getattr(half.elites, name))


def test_another_task_is_another_repertoire(tmp_path: Path, run) -> None:
    """Neither merged with gaits of another reward, nor taken for them."""
    for reward in ("steering", "distance"):
        more = ("--measures", MEASURES, "--reward", reward, *SMALL)
        assert run("train", "hexapod", *more, "--out", tmp_path / reward)[0] == 0
    files = [tmp_path / reward / FILE_NAME for reward in ("steering", "distance")]
    code, _, _ = run("merge", *files, "--out", tmp_path / "both.h5")
    assert code == 2
    assert not (tmp_path / "both.h5").exists()
    steering = read_repertoire(files[0])
    write_repertoire(tmp_path / "again.h5", steering)
    assert fingerprint(read_repertoire(tmp_path / "again.h5")) == fingerprint(steering)


def test_what_cannot_be_measured_is_refused(tmp_path: Path, refused) -> None:
    out = ["--out", tmp_path / "x"]
    cases = [
        (["hexapod", "--measures", "turn_rate"], "the measure turn_rate needs a range"),
        (
            ["hexapod", "--measures", "turnrate=-1:1"],
            "unknown measure 'turnrate' (did you mean 'turn_rate'?)",
        ),
        (
            ["hexapod", "--measures", "turn_rate=1:-1"],
            "measures.turn_rate must go from low to high, not from 1",
        ),
        (
            ["hexapod", "--measures", "turn_rate=-1:1:1"],
            "measures must be feet or other measures with ranges",
        ),
        (["hexapod", "--measures", "x=0:1", "--archive", "5,5"], "cells along 2 measures, but"),
        (["hexapod", "--reward", "sideways"], "unknown preset of the reward 'sideways'"),
        (["maze", "--measures", "x=0:1"], "maze is not a robot, so it cannot be given --measures"),
    ]
    refused([([*arguments, *out], message) for arguments, message in cases], "train")
    assert not (tmp_path / "x").exists()
