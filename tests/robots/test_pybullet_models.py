"""The paper's four robots against PyBullet's: what they are made of, how they move, and how they behave.

`pybullet.json` holds what PyBullet 3.2.7 says of its models (`getDynamicsInfo`, `getJointInfo`), what its
environments did in 60 episodes (12 of zero action), and how its robots move afloat. `pybullet_passages` holds
passages of trained gaits that walk there (`python -m benchmarks running`).
"""

import copy
import dataclasses
import json
from pathlib import Path

import mujoco
import numpy as np
import pytest
import yaml

from benchmarks.running import replay
from robots.evaluations import Request
from robots.robot import Robot, load_robot
from robots.simulation.backend import ModelBatch
from robots.simulation.stepper import Stepper
from robots.simulation.threads import Threads
from robots.simulation.trace import TraceColumns
from tests.robots.stepping import begun

PASSAGES = Path(__file__).with_name("pybullet_passages")
PYBULLET = json.loads(Path(__file__).with_name("pybullet.json").read_text())
FLOOR_FRICTION = 0.8  # multiplies the link's in PyBullet
EPISODES = 60
KINDS = ("zero_action", "uniform_random_actions", "xavier_policies")
LINKS = yaml.safe_load(Path(__file__).with_name("pybullet_links.yaml").read_text())
BODIES = [(robot, body) for robot, bodies in LINKS.items() for body in bodies]
# Figures that are not within the tolerances of PyBullet's; docs/results/physics.md tells why.
DIFFERENT = {
    ("walker", "zero_action", "steps"): 51.5,  # 29.5
    ("half_cheetah", "zero_action", "contact front_foot"): 0.99,  # 0.55
    ("half_cheetah", "uniform_random_actions", "contact front_foot"): 0.74,  # 0.42
    ("half_cheetah", "xavier_policies", "contact front_foot"): 0.95,  # 0.62
}


def _at_rest(robot: Robot) -> mujoco.MjData:
    """The robot with all joints at 0."""
    data = mujoco.MjData(robot.model)
    mujoco.mj_forward(robot.model, data)
    return data


@pytest.mark.parametrize(("name", "body"), BODIES)
def test_masses_inertias_and_friction(name: str, body: str) -> None:
    model, data = load_robot(name).model, _at_rest(load_robot(name))
    links = [PYBULLET[name]["links"][link] for link in LINKS[name][body]]
    parts = PYBULLET[name]["parts"]
    places = np.array([parts["torso" if link == "base" else link] for link in LINKS[name][body]])
    masses = np.array([link["mass"] for link in links])
    centre = masses @ places / masses.sum()
    inertia = np.zeros((3, 3))
    for link, place in zip(links, places, strict=True):  # Steiner's theorem
        arm = place - centre
        inertia += np.diag(link["inertia"]) + link["mass"] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    index = model.body(body).id
    assert model.body_mass[index] == pytest.approx(masses.sum(), rel=1e-4)
    ours = np.sort(model.body_inertia[index])
    np.testing.assert_allclose(ours, np.sort(np.linalg.eigvalsh(inertia)), rtol=0.01)
    across = 0 if name == "ant" else 1  # the legs of a Walker are drawn side by side
    np.testing.assert_allclose(np.delete(data.xipos[index] - centre, across), 0, atol=1e-3)
    geoms = [*np.flatnonzero((model.geom_bodyid == index) & (model.geom_contype > 0)), model.geom("floor").id]
    assert model.geom_friction[geoms, 0].max() == pytest.approx(FLOOR_FRICTION * links[0]["friction"])


@pytest.mark.parametrize("name", LINKS)
def test_ranges_torques_and_passive_joints(name: str) -> None:
    robot = load_robot(name)
    model = robot.model
    expected = list(PYBULLET[name]["joints"].values())
    for joint, (low, high), known in zip(robot.description.joints, robot.joint_ranges, expected, strict=True):
        mirrored = (-high, -low) if low * known["range"][0] < 0 else (low, high)
        assert mirrored == pytest.approx(known["range"], abs=1e-3), joint
        # ankles: a torque about PyBullet's axes of length sqrt(2)
        torque = known["torque"] * robot.description.position_rates.get(joint, 1.0)
        assert model.actuator_gear[model.actuator(joint).id, 0] == pytest.approx(torque), joint
    assert not np.any([model.dof_damping, model.dof_armature, model.dof_frictionloss])
    assert not model.jnt_stiffness.any()


@pytest.mark.parametrize("name", LINKS)
def test_the_position_is_the_mean_over_the_same_parts(name: str) -> None:
    robot = load_robot(name)
    data = _at_rest(robot)
    ours = [
        data.body(body).xpos + data.body(body).xmat.reshape(3, 3) @ np.array(point)
        for body, points in (robot.description.position or {}).items()
        for point in points
    ]
    axes = [0, 1, 2] if name == "ant" else [0, 2]
    found = sorted(np.round(np.array(ours)[:, axes], 2).tolist())
    expected = sorted(np.round(np.array(list(PYBULLET[name]["parts"].values()))[:, axes], 2).tolist())
    np.testing.assert_allclose(found, expected, atol=0.011)


def _afloat(robot: Robot, speed: float = 0.0) -> Stepper:
    """The robot floating without gravity, its joints mid-range, moving ahead at a speed [m/s]."""
    model = copy.copy(robot.physics)
    model.opt.gravity[:] = 0
    stepper = begun(dataclasses.replace(robot, physics=model))
    stepper.data.qpos[:] = model.qpos0
    stepper.data.qpos[2 if robot.name == "ant" else 1] += 50
    for joint, limits in zip(robot.description.joints, robot.joint_ranges, strict=True):
        stepper.data.joint(joint).qpos = limits.mean()
    stepper.data.qvel[0] = speed
    return stepper


