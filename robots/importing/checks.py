"""`check_robot` tries a robot: what to know about it before training, and what looks wrong, in sentences."""

import time
from dataclasses import dataclass

import mujoco
import numpy as np

from robots.attitude import yaw_of
from robots.deployment.walk import Walk
from robots.importing.anatomy import can_touch
from robots.model import SLIDING
from robots.motors import Motors, motor_of, transmissions
from robots.robot import Robot
from robots.simulation.backend import ModelBatch
from robots.simulation.episodes import Episodes
from robots.simulation.threads import Threads
from robots.stance import Stance, first_data, standing_on_floor, start_positions, torso_height, try_stance
from robots.task.terrain import BEYOND
from robots.words import wrapped

_EPISODES = 16  # number of episodes, each with a random controller
_STEPS = 300  # control steps of an episode, at most
_ASKEW = 0.1  # [rad] by which a torso may start turned
_ABOVE = 0.05  # [m] a foot that starts higher above the ground gets a remark
_MANY = 10  # physics steps in a control step; a remark is made if there are more
_BEYOND = 1.1  # a servo that can be told more than this times its joint's range gets a remark
_SOON = 25  # control steps; a remark is made if half of the random controllers fall earlier


@dataclass(frozen=True)
class Findings:
    """What a check finds out about a robot."""

    facts: dict[str, list[str]]  # lines of text, by the name of the fact
    remarks: list[str]  # sentences that each say what looks wrong


def check_robot(robot: Robot) -> Findings:
    """Look at a robot as its episodes start, and let random controllers move it for some seconds."""
    episodes, speed = _try(robot)
    standing, stance = standing_on_floor(robot), try_stance(robot)
    torso = robot.model.body(robot.description.torso).id
    mass, height = robot.model.body_subtreemass[torso], standing.xpos[torso, 2]
    facts = {
        "body": [f"{mass:.3g} kg; the torso stands {height:.3g} m high"],
        "stands": [*_stance(robot, standing), *_held_words(stance)],
        "random gaits": _episode_words(robot, episodes),
        "speed": [f"{speed:,.0f} control steps/s on one core, fewer while the machine is busy"],
    }
    of_pose = _stance_remarks(stance) + _start_remarks(robot)
    return Findings(facts, of_pose + model_remarks(robot) + _episode_remarks(robot, episodes))


def _try(robot: Robot) -> tuple[Episodes, float]:
    """Episodes of random controllers, and the control steps simulated per second."""
    steps = min(_STEPS, robot.description.episode_steps)
    batch, rng = ModelBatch(robot.with_episode_steps(steps)), np.random.default_rng(0)
    parameters = np.stack([robot.controller.initial(rng) for _ in range(_EPISODES)])
    backend = Threads(1)
    backend.run(batch, parameters[:1], np.zeros(1, np.int64))  # compiles
    started = time.perf_counter()
    episodes = backend.run(batch, parameters, np.arange(_EPISODES))
    return episodes, episodes.steps.sum() / (time.perf_counter() - started)


def _stance(robot: Robot, data: mujoco.MjData) -> list[str]:
    """Where each foot stands relative to the torso; ahead is the direction in which the robot shall walk."""
    lines, torso = [], data.body(robot.description.torso).xpos
    for foot, soles in robot.description.feet.items():
        x, y, _ = np.mean([data.geom(sole).xpos for sole in soles], axis=0) - torso
        along, across = "ahead" if x >= 0 else "behind", "left" if y >= 0 else "right"
        lines.append(f"{foot}: {abs(x):.2f} m {along}, {abs(y):.2f} m to the {across}")
    return lines


def _held_words(stance: Stance) -> list[str]:
    if not stance.held or not stance.stands:
        return []
    tilt = np.degrees(stance.tilt)
    return [f"held by its servos, its torso is {stance.height:.3g} m high and tilts by {tilt:.1f}°"]


def _stance_remarks(stance: Stance) -> list[str]:
    remarks = []
    if stance.gap > _ABOVE:
        remarks.append(f"Its lowest foot starts {stance.gap:.2g} m above the ground.")
    if stance.deep:
        remarks.append(f"Its lowest foot starts {-stance.gap:.2g} m deep in the ground, which throws it up.")
    if stance.fell:
        remarks.append(
            "Its servos do not hold it in the pose in which it starts: it falls, or does not come to rest."
        )
    elif stance.lies:
        remarks.append("It lies in the pose in which it starts: it does not stand on its feet alone.")
    return remarks


def _episode_words(robot: Robot, episodes: Episodes) -> list[str]:
    limit, lasted = min(_STEPS, robot.description.episode_steps), episodes.steps
    if episodes.diverged.all():
        return [f"the simulation diverged with all of the {_EPISODES} random controllers"]
    shares = dict(zip(robot.description.feet, np.nanmean(episodes.contacts, axis=0), strict=True))
    feet = [f"{foot} {shares[foot]:.0%}" for foot in robot.description.watched]
    return [
        f"{_EPISODES} random controllers lasted {lasted.min()} to {lasted.max()} of {limit} control steps",
        *wrapped(f"and were on the ground: {', '.join(feet)};"),
        *wrapped(f"on average they went {walk.way}" if (walk := Walk.of(episodes)) else ""),
    ]


