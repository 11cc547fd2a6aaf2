"""Ground that is not level: what is laid is what was drawn, and heights, contacts and falls count from it."""

import mujoco
import numpy as np
import pytest

from adapt.damage.text import parse_damage
from adapt.mission.changes import read_changes
from adapt.mission.simulated import SimulatedWorld
from robots.errors import InvalidValueError, SurefootError
from robots.files.records import validate
from robots.randomization import draw_models, read_randomization
from robots.rendering.camera import Camera
from robots.robot import robot_from_text
from robots.simulation.stepper import Stepper
from robots.stance import first_data, floor_gap
from robots.task.terrain import Ground, Terrain, parse_terrain
from tests.robots.stepping import begun

UNEVEN = ("rough", "steps", "stones")


def on(robot, terrain):
    """A robot whose YAML has a terrain."""
    return robot_from_text(robot.xml, f"{robot.yaml}\nterrain: {terrain}\n", origin="test")


def below(robot, data, x, y):
    """Height of the ground that a ray from above meets [m]."""
    floor = robot.physics.geom(robot.description.floor).id
    down = np.array([0.0, 0.0, -1.0])
    return 50 - mujoco.mj_rayHfield(robot.physics, data, floor, np.array([x, y, 50.0]), down, None)


def put(robot, x, y, height):
    """A stepper whose robot begins somewhere else than at the start, with its torso so high [m]."""
    stepper = begun(robot)
    stepper.data.qpos[:3] = x, y, height
    stepper._begun = False
    stepper.carry_on(0)
    return stepper


@pytest.mark.parametrize("kind", UNEVEN)
def test_heights_keep_their_range_and_are_level_at_the_start(kind):
    terrain = validate(Terrain, {"kind": kind, "height": [0.05, 0.1], "length": 0.25, "size": [8.0, 4.0]})
    ground = terrain.draw(np.random.default_rng(3))
    assert 0.05 <= ground.height <= 0.1
    heights = ground.heights(0.5)
    x, y = (np.linspace(-half, half, n) for half, n in ((4, heights.shape[1]), (2, heights.shape[0])))
    near = np.hypot(*np.meshgrid(x, y)) < 0.5
    assert (heights[near] == 0).all()
    if kind == "steps":
        ups = np.diff(heights[1:-1, 1:-1], axis=1)
        assert 0.5 * ground.height - 1e-9 <= abs(ups[ups != 0]).min()
        assert abs(ups).max() <= ground.height + 1e-9
        assert (ups > 0).any()
        assert (ups < 0).any()
    else:
        assert 0.8 * ground.height < np.ptp(heights) <= ground.height
    np.testing.assert_array_equal(heights, ground.heights(0.5))
    assert (heights != ground.model_copy(update={"seed": ground.seed + 1}).heights(0.5)).any()


@pytest.mark.parametrize("kind", UNEVEN)
def test_heights_count_from_the_ground_below(quadruped, kind):
    robot = on(quadruped, f"{{kind: {kind}, height: 0.06, length: 0.3, size: [6.0, 4.0]}}")
    assert floor_gap(robot, first_data(robot)) == pytest.approx(
        floor_gap(quadruped, first_data(quadruped)), abs=1e-6
    )
    rises = []
    for x, y in ((1.93, 0.4), (-1.77, -1.1), (2.41, 1.3)):
        rises.append(below(robot, Stepper(robot).data, x, y))
        stepper = put(robot, x, y, 0.5)
        assert stepper.tally.initial_height == pytest.approx(0.5 - rises[-1], abs=0.01)
    assert max(map(abs, rises)) > 0.01
    far = put(robot, 8.0, 0.0, 0.5)  # beyond the edge, on the plane
    assert far.tally.initial_height > 0.5


@pytest.mark.parametrize(("x", "what"), [(1.5, "on the ground"), (6.0, "beyond its edge")])
def test_feet_feel_the_ground_wherever_the_robot_stands(quadruped, x, what):
    robot = on(quadruped, "{kind: rough, height: 0.03, size: [6.0, 4.0]}")
    stepper = put(robot, x, 0.0, 0.35)
    for _ in range(60):
        assert not stepper.step(np.zeros(12)), what
    assert stepper.state.touching.all()


def test_a_robot_that_stands_below_the_start_has_not_fallen(quadruped):
    robot = on(quadruped, "{kind: steps, height: 0.6, length: 1.0, size: [20.0, 4.0]}")
    heights = {x: below(robot, Stepper(robot).data, x, 0.0) for x in np.arange(1.5, 9, 0.5)}
    x, height = min(heights.items(), key=lambda item: item[1])
    assert height < -0.3
    stepper = put(robot, x, 0.0, height + 0.3)
    assert not stepper.step(np.zeros(12))
    high = put(robot, x, 0.0, height + 0.1)  # lower than min_height above the ground
    assert high.step(np.zeros(12))


def test_a_slope_is_gravity_that_turns(quadruped):
    sloping = on(quadruped, "{kind: slope, angle: 7}")
    damaged = parse_damage("floor:slope@7", quadruped).apply(quadruped)
    np.testing.assert_allclose(sloping.physics.opt.gravity, damaged.physics.opt.gravity)
    assert sloping.physics.nhfield == 0


