"""Policies of others and residuals around them: a computation by hand and onnxruntime are the judges."""

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot
from robots.controllers.controller import Actor, Policy
from robots.controllers.foreign import POLICIES
from robots.controllers.network import Network
from robots.errors import InvalidFileError, InvalidRobotError, InvalidValueError, UnknownNameError
from robots.importing.policies import with_policy
from robots.robot import Robot, load_robot, read_robot, robot_from_text
from robots.simulation.backend import ModelBatch
from robots.simulation.threads import ALL_CORES
from tests.robots.controllers.test_policy_network import constant, graph
from tests.robots.stepping import begun, check_whole_and_stepped

onnxruntime = pytest.importorskip("onnxruntime")
JOINTS, HISTORY, PERIOD = 12, 3, 0.7
PPO = Path(__file__).with_name("quadruped_ppo.onnx")
# as the map below has them: of three steps each, the last one last
TERMS = {
    "gyroscope": 3,
    "gravity": 3,
    "joint_position": JOINTS,
    "joint_speed": JOINTS,
    "action": JOINTS,
    "command": 3,
}
INPUTS = HISTORY * sum(TERMS.values()) + 6


def policy(inputs: int = INPUTS, outputs: int = JOINTS, *, unit: str = "Tanh", bias: float = 0.0) -> bytes:
    rng = np.random.default_rng(0)
    sizes, nodes, constants = (inputs, 16, outputs), [], []
    for layer, (rows, columns) in enumerate(itertools.pairwise(sizes)):
        weights = rng.normal(size=(rows, columns)).astype(np.float32) / math.sqrt(rows)
        biases = bias + 0.1 * rng.normal(size=columns)
        constants += [constant(f"w{layer}", weights), constant(f"b{layer}", biases.astype(np.float32))]
        source, target = ("a", "y") if layer else ("obs", "a")
        nodes += [("Gemm", [source, f"w{layer}", f"b{layer}"], [f"h{layer}"], {})]
        nodes += [(unit, [f"h{layer}"], [target], {})]
    return graph(nodes, constants, outputs, inputs=inputs)


MAP = f"""
controller:
  observes:
    - {{term: gyroscope, scale: 0.25, clip: 1.0, history: {HISTORY}, oldest_first: true}}
    - {{term: gravity, history: {HISTORY}, oldest_first: true}}
    - {{term: joint_position, history: {HISTORY}, oldest_first: true}}
    - {{term: joint_speed, scale: 0.05, history: {HISTORY}, oldest_first: true}}
    - {{term: action, history: {HISTORY}, oldest_first: true}}
    - {{term: command, scale: [2.0, 2.0, 0.25], history: {HISTORY}, oldest_first: true}}
    - {{term: phase, period: {PERIOD}, phases: [0.0, 0.5]}}
    - {{term: clock, period: {PERIOD}}}
  joints: [JOINTS]
  scale: 0.25
  command: {{default: [0.4, 0.0, 0.0], least: [-1.0, -0.5, -1.0], most: [1.0, 0.5, 1.0], heading_gain: 0.8}}
"""


def around_a_policy(folder: Path) -> Robot:
    """The quadruped around a policy with random weights, in another order of joints."""
    own = load_robot("quadruped")
    (folder / "policy.onnx").write_bytes(policy())
    (folder / "map.yaml").write_text(MAP.replace("JOINTS", ", ".join(sorted(own.description.joints))))
    return with_policy(own, folder / "policy.onnx", folder / "map.yaml")


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    return around_a_policy(tmp_path_factory.mktemp("policy"))


