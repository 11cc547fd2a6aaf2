"""`take_over`: another model of a robot goes on where one was, because something broke or was repaired."""

import mujoco

from robots.motors import ABSENT, motor_of
from robots.simulation.stepper import Stepper
from robots.stance import start_positions

# of the tally
_KEPT = (
    "initial_distance", "initial_x", "initial_y", "objective", "energy", "path", "turned",
    "ahead", "height_sum", "midway",
)  # fmt: skip


def take_over(new: Stepper, old: Stepper) -> None:
    """Put a robot where another model of it was: joints are where they were, new ones at their start.

    Actuators go on with what they were told, behind their filters, too.
    """
    before, after = old.robot.physics, new.robot.physics
    new.data.qpos[:], new.data.qvel[:], new.data.time = start_positions(new.robot), 0, old.data.time
    for number in range(after.njnt):
        name = after.joint(number).name
        known = mujoco.mj_name2id(before, mujoco.mjtObj.mjOBJ_JOINT, name)
        if known != ABSENT:
            new.data.joint(name).qpos[:] = old.data.joint(known).qpos
            new.data.joint(name).qvel[:] = old.data.joint(known).qvel
    for joint in new.robot.description.joints:
        motor, known = motor_of(after, joint), motor_of(before, joint)
        if ABSENT in (motor, known):
            continue
        new.data.ctrl[motor] = old.data.ctrl[known]
        place, former = after.actuator_actadr[motor], before.actuator_actadr[known]
        if ABSENT not in (place, former):
            new.data.act[place] = old.data.act[former]
    seed, tally = int(old.tally.seed), new.state.tally[0]
    new.carry_on(seed)
    tally.initial_height, tally.steps = old.tally.initial_height, old.tally.steps
    for name in ("told", "last_action", "past"):
        getattr(new.state, name)[:] = getattr(old.state, name)
    new.carry_on(seed, going=True)  # periodic gaits where they were, and others see what they saw
    for name in _KEPT:
        setattr(tally, name, getattr(old.tally, name))
    new.state.contacts[:] = old.state.contacts
    if new.state.pending.shape == old.state.pending.shape:  # actions on their way to the motors
        new.state.pending[:] = old.state.pending
