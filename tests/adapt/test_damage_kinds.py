"""What each kind of damage promises, and that it does nothing else."""

import mujoco
import numpy as np
import pytest
from damaged_walks import entries, leg_entries, walk
from odd_robot import odd_robot

from adapt.damage.kinds.ground import Friction, Slip, Slope
from adapt.damage.kinds.joints import Locked
from adapt.damage.kinds.limbs import Lost, Short
from adapt.damage.kinds.loads import Payload
from adapt.damage.kinds.motors import Dead, Delay, Dropped, Weak
from adapt.damage.kinds.sensors import BiasedSensor, FrozenSensor, NoisySensor, StuckSensor
from robots.catalogue import robot_names
from robots.errors import InvalidRobotError
from robots.robot import load_robot
from tests.robots.stepping import begun

LEGS = [(robot, list(load_robot(robot).description.legs)[-1]) for robot in robot_names()]
JOINTS = [(name, joint) for name, leg in LEGS for joint in load_robot(name).description.legs[leg].joints]
ODD = [("odd", joint) for joint in ("swing", "lift", "bend", "push")]
_SAME = ("body_mass", "body_inertia", "body_pos", "geom_size", "geom_friction", "jnt_range", "dof_armature")


ANT = load_robot("ant")


def a_robot(name):
    return odd_robot() if name == "odd" else load_robot(name)


def posed(model, positions):
    """A model with joints at positions, by name, as far as it has them."""
    data = mujoco.MjData(model)
    for joint, value in positions.items():
        if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint) >= 0:
            data.joint(joint).qpos = value
    mujoco.mj_forward(model, data)
    return data


def random_pose(robot, seed):
    rng = np.random.default_rng(seed)
    return dict(zip(robot.description.joints, rng.uniform(*robot.joint_ranges.T), strict=True))


def same_physics(one, other, *, but=()):
    for field in set(_SAME) - set(but):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field), err_msg=field)


def same_places(one, other, pose):
    """Whether geoms of two models are in the same places in a pose; returns the poses."""
    one, other = posed(one, pose), posed(other, pose)
    np.testing.assert_allclose(other.geom_xpos, one.geom_xpos, atol=1e-9)
    np.testing.assert_allclose(other.geom_xmat, one.geom_xmat, atol=1e-9)
    return one, other


def hangs_on(model, body, root):
    return body == root or (body > 0 and hangs_on(model, model.body_parentid[body], root))


@pytest.mark.parametrize(("name", "leg"), LEGS)
def test_a_lost_leg_leaves_nothing(name, leg):
    robot = load_robot(name)
    whole, hip = robot.model, robot.description.legs[leg].joints[0]
    body = whole.jnt_bodyid[whole.joint(hip).id]
    lost = Lost(leg).apply(robot).model
    gone = [b for b in range(whole.nbody) if hangs_on(whole, b, body)]
    assert whole.nbody - lost.nbody == len(gone)
    assert whole.ngeom - lost.ngeom == whole.body_geomnum[gone].sum()
    assert whole.nu - lost.nu == whole.njnt - lost.njnt == len(robot.description.legs[leg].joints)
    assert lost.body_mass.sum() == pytest.approx(whole.body_mass.sum() - whole.body_mass[gone].sum())
    assert lost.body_mass.sum() < whole.body_mass.sum()


def test_sensors_of_a_lost_leg_read_zero_and_the_others_do_not():
    _, seen, _ = walk(Lost("back_left").apply(ANT), steps=200)
    gone = leg_entries(ANT, "back_left")[1]
    assert not seen[:, gone].any()
    assert np.delete(seen, gone, axis=1).any(axis=0).all()


