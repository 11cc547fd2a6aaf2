"""The reality gap: what differs, by how much, and that nothing else does."""

import numpy as np
import pytest

from adapt.damage.text import parse_damage
from robots.attitude import yaw_of
from robots.description import Randomization
from robots.errors import InvalidValueError
from robots.randomization import DEFAULT, draw, draw_models, facing_ahead, randomised, read_randomization
from robots.robot import load_robot
from robots.simulation.stepper import Stepper

SEEDS = range(12)


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


def test_the_seed_decides_and_nothing_else_changes():
    robot = load_robot("ant")
    before, after = robot.physics, randomised(robot, 1).physics
    for name in ("body_pos", "geom_size", "geom_pos", "jnt_range", "dof_damping", "actuator_gear"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name), err_msg=name)
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


def test_the_models_of_a_training_are_spread_over_the_ranges():
    robot = load_robot("ant")
    pose = DEFAULT.model_copy(update={"pose": (0.05, 0.2), "models": 24})
    models, gaps = draw_models(robot, pose), [randomised(robot, seed) for seed in range(24)]
    delays = np.array([model.faults.delay for model in models])
    noises = np.array([model.faults.noisy["roll"] for model in models])
    angles = np.array([model.description.reset_joint_noise for model in models])
    assert set(delays) == {0, 1}
    assert 0 < noises.min() < 0.005
    assert 0.015 < noises.max() < 0.02
    assert 0.05 < angles.min() < 0.07
    assert 0.18 < angles.max() < 0.2
    masses = {model.physics.body_mass[1] for model in (*models, *gaps)}
    assert len(masses) == 48  # no robot that is scored on was trained on
    assert draw_models(robot, pose)[7].physics.body_mass[1] == models[7].physics.body_mass[1]


def test_episodes_begin_with_other_headings_and_nothing_else_is_drawn_otherwise():
    robot = load_robot("ant")
    models = draw_models(robot, DEFAULT.model_copy(update={"heading": (-180.0, 90.0), "models": 16}))
    usual = draw_models(robot, DEFAULT.model_copy(update={"models": 16}))
    turning = Randomization(heading=(10.0, 20.0))
    assert all((a.physics.body_mass == b.physics.body_mass).all() for a, b in zip(models, usual, strict=True))
    yaws, sines = [], []
    for model in models:
        damaged = Stepper(parse_damage("front_left:lost", model).apply(model))
        observation = damaged.reset(3)
        yaws.append(yaw_of(damaged.data.qpos[3:7]))
        if not model.faults.delay:
            sines.append(observation[1] + np.sin(yaws[-1]))
    assert -np.pi < min(yaws) < np.radians(-140)
    assert np.radians(50) < max(yaws) < np.radians(100)
    assert len(sines) > 4
    assert np.abs(sines).max() < 0.1, "the target stays where it is: a robot that is turned sees it aside"
    ahead = facing_ahead(Randomization(mass=(0.8, 1.2), heading=(10.0, 20.0), models=2))
    assert ahead == Randomization(mass=(0.8, 1.2), models=2)
    (drawn,) = facing_ahead(Randomization(drawn=(draw(robot, np.random.default_rng(1), turning),))).drawn
    assert drawn.heading == 0
    with pytest.raises(InvalidValueError, match="the hopper cannot begin with another heading"):
        draw_models(load_robot("hopper"), Randomization(heading=(0.0, 10.0)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("heading=-90:90", Randomization(heading=(-90.0, 90.0))),
        ("none", None),
        (None, None),
        ("default", DEFAULT),
        (" mass = 0.9:1.1, delay=0:2,models=4", Randomization(mass=(0.9, 1.1), delay=(0, 2), models=4)),
        ("delay=1,models=2", Randomization(delay=(1, 1), models=2)),
    ],
)
def test_a_randomization_is_read(text, expected):
    assert read_randomization(text, load_robot("ant")) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mass", "must be none, default, or ranges such as mass=0.8:1.2,delay=0:2, each once, not 'mass'"),
        ("mess=1:2", "randomization: unknown key 'mess'; available: mass, friction"),
        ("mass=1.2:0.8", "a range goes from low to high, not from 1.2 to 0.8"),
        ("mass=0.8:1,mass=0.8:1", "each once"),
        ("delay=0:1.5", "randomization: delay.1: .*integer"),
        ("heading=0:181", "randomization: heading.1: .*less than or equal to 180, not 181"),
        ("models=0", "randomization: models: .*greater than 0"),
    ],
)
def test_what_is_no_randomization_is_refused(text, message):
    with pytest.raises(InvalidValueError, match=message):
        read_randomization(text, load_robot("ant"))


def test_a_randomization_that_changes_nothing_is_refused():
    robot = load_robot("ant")
    with pytest.raises(InvalidValueError, match="changes nothing: give a range such as"):
        draw_models(robot, Randomization(models=3))

    def slippery(spec):
        for geom in spec.geoms:
            geom.condim = 1

    with pytest.raises(InvalidValueError, match="the feet of ant have no friction that could be randomised"):
        draw_models(robot.modified("ice", slippery), DEFAULT)


def test_slopes_are_those_of_the_damage_of_the_floor():
    robot = load_robot("quadruped")
    models = draw_models(robot, read_randomization("slope=-8:12,models=16", robot))
    angles = [np.degrees(np.arctan2(-x, -z)) for x, _, z in (model.physics.opt.gravity for model in models)]
    assert -8 <= min(angles) < -4
    assert 8 < max(angles) <= 12
    same = draw_models(robot, read_randomization("slope=5:5,models=1", robot))[0]
    expected = parse_damage("floor:slope@5", robot).apply(robot)
    np.testing.assert_allclose(same.physics.opt.gravity, expected.physics.opt.gravity)
    with pytest.raises(InvalidValueError, match=r"randomization: slope.*less than or equal to 45"):
        read_randomization("slope=0:60", robot)
