"""From an MJCF to a repertoire with the command line alone."""

from pathlib import Path

import numpy as np
import pytest
from dogs import write_dog
from PIL import Image

from repertoire.storage.repertoires import read_repertoire

SMALL = ("--evaluations", 4, "--emitters", 1, "--batch-size", 4, "--episode-steps", 20, "--threads", 1)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_dog(tmp_path)


def test_from_a_model_to_a_repertoire_that_needs_no_other_file(run, scene: Path, tmp_path: Path) -> None:
    code, out, _ = run("robots", "--draft", scene)
    yaml = tmp_path / "robo_dog.yaml"
    assert code == 0
    assert "actuators 8 position servos" in out
    assert "start keyframe 'home'" in out
    assert out.endswith(f"written to {yaml}: look through it, and then: surefoot robots {yaml} --check")
    assert run("train", yaml, "--out", tmp_path / "run", *SMALL)[0] == 0
    for path in (scene, tmp_path / "dog.xml", yaml, *tmp_path.glob("assets/*")):
        path.unlink()
    repertoire = read_repertoire(tmp_path / "run" / "repertoire.h5")
    assert repertoire.problem.name == repertoire.robot.name == "robo_dog"
    assert (repertoire.robot.model.nmesh, repertoire.robot.physics.nmesh) == (1, 0), "one to be looked at"
    assert list(repertoire.robot.start)[1:3] == ["front_left_hip", "front_left_knee"]
    file = tmp_path / "run" / "repertoire.h5"
    assert "robot robo_dog, Robo Dog" in run("show", file)[1]
    code, _, err = run("deploy", file, "--best", "--damage", "front_left:lost", "--seconds", 0.1)
    assert (code, err) == (0, "")


def test_a_check_says_what_was_understood_and_draws_it(run, scene: Path, tmp_path: Path) -> None:
    run("robots", "--draft", scene)
    code, out, _ = run("robots", tmp_path / "robo_dog.yaml", "--check")
    assert code == 0
    for words in (
        "legs front_left: front_left_hip, front_left_knee, ending in front left foot",
        "feet front_left: front_left_shin_geom_1",
        "measures share of time on the ground: front_left, front_right, back_left, back_right",
        "6 x 6 x 6 x 6 cells",
        "stands front_left: 0.15 m ahead",
        "16 random controllers lasted",
        "nothing looks wrong",
    ):
        assert words in out
    with Image.open(tmp_path / "robo_dog.png") as picture:
        assert len(np.unique(np.asarray(picture).reshape(-1, 3), axis=0)) > 50
    assert "note: Its lowest foot" in run("robots", "ant", "--check")[1]


def test_mistakes_end_in_one_sentence(run, scene: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (["robots", "--draft", tmp_path / "cat.xml"], "MJCF files in its folder: dog.xml, scene.xml"),
        (["robots", "--draft", tmp_path / "dog.xml"], "there is no floor"),
        (["robots", "ant", "--draft", scene], "--draft writes a YAML and does nothing else"),
        (["robots", "ant", "--overwrite"], "--overwrite belongs to --draft"),
        (["robots", "--check"], "say which robot to check: surefoot robots NAME --check"),
        (["robots", scene, "--check"], "surefoot robots --draft"),
        (["train", scene], "surefoot robots --draft"),
        (["train", tmp_path / "cat.yaml"], "cannot read"),
        (["train", "cat"], "unknown robot or problem 'cat' (did you mean 'ant'?); available: ant"),
    ):
        code, _, err = run(*arguments)
        assert (code, err.count("\n")) == (2, 1), err
        assert message in err
    assert {path.name for path in tmp_path.iterdir()} == {"assets", "dog.xml", "scene.xml"}