def test_a_dead_leg_is_a_leg_whose_motors_are_told_nothing():
    dead = Dead("front_right").apply(ANT)
    joints, felt = leg_entries(ANT, "front_right")
    assert (dead.model.nu, dead.model.nbody) == (ANT.model.nu - 2, ANT.model.nbody)
    same_physics(dead.physics, ANT.physics)
    a, b, rng = begun(ANT, 3), begun(dead, 3), np.random.default_rng(0)
    for _ in range(60):
        action = rng.uniform(-1, 1, ANT.action_dim)
        b.step(action)
        action[joints] = 0
        a.step(action)
        np.testing.assert_array_equal(a.state.observation, b.state.observation)
        np.testing.assert_array_equal(a.state.action, b.state.action)
    assert a.tally.energy == b.tally.energy > 0
    assert b.state.observation[felt].any()


@pytest.mark.parametrize(("name", "joint"), [("ant", "back_left_hip"), *ODD])
def test_weak_motors_give_a_share_of_any_torque(name, joint):
    robot = a_robot(name)
    weak = Weak(f"joint={joint}", 0.3).apply(robot)
    same_physics(weak.physics, robot.physics)
    rng = np.random.default_rng(0)
    others = [other for other in robot.description.joints if other != joint]
    saturated = 0
    for seed in range(20):
        pose = random_pose(robot, seed)
        control = rng.uniform(-1, 1, robot.physics.nu) * robot.physics.actuator_ctrlrange[:, 1]
        torques = []
        for model in (robot.physics, weak.physics):
            data = posed(model, pose)
            data.qvel[:] = np.random.default_rng(seed).normal(size=model.nv)
            data.ctrl[:] = control
            mujoco.mj_forward(model, data)
            torques.append({name: float(data.joint(name).qfrc_actuator[0]) for name in [joint, *others]})
        assert torques[1][joint] == pytest.approx(0.3 * torques[0][joint])
        assert all(torques[1][other] == torques[0][other] for other in others)
        limit = robot.physics.actuator(robot.description.joints.index(joint)).forcerange[1]
        saturated += abs(torques[0][joint]) == limit
    assert saturated > 0 or joint not in ("swing", "push")  # those whose force is limited


@pytest.mark.parametrize(("name", "joint"), [*JOINTS, *ODD])
def test_a_locked_joint_holds_its_limb_where_the_joint_would(name, joint):
    robot = a_robot(name)
    low, high = robot.joint_ranges[robot.description.joints.index(joint)]
    angle = low + 0.7 * (high - low)
    locked = Locked(f"joint={joint}", angle).apply(robot)
    assert (locked.model.nu, locked.model.njnt) == (robot.model.nu - 1, robot.model.njnt - 1)
    for seed in range(3):
        one, other = same_places(robot.model, locked.model, random_pose(robot, seed) | {joint: angle})
        np.testing.assert_allclose(other.xipos, one.xipos, atol=1e-9)
    same_physics(locked.physics, robot.physics, but=["jnt_range", "body_pos", "dof_armature"])
    assert locked.faults.fixed == {joint: angle}


@pytest.mark.parametrize("order", [("swing", "lift"), ("lift", "swing")])
def test_two_joints_of_one_body_lock_in_any_order(order):
    robot, pose = odd_robot(), {"swing": 0.4, "lift": -0.7, "bend": 0.9, "push": 0.05}
    locked = robot
    for joint in order:
        locked = Locked(f"joint={joint}", pose[joint]).apply(locked)
    same_places(robot.model, locked.model, pose)


def test_a_joint_beyond_a_shorter_limb_locks_where_it_would():
    short = Short("joint=lift", 0.6).apply(odd_robot())
    locked = Locked("joint=bend", 0.9).apply(short)
    same_places(short.model, locked.model, {"swing": 0.4, "lift": -0.7, "bend": 0.9})


def test_a_leg_is_locked_where_it_rests():
    at_rest = Locked("back_left").apply(ANT)
    assert at_rest.faults.fixed == {"back_left_hip": 0.0, "back_left_ankle": pytest.approx(np.radians(30))}


def test_what_a_locked_joint_cannot_be_taken_out_of_is_said_in_a_sentence():
    coupling = '<equality><joint joint1="bend" joint2="lift"/></equality>'
    with pytest.raises(InvalidRobotError, match=r"joint=bend:locked.*does not compile.*'bend'.*constraint"):
        Locked("joint=bend").apply(odd_robot(more=coupling))


