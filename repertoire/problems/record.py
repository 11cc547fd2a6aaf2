"""`ProblemRecord`: what a repertoire, its file and its pictures tell of the problem that it solves."""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from robots.arrays import real_array
from robots.description import Randomization
from robots.errors import InvalidValueError, shown
from robots.files.texts import check_values

if TYPE_CHECKING:
    from robots.robot import Robot

_MOST_MEASURES = 60  # NumPy's arrays have 64 axes at most
_LONGEST = 1000  # characters of a name, which pictures show
# other columns of `Repertoire.to_pandas`
_COLUMNS = re.compile(r"cell|objective|objective std|reproducibility|specialist for|parameter \d+")


@dataclass(frozen=True)
class ProblemRecord:
    """The facts of a problem that are needed to understand its solutions, without the means to evaluate them.

    Attributes:
        name: of the problem, e.g. `sphere-100`, or of the robot.
        solution_dim: length of a solution.
        measure_ranges: lowest and highest value of each of the m measures.
        measure_names: of the measures, as in a table; `measure 1` to `measure m` if left out.
        measure_meaning: what all measures are, e.g. "share of time on the ground"; "" if their names say it.
        objective_name: what the objective is, e.g. "sum of rewards"; "" if there is no more to say.
        robot: the robot whose controllers the solutions are, with the episode length of the run; None for a
            problem without a robot.
        controller: shape of the robot's controllers, e.g. `mlp-28-128-128-8`; "" without a robot.
        damage_share: share of the episodes of a training that run on a damaged robot.
        damages: texts of these damages; each such episode has one of them.
        randomization: of the robot in the episodes of a training; None where all ran on the robot as it is.
    """

    name: str
    solution_dim: int
    measure_ranges: tuple[tuple[float, float], ...]
    measure_names: tuple[str, ...] = ()
    measure_meaning: str = ""
    objective_name: str = ""
    robot: "Robot | None" = None
    controller: str = ""
    damage_share: float = 0.0
    damages: tuple[str, ...] = ()
    randomization: Randomization | None = None

    def __post_init__(self) -> None:
        ranges = real_array("measure_ranges", self.measure_ranges)
        if ranges.ndim != 2 or ranges.shape[1] != 2:
            raise InvalidValueError(
                f"measure_ranges must be a (low, high) for each measure, not of shape {ranges.shape}"
            )
        # as in a file, so that a record equals what is read back of it
        object.__setattr__(self, "measure_ranges", tuple((low, high) for low, high in ranges.tolist()))
        object.__setattr__(self, "measure_names", tuple(self.measure_names))
        names = (self.name, *self.measure_names, self.measure_meaning, self.objective_name)
        check_values([names, self.measure_ranges])
        if not self.measure_names:
            numbered = tuple(f"measure {number}" for number in range(1, len(self.measure_ranges) + 1))
            object.__setattr__(self, "measure_names", numbered)
        count = len(self.measure_ranges)
        if not 1 <= count <= _MOST_MEASURES or len(self.measure_names) != count:
            raise InvalidValueError(
                f"{shown(self.name)} must have a name for each of its measures, from 1 to {_MOST_MEASURES}, "
                f"but has {count} ranges and {len(self.measure_names)} names"
            )
        for name in names:
            if len(name) > _LONGEST:
                raise InvalidValueError(f"a name can have {_LONGEST:,} characters, not {len(name):,}")

    def check_columns(self) -> None:
        """Refuse measures whose columns would be lost in a table; problems in files may have such."""
        names = self.measure_names
        for number, name in enumerate(names):
            if name in names[:number] or _COLUMNS.fullmatch(name):
                raise InvalidValueError(
                    "measures must have names that differ from each other and from other columns of a table "
                    "(cell, objective, objective std, reproducibility, specialist for, parameter 1 to n), "
                    f"but one is called {shown(name)}"
                )

    def check_storable(self) -> None:
        """Refuse what no file can hold."""
        if self.robot and self.robot.modifications:
            changes = ", ".join(change.label for change in self.robot.modifications)
            raise InvalidValueError(
                f"a file holds a robot as its MJCF and YAML say, but this {self.name} was modified in Python "
                f"({changes}): train robot.as_written(), or leave the file out"
            )

    @property
    def title(self) -> str:
        """What to call the problem in a heading."""
        title = self.robot.description.title if self.robot else self.name
        return title[:1].upper() + title[1:]

    @property
    def measure_labels(self) -> tuple[str, ...]:
        """Of each measure its name and meaning, as for the axis of a plot."""
        suffix = f": {self.measure_meaning}" if self.measure_meaning else ""
        return tuple(name + suffix for name in self.measure_names)

    @property
    def measure_format(self) -> str:
        """How a value of a measure is written, as a format specification: shares in percent."""
        return ".0%" if self.measure_meaning.startswith("share") else ".4g"

    def facts(self) -> dict[str, str]:
        """What there is to say about the problem, in words."""
        parameters = f"{self.solution_dim:,} parameters"
        subject = {"problem": f"{self.name}, {parameters}"}
        if self.robot:
            subject = {
                "robot": f"{self.name}, {self.robot.description.title}",
                "controller": f"{self.controller}, {parameters}",
            }
        meaning = f"{self.measure_meaning}: " if self.measure_meaning else ""
        objective = {"objective": self.objective_name} if self.objective_name else {}
        damaged = f"{self.damage_share:.0%} of episodes with one of {', '.join(self.damages)}"
        training = [damaged] * bool(self.damages) + [str(self.randomization)] * bool(self.randomization)
        objective |= {"training": "; ".join(training)} if training else {}
        return subject | objective | {"measures": meaning + ", ".join(self.measure_names)}

    @property
    def texts(self) -> tuple[str, ...]:
        """The MJCF and the YAML of the robot, and what was changed in its task; none without a robot."""
        if self.robot is None:
            return ()
        files = [f"{name} {sha256(content).hexdigest()}" for name, content in self.robot.files.items()]
        task = [json.dumps(self.robot.task)] if self.robot.task else []
        return self.robot.kept_xml, self.robot.yaml, *files, *task
