"""The reality gap: what differs, by how much, and that nothing else does."""

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from robots.randomization import randomised
from robots.robot import load_robot

SEEDS = range(16)


def share(changed, original):
    """Factors of what is not zero."""
    return (changed / np.where(original == 0, np.nan, original))[original != 0]


@pytest.mark.parametrize("name", ["ant", "hopper"])
def test_every_body_and_motor_has_a_factor_of_its_own(name):
    robot = load_robot(name)
    factors = {"mass": [], "friction": [], "strength": []}
    for seed in SEEDS:
        gap = randomised(robot, seed)
        masses = share(gap.physics.body_mass, robot.physics.body_mass)
        np.testing.assert_allclose(
            share(gap.physics.body_inertia, robot.physics.body_inertia).reshape(-1, 3),
            np.repeat(masses[:, None], 3, axis=1),
            rtol=1e-6,
        )
        friction = share(gap.physics.geom_friction, robot.physics.geom_friction)
        assert np.ptp(friction) < 1e-9
        strength = share(gap.physics.actuator_gainprm, robot.physics.actuator_gainprm)
        for kind, found in (("mass", masses), ("friction", friction[:1]), ("strength", strength)):
            factors[kind].extend(found)
        assert len(set(np.round(masses, 9))) == len(masses)
        assert gap.faults.delay == 1
    for kind, reach in (("mass", 0.2), ("friction", 0.3), ("strength", 0.15)):
        found = np.array(factors[kind])
        assert 1 - reach <= found.min() < 1 - 0.7 * reach, kind
        assert 1 + 0.7 * reach < found.max() <= 1 + reach, kind


def test_nothing_else_changes():
    robot = load_robot("ant")
    before, after = robot.physics, randomised(robot, 1).physics
    for name in (
        "body_pos",
        "geom_size",
        "geom_pos",
        "jnt_range",
        "dof_damping",
        "dof_armature",
        "actuator_gear",
    ):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name), err_msg=name)
    assert robot.modifications == ()
    assert robot.faults.delay == 0


def test_the_seed_decides():
    robot = load_robot("ant")
    masses = [randomised(robot, seed).physics.body_mass for seed in (1, 1, 2)]
    np.testing.assert_array_equal(masses[0], masses[1])
    assert (masses[0] != masses[2]).any()


def test_a_damaged_robot_keeps_its_gap():
    robot = load_robot("ant")
    gap = randomised(robot, 5)
    damaged = parse_damage("front_left:lost", gap).apply(gap)
    torso = robot.description.torso
    assert damaged.physics.body(torso).mass == pytest.approx(gap.physics.body(torso).mass)
    assert damaged.faults.delay == 1


def test_a_servo_is_stronger_in_every_state():
    robot = load_robot("hexapod")
    gap = randomised(robot, 7)
    factors = share(gap.physics.actuator_gainprm[:, 0], robot.physics.actuator_gainprm[:, 0])
    np.testing.assert_allclose(
        gap.physics.actuator_biasprm, robot.physics.actuator_biasprm * factors[:, None]
    )
    np.testing.assert_allclose(
        gap.physics.actuator_forcerange, robot.physics.actuator_forcerange * factors[:, None]
    )