@pytest.mark.parametrize(("name", "joint"), [("ant", "front_left_ankle"), ("walker", "left_knee"), *ODD])
def test_a_short_limb_is_a_smaller_one_that_hangs_where_it_did(name, joint):
    robot, share = a_robot(name), 0.4
    short = Short(f"joint={joint}", share).apply(robot)
    whole, model = robot.model, short.model
    first = whole.jnt_bodyid[whole.joint(joint).id]
    shorter = np.array([hangs_on(whole, body, first) for body in range(whole.nbody)])
    np.testing.assert_allclose(model.body_mass, np.where(shorter, share, 1) * whole.body_mass)
    # of the mass of a share, over distances of a share
    factors = np.where(shorter, share**3, 1)[:, None]
    np.testing.assert_allclose(model.body_inertia, factors * whole.body_inertia)
    ranges = ["jnt_range"] if joint == "push" else []  # a slide's is a length
    same_physics(model, whole, but=[*_SAME[:5], *ranges])
    # the rest of a friction are lengths, and shrink too
    np.testing.assert_array_equal(model.geom_friction[:, 0], whole.geom_friction[:, 0])
    pose = random_pose(robot, 0) | ({"push": 0.0} if joint == "push" else {})
    one, other = posed(whole, pose), posed(model, pose)
    anchor = one.xanchor[whole.joint(joint).id]
    of_shorter = shorter[whole.geom_bodyid]
    expected = np.where(of_shorter[:, None], anchor + share * (one.geom_xpos - anchor), one.geom_xpos)
    np.testing.assert_allclose(other.geom_xpos, expected, atol=1e-9)
    sizes = np.where(of_shorter[:, None], share, 1) * whole.geom_size
    np.testing.assert_allclose(model.geom_size, sizes)


def contacts_with_floor(robot, geom):
    """What is in force between a geom and the floor when it is pushed into it."""
    model, data = robot.physics, mujoco.MjData(robot.physics)
    mujoco.mj_forward(model, data)
    root = model.jnt_qposadr[model.body(robot.description.torso).jntadr[0]]
    data.qpos[root + 2] -= data.geom(geom).xpos[2] - 0.01
    mujoco.mj_forward(model, data)
    ids = {model.geom(geom).id, model.geom(robot.description.floor).id}
    found = [contact for contact in data.contact if set(contact.geom) == ids]
    assert found
    return found[0]


@pytest.mark.parametrize(
    ("name", "damage", "geom"),
    [
        ("ant", Slip("foot=back_right", 0.2), "back_right_shin"),
        ("ant", Friction("floor", 0.2), "back_right_shin"),
        ("odd", Slip("foot=ball", 0.2), "ball"),
        ("odd", Slip("foot=strut", 0.2), "strut"),
        ("odd", Friction("floor", 0.2), "thigh"),
    ],
)
def test_less_friction_and_the_same_contact(name, damage, geom):
    robot = a_robot(name)
    damaged = damage.apply(robot)
    before, after = contacts_with_floor(robot, geom), contacts_with_floor(damaged, geom)
    np.testing.assert_allclose(after.friction, 0.2 * before.friction)
    assert after.dim == before.dim
    np.testing.assert_allclose(after.solref, before.solref)
    np.testing.assert_allclose(after.solimp, before.solimp)
    same_physics(damaged.physics, robot.physics, but=["geom_friction"])


def test_a_slope_turns_gravity_and_nothing_else():
    sloping = Slope("floor", 30.0).apply(ANT)
    np.testing.assert_allclose(sloping.physics.opt.gravity, [-4.9, 0, -9.8 * np.sqrt(3) / 2])
    same_physics(sloping.physics, ANT.physics)


