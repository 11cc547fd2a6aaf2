"""Requests: what a recovery, a mission or the work before them is to do, as frozen records.

The keywords of `surefoot.recover` and its like, the options of the commands, their defaults and their help
texts derive from the fields and their descriptions here.
"""

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from robots.errors import InvalidValueError, shown
from robots.files.records import Finite, Positive, Record, Seed, Several
from robots.files.texts import parse_number
from robots.simulation.trace import SENSORS

_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_Whole = Annotated[int, Field(ge=0, strict=True)]
_FURTHEST = 1000.0  # [m] that a goal may lie from the start
LONGEST = 3600.0  # [s] that a mission may last


class RecoveryRequest(Record):
    """What a recovery is to do; its result is a function of this, the repertoire, damage and rehearsal.

    Attributes:
        selector: what chooses the trials: a name; or in Python a class of your own, or anything else that
            makes a `Selector` in a `Context`.
        trials: trials at most, confirmation trials included.
        confirmations: repeat the new and the old gait so many times each, and switch only if the new one is
            better by more than one standard error; if it is better by less than three, leftover trials are
            used for more. At most a quarter of the trials, so that with fewer than 4 the old gait stays; with
            0 the robot switches without any.
        think_episodes: episodes that self-model simulates after the first trial of each gait. By default 800.
            Each rehearsed damage is simulated in any case.
        refine: episodes of each search for a better gait on what self-model believes to be wrong, of which
            there are at most two, and none while a known gait is predicted to do 75% of what the old one does
            on the healthy robot, or 50% if it was refined for that damage; 0 for none. By default 4000 for
            gaits of up to 100 parameters, and 1200 for others.
        objective: what gaits are selected, refined, confirmed and reported by: progress while up [m], less a
            quarter of the healthy distance for a fall at once; or the reward of the training.
        sensors: sensors that the robot has for self-model.
        max_falls: stop after so many falls; by default after any number.
        seed: seed from which all random numbers derive.
    """

    selector: Any = "self-model"
    trials: Several = 20
    confirmations: _Whole = 3
    think_episodes: Several | None = None
    refine: _Whole | None = None
    objective: Literal["progress", "reward"] = "progress"
    sensors: tuple[str, ...] = SENSORS
    max_falls: Several | None = None
    seed: Seed = 1

    @property
    def thinks(self) -> bool:
        """Whether it says how a selector thinks."""
        return any(one is not None for one in (self.think_episodes, self.refine)) or (self.sensors != SENSORS)


def _read_goal(goal: Any) -> tuple[float, float]:
    """A goal of a text X,Y [m], or as it is; refused where it lies too far away."""
    try:
        x, y = (parse_number(part.strip()) for part in goal.split(",")) if isinstance(goal, str) else goal
        distance = math.hypot(x, y)
    except (ValueError, TypeError):
        raise InvalidValueError(
            f"a goal is written X,Y in metres, for example 6,2, not {shown(goal)}"
        ) from None
    if not distance <= _FURTHEST:
        raise InvalidValueError(
            f"a goal lies at most {_FURTHEST:g} m from the start, which {x:g},{y:g} does not"
        )
    return x, y


class MissionRequest(Record):
    """What a robot on a mission is to do, and how it thinks.

    A mission is a function of this, the repertoire and the rehearsal.

    Attributes:
        goals: a place to reach [m], x ahead and y to the left of the start; several are reached in turn.
            Without any the robot walks ahead until its time is up.
        changes: what breaks, and when, e.g. left_front:lost@20, or repaired@40. The robot is not told.
        seconds: how long the mission may take [s].
        within: distance at which a goal is reached [m].
        think_episodes: episodes that self-model simulates after each trial, while the mission's clock runs.
        refine: episodes of 5 s of a search for a better gait while the robot walks; 0 for none.
        cores: cores that the robot thinks with, each as fast as one that the included robots were
            measured on.
        max_falls: how often the robot may fall; then it is damped, and the mission is over.
        seed: seed from which all random numbers derive.
        selector: what finds out what is wrong after an alarm or a fall: self-model by default, or rehearsed;
            or in Python one of your own.
    """

    goals: tuple[Annotated[tuple[Finite, Finite], BeforeValidator(_read_goal)], ...] = ()
    changes: tuple[str, ...] = ()
    seconds: Annotated[Positive, Field(le=LONGEST)] = 120.0
    within: Positive = 0.25
    think_episodes: Several = 400
    refine: _Whole = 800
    cores: Several = 2
    max_falls: Several = 3
    seed: Seed = 1
    selector: Any = None


class EvaluationRequest(Record):
    """How all gaits of a repertoire are evaluated.

    Attributes:
        episodes: episodes of each gait; they have the same seeds for all.
        seed: seed from which those of the episodes derive.
        randomization: of the models of the robot that episodes run on, see `read_randomization`, or that of a
            calibration; the robot as it is by default.
    """

    episodes: Several
    seed: Seed = 1
    randomization: Any = "none"


class CorrectionRequest(EvaluationRequest):
    """How gaits are evaluated again, to correct a repertoire.

    Attributes:
        keep: keep only this many gaits, the best ones; all by default.
    """

    episodes: Several = 10
    keep: Several | None = None


class RehearsalRequest(EvaluationRequest):
    """What a rehearsal is to do; its table is a function of this, the repertoire and the damages.

    Attributes:
        episodes: episodes of each gait under each damage; they have the same seeds for all.
    """

    episodes: Several = 2


class StrengtheningRequest(Record):
    """What is to be done before anything breaks, where a repertoire has no good gait for a damage.

    Attributes:
        below: search for a new gait for each damage under which the best gait walks less than this share of
            the healthy distance. Episodes with a fall count as 0 at most where they do in training.
        episodes_per_damage: episodes of each search at most; it ends sooner where it does not pay. For the
            included Ant they take about a quarter of an hour on two cores, for the Hexapod five minutes.
        randomization: refine on models of the robot with other masses, friction etc., such as
            mass=0.8:1.2,friction=0.7:1.3; none for the nominal model. By default that of the training.
        seed: seed from which all random numbers derive.
    """

    below: _Positive = 0.5
    episodes_per_damage: Several = 20_000
    randomization: Any = None
    seed: Seed = 1


class CalibrationRequest(Record):
    """What a calibration is to find out.

    Attributes:
        prior: what may be different from the model, at most, e.g. mass=0.8:1.2,friction=0.5:1.5,
            strength=0.8:1.2,damping=0.5:2,offset=-0.05:0.05,delay=0:2; what is not named keeps the value of
            the model. By default all may differ, in wide ranges.
        sensors: sensors that the robot has; traces need no columns of others.
        models: how many models run each gait in each of three rounds, and make the result.
        seed: seed from which all random numbers derive.
    """

    prior: Any = None
    sensors: tuple[str, ...] = SENSORS
    models: Several = 200
    seed: Seed = 1