@pytest.mark.parametrize("name", LINKS)
def test_joints_accelerate_and_drag_slows_down_as_in_pybullet(name: str) -> None:
    robot, known = load_robot(name), PYBULLET[name]["afloat"]
    for number, (joint, expected) in enumerate(
        zip(robot.description.joints, known["accelerations"], strict=True)
    ):
        stepper, rate = _afloat(robot), robot.description.position_rates.get(joint, 1.0)
        action = np.zeros(robot.action_dim)
        action[number] = 10.0 * rate / robot.physics.actuator(joint).gear[0]  # 10 N m
        stepper.step(action)
        found = rate * stepper.data.joint(joint).qvel[0] / robot.control_step
        assert found == pytest.approx(expected, rel=1e-3), joint
    stepper = _afloat(robot, 2.4)
    for _ in range(30):
        stepper.step(np.zeros(robot.action_dim))
    assert stepper.data.qvel[0] == pytest.approx(known["slowed"], rel=1e-6)


@pytest.mark.parametrize("path", sorted(PASSAGES.glob("*.npz")), ids=lambda path: path.stem)
def test_passages_of_walks_in_pybullet_end_alike(path: Path) -> None:
    robot, passages = load_robot(path.stem.removesuffix("-running")), dict(np.load(path))
    running = path.stem.endswith("-running")  # at 0.7 m/s in the mean, where errors grow three times as fast
    median, joints, feet = (0.15, 0.2, 0.87) if running else (0.05, 0.1, 0.95)
    first = 7 if robot.name == "ant" else 3  # of the joints
    ends, contacts = replay(robot, passages)
    moved = np.linalg.norm(passages["ends"] - passages["qpos"], axis=1)
    error = np.linalg.norm(ends - passages["ends"], axis=1)
    assert len(ends) == 40
    assert np.median(error) < median
    assert error.mean() < 0.3 * moved.mean()
    assert np.linalg.norm((ends - passages["ends"])[:, first:], axis=1).mean() < joints
    assert (contacts == passages["contacts"]).mean() > feet


def _episodes(robot: Robot, kind: str):
    """Of each episode roll and pitch and the contacts of feet in each step, its return, and if it fell."""
    rng, seeds = np.random.default_rng(7), 100 + np.arange(EPISODES)
    if kind == "uniform_random_actions":
        stepper, first = Stepper(robot), 8 + 2 * robot.action_dim
        for seed in seeds:
            stepper.reset(int(seed))
            seen, over = [], False
            while not over:
                over = stepper.step(rng.uniform(-1, 1, robot.action_dim))
                seen.append(stepper.state.observation.copy())
            rows = np.array(seen)
            yield rows[:, 6:8], rows[:, first:], stepper.tally.objective, stepper.tally.terminated
        return
    share = np.float32(kind == "xavier_policies")  # a network of zeros does nothing
    policies, at = np.stack([share * robot.controller.initial(rng) for _ in seeds]), TraceColumns.of(robot)
    found = Threads(1).run(ModelBatch(robot), policies, seeds, request=Request(traces=True))
    for trace, objective, fell in zip(found.traces, found.objectives, found.fell, strict=True):
        yield trace[:, at.attitude :][:, :2], trace[:, at.contact : at.position], objective, fell


def _behaviour(name: str, kind: str) -> dict[str, float]:
    """Figures of many episodes: medians of the return and the steps, means of the rest."""
    robot, rows = load_robot(name), []
    untouched = np.array([foot in robot.description.alive.untouched for foot in robot.description.feet])
    for angles, contacts, objective, fell in _episodes(robot, kind):
        dead = (contacts * untouched).any(axis=1)
        if name == "half_cheetah":
            dead |= np.abs(angles[:, 1]) >= 1
        dead[-1] |= fell
        inverted = (np.cos(angles).prod(axis=1) < -0.3).any()
        rows.append((objective, len(dead), inverted, 1 - dead.mean(), *contacts.mean(axis=0)))
    table = np.array(rows)
    figures = ["inverted", "alive", *(f"contact {foot}" for foot in robot.description.feet)]
    medians = dict(zip(("return", "steps"), np.median(table[:, :2], axis=0), strict=True))
    return medians | dict(zip(figures, table[:, 2:].mean(axis=0), strict=True))


def _allowed(name: str, kind: str):
    """Lowest and highest value of each figure that agrees with PyBullet's."""
    known = PYBULLET[name]["behaviour"][kind]
    bodies = {link: body for body, links in LINKS[name].items() for link in links}
    # a sole is named after its body
    feet = {soles[0]: foot for foot, soles in load_robot(name).description.feet.items()}
    contact = {f"contact {feet[bodies[link]]}": share for link, share in known["contact"].items()}
    return {
        "return": (known["return"][0], known["return"][2]),
        "steps": (0.65 * known["steps"], 1.35 * known["steps"]),
        "inverted": (known["inverted"] - 0.1, known["inverted"] + 0.1),
        "alive": (known["alive"] - 0.1, known["alive"] + 0.1),
        **{figure: (share - 0.15, share + 0.15) for figure, share in contact.items()},
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LINKS)
def test_behaviour_agrees_but_for_known_differences(name: str, kind: str) -> None:
    found, allowed = _behaviour(name, kind), _allowed(name, kind)
    assert found.keys() == allowed.keys()
    for figure, (low, high) in allowed.items():
        different = DIFFERENT.get((name, kind, figure))
        if different is None:
            assert low <= found[figure] <= high, figure
        else:
            assert not low <= found[figure] <= high, f"{figure} agrees by now"
            assert found[figure] == pytest.approx(different, rel=0.05), figure
