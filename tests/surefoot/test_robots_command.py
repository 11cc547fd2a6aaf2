"""`surefoot robots` lists, describes and draws them."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image

from robots.catalogue import robot_names
from robots.facts import robot_facts
from robots.rendering.camera import Camera
from robots.robot import load_robot
from robots.stance import standing_on_floor


def test_it_lists_every_robot(run) -> None:
    code, out, _ = run("robots")
    assert code == 0
    places = [out.index(f"{load_robot(name).description.title}") for name in robot_names()]
    assert places == sorted(places)
    facts = "28 observations, 8 actions; mlp 28-128-128-8, 21,256 parameters; 4 measures, 6 x 6 x 6 x 6"
    assert facts in out[: places[1]]


@pytest.mark.parametrize("name", robot_names())
def test_it_tells_the_facts_of_a_robot(run, name: str) -> None:
    code, out, _ = run("robots", name)
    description = load_robot(name).description
    assert code == 0
    assert all(len(line) <= 100 for lines in robot_facts(load_robot(name)).values() for line in lines)
    for word in (*description.joints, *description.feet, *description.legs, *description.measures):
        assert word in out
    for fact in (description.min_objective.value, description.min_objective.published):
        assert fact is None or f"{fact:g}" in out


def test_it_tells_when_a_robot_is_alive_and_what_it_earns() -> None:
    ant, cheetah = (robot_facts(load_robot(name)) for name in ("ant", "half_cheetah"))
    assert ant["alive"] == ["while the torso is above 0.26 m; otherwise the episode ends"]
    assert "the episode goes on" in " ".join(cheetah["alive"])
    assert "front_shin" in " ".join(cheetah["alive"])
    assert "+1 while alive, and as much less when not; +1 per m/s ahead" in " ".join(ant["reward"])
    assert ant["control step"] == ["0.0165 s: 4 physics steps"]
    assert "front_left: front_left_hip, front_left_ankle, ending in front left foot" in ant["legs"]


def test_a_folder_of_that_name_changes_nothing(run, tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "ant").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run("robots", "ant")[0] == 0


def test_it_draws_a_robot(run, tmp_path: Path) -> None:
    code, out, _ = run("robots", "ant", "--picture", tmp_path / "ant.png")
    assert code == 0
    assert out.endswith(f"drawn to {tmp_path / 'ant.png'}")
    robot = load_robot("ant")
    with Image.open(tmp_path / "ant.png") as picture, Camera(robot.model, width=800, height=600) as camera:
        np.testing.assert_array_equal(np.asarray(picture), camera.frame(standing_on_floor(robot)))


def test_it_says_once_who_drew(run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("robots.rendering.camera.rendering_problem", lambda: "OpenGL is on holiday")
    code, out, _ = run("robots", "hopper", "--picture", tmp_path / "hopper.png")
    assert code == 0
    assert out.count("note: drawn by ray casting, as OpenGL is on holiday") == 1
    assert (tmp_path / "hopper.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", robot_names())
def test_a_robot_stands_on_the_floor_within_its_ranges(name: str) -> None:
    robot = load_robot(name)
    data, model = standing_on_floor(robot), robot.model
    floor = model.geom(robot.description.floor).id
    soles = [model.geom(sole).id for soles in robot.description.feet.values() for sole in soles]
    gaps = [mujoco.mj_geomDistance(model, data, floor, sole, 10.0, None) for sole in soles]
    assert min(gaps) == pytest.approx(0, abs=1e-6)
    for joint, (low, high) in zip(robot.description.joints, robot.joint_ranges, strict=True):
        assert low <= data.joint(joint).qpos[0] <= high


def test_mistakes_end_in_one_sentence(refused, tmp_path: Path) -> None:
    cases = [
        (["snail"], "unknown robot 'snail'; available: ant"),
        (["--picture", tmp_path / "x.png"], "say which robot to draw"),
        (["ant", "--picture", tmp_path / "no" / "x.png"], "cannot be written"),
    ]
    refused(cases, "robots")
    assert list(tmp_path.iterdir()) == []
