"""`Reward`: weights of the terms of the reward of a control step, and presets of them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from robots.errors import UnknownNameError
from robots.files.records import Finite, Record

# What each term is, as it follows its weight in words.
TERMS = {
    "alive": "while alive, and as much less when not",
    "progress": "per m/s ahead",
    "electricity": "per mean |action · 0.1 · joint velocity|",
    "torque": "per mean action²",
    "joint_at_limit": "per joint at its limit",
    "drift": "per m/s away from the line straight ahead",
    "heading": "per m/s ahead and rad of heading error, up to 1",
    "sideways": "per m/s across its own heading",
    "yaw_rate": "per rad/s of yaw",
    "energy": "per W of the motors",
    "action_rate": "per mean (change of action)²",
    "height": "per m off the torso's first height",
    "slip": "per m/s of feet that slip",
    "air_time": "per s of a step beyond the least swing",
    "speed_error": "per m/s off the target or commanded speed",
    "heading_error": "per rad off the commanded heading, up to 1",
}
# Weights of named tasks. Those of distance and straight add up to metres.
PRESETS: dict[str, dict[str, object]] = {
    "paper": {"alive": 1.0, "progress": 1.0, "electricity": -2.0, "torque": -0.1, "joint_at_limit": -0.1},
    "distance": {"per": "second", "progress": 1.0},
    "straight": {"per": "second", "progress": 1.0, "drift": -1.0, "heading": -1.0},
    "steering": {"per": "second", "alive": 1.0, "sideways": -1.0},
    "command": {"per": "second", "alive": 1.0, "speed_error": -1.0, "heading_error": -1.0, "sideways": -0.5},
}
# terms whose sums over time are metres, and what they take from the distance
_LESS = {"drift": "drift", "heading": "heading error"}
_METRES = {"progress", *_LESS}


class Reward(Record):
    """Weights of the terms that the reward of a control step consists of; what is left out is 0.

    `docs/reference/tasks.md` defines the terms. Where weights count per second, they are multiplied by the
    duration of the step [s].

    Attributes:
        preset: whose weights count where none is given.
        least_swing: that `air_time` rewards nothing for [s].
        target_speed: of `speed_error` [m/s]; None for the commanded one.
    """

    preset: str | None = None
    per: Literal["step", "second"] = "step"
    alive: Finite = 0.0
    progress: Finite = 0.0
    electricity: Finite = 0.0
    torque: Finite = 0.0
    joint_at_limit: Finite = 0.0
    drift: Finite = 0.0
    heading: Finite = 0.0
    sideways: Finite = 0.0
    yaw_rate: Finite = 0.0
    energy: Finite = 0.0
    action_rate: Finite = 0.0
    height: Finite = 0.0
    slip: Finite = 0.0
    air_time: Finite = 0.0
    speed_error: Finite = 0.0
    heading_error: Finite = 0.0
    least_swing: Annotated[float, Field(ge=0, le=100, strict=True)] = 0.0
    target_speed: Finite | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_preset(cls, value: Any) -> Any:
        """The weights of the preset, and those that are given in their place; a text names a preset."""
        given = {"preset": value} if isinstance(value, str) else value
        if not isinstance(given, Mapping):
            return given
        for name in given:
            if name not in cls.model_fields:
                raise UnknownNameError("term of the reward", name, cls.model_fields)
        preset = given.get("preset")
        if preset is not None and (not isinstance(preset, str) or preset not in PRESETS):
            raise UnknownNameError("preset of the reward", preset, PRESETS)
        return {**PRESETS.get(preset or "", {}), **given}

    @property
    def commanded(self) -> bool:
        """Whether a term is off what the robot is told."""
        return bool(self.heading_error or (self.speed_error and self.target_speed is None))

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each term that counts."""
        return {term: weight for term in TERMS if (weight := getattr(self, term))}

    @property
    def unit(self) -> str:
        """Unit of the sum of an episode's rewards, "" if it has none."""
        return "m" if self.per == "second" and self.progress == 1 and self.weights.keys() <= _METRES else ""

    @property
    def objective(self) -> str:
        """What the sum of an episode's rewards is, with its unit if it has one."""
        if not self.unit:
            return "sum of rewards"
        costs = {words: -getattr(self, term) for term, words in _LESS.items() if getattr(self, term)}
        less = [f"{cost:g} x {words}" if cost != 1 else words for words, cost in costs.items()]
        return f"distance ahead{' less ' * bool(less)}{' and '.join(less)} [{self.unit}]"

    @property
    def words(self) -> str:
        """The terms that count, with their weights."""
        unit = "per second: " if self.per == "second" else ""
        return unit + (
            "; ".join(f"{weight:+g} {TERMS[term]}" for term, weight in self.weights.items()) or "none"
        )