def _start_remarks(robot: Robot) -> list[str]:
    description, data = robot.description, first_data(robot)
    remarks = []
    outside = [
        joint
        for joint, (low, high) in zip(description.joints, robot.joint_ranges, strict=True)
        if not low <= data.joint(joint).qpos[0] <= high
    ]
    if outside:
        remarks.append(f"These joints start outside their ranges: {', '.join(outside)}.")
    if robot.moves_freely:
        yaw = yaw_of(start_positions(robot)[robot.physics.jnt_qposadr[robot.root_joint] :][3:7])
        if abs(yaw) > _ASKEW:
            remarks.append(
                f"Its torso starts turned by {np.degrees(yaw):.0f}°, which counts as a wrong heading: turn "
                "what hangs on the torso, by a frame inside it, not the torso."
            )
    height, least = torso_height(robot, data), description.alive.min_height
    if least is not None and height <= least:
        remarks.append(
            f"Its torso starts {height:.3g} m high, but the robot is alive only above alive.min_height, "
            f"{least:g} m."
        )
    return remarks


def model_remarks(robot: Robot) -> list[str]:
    """What looks wrong about the model and its description, and what makes it slow."""
    model, joints = robot.model, robot.description.joints
    driven = {motor_of(model, joint) for joint in joints}
    remarks = []
    rest = [other for other in range(model.nu) if other not in driven]
    if idle := [model.actuator(other).name or f"number {other + 1}" for other in rest]:
        remarks.append(
            f"The controller does not drive {len(idle)} of the {model.nu} actuators; their control stays 0: "
            f"{', '.join(idle)}{transmissions(model)}."
        )
    told = np.ptp(Motors.of(model, joints).targets(np.array([[-1.0], [1.0]])), axis=0)  # 0 of a motor
    if beyond := [joints[j] for j in np.flatnonzero(told > _BEYOND * np.ptp(robot.joint_ranges, axis=1))]:
        remarks.append(
            f"Servos accept positions far beyond the ranges of these joints: {', '.join(beyond)}; "
            "give the joints narrower ranges under ranges in the YAML."
        )
    if obstacles := _obstacles(robot):
        first = ", ".join(obstacles[:3]) + ", ..." * (len(obstacles) > 3)
        remarks.append(f"Its feet can touch other fixed geoms than the floor ({len(obstacles)}): {first}.")
    in_legs = {joint for leg in robot.description.legs.values() for joint in leg.joints}
    if others := [joint for joint in joints if joint not in in_legs]:
        remarks.append(f"These joints belong to no leg: {', '.join(others)}.")
    return remarks + _slowness(robot)


def _slowness(robot: Robot) -> list[str]:
    remarks, substeps = [], robot.description.substeps
    if robot.model.geom_type[robot.model.geom(robot.description.floor).id] == mujoco.mjtGeom.mjGEOM_HFIELD:
        remarks.append(
            "Its floor is a height field, which is slow: a plane is tested for contact far sooner."
        )
    cones = robot.model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    if cones or np.any(robot.model.geom_condim > SLIDING):
        remarks.append(
            "Its contacts have elliptic friction cones, or resist rolling and twisting, which can take half "
            "of the time: see whether gaits need that, or write `contacts: simple` into the YAML."
        )
    if substeps > _MANY:
        remarks.append(
            f"A control step takes {substeps} physics steps of {robot.model.opt.timestep:g} s, which is "
            "slow: see whether the robot is as stable with a longer timestep in the MJCF."
        )
    return remarks


def _episode_remarks(robot: Robot, episodes: Episodes) -> list[str]:
    remarks = []
    if episodes.diverged.any():
        remarks.append(
            f"The simulation diverged with {episodes.diverged.sum()} of {len(episodes)} random controllers: "
            "a shorter timestep or softer servos may help."
        )
    if episodes.diverged.all():
        return remarks
    most = dict(zip(robot.description.feet, np.nanmax(episodes.contacts, axis=0), strict=True))
    if never := [foot for foot in robot.description.watched if most[foot] == 0]:
        remarks.append(
            f"These feet never touched the ground: {', '.join(never)}; does the YAML name the right soles?"
        )
    if np.median(episodes.steps) < min(_SOON, robot.description.episode_steps):
        remarks.append(
            f"Half of the random controllers fell within {np.median(episodes.steps):.0f} control steps; "
            "training starts more easily when they last longer: see alive and ranges in the YAML."
        )
    return remarks


def _obstacles(robot: Robot) -> list[str]:
    model = robot.model
    sole = model.geom(next(iter(robot.description.feet.values()))[0]).id
    still = np.flatnonzero(model.body_weldid[model.geom_bodyid] == 0)
    names = [model.geom(geom).name for geom in still if can_touch(model, int(geom), sole)]
    return [name for name in names if name not in (robot.description.floor, BEYOND)]
