"""`Calibration`: models of a whole robot that do what it did, each as probable as the others."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

from repertoire.repertoire import Repertoire, parse_cell
from repertoire.storage.formats import Array, Contents, Format
from robots.deployment.traces import read_trace
from robots.description import Draw, Randomization
from robots.errors import InvalidFileError, InvalidValueError, naming
from robots.files.atomic import explain_errors
from robots.files.records import Finite, Record, validate
from robots.randomization import model_of
from robots.robot import Robot
from robots.simulation.trace import SENSORS, TraceColumns

_LEVEL = 0.9  # of intervals
_CONSTRAINED = 0.5  # share of the prior's interval, below which traces constrain a parameter
_MODELS = 16  # of a randomization
_FORMAT = Format(
    "surefoot calibration",
    version=1,
    arrays={
        "values": Array("<f8", ("models", "parameters")),
        "noise": Array("<f8", ("columns",), low=0),
        "solutions": Array("<f4", ("gaits", "weights"), compressed=True),
        "traces/*": Array("<f4", None, compressed=True),
    },
    texts=("robot", "prior", "gaits", "randomization"),
)

# Wider than what robots are usually randomised by, see `robots.randomization`
PRIOR = Randomization(
    mass=(0.6, 1.4),
    friction=(0.4, 1.6),
    strength=(0.6, 1.4),
    damping=(0.3, 1.7),
    offset=(-0.1, 0.1),
    delay=(0, 3),
    noise=(0.0, 0.05),
)


class Parameters:
    """The p numbers by which models of a robot differ, such as `strength of left_front_coxa`.

    Beforehand they are uniform in the ranges of the `prior`, from `low` to `high`, (p,) each, which are equal
    where a number is known. The noise of observations counts where a controller sees them.
    """

    def __init__(self, robot: Robot, prior: Randomization = PRIOR) -> None:
        if prior.drawn:
            raise InvalidValueError("a calibration begins with ranges, not with another calibration")
        self.robot, self.prior = robot, prior
        spec = robot.spec()
        motors = [motor.target or motor.name for motor in spec.actuators]
        noise = prior.noise if robot.controller.closed_loop else (0.0, 0.0)
        entries = [("mass of the world", (1.0, 1.0))]
        entries += [(f"mass of {body.name}", prior.mass) for body in spec.bodies[1:]]
        entries += [("friction", prior.friction)]
        entries += [(f"strength of {motor}", prior.strength) for motor in motors]
        entries += [("damping", prior.damping)]
        entries += [(f"offset of {joint} [rad]", prior.offset) for joint in robot.description.joints]
        entries += [("delay [steps]", prior.delay), ("noise", noise)]
        self.names = tuple(name for name, _ in entries)
        self.low, self.high = np.array([limits for _, limits in entries], np.float64).T
        self._bodies, self._motors = len(spec.bodies), len(motors)
        if not self.free.any():
            raise InvalidValueError("the ranges leave nothing to find out: give one such as mass=0.8:1.2")

    @property
    def free(self) -> np.ndarray:
        """Which are not known, (p,) bool."""
        return self.high > self.low

    @property
    def stepped(self) -> np.ndarray:
        """Which are whole numbers, (p,) bool."""
        return np.array([name.endswith("[steps]") for name in self.names])

    def values(self, places: np.ndarray) -> np.ndarray:
        """Parameters of n models, (n, p), from numbers that are standard normal beforehand, (n, p)."""
        shares = ndtr(places)
        values = self.low + (self.high - self.low) * shares
        steps = np.floor(self.low + (self.high - self.low + 1) * shares)
        return np.where(self.stepped, np.minimum(steps, self.high), values)

    def middle(self, values: np.ndarray) -> np.ndarray:
        """The median of each parameter of n models, (p,); of the delay one that occurs."""
        return np.quantile(values, 0.5, axis=0, method="inverted_cdf")

    def draw(self, values: np.ndarray) -> Draw:
        """The model of some parameters, (p,)."""
        ends = np.cumsum([self._bodies, 1, self._motors])
        mass, (friction,), strength, rest = (part.tolist() for part in np.split(values, ends))
        damping, *offset, delay, noise = rest
        return Draw(
            mass=tuple(mass),
            friction=friction,
            strength=tuple(strength),
            damping=damping,
            offset=tuple(offset),
            delay=round(delay),
            noise=noise,
        )


class CalibratedGait(Record):
    """How well the trace of a gait is reproduced.

    Distances of models are means and standard deviations.
    """

    name: str
    steps: int  # control steps of the trace
    distance: Finite  # that the robot walked [m]
    as_built: tuple[Finite, Finite]  # that its model walked before the calibration [m]
    calibrated: tuple[Finite, Finite]  # that the models of the calibration walk [m]
    # by how much what sensors show was off before, of the joint of which it was most, in standard deviations
    # of what the calibrated models show, robustly
    off_as_built: Finite
    off: Finite  # the same afterwards
    joint: str  # which joint that is then, or `the body`


@dataclass(frozen=True)
class Interval:
    """Where a parameter was with a probability of 0.9 before there were traces, and is now; its median."""

    name: str
    prior: tuple[float, float]
    low: float
    middle: float
    high: float

    @property
    def constrained(self) -> bool:
        """Whether the traces constrain it: its interval is less than half of what it was."""
        return (self.high - self.low) / (self.prior[1] - self.prior[0]) < _CONSTRAINED


@dataclass(frozen=True, eq=False)
class Calibration:
    """A posterior over what a `Randomization` draws from, see `calibrate`."""

    parameters: Parameters  # what was fitted, and within which ranges
    values: np.ndarray  # of the parameters of n models, (n, p)
    noise: np.ndarray  # standard deviation of the noise in each column of a trace, (c,)
    solutions: np.ndarray  # of the gaits whose traces were recorded, (g, w) float32
    traces: tuple[np.ndarray, ...]  # of each of these gaits, one
    gaits: tuple[CalibratedGait, ...]  # how well these are reproduced

    @cached_property
    def randomization(self) -> Randomization:
        """16 of the models, for training and refinement."""
        draws = tuple(self.parameters.draw(values) for values in self.values[:_MODELS])
        return Randomization(models=len(draws), drawn=draws)

    @property
    def intervals(self) -> list[Interval]:
        """What is known of each parameter that was not known before."""
        p, outside = self.parameters, (1 - _LEVEL) / 2
        low, high = np.quantile(self.values, (outside, 1 - outside), axis=0)
        middle = p.middle(self.values)
        ends = p.values(np.full((2, len(p.names)), ndtri(outside)) * np.array([[1.0], [-1.0]]))
        return [
            Interval(p.names[i], (ends[0, i], ends[1, i]), low[i], middle[i], high[i])
            for i in np.flatnonzero(p.free)
        ]

    def middle(self, robot: Robot) -> Robot:
        """The robot with the median of each parameter."""
        draw = self.parameters.draw(self.parameters.middle(self.values))
        return model_of(robot, draw, "calibrated")

    def sample(self, robot: Robot, seed: int) -> Robot:
        """The robot as one of the models, which the seed chooses."""
        number = int(np.random.default_rng(seed).integers(len(self.values)))
        return model_of(robot, self.parameters.draw(self.values[number]), f"calibrated, model {number}")

    def before(self, repertoire: Repertoire) -> tuple[tuple[int, np.ndarray], ...]:
        """Rows of those of its gaits that a repertoire holds, and their traces."""
        solutions = repertoire.gaits.solutions
        found = []
        for solution, trace in zip(self.solutions, self.traces, strict=True):
            alike = solutions.shape[1:] == solution.shape
            rows = np.flatnonzero((solutions == solution).all(axis=1)) if alike else ()
            found += [(int(row), trace) for row in rows[:1]]
        return tuple(found)


def read_traces(
    paths: Sequence[Path], repertoire: Repertoire, sensors: Sequence[str] = SENSORS
) -> list[tuple[int, np.ndarray]]:
    """Read what gaits of a repertoire did; returns the row of each, and its trace.

    Args:
        paths: CSV files, see `read_trace`, or folders, of which all CSV files count.
        repertoire: of the gaits.
        sensors: that the robot has; columns of others need not be there.
    """
    found = []
    for path in paths:
        with explain_errors(f"cannot read {path}"):
            files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
        if not files:
            raise InvalidFileError(f"there is no trace in {path}: it has no .csv file")
        for file in files:
            gait, trace = read_trace(file, repertoire.robot, sensors)
            with naming(f"{file} is of a gait that the repertoire lacks"):
                found.append((_row_of(repertoire, gait), trace))
    return found


def _row_of(repertoire: Repertoire, gait: str) -> int:
    """The row of a gait that has a name such as `cell 1,0,3,2` or `row 12`."""
    kind, _, rest = gait.partition(" ")
    if kind == "row" and rest.isascii() and rest.isdecimal() and int(rest[:9]) < len(repertoire.gaits):
        return int(rest[:9])
    return repertoire.row(parse_cell(rest if kind == "cell" else gait))


def write_calibration(path: str | Path, calibration: Calibration) -> None:
    """Write a calibration to a file in one step."""
    traces = {f"traces/{number}": trace for number, trace in enumerate(calibration.traces)}
    contents = Contents(
        {
            "values": calibration.values,
            "noise": calibration.noise,
            "solutions": calibration.solutions,
            **{name: np.asarray(trace, np.float32) for name, trace in traces.items()},
        },
        {
            "robot": _robot_text(calibration.parameters.robot),
            "prior": calibration.parameters.prior.model_dump_json(exclude_defaults=True),
            "randomization": calibration.randomization.model_dump_json(exclude_defaults=True),
            "gaits": json.dumps([gait.model_dump() for gait in calibration.gaits]),
        },
    )
    _FORMAT.check(contents)
    _FORMAT.write(path, contents)


def read_calibration(path: str | Path, robot: Robot) -> Calibration:
    """Read a calibration of a robot; raises an `InvalidFileError` if the file holds none."""
    with _FORMAT.read(path) as contents:
        name, known = contents.texts["robot"].partition(" ")[0], _robot_text(robot)
        if contents.texts["robot"] != known:
            other = "another version" if name == robot.name else "another robot"
            raise InvalidValueError(f"it is of {other}, {name}, not of the repertoire's {robot.name}")
        parameters = Parameters(robot, validate(Randomization, contents.json("prior", dict)))
        gaits = tuple(validate(CalibratedGait, gait) for gait in contents.json("gaits", list))
        columns = TraceColumns.of(robot).end
        _FORMAT.check(contents, parameters=len(parameters.names), columns=columns, gaits=len(gaits))
        traces = tuple(contents.arrays[f"traces/{number}"] for number in range(len(gaits)))
        if any(trace.ndim != 2 or trace.shape[1] != columns or not len(trace) for trace in traces):
            raise InvalidValueError(f"its traces must have rows of {columns} numbers")
        values = contents.arrays["values"]
        if not len(values) or (values < parameters.low).any() or (values > parameters.high).any():
            raise InvalidValueError("'values' must be in the ranges of its prior")
        arrays = contents.arrays
        return Calibration(parameters, values, arrays["noise"], arrays["solutions"], traces, gaits)


def read_randomization(path: str | Path) -> Randomization:
    """Read the models for training and refinement off the file of a calibration, of whichever robot."""
    with _FORMAT.read(path) as contents:
        return validate(Randomization, contents.json("randomization", dict))


def _robot_text(robot: Robot) -> str:
    """What a file calls a robot: its name, and a checksum of its model."""
    return f"{robot.name} {hashlib.blake2b(robot.xml.encode(), digest_size=16).hexdigest()}"
