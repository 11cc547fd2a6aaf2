"""`Terrain`: the ground that a robot walks on, level by default; how it is drawn and laid under a robot."""

from typing import Annotated, Literal

import mujoco
import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from robots.errors import InvalidValueError
from robots.files.records import Range, Record, validate
from robots.files.texts import parse_number
from robots.mjcf.compiling import compile_spec

Kind = Literal["flat", "slope", "rough", "steps", "stones"]
BEYOND = "surefoot_beyond"  # name of the plane beyond the edge of the height field
_NAME = "surefoot_terrain"  # of the height field
_MOST_POINTS = 1_000_000  # of a height field: 4 MB
_FINE = 5  # points along the length of a bump, a tread or a stone
_LOWER = 0.005  # [m] by which the plane beyond the edge lies lower, so that it touches nothing above it
_THICK = 0.5  # [m] of ground below the lowest point
_LEVELS = 3.0  # steps lead up and down by so many times the highest of them, at most
# what the plane beyond the edge has in common with the floor
_SHARED = (
    "contype", "conaffinity", "condim", "priority", "friction", "solmix", "solref", "solimp", "margin", "gap",
    "material", "rgba", "group",
)  # fmt: skip
_ROOM = 0.1  # [m] of level ground around a robot at the start


def _pair(value: object) -> object:
    return [value, value] if isinstance(value, int | float) and not isinstance(value, bool) else value


_Height = Annotated[float, Field(ge=0, le=2, strict=True)]
_Length = Annotated[float, Field(ge=0.02, le=10, strict=True)]
_Angle = Annotated[float, Field(ge=-45, le=45, strict=True)]
_Extent = Annotated[float, Field(gt=0, le=1000, strict=True)]


class Terrain(Record):
    """A distribution of grounds; a number stands for a range of one value.

    `docs/reference/terrain.md` defines kinds and keys; lengths are in m, angles in degrees.
    """

    kind: Kind = "flat"
    height: Annotated[Range[_Height], BeforeValidator(_pair)] = (0.02, 0.02)
    length: Annotated[Range[_Length], BeforeValidator(_pair)] = (0.2, 0.2)
    angle: Annotated[Range[_Angle], BeforeValidator(_pair)] = (0.0, 0.0)
    size: tuple[_Extent, _Extent] = (24.0, 8.0)
    seed: Annotated[int, Field(ge=0, le=2**31, strict=True)] = 0

    @model_validator(mode="after")
    def _fits_into_memory(self) -> "Terrain":
        if self.kind in ("flat", "slope"):
            return self
        rows, columns = _shape(self.kind, min(self.length), self.size)
        if rows * columns > _MOST_POINTS:
            raise InvalidValueError(
                f"terrain of {self.size[0]:g} x {self.size[1]:g} m with a length of {min(self.length):g} m "
                f"has {rows * columns:,} points, and at most {_MOST_POINTS:,} are possible: make its size "
                "smaller or its length longer"
            )
        return self

    def draw(self, rng: np.random.Generator) -> "Ground":
        """One ground of the distribution."""
        height, length, angle = (
            float(rng.uniform(*limits)) for limits in (self.height, self.length, self.angle)
        )
        angle *= self.kind != "flat"
        seed = int(rng.integers(2**31))
        return Ground(kind=self.kind, height=height, length=length, angle=angle, size=self.size, seed=seed)

    @property
    def own(self) -> "Ground":
        """The ground of its own seed: that of a robot which has it."""
        return self.draw(np.random.default_rng(self.seed))

    @property
    def words(self) -> str:
        """What it is, with its ranges."""
        given = {"slope": {"angle": self.angle}, "flat": {}}
        ranges = given.get(self.kind, {"height": self.height, "length": self.length})
        words = [
            f"{name} {low:g}{f' to {high:g}' if high > low else ''}{'°' if name == 'angle' else ' m'}"
            for name, (low, high) in ranges.items()
        ]
        return f"{self.kind} {', '.join(words)}".rstrip()


