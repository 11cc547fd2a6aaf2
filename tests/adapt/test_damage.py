"""Every kind of damage on every leg of every robot, and what each kind promises."""

import mujoco
import numpy as np
import pytest

from adapt.damage import Damage, Dead, Lost, damage_kinds, parse_damage, register
from robots.errors import InvalidValueError, UnknownNameError
from robots.robot import load_robot, robot_names
from robots.slots import Slots

LEGS = [(robot, leg) for robot in robot_names() for leg in load_robot(robot).description.legs]
KINDS = sorted(damage_kinds())
ONLY = np.zeros(1, np.int32)


def walk(robot, steps=40, *, seed=0):
    """Random actions: the slots, and all observations and applied actions."""
    rng = np.random.default_rng(seed)
    slots = Slots(robot, 1)
    slots.begin(0, seed)
    seen, done = [], []
    for _ in range(steps):
        slots.actions[0] = rng.uniform(-1, 1, robot.action_dim)
        slots.advance(ONLY)
        seen.append(slots.observations[0].copy())
        done.append(slots.actions[0].copy())
    assert not slots.tally.diverged[0]
    return slots, np.array(seen), np.array(done)


def joint_entries(robot, leg):
    """Indices of a leg's joints among the actions, and of what is sensed of them among the observations."""
    joints = [robot.description.joints.index(joint) for joint in robot.description.legs[leg].joints]
    return joints, [8 + 2 * j + i for j in joints for i in (0, 1)]


def foot_entry(robot, leg):
    feet = list(robot.description.feet)
    return 8 + 2 * robot.action_dim + feet.index(robot.description.legs[leg].foot)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "leg"), LEGS)
def test_every_damage_keeps_sizes_and_reads_back(name, leg, kind):
    robot = load_robot(name)
    damage = parse_damage(f" {leg} : {kind} ", robot)
    assert str(damage) == f"{leg}:{kind}"
    assert parse_damage(str(damage), robot) == damage
    assert damage.summary
    damaged = damage.apply(robot)
    assert [m.label for m in damaged.modifications] == [str(damage)]
    assert robot.modifications == ()
    assert (damaged.action_dim, damaged.observation_dim) == (robot.action_dim, robot.observation_dim)
    _, seen, done = walk(damaged)
    joints, _ = joint_entries(robot, leg)
    assert seen.shape[1] == robot.observation_dim
    assert not done[:, joints].any()
    assert np.delete(done, joints, axis=1).all()


@pytest.mark.parametrize(("name", "leg"), LEGS)
def test_a_lost_leg_leaves_nothing(name, leg):
    robot = load_robot(name)
    whole, hip = robot.model, robot.description.legs[leg].joints[0]
    body = whole.jnt_bodyid[whole.joint(hip).id]
    lost = Lost(leg).apply(robot).model
    gone = [b for b in range(whole.nbody) if b == body or _hangs_on(whole, b, body)]
    assert whole.nbody - lost.nbody == len(gone)
    assert whole.ngeom - lost.ngeom == whole.body_geomnum[gone].sum()
    assert whole.nu - lost.nu == whole.njnt - lost.njnt == len(robot.description.legs[leg].joints)
    assert lost.body_mass.sum() == pytest.approx(whole.body_mass.sum() - whole.body_mass[gone].sum())
    assert lost.body_mass.sum() < whole.body_mass.sum()


def _hangs_on(model, body, root):
    while body:
        body = model.body_parentid[body]
        if body == root:
            return True
    return False


def test_sensors_of_a_lost_leg_read_zero_and_the_others_do_not():
    robot = load_robot("ant")
    _, seen, _ = walk(Lost("back_left").apply(robot), steps=200)
    entries = [*joint_entries(robot, "back_left")[1], foot_entry(robot, "back_left")]
    assert not seen[:, entries].any()
    assert np.delete(seen, entries, axis=1).any(axis=0).all()


def test_a_dead_leg_is_a_leg_whose_motors_are_told_nothing():
    robot = load_robot("ant")
    dead = Dead("front_right").apply(robot)
    joints, entries = joint_entries(robot, "front_right")
    assert (dead.model.nu, dead.model.nbody) == (robot.model.nu - 2, robot.model.nbody)
    a, b = Slots(robot, 1), Slots(dead, 1)
    a.begin(0, 3)
    b.begin(0, 3)
    rng = np.random.default_rng(0)
    for _ in range(60):
        b.actions[0] = rng.uniform(-1, 1, robot.action_dim)
        a.actions[0] = b.actions[0]
        a.actions[0, joints] = 0
        a.advance(ONLY)
        b.advance(ONLY)
        np.testing.assert_array_equal(a.observations, b.observations)
        np.testing.assert_array_equal(a.actions, b.actions)
    assert a.tally.energy[0] == b.tally.energy[0] > 0
    assert b.observations[0, entries].any()


def test_dead_motors_do_no_work_and_joints_swing_freely():
    robot = load_robot("ant")
    slots = Slots(Dead("front_right").apply(robot), 1)
    slots.begin(0, 0)
    joints, _ = joint_entries(robot, "front_right")
    for _ in range(20):
        slots.actions[0] = 0
        slots.actions[0, joints] = 1
        slots.advance(ONLY)
    assert slots.tally.energy[0] == 0
    model = slots.robot.model
    data = mujoco.MjData(model)
    hip = model.joint("front_right_hip")
    data.qpos[2] = 5.0  # in the air: nothing but the joint's own friction slows it
    data.qvel[hip.dofadr] = 2.0
    mujoco.mj_step(model, data, 20)
    assert data.qpos[hip.qposadr[0]] > 0.1
    assert not data.qfrc_actuator.any()


def test_damage_to_a_damaged_leg_is_refused():
    broken = Lost("front_left").apply(load_robot("ant"))
    with pytest.raises(
        InvalidValueError, match=r"front_left:dead needs a whole leg.*front_left:lost already"
    ):
        Dead("front_left").apply(broken)


def test_damages_to_several_legs_add_up():
    ant = load_robot("ant")
    broken = Dead("back_left").apply(Lost("front_left").apply(ant))
    assert [m.label for m in broken.modifications] == ["front_left:lost", "back_left:dead"]
    assert broken.model.njnt == ant.model.njnt - 2
    assert broken.model.nu == ant.model.nu - 4


@pytest.mark.parametrize("text", ["", "front_left", "front_left:", ":lost", "front_left:lost:", "a:b:c"])
def test_malformed_text(text):
    with pytest.raises(InvalidValueError, match="written LEG:KIND, for example front_left:"):
        parse_damage(text, load_robot("ant"))


def test_unknown_names_are_answered_with_the_known():
    robot = load_robot("ant")
    legs = ", ".join(robot.description.legs)
    with pytest.raises(
        UnknownNameError, match=f"leg of the ant 'front_lft'.*'front_left'.*available: {legs}"
    ):
        parse_damage("front_lft:lost", robot)
    with pytest.raises(UnknownNameError, match=r"kind of damage 'gone'; available: .*lost"):
        parse_damage("front_left:gone", robot)
    with pytest.raises(UnknownNameError, match=legs):
        Lost("tail").apply(robot)


def test_a_kind_is_registered_once():
    with pytest.raises(ValueError, match="'lost' is already registered by Lost"):
        register("lost")(Damage)
    assert damage_kinds()["lost"] is Lost
