"""`State`, `Outcome` and `TRANSITIONS`: what a robot on a mission does, and what it does after that."""

from enum import Enum


class State(Enum):
    """What the robot does; the last three end the mission."""

    WALKING = "walking"  # a stretch towards the goal
    SUSPECTING = "suspecting"  # it fell, or something was unusual: is there anything to find out?
    GETTING_UP = "getting up"  # it comes to rest, and is set upright if it lies
    TRYING = "trying"  # it makes a trial from where it stands
    THINKING = "thinking"  # it finds out what is wrong
    ARRIVED = "arrived"  # at the last goal
    DAMPED = "damped"  # it fell as often as it may
    OUT_OF_TIME = "out of time"


class Outcome(Enum):
    """How a state ended."""

    USUAL = "as expected"
    SURPRISED = "a fall or an alarm"
    TOLD = "it is told what is wrong"  # only robots that others are compared with
    EXPLAINED = "explained"  # by what is believed, before or now
    HALTED = "explained, and it lies or has to come to rest"
    SILENT = "motors without torque tell what is wrong"
    PUZZLED = "not explained"


# A mission begins by walking. After every state it ends instead if its time is up (out of time), if the
# robot reached its last goal (arrived), or if it fell as often as it may (damped).
TRANSITIONS = {
    (State.WALKING, Outcome.USUAL): State.WALKING,
    (State.WALKING, Outcome.SURPRISED): State.SUSPECTING,
    (State.WALKING, Outcome.TOLD): State.GETTING_UP,
    (State.SUSPECTING, Outcome.EXPLAINED): State.WALKING,
    (State.SUSPECTING, Outcome.HALTED): State.GETTING_UP,
    (State.SUSPECTING, Outcome.SILENT): State.THINKING,
    (State.SUSPECTING, Outcome.PUZZLED): State.GETTING_UP,
    (State.GETTING_UP, Outcome.EXPLAINED): State.WALKING,
    (State.GETTING_UP, Outcome.PUZZLED): State.TRYING,
    (State.TRYING, Outcome.USUAL): State.WALKING,
    (State.TRYING, Outcome.EXPLAINED): State.WALKING,
    (State.TRYING, Outcome.HALTED): State.GETTING_UP,
    (State.TRYING, Outcome.PUZZLED): State.THINKING,
    (State.THINKING, Outcome.EXPLAINED): State.WALKING,
    (State.THINKING, Outcome.HALTED): State.GETTING_UP,
}