class Ground(Record):
    """One ground; the attributes are those of `Terrain`, without ranges."""

    kind: Kind
    height: float = 0.0
    length: float = 0.2
    angle: float = 0.0
    size: tuple[float, float] = (24.0, 8.0)
    seed: int = 0

    def heights(self, clear: float) -> np.ndarray:
        """Height of each point [m], (rows along y, columns along x), 0 in a radius around the start [m]."""
        rows, columns = _shape(self.kind, self.length, self.size)
        x = np.linspace(-self.size[0] / 2, self.size[0] / 2, columns)
        y = np.linspace(-self.size[1] / 2, self.size[1] / 2, rows)
        rng = np.random.default_rng(self.seed)
        heights = {"rough": self._rough, "steps": self._steps, "stones": self._stones}[self.kind](
            x, y, rng, clear
        )
        heights[[0, -1]] = heights[:, [0, -1]] = heights.min()  # the edge leads down to the plane beyond
        return heights

    def _rough(self, x: np.ndarray, y: np.ndarray, rng: np.random.Generator, clear: float) -> np.ndarray:
        from scipy.ndimage import map_coordinates  # here, as it takes long to import

        bumps = self._lattice(rng)
        places = np.meshgrid((y - y[0]) / self.length, (x - x[0]) / self.length, indexing="ij")
        heights = np.asarray(map_coordinates(bumps, places, order=1))
        away = np.hypot(*np.meshgrid(y, x, indexing="ij")) - clear
        return heights * np.clip(away / self.length, 0, 1)

    def _stones(self, x: np.ndarray, y: np.ndarray, rng: np.random.Generator, clear: float) -> np.ndarray:
        stones = self._lattice(rng)
        row, column = (((line - line[0]) / self.length).astype(int) for line in (y, x))
        centre_y, centre_x = ((number + 0.5) * self.length for number in (row, column))
        away = np.hypot(*np.meshgrid(centre_y + y[0], centre_x + x[0], indexing="ij"))
        return np.where(away > clear + self.length, stones[np.ix_(row, column)], 0.0)

    def _steps(self, x: np.ndarray, y: np.ndarray, rng: np.random.Generator, clear: float) -> np.ndarray:
        number = np.maximum(np.ceil((np.abs(x) - clear) / self.length), 0).astype(int)
        levels = np.zeros((2, number.max() + 1))  # behind and ahead of the start
        for level in range(1, levels.shape[1]):
            change = rng.uniform(0.5, 1, 2) * rng.choice([-1, 1], 2) * self.height
            beyond = abs(levels[:, level - 1] + change) > _LEVELS * self.height
            levels[:, level] = levels[:, level - 1] + np.where(beyond, -change, change)
        return np.tile(levels[(x > 0).astype(int), number], (len(y), 1))

    def _lattice(self, rng: np.random.Generator) -> np.ndarray:
        """A height for each bump or stone [m]."""
        columns, rows = (int(extent / self.length) + 2 for extent in self.size)
        return rng.uniform(-self.height / 2, self.height / 2, (rows, columns))


def _shape(kind: str, length: float, size: tuple[float, float]) -> tuple[int, int]:
    """Rows along y and columns along x of a height field."""
    columns, rows = (int(np.ceil(extent / length * _FINE)) + 1 for extent in size)
    return (4 if kind == "steps" else rows), columns


def parse_terrain(text: str) -> Terrain:
    """Read terrain from a command line: a kind and its ranges, such as `rough:0.01:0.04`."""
    kind, *numbers = (piece.strip() for piece in text.split(":"))
    try:
        limits = [parse_number(number) for number in numbers]
    except ValueError:
        limits = [0.0] * 3
    if len(limits) not in (0, 2):
        raise InvalidValueError(
            "terrain must be a kind and the range of its height [m] or angle [degrees], such as "
            f"rough:0.01:0.04 or slope:-10:10, not {text!r}"
        )
    given = {"angle" if kind == "slope" else "height": limits} if limits else {}
    return validate(Terrain, {"kind": kind, **given})


def clearance(spec: mujoco.MjSpec) -> float:
    """Radius of the level ground that a robot needs where it starts [m]."""
    model = compile_spec(spec)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    moving = model.body_weldid[model.geom_bodyid] != 0
    reach = np.hypot(*data.geom_xpos[moving, :2].T) + model.geom_rbound[moving]
    return float(reach.max(initial=0.0)) + _ROOM


def tilt(spec: mujoco.MjSpec, angle: float) -> None:
    """Have the floor rise ahead by an angle, uphill positive [degrees]: it stays, and gravity turns back."""
    from scipy.spatial.transform import Rotation  # here, as it takes long to import

    turn = Rotation.from_euler("y", angle, degrees=True)
    spec.option.gravity = turn.apply(spec.option.gravity)


def lay(spec: mujoco.MjSpec, floor: str, ground: Ground, clear: float) -> None:
    """Put a ground in the place of the floor of a spec, or of the ground that was laid before.

    The floor becomes a height field, which is level in the radius `clear` around the start [m], and a plane
    continues it; or it is a plane. How gravity was tilted before adds up.
    """
    if ground.angle:
        tilt(spec, ground.angle)
    geom, before = spec.geom(floor), spec.hfield(_NAME)
    if before is not None:
        geom.type, geom.hfieldname, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, "", [0, 0, 1]
        geom.pos = [0, 0, geom.pos[2] - min(before.userdata)]
        spec.delete(spec.geom(BEYOND))
        spec.delete(before)
    if ground.kind in ("flat", "slope"):
        return
    level, heights = geom.pos[2], ground.heights(clear)
    low, high = float(heights.min()), float(heights.max())
    reach = ground.size[0] / 2, ground.size[1] / 2
    field = spec.add_hfield(name=_NAME, size=[*reach, max(high - low, 1e-6), _THICK])
    field.nrow, field.ncol = heights.shape
    field.userdata = heights.ravel()
    beyond = geom.parent.add_geom(name=BEYOND, type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    for name in _SHARED:
        setattr(beyond, name, getattr(geom, name))
    beyond.pos = [geom.pos[0], geom.pos[1], level + low - _LOWER]
    geom.type, geom.hfieldname, geom.size = mujoco.mjtGeom.mjGEOM_HFIELD, _NAME, [0, 0, 0]
    geom.pos, geom.quat = [0, 0, level + low], [1, 0, 0, 0]
    if not np.isfinite(
        spec.stat.extent
    ):  # or else pictures would be made for something as large as the ground
        spec.stat.extent, spec.stat.center = 2 * clear, [0, 0, clear / 2]


def field_of(model: mujoco.MjModel, floor: str) -> tuple[int, int] | None:
    """Numbers of the geom and of the height field that are a robot's floor; None of another floor."""
    geom = model.geom(floor).id
    if model.geom_type[geom] != mujoco.mjtGeom.mjGEOM_HFIELD:
        return None
    return geom, int(model.geom_dataid[geom])
