"""Models as others publish them: tendons, filtered actuators, slides in any order, obstacles, free bodies."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest
from dogs import DOG, dog, write_dog

from adapt.damage.edits import fix_joint
from adapt.damage.text import parse_damage
from robots.errors import InvalidRobotError
from robots.importing.draft import draft_robot
from robots.motors import Motors
from robots.robot import load_robot, read_robot, robot_from_text
from tests.robots.stepping import run_episodes

PULLED = Path(__file__).with_name("pulled.xml").read_text()


@pytest.fixture
def pulled(tmp_path: Path) -> Path:
    path = tmp_path / "pulled.xml"
    path.write_text(PULLED)
    return path


def test_a_robot_among_obstacles_with_joints_that_tendons_pull_is_drafted_and_walks(pulled: Path) -> None:
    draft = draft_robot(pulled)
    robot = read_robot(draft.path)
    assert any("in place of" in line or "take the place" in line for line in draft.remarks)
    assert not any("other fixed geoms" in line for line in draft.remarks)
    assert robot.description.joints[:2] == ("hip_0", "knee_0")
    assert {robot.model.body(number).name for number in range(robot.model.nbody)}.isdisjoint({"ball", "post"})
    assert robot.model.nu == 8, "a servo for each joint, none for tendons"
    assert robot.model.ntendon == 4
    most = Motors.of(robot.model, robot.description.joints).max_force[1]
    np.testing.assert_allclose(most, 0.5 * 60, err_msg="half of the tendon's 60 N")
    still = np.zeros(robot.controller.parameter_count, np.float32)
    episodes = run_episodes(robot.with_episode_steps(100), still)
    assert not episodes.fell.any(), "its servos hold it"


def test_a_second_free_body_is_refused_in_a_sentence(pulled: Path) -> None:
    text = draft_robot(pulled).path.read_text().replace("alone: true", "alone: false")
    with pytest.raises(InvalidRobotError, match=r"only the torso 'trunk' may have a free joint, .*: ball"):
        robot_from_text(PULLED, text, origin="it")


def test_slides_have_any_order() -> None:
    walker = load_robot("walker")
    x, z = (f'<joint name="{name}"' for name in ("root_x", "root_z"))
    lines = walker.xml.splitlines()
    places = [next(i for i, line in enumerate(lines) if mark in line) for mark in (x, z)]
    lines[places[0]], lines[places[1]] = lines[places[1]], lines[places[0]]
    other = robot_from_text("\n".join(lines), walker.yaml, origin="it")
    assert other.model.joint(0).name == "root_z"
    rng = np.random.default_rng(0)
    parameters = np.stack([walker.controller.initial(rng) for _ in range(3)])
    results = [run_episodes(robot, parameters) for robot in (walker, other)]
    for column in ("objectives", "distances", "steps", "paths"):
        np.testing.assert_allclose(getattr(results[1], column), getattr(results[0], column), rtol=1e-6)


def settled(model: mujoco.MjModel) -> float:
    """Where the joint b comes to rest."""
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 1000)
    return data.joint("b").qpos[0]


def test_tendons_go_on_without_a_joint_that_is_locked() -> None:
    """A coupling a + 2 b = 0 sends b to -a / 2 wherever a is stuck."""
    spec = mujoco.MjSpec.from_string(
        """<mujoco><option gravity="0 0 0"/><worldbody><body name="x"><joint name="a"/><geom size=".1"/>
        <body name="y" pos="0 0 1"><joint name="b" damping="1"/><geom size=".1"/></body></body></worldbody>
        <tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
        <equality><tendon tendon1="t"/></equality></mujoco>"""
    )
    fix_joint(spec, spec.joint("a"), 0.3)
    assert settled(spec.compile()) == pytest.approx(-0.15, abs=0.01)
    fix_joint(spec, spec.joint("b"), 0.1)
    model = spec.compile()
    assert (model.ntendon, model.neq) == (0, 0)


def test_limits_springs_and_references_of_tendons_count_with_a_joint_that_is_locked() -> None:
    spec = mujoco.MjSpec.from_string(
        """<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body>
        <joint name="a" ref="0.1"/><geom size=".1"/><body pos="0 0 1"><joint name="b" damping="1"/>
        <geom size=".1"/></body></body></worldbody><tendon><fixed name="t" range="-1 0.5" stiffness="1">
        <joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
        <equality><tendon tendon1="t"/></equality></mujoco>"""
    )
    fix_joint(spec, spec.joint("a"), 0.3)
    model = spec.compile()
    assert model.tendon_limited.tolist() == [1]
    assert model.tendon_range[0] == pytest.approx([-1.3, 0.2])
    assert model.tendon_lengthspring[0] == pytest.approx([-0.3, -0.3])  # that of springref, 0, less 0.3
    assert settled(model) == pytest.approx(-0.1, abs=0.01)  # a is 0.2 from its reference


def test_every_joint_of_a_robot_with_tendons_can_be_locked(pulled: Path) -> None:
    robot = read_robot(draft_robot(pulled).path)
    for damage in ("joint=hip_0:locked@0.2", "0:locked", "joint=knee_1:lost"):
        damaged = parse_damage(damage, robot).apply(robot)
        assert damaged.physics.njnt < robot.physics.njnt
        assert damaged.physics.ntendon <= robot.physics.ntendon


INERTIAL = '<inertial pos="0 0 0" mass="4" diaginertia="0.1 0.1 0.1"/>'
KNEE = '<joint name="front_left_knee" axis="0 1 0"/>'
TRUNK = '      <body name="front_left_thigh"'
CAMERA = (
    f"""<body name="camera" pos="0.2 0 0.1"><geom size="0.02" contype="0" conaffinity="0"/></body>\n{TRUNK}"""
)
ROW = f"""<replicate count="4" offset="0.02 0 0"><geom size="0.01" mass="0.01"/></replicate>\n{TRUNK}"""
BOX = '<geom type="box" size="0.2 0.1 0.05"/>'
PULLEY = '<geom name="pulley" size="0.03" pos="0.18 0.1 0" contype="0" conaffinity="0" mass="0"/>'
CABLE = """  <tendon>
    <spatial name="cable"><site site="from"/><geom geom="pulley"/><site site="to"/></spatial>
  </tendon>
  <actuator>
