"""Kinds of damage that change a compiled model or its signals: what servos do, and what hangs on a hinge."""

import mujoco
import numpy as np
import pytest
from odd_robot import odd_robot

from adapt.damage.edits import RED, turn_limb
from adapt.damage.text import parse_damage
from robots.errors import InvalidValueError
from robots.robot import Modification, load_robot
from tests.robots.stepping import begun

JOINT = "left_middle_femur"


def angles(text, command=0.3, seconds=0.6):
    """Angles of the joints of a Hexapod in the air, in every control step after they were told one."""
    robot = load_robot("hexapod")
    robot = robot if text is None else parse_damage(text, robot).apply(robot)
    stepper = begun(robot)
    stepper.data.qpos[2] = 5.0  # out of reach of the floor
    way = []
    for _ in range(int(seconds / robot.control_step)):
        stepper.step(np.full(robot.action_dim, command))
        way.append({name: float(stepper.data.joint(name).qpos[0]) for name in robot.description.joints})
    return way


WHOLE = angles(None)
TOLD = WHOLE[-1][JOINT]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"joint={JOINT}:reversed", -TOLD),
        (f"joint={JOINT}:offset@0.2", TOLD + 0.2),
        (f"joint={JOINT}:offset@-0.2", TOLD - 0.2),
        (f"joint={JOINT}:backlash@0.1", TOLD - 0.1),
        (f"joint={JOINT}:swapped@4", 2 * WHOLE[-1]["left_middle_coxa"]),  # its servo is told half as much
        (f"joint={JOINT}:bent@20", TOLD),
    ],
)
def test_a_servo_goes_to(text, expected):
    assert angles(text)[-1][JOINT] == pytest.approx(expected, abs=0.05)
    others = [joint for joint in WHOLE[-1] if joint not in (JOINT, "left_middle_coxa")]
    assert all(angles(text)[-1][joint] == pytest.approx(WHOLE[-1][joint], abs=0.02) for joint in others)


@pytest.mark.parametrize("kind", ["stiff", "rubbing"])
def test_a_joint_with_friction_is_slower_and_ever_slower(kind):
    ways = [[at[JOINT] for at in angles(f"joint={JOINT}:{kind}@{s}", seconds=0.12)] for s in (0.2, 1.0)]
    whole = [at[JOINT] for at in WHOLE[: len(ways[0])]]
    assert whole[-1] > ways[0][-1] + 0.002 > ways[1][-1] + 0.01


@pytest.mark.parametrize("stuck", [True, False])
@pytest.mark.parametrize("joint", ["swing", "lift", "bend"])  # the first two in one body
def test_a_bent_joint_is_where_it_would_turn_on_to_and_reads_what_it_read(joint, stuck):
    robot, angles = odd_robot(), {"swing": 0.2, "lift": 0.3, "bend": 0.5, "push": 0.05}
    text = f"joint={joint}:bent@20" + (f"+joint={joint}:locked@{angles[joint]}" if stuck else "")
    damaged = parse_damage(text, robot).apply(robot)
    turn_limb(damaged.physics, "no such joint", 0.7)
    bent, turned = mujoco.MjData(damaged.physics), mujoco.MjData(robot.physics)
    for name, angle in angles.items():
        turned.joint(name).qpos[0] = angle + np.radians(20) * (name == joint)
        if not (stuck and name == joint):
            bent.joint(name).qpos[0] = angle
    mujoco.mj_kinematics(damaged.physics, bent)
    mujoco.mj_kinematics(robot.physics, turned)
    for what in ("geom_xpos", "geom_xmat", "xipos", "ximat"):
        np.testing.assert_allclose(getattr(bent, what), getattr(turned, what), atol=1e-12, err_msg=what)
    for what in ("xpos", "xmat"):
        place = getattr(turned.site("mount"), what)
        np.testing.assert_allclose(getattr(bent.site("mount"), what), place, atol=1e-12)
    assert damaged.faults.fixed == ({joint: angles[joint]} if stuck else {})


@pytest.mark.parametrize("kind", ["bent", "dead"])  # in the compiled model, and before it is compiled
@pytest.mark.parametrize(("joint", "geoms"), [("lift", {"thigh"}), ("bend", {"shin", "ball"})])
def test_what_a_damaged_joint_moves_is_red_up_to_the_next_joint(kind, joint, geoms):
    robot = odd_robot()
    model = parse_damage(f"joint={joint}:{kind}", robot).apply(robot).model
    red = np.isclose(model.geom_rgba, RED).all(axis=1)
    assert {model.geom(geom).name for geom in np.flatnonzero(red)} == geoms


@pytest.mark.parametrize(("kind", "axis"), [("mass-ahead", 0), ("mass-left", 1)])
def test_the_centre_of_mass_moves(kind, axis):
    robot = load_robot("hexapod")
    model, by = parse_damage(f"torso:{kind}@0.04", robot).apply(robot).physics, np.zeros(3)
    by[axis] = 0.04
    np.testing.assert_allclose(model.body("torso").ipos - robot.physics.body("torso").ipos, by, atol=1e-12)
    assert model.body_mass.sum() == robot.physics.body_mass.sum()


def test_what_needs_no_compiling_is_not_compiled_and_lasts_through_what_does(monkeypatch):
    robot = load_robot("hexapod")
    both = parse_damage(f"joint={JOINT}:weak@0.25+right_front:lost", robot).apply(robot)
    gain = [model.actuator(JOINT).gainprm[0] for model in (robot.physics, both.physics, both.model)]
    assert gain[1:] == [0.25 * gain[0]] * 2
    monkeypatch.setattr("robots.robot.compile_models", None)
    weaker = both.with_modifications(
        Modification("weaker", patch=lambda model: model.actuator_gainprm.__imul__(0.5))
    )
    assert weaker.physics.actuator(JOINT).gainprm[0] == 0.125 * gain[0]
    assert both.physics.actuator(JOINT).gainprm[0] == 0.25 * gain[0]


@pytest.mark.parametrize(
    ("robot", "text", "message"),
    [
        ("ant", "joint=front_left_hip:offset", "the motor of front_left_hip is no servo"),
        ("hopper", "torso:mass-left", "moves in a plane, without left and right"),
        ("hexapod", "joint=left_front_coxa:swapped@1", "must be of another one of the 18 joints"),
        ("hexapod", "joint=left_front_coxa:swapped@19", "must be of another one of the 18 joints"),
    ],
)
def test_what_cannot_be(robot, text, message):
    robot = load_robot(robot)
    with pytest.raises(InvalidValueError, match=message):
        parse_damage(text, robot).apply(robot)