def test_models_have_grounds_of_their_own_always_the_same(quadruped):
    drawn = [
        draw_models(quadruped, read_randomization("terrain=rough:0.02:0.05,models=3", quadruped))
        for _ in range(2)
    ]
    first, again = ([model.physics.hfield_data.copy() for model in models] for models in drawn)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (first[0] != first[1]).any()
    tall = [model.physics.hfield_size[0, 2] for model in drawn[0]]
    assert 0.01 < min(tall) < max(tall) <= 0.05
    assert "rough height 0.02 to 0.05 m" in str(read_randomization("terrain=rough:0.02:0.05", quadruped))


@pytest.mark.parametrize("own", ["slope, angle: 5", "rough, angle: 5", "flat, angle: 5"])
def test_the_ground_of_a_model_replaces_that_of_the_robot(quadruped, own):
    robot = on(quadruped, f"{{kind: {own}}}")
    for terrain, slope in (("flat", 0.0), ("slope:10:10", 10.0), ("rough", 0.0)):
        (model,) = draw_models(robot, read_randomization(f"terrain={terrain},models=1", robot))
        (plain,) = draw_models(quadruped, read_randomization(f"terrain={terrain},models=1", quadruped))
        x, _, z = model.physics.opt.gravity
        assert np.degrees(np.arctan2(-x, -z)) == pytest.approx(slope, abs=1e-9)
        floor = model.physics.geom(model.description.floor)
        assert (model.physics.nhfield, floor.type[0], model.physics.ngeom) == (
            plain.physics.nhfield,
            plain.physics.geom(plain.description.floor).type[0],
            plain.physics.ngeom,
        )
        assert floor.pos[2] == pytest.approx(plain.physics.geom(plain.description.floor).pos[2], abs=1e-9)


@pytest.mark.parametrize("kind", UNEVEN)
def test_damage_of_the_ground_is_the_same_ground(quadruped, kind):
    damaged = parse_damage(f"floor:{kind}@0.04+floor:friction@0.5", quadruped).apply(quadruped)
    model = damaged.physics
    assert model.hfield_size[0, 2] > 0.03
    soles = [model.geom(sole).id for soles in damaged.description.feet.values() for sole in soles]
    before = quadruped.physics.geom_friction[quadruped.physics.geom("floor").id, 0]
    np.testing.assert_allclose(model.geom_friction[soles, 0], 0.5 * before)
    assert (model.geom_priority[soles] > model.geom_priority[model.geom("surefoot_beyond").id]).all()
    once = on(quadruped, f"{{kind: {kind}, height: 0.1}}")
    twice = parse_damage(f"floor:{kind}@0.04", quadruped).apply(once)  # takes the place of what was there
    np.testing.assert_array_equal(twice.physics.hfield_data, model.hfield_data)
    np.testing.assert_allclose(twice.physics.geom("floor").pos, model.geom("floor").pos, atol=1e-6)


def test_a_mission_on_uneven_ground_is_refused(quadruped):
    with pytest.raises(InvalidValueError, match="a mission needs level ground or a slope"):
        SimulatedWorld(on(quadruped, "{kind: stones}"), (), seed=0)
    with pytest.raises(InvalidValueError, match=r"a slope, without floor:rough@0\.03"):
        SimulatedWorld(quadruped, read_changes(["floor:rough@0.03@4"], quadruped), seed=0)


def test_ray_casting_draws_a_height_field_as_the_floor(quadruped):
    flat = on(quadruped, "{kind: rough, height: 0.0}")
    frames = []
    for robot in (quadruped, flat):
        with Camera(robot.model, width=80, height=60, canvas="raycasting") as camera:
            frames.append(camera.frame(first_data(robot)).astype(float))
    assert abs(frames[0] - frames[1]).mean() < 2
    assert frames[0].std() > 10


@pytest.mark.parametrize(
    ("terrain", "message"),
    [
        ("{kind: rough, length: 0.02, size: [400, 400]}", "400 x 400 m .* at most 1,000,000 are possible"),
        ("{kind: hills}", "terrain.kind"),
        ("{kind: rough, height: -0.1}", "terrain.height"),
        ("{kind: rough, height: [0.1, 0.02]}", "from low to high"),
        ("{kind: slope, angle: 80}", "terrain.angle"),
    ],
)
def test_impossible_terrain_is_refused_in_one_sentence(quadruped, terrain, message):
    with pytest.raises(SurefootError, match=message):
        on(quadruped, terrain)


def test_terrain_in_words():
    for text in ("rough:0.1", "rough:a:b", "hills", "rough:0.05:0.01", ""):
        with pytest.raises(SurefootError):
            parse_terrain(text)
    assert parse_terrain("slope:-10:10").words == "slope angle -10 to 10°"
    assert validate(Terrain, {"kind": "stones", "height": 0.03}).words == "stones height 0.03 m, length 0.2 m"
    assert Ground(kind="rough", height=0.1).heights(0.5).dtype == np.float64