"""
SHIN = '<body name="front_left_shin" pos="0 0 -0.2">'


def of_one_leg() -> str:
    """The dog with one leg that is written down, and is there four times."""
    before, rest = DOG.split(TRUNK, 1)
    leg, rest = f"{TRUNK}{rest}".split('      <body name="front_right_thigh"', 1)
    after = rest.split("    </body>\n  </worldbody>", 1)[1].partition("  <actuator>")[0]
    legs = f'<replicate count="4" euler="0 0 90" sep="_">{leg}</replicate></body></worldbody>'
    motors = (f'<position joint="front_left_{joint}_{n}"/>' for n in range(4) for joint in ("hip", "knee"))
    return f"{before}{legs}{after}<actuator>{''.join(motors)}</actuator>{DOG.split('</actuator>')[1]}"


@pytest.mark.parametrize(
    "changes",
    [
        {"<freejoint/>": '<joint type="free"/>'},
        {'autolimits="true"': 'autolimits="true" discardvisual="true"'},
        {'autolimits="true"': 'autolimits="true" discardvisual="true"', TRUNK: CAMERA},
        {
            "<joint range": '<mesh inertia="shell"/><joint range',
            INERTIAL: "",
            'mesh="trunk" ': 'mesh="trunk" mass="2" ',
        },
        {KNEE: KNEE.replace("/>", ' limited="false"/>')},
        {TRUNK: ROW},
        {
            BOX: f'{BOX}{PULLEY}<site name="from" pos="0.1 0.1 0.06"/>',
            SHIN: f'{SHIN}<site name="to" pos="0 0 -0.05"/>',
            "  <actuator>\n": CABLE,
        },
        None,
    ],
    ids=["free", "discarded", "only-seen", "shell", "unlimited", "replicated", "no-sidesite", "one-leg"],
)
def test_a_model_is_read_as_mujoco_reads_it(tmp_path: Path, changes: dict[str, str] | None) -> None:
    text = of_one_leg() if changes is None else dog()
    for old, new in (changes or {}).items():
        assert old in text
        text = text.replace(old, new, 1)
    scene = write_dog(tmp_path, text)
    model, robot = mujoco.MjModel.from_xml_path(str(scene)), read_robot(draft_robot(scene).path)
    for body in range(model.nbody):
        theirs, ours = model.body(body), robot.model.body(model.body(body).name)
        for field in ("mass", "inertia", "ipos", "pos"):
            if field != "pos" or body != robot.model.body(robot.description.torso).id:
                np.testing.assert_allclose(getattr(ours, field), getattr(theirs, field), atol=1e-6)
    np.testing.assert_array_equal(robot.model.wrap_type, model.wrap_type)
    np.testing.assert_allclose(robot.model.tendon_length0, model.tendon_length0, atol=1e-6)
    home = {model.joint(n).name: model.key("home").qpos[model.joint(n).qposadr[0]] for n in range(model.njnt)}
    legs = list(robot.description.legs)
    assert len(legs) == 4
    for damage in (None, f"{legs[0]}:lost", f"{legs[2]}:dead+{legs[3]}:lost"):
        damaged = parse_damage(damage, robot).apply(robot) if damage else robot
        left = {damaged.model.joint(n).name for n in range(damaged.model.njnt)} & set(
            robot.description.joints
        )
        assert len(left) == (8 if damage is None else 6)
        assert {name: damaged.start_of(name) for name in left} == pytest.approx(
            {name: home[name] for name in left}
        )


def test_a_servo_that_takes_its_range_from_a_joint_without_one_is_refused(tmp_path: Path) -> None:
    scene = write_dog(tmp_path, dog().replace('<joint range="-60 60" ', "<joint "))
    with pytest.raises(InvalidRobotError, match="'front_left_hip' has no range"):
        draft_robot(scene)


@pytest.mark.parametrize("kept", [9, 14, 16])
def test_a_keyframe_of_other_joints_is_refused(tmp_path: Path, kept: int) -> None:
    text = of_one_leg()
    before, qpos, after = re.split(r'(?<=<key name="home" qpos=")([^"]*)', text)
    numbers = " ".join([*qpos.split(), "0"][:kept])
    scene = write_dog(tmp_path, f"{before}{numbers}{after}")
    with pytest.raises(
        InvalidRobotError, match=f"(has {kept} positions, the joints have 15|expected 15, got {kept})"
    ):
        draft_robot(scene)
