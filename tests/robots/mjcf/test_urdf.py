"""URDFs: what MuJoCo reads is drafted as an MJCF is, and what it does not read is told in a sentence."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robots.errors import InvalidRobotError, InvalidValueError
from robots.importing.draft import draft_robot
from robots.mjcf.urdf import convert_urdf
from robots.robot import read_robot
from tests.robots.importing.dogs import _ball
from tests.robots.stepping import run_episodes

MESH = "package://dog_description/meshes/trunk.{}"
PLACES = {"FL": (0.18, 0.1), "FR": (0.18, -0.1), "RL": (-0.18, 0.1), "RR": (-0.18, -0.1)}


def link(name: str, mass: float, inertia: float, *shapes: str) -> str:
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="{inertia}" iyy="{inertia}" '
        f'izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>{"".join(shapes)}</link>'
    )


def shape(tag: str, geometry: str, z: float = 0) -> str:
    return f'<{tag}><origin xyz="0 0 {z}"/><geometry>{geometry}</geometry></{tag}>'


def hinge(name: str, parent: str, child: str, at: str) -> str:
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 1 0"/><origin xyz="{at}"/>'
        '<limit lower="-1.2" upper="1" effort="20" velocity="10"/></joint>'
    )


def dog(visual: str = "dae", collision: str = "obj") -> str:
    """A robot with a mesh and four legs."""
    mesh = '<mesh filename="{}"/>'.format
    seen, felt = (mesh(MESH.format(kind)) for kind in (visual, collision))
    parts = [link("trunk", 4, 0.1, shape("visual", seen), shape("collision", felt))]
    ball = '<sphere radius="0.02"/>'
    rod = '<cylinder radius="0.015" length="0.18"/>'
    for leg, (x, y) in PLACES.items():
        parts += [
            link(f"{leg}_thigh", 0.3, 0.002, shape("visual", rod, -0.1)),
            link(f"{leg}_shin", 0.25, 0.001, shape("collision", rod, -0.09)),
            f'<link name="{leg}_foot">{shape("collision", ball)}</link>',
            hinge(f"{leg}_hip", "trunk", f"{leg}_thigh", f"{x} {y} 0"),
            hinge(f"{leg}_knee", f"{leg}_thigh", f"{leg}_shin", "0 0 -0.2"),
            f'<joint name="{leg}_ankle" type="fixed"><parent link="{leg}_shin"/><child link="{leg}_foot"/>'
            '<origin xyz="0 0 -0.18"/></joint>',
        ]
    return f'<robot name="Urdog">{"".join(parts)}</robot>'


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    """A package in the folders that ROS has, with the robot in it."""
    package = tmp_path / "dog_description"
    for folder in ("urdf", "meshes"):
        (package / folder).mkdir(parents=True)
    (package / "meshes" / "trunk.obj").write_text(_ball(16, 8))
    (package / "meshes" / "trunk.dae").write_text("<COLLADA/>")
    (package / "urdf" / "dog.urdf").write_text(dog())
    return package / "urdf" / "dog.urdf"


def test_a_urdf_becomes_a_robot_that_stands_and_walks(works, urdf: Path) -> None:
    said = works("robots", "--draft", urdf)
    assert "left out, as MuJoCo reads .stl, .obj, .msh alone: trunk.dae." in said
    model = mujoco.MjModel.from_xml_path(str(urdf.with_suffix(".xml")))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    assert data.body("FL_foot").xpos[2] == pytest.approx(0.02), "its soles touch the floor"
    robot = read_robot(urdf.with_name("urdog.yaml"))
    assert list(robot.description.legs) == list(PLACES)
    masses = {robot.model.body(n).name: robot.model.body_mass[n] for n in range(1, robot.model.nbody)}
    legs = {"thigh": 0.3, "shin": 0.25, "foot": 0}
    shins = {f"{leg}_{part}": mass for leg in PLACES for part, mass in legs.items()}
    assert masses == pytest.approx({"trunk": 4, **shins})
    np.testing.assert_allclose(robot.joint_ranges, [[-1.2, 1.0]] * 8)
    np.testing.assert_allclose(robot.model.actuator_forcerange, [[-20, 20]] * 8)
    still = np.zeros(robot.controller.parameter_count, np.float32)
    assert not run_episodes(robot.with_episode_steps(50), still).fell.any()
    urdf.with_name("dog.urdf").unlink()
    assert read_robot(urdf.with_name("urdog.yaml")).model.nmesh == 1, "its MJCF needs no other file"


@pytest.mark.parametrize(
    "moments", ['ixx="1" iyy="0.1" izz="0.1"', 'ixx="0.4" iyy="0.4" izz="0.4" ixy="0.5"']
)
def test_moments_of_inertia_that_no_body_has_are_set_to_their_mean(urdf: Path, moments: str) -> None:
    trunk = 'ixx="0.1" iyy="0.1" izz="0.1"' + (' ixy="0"' if "ixy" in moments else "")
    urdf.write_text(urdf.read_text().replace(trunk, moments))
    path, remarks = convert_urdf(urdf)
    assert remarks[1].endswith("are set to their mean: trunk.")
    model = mujoco.MjModel.from_xml_path(str(path))
    np.testing.assert_allclose(model.body("trunk").inertia, 0.4, rtol=1e-6)


def test_packages_are_where_the_user_says(urdf: Path, tmp_path: Path, run) -> None:
    (tmp_path / "alone.urdf").write_text(urdf.read_text())
    beside = urdf.with_name("beside.urdf")
    beside.write_text(urdf.read_text().replace("package://dog_description", ".."))
    assert convert_urdf(beside)[0].read_text().count("<mesh ") == 1
    with pytest.raises(InvalidRobotError, match="--package dog_description=FOLDER"):
        convert_urdf(tmp_path / "alone.urdf")
    elsewhere = {"dog_description": urdf.parents[1]}
    path, remarks = convert_urdf(tmp_path / "alone.urdf", packages=elsewhere)
    assert len(remarks) == 1
    assert len(draft_robot(path).path.read_text()) > 1000
    with pytest.raises(InvalidValueError, match="exists already"):
        convert_urdf(tmp_path / "alone.urdf", packages=elsewhere)
    told = f"robots --draft {tmp_path / 'alone.urdf'} --overwrite"
    assert run(f"{told} --package other={urdf.parent}")[0] == 2
    assert run(f"{told} --package dog_description={urdf.parents[1]}")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("trunk.obj", "trunk.dae", r"MuJoCo reads meshes in \.stl, \.obj, \.msh alone"),
        ("trunk.obj", "legs.obj", "there is no file"),
        ("meshes/trunk.obj", "../../secret.obj", "which is outside"),
        ('FL_hip" type="revolute"', 'FL_hip" type="screw"', "MuJoCo cannot read the URDF|the MJCF"),
        ('<child link="FL_th', '<child link="FR_th', "one link of a URDF is moved by no joint, not 2"),
        ("</robot>", '<x:macro xmlns:x="http://ros.org/wiki/xacro"/></robot>', "expand them first"),
        ("<robot", "<!DOCTYPE robot><robot", "declares a type of document"),
        ("</robot>", "", "is not XML"),
        ("robot", "mujoco", "is no URDF"),
        ('mass value="4"', 'mass value="-4"', "mass"),
        ('effort="20"', 'effort="much"', "effort"),
        ('ixx="0.1"', 'ixx="much"', "a moment of inertia must be a number"),
        ('ixx="0.1" iyy="0.1" izz="0.1"', 'ixx="0" iyy="0" izz="-0.1"', "inertia"),
    ],
)
def test_what_cannot_be_read_is_told_in_a_sentence(urdf: Path, old: str, new: str, said: str) -> None:
    (urdf.parents[2] / "secret.obj").write_text(_ball(8, 4))
    urdf.write_text(urdf.read_text().replace(old, new))
    with pytest.raises(InvalidRobotError, match=said):
        convert_urdf(urdf)
    assert not urdf.with_suffix(".xml").exists()