def expected_actions(
    robot: Robot, parameters: np.ndarray, steps: int, seed: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Actions of the controller along an episode, and what the formula says with onnxruntime."""
    description = robot.description.controller
    session = onnxruntime.InferenceSession(robot.files["policy.onnx"])
    joints, order = list(robot.description.joints), list(description.joints)
    home = np.array([description.home[joint] for joint in joints])
    offset, share = 0.3 * parameters[3:15], np.clip(1 + 0.4 * parameters[15:19], 0, 2).repeat(3)
    sine, cosine = 0.3 * parameters[19:31], 0.3 * parameters[31:43]
    frequency = 2 * math.exp(0.3 * parameters[43])
    least, most = np.array(description.command.least), np.array(description.command.most)
    told = np.array(description.command.default) + parameters[:3] * (most - least) / 3
    stepper, actor, last, past = begun(robot, seed), Actor(robot.controller), np.zeros(JOINTS), []
    found, wanted = [], []
    for step in range(steps):
        data, t = stepper.data, step * robot.control_step
        torso = data.body(robot.description.torso).xmat.reshape(3, 3)
        ramp, yaw = min(1, t / 0.5), math.atan2(torso[1, 0], torso[0, 0])
        command = ramp * np.clip(told - [0, 0, 0.8 * yaw], least, most)
        positions = np.array([data.joint(joint).qpos[0] for joint in joints]) - home - offset
        speeds = np.array([data.joint(joint).qvel[0] for joint in joints])
        places = [joints.index(joint) for joint in order]
        now = {
            "gyroscope": 0.25 * np.clip(data.qvel[3:6], -1, 1),
            "gravity": torso.T @ [0, 0, -1],
            "joint_position": positions[places],
            "joint_speed": 0.05 * speeds[places],
            "action": last,
            "command": command * [2, 2, 0.25],
        }
        past = [*past, now][-HISTORY:] if past else [now] * HISTORY
        seen = np.concatenate([moment[term] for term in TERMS for moment in past])
        turn = 2 * np.pi * t / PERIOD
        legs = [math.cos(turn), math.cos(turn + np.pi), math.sin(turn), math.sin(turn + np.pi)]
        clock = [*legs, math.sin(turn), math.cos(turn)]
        inputs = np.concatenate([seen, clock]).astype(np.float32)
        last = session.run(None, {"obs": inputs[None]})[0][0].astype(np.float64)
        turned = 2 * np.pi * frequency * t
        wave = offset + sine * np.sin(turned) + cosine * np.cos(turned)
        wanted.append(home + share * 0.25 * last[[order.index(joint) for joint in joints]] + ramp * wave)
        action = actor(parameters, stepper.state.observation, step)
        found.append(robot.targets.mean(axis=1) + np.diff(robot.targets)[:, 0] / 2 * action)
        stepper.step(action)
    return np.array(found), np.array(wanted)


@pytest.mark.parametrize("size", [0.0, 0.5])
def test_targets_are_those_of_the_formula_with_the_policy_by_onnxruntime(robot: Robot, size: float) -> None:
    parameters = size * np.random.default_rng(1).normal(size=45)
    parameters[-1] = 0.0
    found, wanted = expected_actions(robot, parameters.astype(np.float32), 60)
    np.testing.assert_allclose(found, wanted, atol=2e-5)
    assert np.ptp(wanted, axis=0).max() > 0.05  # something happens


def test_episodes_in_compiled_code_are_those_of_single_steps(robot: Robot) -> None:
    parameters = 0.2 * np.random.default_rng(2).normal(size=45).astype(np.float32)
    whole, single = check_whole_and_stepped(robot.with_episode_steps(60), parameters)
    whole.run(np.zeros(45), 1)  # whose memory is not that of the next
    whole.run(parameters, 5)
    assert whole.tally == single.tally


def test_the_mirror_image_of_a_gait_does_the_mirror_image(robot: Robot) -> None:
    from robots.symmetry import find_symmetry

    controller, mirror = robot.controller, find_symmetry(robot)
    assert mirror is not None
    assert controller.mirror is not None
    rng = np.random.default_rng(3)
    parameters = 0.5 * rng.normal(size=(1, 45)).astype(np.float32)
    image = controller.mirrored(parameters, mirror)
    np.testing.assert_allclose(controller.mirrored(image, mirror), parameters, atol=1e-5)
    one, other = Actor(controller), Actor(controller)
    for step in range(5):
        seen = rng.normal(size=robot.observation_dim).astype(np.float32)
        action = one(parameters[0], seen, step)
        mirrored = other(image[0], mirror.observations.of(seen).astype(np.float32), step)
        np.testing.assert_allclose(mirrored, mirror.actions.of(action), atol=2e-5)


def test_another_gait_takes_over_within_half_a_second(robot: Robot) -> None:
    rng = np.random.default_rng(4)
    first, second = 0.8 * rng.normal(size=(2, 45)).astype(np.float32)
    first[-1] = second[-1] = 0.0
    seen = np.zeros(robot.observation_dim, np.float32)
    actor, alone = Actor(robot.controller), Actor(robot.controller)
    actions = np.array([actor(first if step < 50 else second, seen, step) for step in range(100)])
    jumps = abs(np.diff(actions, axis=0)).max(axis=1)
    assert jumps[49] < 1.5 * jumps[:49].max()
    expected = [alone(second, seen, step) for step in range(100)]
    np.testing.assert_allclose(actions[-1], expected[-1], atol=1e-4)


def test_a_joint_that_is_lost_reads_home_and_zero(robot: Robot) -> None:
    from adapt.damage.text import parse_damage

    lost = parse_damage("front_left:lost", robot).apply(robot)
    seen = dict(zip([entry.label for entry in lost.entries], begun(lost, 1).state.observation, strict=True))
    for joint in robot.description.legs["front_left"].joints:
        assert seen[f"{joint} position"] == pytest.approx(0, abs=1e-6)
        assert seen[f"{joint} speed"] == 0


def test_a_policy_of_an_environment_sees_a_lost_joint_where_that_shows_it(tmp_path: Path) -> None:
    from adapt.damage.text import parse_damage

    own = load_robot("quadruped")
    (tmp_path / "policy.onnx").write_bytes(policy(inputs=own.observation_dim))
    around = with_policy(own, tmp_path / "policy.onnx", "sb3")
    shown, seen = (
        begun(parse_damage("front_left:lost", one).apply(one), 1).state.observation for one in (own, around)
    )
    np.testing.assert_array_equal(seen, shown)


def test_a_robot_with_a_policy_is_read_from_its_files(robot: Robot, tmp_path: Path) -> None:
    (tmp_path / "robot.yaml").write_text(robot.yaml)
    (tmp_path / robot.description.model).write_text(robot.xml)
    with pytest.raises(InvalidFileError, match=r"policy\.onnx"):
        read_robot(tmp_path / "robot.yaml")
    (tmp_path / "policy.onnx").write_bytes(robot.files["policy.onnx"])
    assert read_robot(tmp_path / "robot.yaml").controller.shape == robot.controller.shape
    with pytest.raises(InvalidRobotError, match="is missing"):
        robot_from_text(robot.xml, robot.yaml, origin="mine")


def test_policies_that_do_not_fit_are_refused_with_what_does_not(tmp_path: Path) -> None:
    own, path = load_robot("quadruped"), tmp_path / "policy.onnx"
    path.write_bytes(policy(inputs=48))
    assert with_policy(own, path).controller.network.inputs == 48
    for content, observes, kind, said in (
        (policy(47), "playground", InvalidValueError, "48 or 52 inputs, not 47"),
        (policy(48, 11), "playground", InvalidRobotError, "11 actions"),
        (policy(48), "mjlab", InvalidValueError, "no policy of mjlab"),
        (policy(48), "isaac", UnknownNameError, "playground"),
        (b"no ONNX", "playground", InvalidFileError, "no ONNX file"),
        (policy(48, bias=np.nan), "playground", InvalidFileError, "not finite"),
        (policy(48, unit="Log"), "playground", InvalidFileError, "zeros that are not finite"),
        (policy(48, unit="Mine"), "playground", InvalidFileError, "cannot be run by onnxruntime"),
    ):
        path.write_bytes(content)
        with pytest.raises(kind, match=said):
            with_policy(own, path, observes)


def test_a_policy_that_ppo_trained_runs_and_acts_as_onnxruntime_does() -> None:
    """How Stable-Baselines3 made it is told next to it."""
    robot, session = with_policy(load_robot("quadruped"), PPO, "sb3"), onnxruntime.InferenceSession(PPO)
    assert isinstance(robot.controller.network, Network)  # or else onnxruntime would judge itself
    zeros, stepper, actor = np.zeros(45, np.float32), begun(robot, 3), Actor(robot.controller)
    for step in range(robot.description.episode_steps):
        seen = stepper.state.observation.copy()
        action = actor(zeros, seen, step)
        expected = np.clip(session.run(None, {"obs": seen[None]})[0][0], -1, 1)
        np.testing.assert_allclose(action, expected, atol=1e-5)
        stepper.step(action)
    assert stepper.tally.ahead > 20


def recurrent() -> bytes:
    """Actions that add up what is observed, as a graph with a memory."""
    weights = np.random.default_rng(6).normal(size=(48, JOINTS)).astype(np.float32) / 50
    nodes = [
        ("MatMul", ["obs", "w"], ["part"], {}),
        ("Add", ["part", "h_in"], ["h_out"], {}),
        ("Tanh", ["h_out"], ["actions"], {}),
    ]
    outputs = {"actions": JOINTS, "h_out": JOINTS}
    return graph(nodes, [constant("w", weights)], outputs, inputs={"obs": 48, "h_in": JOINTS})


def test_a_policy_with_a_memory_runs_through_onnxruntime(tmp_path: Path) -> None:
    path = tmp_path / "policy.onnx"
    path.write_bytes(recurrent())
    made = with_policy(load_robot("quadruped"), path)
    zeros, rng = np.zeros(45), np.random.default_rng(7)
    seen = rng.normal(size=(4, made.observation_dim)).astype(np.float32)
    actor = Actor(made.controller)
    first = [actor(zeros.astype(np.float32), row, step) for step, row in enumerate(seen)]
    again = [actor(zeros.astype(np.float32), row, step) for step, row in enumerate(seen)]
    assert np.array_equal(first, again)
    alone = Actor(made.controller)(zeros.astype(np.float32), seen[2], 0)
    assert not np.allclose(alone, first[2])  # without what was before
    check_whole_and_stepped(made.with_episode_steps(30), zeros)


def linear(seen: np.ndarray) -> np.ndarray:
    """A policy as a function: of a batch of observations, what `policy` is for its first layer."""
    assert seen.shape == (1, 48)
    assert seen.dtype == np.float32
    seen[:] = np.tanh(seen)  # its own copy
    return seen[:, :JOINTS]


@pytest.mark.parametrize(("robot", "step"), [("walker", 0.05), ("quadruped", 0.4)])
def test_searches_for_a_robot_that_has_to_keep_its_balance_begin_with_small_steps(robot: str, step: float):
    whole = load_robot(robot)
    joints = len(whole.description.joints)
    controller = with_policy(whole, lambda seen: np.zeros((len(seen), joints), np.float32), "sb3").controller
    assert (controller.sigma0, controller.step_sizes) == (step, None)


def test_a_function_is_a_policy_whose_gaits_walk_break_and_are_read_again(tmp_path: Path) -> None:
    weights = np.vstack([np.eye(JOINTS), np.zeros((48 - JOINTS, JOINTS))]).astype(np.float32)
    nodes = [("Tanh", ["obs"], ["a"], {}), ("Gemm", ["a", "w", "b"], ["y"], {})]
    constants = [constant("w", weights), constant("b", np.zeros(JOINTS, np.float32))]
    (tmp_path / "policy.onnx").write_bytes(graph(nodes, constants, JOINTS, inputs=48))
    own = load_robot("quadruped")
    file, made = with_policy(own, tmp_path / "policy.onnx"), with_policy(own, linear)
    parameters = 0.3 * np.random.default_rng(8).normal(size=45)
    parameters[-1] = 0.0
    whole, _ = check_whole_and_stepped(made.with_episode_steps(40), parameters)
    expected, _ = check_whole_and_stepped(file.with_episode_steps(40), parameters)
    assert whole.tally.x == pytest.approx(expected.tally.x, abs=1e-4)
    assert with_policy(own, "linear").controller == made.controller  # by its name, too
    trained = surefoot.train(
        own, policy=linear, evaluations=8, batch_size=8, emitters=1, episode_steps=20, out=tmp_path / "run"
    )
    flattered = replace(trained.elites, objectives=trained.elites.objectives + 100)
    found = surefoot.recover(
        replace(trained, elites=flattered), "front_left:dead",
        trials=1, think_episodes=1, rehearsal=False, refine=0,
    )  # fmt: skip
    alone = len(trained.elites)  # the row of the policy alone, whatever else there is
    assert [trial.row for trial in found.trials] == [found.incumbent] == [alone]
    assert not trained.gaits.solutions[alone].any()
    assert "policy alone" in trained.facts()[f"  row {alone}"]
    assert len(surefoot.merge(trained)) == len(trained)
    assert surefoot.load(tmp_path / "run").robot.controller == made.controller
    POLICIES.pop("linear")
    with pytest.raises(InvalidFileError, match="'linear' is a function that is not registered"):
        surefoot.load(tmp_path / "run")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda seen: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda seen: seen[:, :11], r"make 12 numbers, not an array of shape \(1, 11\)"),
        (lambda seen: np.full((1, 12), np.nan), "not finite"),
        (lambda seen: "left", "ValueError"),
    ],
)
def test_a_function_that_fails_is_one_sentence_and_moves_no_robot(wrong: Callable, said: str) -> None:
    own, now = load_robot("quadruped"), []
    with pytest.raises(InvalidFileError, match=said):
        with_policy(own, wrong)
    made = with_policy(own, lambda seen: wrong(seen) if now else np.zeros((1, JOINTS)))
    zeros, seen = np.zeros(45, np.float32), np.zeros(made.observation_dim, np.float32)
    acts = Policy(made.controller, zeros)
    assert np.isfinite(acts(seen)).all()
    batch = ModelBatch(made.with_episode_steps(20))
    now.append("wrong")
    with pytest.raises(InvalidValueError, match=said.replace("not finite", "no finite action")):
        acts(seen)  # whoever drives a robot then damps it, see the tests of links
    if said != "not finite":  # in episodes, numbers that are not finite are a gait that is worth nothing
        with pytest.raises(InvalidValueError, match=said):
            ALL_CORES.run(batch, zeros[None], np.ones(1, int))
