"""mjlab's own managers, told what an exported file tells, send servos where the simulation does.

mjlab is no dependency, and asks for an older MuJoCo than Surefoot: to run this, `pip install mjlab` and then
`pip install --force-reinstall --no-deps mujoco==4.0.0 mujoco-core==4.0.0 mujoco-studio==4.0.0`.
"""

import json
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest

from robots.link.export import onnx_model
from robots.robot import Robot, load_robot
from tests.robots.controllers.test_policy import around_a_policy
from tests.robots.link.test_export import (
    SEEN,
    _turned_around,
    ends_of,
    quadruped,
    random_gait,
    sensed,
    session,
)
from tests.robots.stepping import begun

pytest.importorskip("mjlab")
torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("default")


class Entity:
    """A robot as mjlab's action terms know it: names of joints in, targets out."""

    def __init__(self, joints: list[str]) -> None:
        self._joints, self.targets = joints, np.zeros(len(joints))
        self.data = self
        self.encoder_bias = torch.zeros(1, len(joints))

    def find_joints_by_actuator_names(self, names: tuple[str, ...]) -> tuple[list[int], list[str]]:
        assert names == (".*",)
        return list(range(len(self._joints))), self._joints

    def set_joint_position_target(self, target, joint_ids) -> None:
        self.targets[joint_ids.numpy()] = target[0].numpy()


class Environment:
    """As much of an environment as mjlab's managers ask for."""

    num_envs, device = 1, "cpu"

    def __init__(self, joints: list[str]) -> None:
        self.scene, self.known = {"robot": Entity(joints)}, dict[str, float]()


def read(env: Environment, name: str):
    return torch.tensor([[env.known[name]]], dtype=torch.float32)


@pytest.mark.parametrize(
    "made",
    [
        lambda _: load_robot("hexapod"),
        lambda _: quadruped(SEEN),
        lambda _: _turned_around(quadruped(SEEN)),
        around_a_policy,
    ],
    ids=["periodic", "network", "turned", "policy"],
)
def test_mjlabs_managers_send_servos_where_the_simulation_does(
    made: Callable[[Path], Robot], tmp_path: Path
) -> None:
    from mjlab.envs.mdp.actions import JointPositionActionCfg
    from mjlab.managers.action_manager import ActionManager
    from mjlab.managers.observation_manager import (
        ObservationGroupCfg,
        ObservationManager,
        ObservationTermCfg,
    )

    robot = made(tmp_path)
    parameters = random_gait(robot)
    gait = session(onnx_model(robot, parameters, gait="row 3"))
    known = gait.get_modelmeta().custom_metadata_map
    told = {key: text.split(",") for key, text in known.items()}
    joints, clip = told["joint_names"], [one["range"] for one in json.loads(known["surefoot"])["actions"]]
    env = Environment(joints)
    action = JointPositionActionCfg(
        entity_name="robot",
        actuator_names=(".*",),
        scale=dict(zip(joints, map(float, told["action_scale"]), strict=True)),
        offset=dict(zip(joints, map(float, told["default_joint_pos"]), strict=True)),
        use_default_offset=False,
        clip=dict(zip(joints, map(tuple, clip), strict=True)),
    )
    actions = ActionManager({"joints": action}, env)
    stepper, data, ends = begun(robot, 3), mujoco.MjData(robot.physics), ends_of(robot)[1]
    feeds = {given.name: np.zeros(given.shape, np.float32) for given in gait.get_inputs()}
    observations = None
    for _ in range(100):
        env.known = sensed(stepper, data)
        if "obs" in feeds:
            if observations is None:
                columns = zip(
                    told["observation_names"],
                    told["observation_terms_scale"],
                    told["observation_terms_clip"],
                    told["observation_terms_history_length"],
                    strict=True,
                )
                terms = {
                    name: ObservationTermCfg(
                        func=read,
                        params={"name": name},
                        scale=float(scale),
                        clip=tuple(map(float, ends.split(";"))),
                        history_length=int(history),
                    )
                    for name, scale, ends, history in columns
                }
                observations = ObservationManager({"actor": ObservationGroupCfg(terms=terms)}, env)
            feeds["obs"] = observations.compute(update_history=True)["actor"].numpy()
        told_now = dict(zip([one.name for one in gait.get_outputs()], gait.run(None, feeds), strict=True))
        if "state" in feeds:
            feeds["state"] = told_now["next_state"]
        actions.process_action(torch.from_numpy(told_now["actions"]))
        actions.apply_action()
        wanted = stepper.action(parameters)
        trained = ends[:, 0] + np.diff(ends)[:, 0] * (wanted + 1) / 2
        np.testing.assert_allclose(env.scene["robot"].targets, trained, atol=1e-5)
        stepper.step(wanted)
