"""`PolicyDescription`: what a robot's YAML says of a policy that others trained, by which it is driven."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from robots.controllers.controller import ControllerDescription, Mirror, Plant, Reflection
from robots.controllers.foreign import POLICIES, Called, called_graph
from robots.controllers.network import Network, OtherGraphError, read_network
from robots.controllers.residual import ACTED, ANGLE, SENSED, TOLD, WAVE, Inputs, Residual, Seen
from robots.errors import InvalidValueError
from robots.files.records import Finite, Positive, Record

_UNLIMITED = 1e9
# Initial step sizes of searches: smaller ones found gaits of four legs that fell. On two legs a robot has to
# keep its balance, and with the larger one hardly any gait does
_STEP, _BALANCING = 0.4, 0.05


class Observed(Record):
    """A term of what a policy observes, see `docs/tutorials/own-policy.md`; in the YAML a text is its name.

    Attributes:
        scale: what its numbers are multiplied by, one for all or one for each.
        clip: numbers are limited to this in size before that; None for no limit.
        history: values of so many control steps, the last first unless `oldest_first`.
        period: of a clock [s].
        phases: of its hands at the start, as shares of the period.
    """

    term: str
    scale: Finite | tuple[Finite, ...] = 1.0
    clip: Positive | None = None
    history: Annotated[int, Field(gt=0, le=100, strict=True)] = 1
    oldest_first: bool = False
    period: Positive | None = None
    phases: tuple[Finite, ...] = (0.0,)

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"term": value} if isinstance(value, str) else value


class Range(Record):
    """What a policy can be told: speed ahead and to the left [m/s] and turn to the left [rad/s].

    Attributes:
        default: what the policy alone is told.
        least, most: of each.
        heading_gain: turn that is told per heading to the right of straight ahead [1/s].
    """

    default: tuple[Finite, Finite, Finite] = (1.0, 0.0, 0.0)
    least: tuple[Finite, Finite, Finite] = (-1.5, -0.8, -1.2)
    most: tuple[Finite, Finite, Finite] = (1.5, 0.8, 1.2)
    heading_gain: Finite = 1.0


class Images(Record):
    """The lists of a `Reflection`."""

    images: tuple[int, ...]
    signs: tuple[Finite, ...]


class PolicyDescription(ControllerDescription):
    """The robot is driven by a policy that others trained, and by a residual around it.

    Attributes:
        onnx: name of the file, which lies in the folder of the YAML; empty where there is a function.
        function: its name in `robots.controllers.foreign.POLICIES`; empty where there is a file.
        observes: what it observes, in order.
        joints: in the order of its actions and of what it observes of joints; that of the robot by default.
        home: position of each joint where its action is 0 [rad or m]; that at the start by default.
        scale: how far an action of 1 sends a joint from home [rad or m], one for all or one for each; None
            where actions are those of the robot, from -1 to 1.
        command: what it can be told.
        mirror: what becomes of its inputs and of the joints in a mirror.
        lost_joints: where it sees joints that are lost: at the start, or, as environments do, in mid-range.
    """

    kind = "policy"
    onnx: Annotated[str, Field(pattern=r"^[^/\\:]*$")] = ""
    function: str = ""
    observes: Annotated[tuple[Observed, ...], Field(min_length=1)]
    joints: tuple[str, ...] = ()
    home: Mapping[str, Finite] = Field(default={})
    scale: Finite | tuple[Finite, ...] | None = 0.5
    command: Range = Range()
    mirror: tuple[Images, Images] | None = None
    lost_joints: Literal["start", "middle"] = "start"

    @property
    def files(self) -> tuple[str, ...]:  # type: ignore[override]
        """The ONNX file, if there is one."""
        return (self.onnx,) if self.onnx else ()

    @property
    def follows(self) -> bool:
        """Whether it observes what it is told."""
        return any(term.term == "command" for term in self.observes)

    def build(self, plant: Plant) -> Residual:
        entries, joints, command = plant.entries, plant.joints, self.command
        order = self.joints or tuple(joints)
        if sorted(order) != sorted(joints):
            odd = sorted(set(order) ^ set(joints)) or order
            raise InvalidValueError(
                f"a policy has an action for each of the robot's joints; not in both: {', '.join(odd)}"
            )
        starts = {entry.name.removesuffix(" position"): entry.zero for entry in entries}
        home = {joint: self.home.get(joint, starts.get(joint, 0.0)) for joint in joints}
        inputs = self._inputs(plant, order, home)
        network = self._network(plant, len(inputs.rows.T), len(order))
        middle, half = plant.targets.mean(axis=1), np.diff(plant.targets)[:, 0] / 2
        places = np.array([order.index(joint) for joint in joints])
        leg_of = {joint: number for number, names in enumerate(plant.legs.values()) for joint in names}
        rest, reach, per_unit = np.zeros(len(joints)), np.ones(len(joints)), np.ones(len(joints))
        if self.scale is not None:
            per_unit = 1 / half
            rest = (np.array(list(home.values())) - middle) / half
            reach = np.array(_each(self.scale, len(order), "joints"))[places] / half
        return Residual(
            network,
            inputs,
            places,
            home=rest,
            reach=reach,
            per_unit=per_unit,
            legs=np.array([leg_of.get(joint, len(plant.legs)) for joint in joints]),
            told=np.array([command.default, command.least, command.most]),
            control_step=plant.control_step,
            mirror=Mirror(*(Reflection(np.array(one.images), np.array(one.signs)) for one in self.mirror))
            if self.mirror
            else None,
            checksum=hashlib.sha256(plant.files.get(self.onnx, self.function.encode())).hexdigest()[:8],
            observation_dim=len(entries),
            sigma0=_STEP if len(plant.legs) > 2 else _BALANCING,
        )

    def _network(self, plant: Plant, inputs: int, outputs: int) -> Network | Called:
        """What computes the policy, which must have so many inputs and outputs."""
        if self.function:
            if (function := POLICIES.get(self.function)) is None:
                raise InvalidValueError(f"its policy {self.function!r} is a function that is not registered")
            named = f"the policy {self.function}"
            return Called(lambda row, _: function(row), {}, (inputs, outputs), named)
        policy = plant.files.get(self.onnx)
        if policy is None:
            raise InvalidValueError(f"the file of the policy, {self.onnx!r}, is missing")
        found = read_policy(policy, self.onnx)
        if (found.inputs, found.outputs) != (inputs, outputs):
            raise InvalidValueError(
                f"the policy has {found.inputs} inputs and {found.outputs} actions, which does not fit an "
                f"observation of {inputs} numbers and {outputs} joints"
            )
        return found

    def _inputs(self, plant: Plant, order: Sequence[str], home: Mapping[str, float]) -> Inputs:
        """Where each number comes from that the policy observes, in its order."""
        seen: list[Seen] = []
        rows: list[tuple[int, int]] = []
        factors: list[tuple[float, float]] = []
        terms = [entry.term for entry in plant.entries]
        heading = next((terms.index(term) for term in _HEADINGS if term in terms), -1)
        for term in self.observes:
            found = self._seen(term, plant, order, home, heading)
            if not found:
                raise InvalidValueError(f"the policy observes {term.term}, but the robot does not")
            first, lags = len(seen), range(term.history)
            seen += found
            scales = _each(term.scale, len(found), f"numbers of {term.term}")
            for lag in reversed(lags) if term.oldest_first else lags:
                rows += [(first + i, lag) for i in range(len(found))]
                factors += [(term.clip or _UNLIMITED, scale) for scale in scales]
        return Inputs(tuple(seen), np.array(rows).T, np.array(factors).T, heading)

    def _seen(
        self, term: Observed, plant: Plant, order: Sequence[str], home: Mapping[str, float], heading: int
    ) -> list[Seen]:
        entries = plant.entries
        if term.term == "action":
            return [Seen(ACTED, 0, plant.joints.index(joint), 1.0) for joint in order]
        if term.term == "command":
            turning = self.command.heading_gain / entries[heading].scale if heading >= 0 else 0.0
            return [Seen(TOLD, k, -1, turning) for k in range(3)]
        if term.term == "observation":
            return [Seen(SENSED, i, -1, 1.0) for i in range(len(entries))]
        if term.term in ("phase", "clock"):
            if term.period is None:
                raise InvalidValueError(f"what a policy observes as {term.term} needs a period, in s")
            pace = 2 * math.pi * plant.control_step / term.period
            quarters = (0.25, 0.0) if term.term == "phase" else (0.0, 0.25)
            return [
                Seen(WAVE, 0, -1, pace, 2 * math.pi * (phase + ahead))
                for ahead in quarters
                for phase in term.phases
            ]
        numbers = {
            entry.name: i for i, entry in enumerate(entries) if (entry.term, entry.lag) == (term.term, 0)
        }
        if term.term not in _OF_JOINTS:
            return [Seen(SENSED, i, -1, 1 / entries[i].scale) for i in numbers.values()]
        what, kind = _OF_JOINTS[term.term]
        found = []
        for joint in order if numbers else ():
            i = numbers[f"{joint} {what}"]
            shift = entries[i].zero - home[joint] if kind == ANGLE else 0.0
            found.append(Seen(kind, i, plant.joints.index(joint), 1 / entries[i].scale, shift))
        return found


_HEADINGS = ("heading_error", "heading")
_OF_JOINTS = {"joint_position": ("position", ANGLE), "joint_speed": ("speed", SENSED)}


def _each(scale: float | Sequence[float], count: int, what: str) -> list[float]:
    scales = list(scale) if isinstance(scale, Sequence) else [scale] * count
    if len(scales) != count:
        raise InvalidValueError(
            f"a scale is one number or one for each of the {count} {what}, not {len(scales)}"
        )
    return scales


@lru_cache(maxsize=8)  # each damaged robot asks for it
def read_policy(content: bytes, origin: str) -> Network | Called:
    """What computes the policy of an ONNX file, which errors call `origin`."""
    try:
        return read_network(content, origin)
    except OtherGraphError:
        return called_graph(content, origin)
