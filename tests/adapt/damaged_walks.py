"""What tests of damage share: walks of damaged robots, and where in observations a part is."""

import mujoco
import numpy as np

from adapt.damage.kinds import damage_kinds
from tests.robots.stepping import begun


def walk(robot, steps=40, *, seed=0):
    """Random actions: the stepper, and all observations and applied actions."""
    rng = np.random.default_rng(seed)
    stepper = begun(robot, seed)
    seen, done = [], []
    for _ in range(steps):
        stepper.step(rng.uniform(-1, 1, robot.action_dim))
        seen.append(stepper.state.observation.copy())
        done.append(stepper.state.action.copy())
    assert not stepper.tally.diverged
    return stepper, np.array(seen), np.array(done)


def entries(robot, *names):
    """Columns of observations by their names."""
    labels = [entry.label for entry in robot.entries]
    return [labels.index(name) for name in names]


def leg_entries(robot, leg):
    """Columns of actions of a leg's joints, and of observations of its joints and foot."""
    joints = robot.description.legs[leg].joints
    names = [f"{joint} {what}" for joint in joints for what in ("position", "speed")]
    foot = f"{robot.description.legs[leg].foot} contact"
    return [robot.description.joints.index(joint) for joint in joints], entries(robot, *names, foot)


def texts(robot):
    """A damage of every kind to every sort of part that it can happen to."""
    description = robot.description
    parts = {
        "leg": list(description.legs)[-1],
        "joint": f"joint={description.joints[1]}",
        "foot": f"foot={next(iter(description.feet))}",
        **{whole: whole for whole in ("all", "torso", "floor")},
    }
    strengths = {"payload": "@0.5", "weak": "@0.25", "swapped": "@1"}
    planar, servos = robot.physics.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE, robot.name == "hexapod"
    impossible = {"offset": not servos, "mass-left": planar}
    return [
        f"{parts[sort]}:{name}{strengths.get(name, '')}"
        for name, kind in damage_kinds().items()
        for sort in kind.sorts
        if not impossible.get(name)
    ]
