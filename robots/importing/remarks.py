"""What looks wrong about a robot that can be simulated all the same, in sentences."""

import mujoco
import numpy as np

from robots.actuation import goes_beyond, motor_of
from robots.importing.anatomy import can_touch
from robots.pose import put_joints
from robots.robot import Robot
from robots.simulation.episodes import Episodes

_FAR = 100.0  # [m] within which distances are measured
_AFLOAT = 0.05  # [m] a robot that starts higher above the ground is worth a remark
_SUNK = 0.005  # [m] and one that starts deeper in it
_SOON = 25  # control steps after which half of all random controllers have fallen, likewise


def start_remarks(robot: Robot) -> list[str]:
    """What looks wrong about the pose that episodes start in."""
    model, description = robot.model, robot.description
    data = mujoco.MjData(model)
    data.qpos[[model.joint(joint).qposadr[0] for joint in description.joints]] = 0
    put_joints(model, data.qpos, robot.start)
    mujoco.mj_forward(model, data)
    remarks = _height_remarks(robot, data)
    outside = [
        joint
        for joint, (low, high) in zip(description.joints, robot.joint_ranges, strict=True)
        if not low <= data.joint(joint).qpos[0] <= high
    ]
    if outside:
        remarks.append(f"These joints start outside their ranges: {', '.join(outside)}.")
    height, least = data.body(description.torso).xpos[2], description.alive.min_height
    if least is not None and height <= least:
        remarks.append(
            f"Its torso starts {height:.3g} m high, but it is alive only above {least:g} m: alive.min_height."
        )
    return remarks


def model_remarks(robot: Robot) -> list[str]:
    """What looks wrong about the model and its description."""
    model, joints = robot.model, robot.description.joints
    driven = {motor_of(model, joint) for joint in joints}
    remarks = []
    if idle := [model.actuator(other).name or str(other) for other in range(model.nu) if other not in driven]:
        remarks.append(f"No action drives these actuators, whose control stays 0: {', '.join(idle)}.")
    if beyond := [joint for joint in joints if goes_beyond(model, joint)]:
        remarks.append(
            f"These joints can be told positions far beyond their ranges: {', '.join(beyond)}; "
            "give them narrower ones under ranges in the YAML."
        )
    if obstacles := _obstacles(robot):
        remarks.append(f"Besides the floor it can bump into {len(obstacles)} geoms: {_few(obstacles)}.")
    in_legs = {joint for leg in robot.description.legs.values() for joint in leg.joints}
    if others := [joint for joint in joints if joint not in in_legs]:
        remarks.append(f"These joints belong to no leg: {', '.join(others)}.")
    return remarks


def trial_remarks(robot: Robot, trials: Episodes) -> list[str]:
    """What looks wrong about the episodes of random controllers."""
    remarks = []
    if trials.diverged.any():
        remarks.append(
            f"The simulation blew up with {trials.diverged.sum()} of {len(trials)} random controllers: "
            "a shorter timestep, or softer servos, may help."
        )
    if trials.diverged.all():
        return remarks
    never = np.flatnonzero(np.nanmax(trials.measures, axis=0) == 0)
    if len(never):
        feet = ", ".join(robot.description.measures[foot] for foot in never)
        remarks.append(f"These feet never touched the ground: {feet}; are those their soles?")
    if np.median(trials.steps) < min(_SOON, robot.description.episode_steps):
        remarks.append(
            f"Half of the random controllers fell within {np.median(trials.steps):.0f} control steps; "
            "training starts more easily where they last longer: see alive and ranges in the YAML."
        )
    return remarks


def _height_remarks(robot: Robot, data: mujoco.MjData) -> list[str]:
    """Whether the lowest sole starts on the ground."""
    model = robot.model
    floor = model.geom(robot.description.floor).id
    soles = [model.geom(sole).id for soles in robot.description.feet.values() for sole in soles]
    gap = min(mujoco.mj_geomDistance(model, data, floor, sole, _FAR, None) for sole in soles)
    if gap > _AFLOAT:
        return [f"Its lowest foot starts {gap:.2g} m above the ground."]
    if gap < -_SUNK:
        return [f"Its lowest foot starts {-gap:.2g} m deep in the ground, which throws it up."]
    return []


def _obstacles(robot: Robot) -> list[str]:
    """Geoms of the world that a sole can touch, besides the floor."""
    model = robot.model
    sole = model.geom(next(iter(robot.description.feet.values()))[0]).id
    still = np.flatnonzero(model.body_weldid[model.geom_bodyid] == 0)
    names = [model.geom(geom).name for geom in still if can_touch(model, int(geom), sole)]
    return [name for name in names if name != robot.description.floor]


def _few(names: list[str]) -> str:
    """Some names, at most."""
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
