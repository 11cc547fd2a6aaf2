"""A gait in plain MuJoCo: an explicit PD at 1 kHz with the gains that `surefoot robots` prints.

python examples/explicit_pd.py [REPERTOIRE] [EPISODES] prints distances [m] and falls, here and in Surefoot.
"""

import sys

import mujoco
import numpy as np

import surefoot
from robots.controllers.controller import Policy
from robots.link.observer import Observer
from robots.motors import Motors, lags, motor_of
from robots.robot import Robot
from robots.simulation.stepper import Stepper


def walk(robot: Robot, parameters: np.ndarray, seed: int, timestep: float = 0.001) -> tuple[float, bool]:
    """How far the robot gets along x [m], and whether it falls."""
    joints, alive = robot.description.joints, robot.description.alive
    motors, policy = Motors.of(robot.physics, joints), Policy(robot.controller, parameters)
    observer = Observer(robot)
    spec = robot.spec()
    spec.option.timestep = timestep
    for actuator in spec.actuators:
        actuator.set_to_motor()
        actuator.gear, actuator.ctrllimited, actuator.forcelimited = [1, 0, 0, 0, 0, 0], False, False
    model = spec.compile()
    data, start = mujoco.MjData(model), Stepper(robot)
    start.reset(seed)
    data.qpos[:] = start.data.qpos
    controls = [motor_of(model, joint) for joint in joints]
    torso, ids = data.body(robot.description.torso), [model.joint(joint).id for joint in joints]
    angles, speeds = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
    aim, share = np.zeros(len(joints)), timestep / np.maximum(lags(robot.physics, joints), timestep)
    for _ in range(robot.description.episode_steps):
        target = motors.targets(policy(_seen(robot, observer, data, angles, speeds)))
        for _ in range(round(robot.control_step / timestep)):
            aim += share * (target - aim)  # at once, unless the actuator has a filter
            torque = motors.stiffness * (aim - data.qpos[angles]) - motors.damping * data.qvel[speeds]
            data.ctrl[controls] = np.clip(torque, -motors.greatest, motors.greatest)
            mujoco.mj_step(model, data)
        tilted = alive.max_tilt is not None and torso.xmat[8] < np.cos(alive.max_tilt)
        if tilted or (alive.min_height is not None and torso.xpos[2] < alive.min_height):
            return float(torso.xpos[0]), True
    return float(torso.xpos[0]), False


def _seen(
    robot: Robot, observer: Observer, data: mujoco.MjData, angles: np.ndarray, speeds: np.ndarray
) -> np.ndarray:
    """What encoders and IMU tell of a robot with a free torso, or nothing of what an open-loop gait sees."""
    if not robot.controller.closed_loop:
        return np.zeros(robot.observation_dim)
    told = {"orientation": data.qpos[3:7], "rates": data.qvel[3:6]}
    told |= {"positions": data.qpos[angles], "speeds": data.qvel[speeds]}
    return observer(**told, last_action=np.zeros(robot.action_dim))


if __name__ == "__main__":
    gaits = surefoot.load(sys.argv[1] if len(sys.argv) > 1 else "hexapod")
    gait, stepper = gaits.elites.solutions[gaits.best()], Stepper(gaits.robot)
    for number in range(int(sys.argv[2]) if len(sys.argv) > 2 else 10):
        stepper.run(gait, number)
        here, there = (stepper.progress, bool(stepper.tally.terminated)), walk(gaits.robot, gait, number)
        words = [f"{distance:.2f} m{', fell' if fell else ''}" for distance, fell in (here, there)]
        print(f"episode {number}: in Surefoot {words[0]}; in plain MuJoCo {words[1]}")
