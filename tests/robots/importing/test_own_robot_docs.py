"""What docs/tutorials/own-robot.md tells to do works, on a small robot in place of the public one."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from dogs import LEGS, write_dog
from PIL import Image

from repertoire.storage.repertoires import read_repertoire

DOCS = Path(__file__).parents[3] / "docs" / "tutorials" / "own-robot.md"
QUICK = {
    "train": ("--emitters", "1", "--batch-size", "4", "--episode-steps", "30"),
    "recover": ("--think-episodes", "20", "--refine", "0"),
}
SHORT = {"--evaluations 4000": "--evaluations 4", "--seconds 5": "--seconds 0.1", "--trials 8": "--trials 1"}


def write_stand_in(folder: Path) -> None:
    """A small robot with the files, the name and the legs of the tutorial's."""
    scene = write_dog(folder)
    text = scene.read_text().replace("Robo Dog scene", "go2 scene").replace("dog.xml", "go2.xml")
    (folder / "scene_flat.xml").write_text(text)
    xml = (folder / "dog.xml").read_text()
    for leg, name in zip(LEGS, ("FL", "FR", "RL", "RR"), strict=True):
        xml = xml.replace(leg, name)
    (folder / "go2.xml").write_text(xml.replace("Robo Dog", "go2"))


@pytest.mark.slow
def test_its_robot_is_drafted_looked_at_trained_rehearsed_broken_and_filmed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = DOCS.read_text()
    write_stand_in(tmp_path / "go2")
    (tmp_path / "legs.yaml").write_text(re.search(r"```yaml\n(.*?)```", text, re.DOTALL)[1])
    printed = []
    for block in re.findall(r"(?<!-->\n)```sh\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            for long, short in SHORT.items():
                line = line.replace(long, short)
            program, command, *arguments = shlex.split(line)
            code, out, err = run(command, *arguments, *QUICK.get(command, ()))
            assert (program, code, err) == ("surefoot", 0, ""), line
            printed.append(out)
    assert "nothing looks wrong" in printed[1]
    for file in ("go2/go2.png", "go2.png", "go2.mp4", "recovery/recovery.json"):
        assert (tmp_path / file).exists(), file


def test_from_a_model_to_a_repertoire_that_needs_no_other_file(run, works, tmp_path: Path) -> None:
    scene, yaml, file = write_dog(tmp_path), tmp_path / "robo_dog.yaml", tmp_path / "run" / "repertoire.h5"
    code, out, _ = run("robots", "--draft", scene)
    assert (code, f"surefoot robots {yaml} --check" in out) == (0, True)
    out = works("robots", yaml, "--check")
    for words in ("feet front_left: front_left_shin_geom_1", "6 x 6 x 6 x 6 cells", "nothing looks wrong"):
        assert words in out
    with Image.open(tmp_path / "robo_dog.png") as picture:
        assert len(np.unique(np.asarray(picture).reshape(-1, 3), axis=0)) > 50
    small = "--evaluations 4 --emitters 1 --batch-size 4 --episode-steps 20"
    works("train", yaml, "--out", tmp_path / "run", *small.split())
    for path in (scene, tmp_path / "dog.xml", yaml, *tmp_path.glob("assets/*")):
        path.unlink()
    robot = read_repertoire(file).robot
    assert robot.name == "robo_dog"
    assert (robot.model.nmesh, robot.physics.nmesh) == (1, 0), "one to be looked at"
    assert list(robot.start)[1:3] == ["front_left_hip", "front_left_knee"]
    works("deploy", file, "--best", "--damage", "front_left:lost", "--seconds", 0.1)