@pytest.mark.parametrize("name", [*robot_names(), "odd"])
def test_a_load_lies_on_top_and_touches_nothing(name):
    robot = a_robot(name)
    loaded = Payload("torso", 2.0).apply(robot)
    model, torso = loaded.model, robot.description.torso
    assert model.body_mass.sum() == pytest.approx(robot.model.body_mass.sum() + 2)
    assert (model.nbody, model.njnt) == (robot.model.nbody + 1, robot.model.njnt)
    one, other = posed(robot.model, {}), posed(model, {})
    cube = int(np.flatnonzero((model.body_parentid == model.body(torso).id) & (model.body_mass == 2.0))[0])
    geom = model.body_geomadr[cube]
    assert not model.geom_contype[geom] | model.geom_conaffinity[geom]
    np.testing.assert_allclose(other.xipos[cube][:2], one.body(torso).xipos[:2], atol=1e-9)
    bottom = other.xipos[cube][2] - model.geom_size[geom][2]
    tops = one.geom_xpos[:, 2] + robot.model.geom_rbound
    top = tops[robot.model.geom_bodyid == robot.model.body(torso).id].max()
    assert one.body(torso).xipos[2] < bottom < top + 1e-9
    np.testing.assert_allclose(8 * np.prod(model.geom_size[geom]), 2 / 2700)


def test_a_load_lies_on_its_limb_and_not_on_what_is_above_that():
    robot = odd_robot()
    loaded, limb = (Payload("joint=lift", 0.5).apply(robot).model, robot.model.joint("lift").id)
    body = robot.model.jnt_bodyid[limb]
    assert loaded.body_subtreemass[body] == pytest.approx(robot.model.body_subtreemass[body] + 0.5)
    model = Payload("joint=push", 0.5).apply(robot).model
    cube = model.body_mass.tolist().index(0.5)
    edge = (0.5 / 2700) ** (1 / 3)
    np.testing.assert_allclose(model.body_pos[cube], [0, 0, 0.03 + edge / 2], atol=1e-9)


def test_servos_keep_their_gains_whatever_they_carry():
    robot = odd_robot()
    for damage in (Payload("torso", 3.0), Locked("joint=lift"), Short("joint=lift", 0.3)):
        gains = damage.apply(robot).physics.actuator("swing").biasprm
        np.testing.assert_array_equal(gains, robot.physics.actuator("swing").biasprm)


def test_faults_of_signals_are_those_of_the_parts():
    """What they do then `tests/robots/simulation/test_faults.py` shows."""
    for state, value in ((None, 0.0), (1.0, 1.0)):
        assert StuckSensor("foot=back_left", state).apply(ANT).faults.stuck == {"back_left contact": value}
    stuck = StuckSensor("joint=back_left_ankle", 1.0).apply(ANT)
    columns = entries(ANT, "back_left_ankle position", "back_left_ankle speed")
    middle, half = np.radians(65), np.radians(35)
    np.testing.assert_allclose(walk(stuck)[1][-1, columns], [(1 - middle) / half, 0], rtol=1e-5)
    noisy = NoisySensor("back_left", 0.1).apply(ANT).faults.noisy
    names = [ANT.entries[column].label for column in leg_entries(ANT, "back_left")[1]]
    assert noisy == dict.fromkeys(names, 0.1)
    assert len(NoisySensor("all").apply(ANT).faults.noisy) == 2 * 8 + 4
    one = BiasedSensor("joint=back_left_ankle", 0.1).apply(ANT).faults.biased
    assert one == {"back_left_ankle position": pytest.approx(0.1 / half)}
    askew = BiasedSensor("torso", 0.3).apply(load_robot("quadruped")).faults.biased
    assert (len(askew), askew["heading"], askew["gyroscope z"]) == (9, 0.3, pytest.approx(0.03))
    assert FrozenSensor("back_left").apply(ANT).faults.missing == dict.fromkeys(names, 1.0)
    assert Dropped("back_left", 0.2).apply(ANT).faults.dropped == dict.fromkeys(
        ANT.description.legs["back_left"].joints, 0.2
    )
    assert Delay("back_left").apply(ANT).faults.late == dict.fromkeys(
        ANT.description.legs["back_left"].joints, 1
    )
    assert set(Delay("all", 3).apply(ANT).faults.late.values()) == {3}
