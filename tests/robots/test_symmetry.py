"""Symmetry: a gait's mirror image does on the other side of a robot what the gait does on one."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

from adapt.damage.text import parse_damage
from robots.controllers.periodic import PeriodicDescription, Reflexes
from robots.importing.draft import draft_robot
from robots.robot import Robot, load_robot, read_robot, robot_from_text
from robots.symmetry import find_symmetry, mirror_images
from tests.robots.stepping import described, run_episodes

STEPS = 60
MODELS = Path(__file__).parents[2] / "examples" / "robots"


def exact(robot: Robot) -> Robot:
    """The robot in short episodes that all begin in the same pose."""
    return described(robot, reset_joint_noise=0.0, episode_steps=STEPS)


def gaits(robot: Robot, count: int = 6) -> np.ndarray:
    rng = np.random.default_rng(5)
    found = np.stack([robot.controller.initial(rng) for _ in range(count)])
    return found + rng.normal(0, 0.1, found.shape).astype(np.float32)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("front_left:lost", "front_right:lost"),
        ("joint=back_left_hip:locked@0.2", "joint=back_right_hip:locked@-0.2"),
    ],
)
def test_a_damage_of_the_other_side_has_the_mirror_image_for_a_gait(ant: Robot, one: str, other: str) -> None:
    robot = exact(ant)
    solutions = gaits(robot)
    images = mirror_images(robot, solutions)
    assert images.dtype == solutions.dtype
    ran = []
    for text, tried in ((one, solutions), (other, images), (other, solutions)):
        ran.append(run_episodes(parse_damage(text, robot).apply(robot), tried))
    np.testing.assert_allclose(ran[1].distances, ran[0].distances, atol=2e-3)
    np.testing.assert_allclose(ran[1].objectives, ran[0].objectives, rtol=0.01, atol=1e-2)
    assert np.abs(ran[2].distances - ran[0].distances).max() > 0.05, "the gait itself does something else"


def with_key(robot: Robot, key: str, value: object, xml: str | None = None) -> Robot:
    text = yaml.safe_dump({**yaml.safe_load(robot.yaml), key: value})
    return robot_from_text(xml or robot.xml, text, origin="a test")


def reflexive(robot: Robot, **reflexes) -> Robot:
    shape = PeriodicDescription(period=0.33, reflexes=Reflexes(**reflexes))
    return described(robot, controller=shape)


def test_an_image_answers_an_image_of_an_observation(ant: Robot) -> None:
    sides = {"left": ("front_left", "back_left"), "right": ("front_right", "back_right")}
    for robot in (
        ant,
        load_robot("hexapod"),
        load_robot("quadruped"),
        reflexive(ant, offsets=("roll", "pitch", "yaw")),
        reflexive(ant, **sides, offsets=("pitch",)),
    ):
        mirror = find_symmetry(robot)
        solutions = gaits(robot)
        images = robot.controller.mirrored(solutions, mirror)
        twice = robot.controller.mirrored(images, mirror)
        rng = np.random.default_rng(0)
        for step, (gait, image, same) in enumerate(zip(solutions, images, twice, strict=True)):
            seen = rng.normal(0, 0.5, robot.observation_dim).astype(np.float32)
            wanted = mirror.actions.of(robot.controller.act(gait, seen, step))
            found = robot.controller.act(image, mirror.observations.of(seen).astype(np.float32), step)
            np.testing.assert_allclose(found, wanted, atol=1e-5)
            again = robot.controller.act(same, seen, step)
            np.testing.assert_allclose(again, robot.controller.act(gait, seen, step), atol=1e-5)


def test_robots_that_are_not_their_own_mirror_image_have_none(ant: Robot) -> None:
    def edited(old: str, new: str) -> Robot:
        assert old in ant.xml
        return robot_from_text(ant.xml.replace(old, new, 1), ant.yaml, origin="a test")

    assert find_symmetry(load_robot("hopper")) is None, "it moves in a plane"
    aside = edited('<body name="torso" pos="0 0 ', '<body name="torso" pos="0 2 ')
    assert find_symmetry(aside) is not None, "wherever it starts"
    heavy = edited('mass="13.51844"', 'mass="14.51844"')
    moved = edited('name="front_left_thigh" pos="0.2 0.2 0"', 'name="front_left_thigh" pos="0.22 0.2 0"')
    weak = edited(
        '<motor name="front_left_hip" joint="front_left_hip"/>',
        '<motor name="front_left_hip" joint="front_left_hip" gear="200"/>',
    )
    narrow = with_key(ant, "ranges", {"front_left_hip": [-0.2, 0.6]})
    rates = {**ant.description.position_rates, "front_left_ankle": 0.5}
    slow = with_key(ant, "position_rates", rates)
    assert all(find_symmetry(robot) is not None for robot in (heavy, narrow)), "as robots are built"
    for robot in (moved, weak, slow):
        assert find_symmetry(robot) is None
        assert mirror_images(robot, gaits(robot)) is None


def test_controllers_that_have_no_images_are_told(ant: Robot) -> None:
    joints = ant.description.joints
    lame = described(ant, controller=PeriodicDescription(period=0.33, opposite={joints[1]: joints[0]}))
    assert find_symmetry(lame) is not None
    assert mirror_images(lame, gaits(lame)) is None, "the front right leg moves both joints on their own"
    crossed = reflexive(ant, left=("front_left", "back_right"), right=("front_right", "back_left"))
    assert mirror_images(crossed, gaits(crossed)) is not None
    alike = reflexive(ant, left=("front_left", "front_right"), right=("back_left", "back_right"))
    assert mirror_images(alike, gaits(alike)) is None, "both front legs are on one side"


def test_an_imported_robot_needs_no_declaration(tmp_path: Path) -> None:
    for name in ("mule", "octopod"):
        model = tmp_path / f"{name}.xml"
        shutil.copy(MODELS / model.name, model)
        robot = exact(read_robot(draft_robot(model).path))
        solutions = gaits(robot)
        ran = [run_episodes(robot, tried) for tried in (solutions, mirror_images(robot, solutions))]
        np.testing.assert_allclose(ran[1].distances, ran[0].distances, atol=2e-3)
