"""`Residual`: gaits around a frozen policy that others trained.

With the policy's action p, time t since the episode began, and each joint's own numbers,

    target = home + share of the leg · scale · p + offset + amplitude · sin(2π f t + phase)

is sent to the joint's motor. The command that the policy observes belongs to the gait, and its turn holds the
heading. Parameters of zeros are the policy alone. They hold the sine's and the cosine's part of each wave,
not its amplitude and phase, with which searches of 2,000 episodes for Go1 with a dead leg came half as far.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robots.compilation import call_address, compiled
from robots.controllers.controller import Controller, Mirror, Reflection
from robots.controllers.foreign import Called
from robots.controllers.graph import Graph
from robots.controllers.network import Network, run_network

_SPREAD = 0.3  # [rad or m] of an offset or a part of a wave for a parameter of 1
_SHARE = 0.4  # of the policy's action for a parameter of 1
_FREQUENCY, _TEMPO = 2.0, 0.3  # [Hz] of the waves, and the change of its logarithm for a parameter of 1
_BEGINS = 0.5  # [s] in which a residual sets in, and in which one takes the place of another
_MIRRORED = 5.0  # from which the last parameter says that the policy runs as its mirror image
_NEVER = np.float32(-1e9)  # a step so long ago that nothing is left of what was before it

# What the policy observes is made of numbers that are new in each control step, now or some steps ago.
# The kernel's first argument holds these counts, and then rows of as many as `_LENGTH` says: of each
# number what it is made of, which one of that, of which joint it is, and its image in a mirror; of each
# input of the policy its number and how many steps ago; of each joint its place in the policy's order,
# and its image; then the program of the network.
_SEEN, _INPUTS, _JOINTS, _LAYERS, _ADDRESS, _HEADING, _BLEND, _DEPTH, _LENGTH, _COUNTS = range(10)
_KIND, _SOURCE, _JOINT, _IMAGE, _NUMBER, _LAG, _PLACE, _OTHER_SIDE, _PROGRAM = range(9)
SENSED, ANGLE, ACTED, TOLD, WAVE = range(5)
# Rows of the memory: of each number a factor, what is then added, and its sign in a mirror; of each input
# its limit and its scale; of each joint the action at home, for a policy's 1 and for 1 rad, and its sign
# in a mirror; the most and the least that is told; two residuals, as it is and the one before it; since
# when it is; two rows for the network; the policy's last action; the numbers of the last steps; the
# network's constants.
(
    _UNIT, _SHIFT, _SIGN, _LIMIT, _SCALE, _HOME, _REACH, _PER_UNIT, _TURNED, _MOST, _LEAST, _NOW,
) = range(12)  # fmt: skip
_OFFSET, _SHARES, _AMPLITUDE, _PHASE, _REST, _RESIDUAL = range(6)
_BEFORE = _NOW + _RESIDUAL
_SINCE, _FRONT, _BACK, _LAST, _PAST = range(_BEFORE + _RESIDUAL, _BEFORE + _RESIDUAL + 5)
# In the last row of a residual: what is told, the turn of waves in a control step, whether it is mirrored.
_AHEAD, _LEFT, _TURN, _PACE, _FLIPPED = range(5)


def _act(
    sizes: np.ndarray,
    memory: np.ndarray,
    _parameters: np.ndarray,
    observation: np.ndarray,
    step: int,
    action: np.ndarray,
) -> None:
    """Run the policy and add the residual; see `Controller.kernel`."""
    table, depth = sizes[_COUNTS:].reshape(-1, sizes[_LENGTH]), sizes[_DEPTH]
    if step == 0:
        memory[_LAST] = 0
        memory[_SINCE, 0] = _NEVER
    new = min(np.float32(1), np.float32(step - memory[_SINCE, 0]) / np.float32(sizes[_BLEND]))
    begun = min(np.float32(1), np.float32(step) / np.float32(sizes[_BLEND]))
    _see(sizes, table, memory, observation, step, new, begun)
    flipped = memory[_NOW + _REST, _FLIPPED] > 0
    for i in range(sizes[_INPUTS]):
        number = table[_NUMBER, i]
        past = memory[_PAST + (step - table[_LAG, i]) % depth]
        value = memory[_SIGN, number] * past[table[_IMAGE, number]] if flipped else past[number]
        memory[_FRONT, i] = memory[_SCALE, i] * min(max(value, -memory[_LIMIT, i]), memory[_LIMIT, i])
    constants, program = memory[_PAST + depth :].reshape(-1), table[_PROGRAM:].reshape(-1)
    if sizes[_ADDRESS]:
        call_address(sizes[_ADDRESS], memory[_FRONT].ctypes.data, step)
    else:
        run_network(program, sizes[_LAYERS], constants, memory[_FRONT], memory[_BACK])
    for j in range(sizes[_JOINTS]):
        told = memory[_FRONT, table[_PLACE, j]]
        if flipped:
            told = memory[_TURNED, j] * memory[_FRONT, table[_PLACE, table[_OTHER_SIDE, j]]]
        memory[_LAST, j] = told
        share = _blended(memory, _SHARES, j, new)
        moved = new * _moved(memory, _NOW, j, step)
        if new < 1:
            moved += (1 - new) * _moved(memory, _BEFORE, j, step)
        wanted = memory[_HOME, j] + share * memory[_REACH, j] * told + begun * memory[_PER_UNIT, j] * moved
        action[j] = min(max(wanted, np.float32(-1)), np.float32(1))


@compiled()
def _see(
    sizes: np.ndarray,
    table: np.ndarray,
    memory: np.ndarray,
    observation: np.ndarray,
    step: int,
    new: np.float32,
    begun: np.float32,
) -> None:
    """Write the numbers of a control step; the first step fills those before it."""
    now = memory[_PAST + step % sizes[_DEPTH]]
    for i in range(sizes[_SEEN]):
        kind, source, j = table[_KIND, i], table[_SOURCE, i], table[_JOINT, i]
        unit, shift = memory[_UNIT, i], memory[_SHIFT, i]
        if kind == ACTED:
            now[i] = memory[_LAST, j]
        elif kind == WAVE:
            now[i] = math.sin(unit * step + shift)
        elif kind == TOLD:
            value = _blended(memory, _REST, source, new)
            if source == _TURN and sizes[_HEADING] >= 0:
                value -= unit * observation[sizes[_HEADING]]
            now[i] = begun * min(max(value, memory[_LEAST, source]), memory[_MOST, source])
        else:
            now[i] = unit * observation[source] + shift
            if kind == ANGLE:  # without the offset, as if the joint's home were there
                now[i] -= _blended(memory, _OFFSET, j, new)
    if step == 0:
        for lag in range(1, sizes[_DEPTH]):
            memory[_PAST + lag] = memory[_PAST]


@compiled()
def _blended(memory: np.ndarray, row: int, column: int, new: np.float32) -> np.float32:
    return new * memory[_NOW + row, column] + (np.float32(1) - new) * memory[_BEFORE + row, column]


@compiled()
def _moved(memory: np.ndarray, first: int, j: int, step: int) -> np.float32:
    """How far a residual moves a joint's target [rad or m]."""
    wave = math.sin(memory[first + _REST, _PACE] * step + memory[first + _PHASE, j])
    return np.float32(memory[first + _OFFSET, j] + memory[first + _AMPLITUDE, j] * wave)


class Seen(NamedTuple):
    """A number of which what a policy observes is made: factor · value + shift."""

    kind: int  # what it is made of
    source: int  # number of the observation, or of the command
    joint: int  # its number, or -1
    factor: float  # of a wave what its phase grows by in a control step
    shift: float = 0.0  # of a wave the first phase


class Inputs(NamedTuple):
    """What a policy with i inputs observes."""

    seen: tuple[Seen, ...]  # the numbers that it is made of
    rows: np.ndarray  # of each input which of these, and how many control steps ago, (2, i)
    factors: np.ndarray  # of each input its limit and then its scale, (2, i)
    heading: int  # number of the observation that tells the heading, or -1

    def images(self, mirror: Mirror) -> Reflection | None:
        """What becomes of the numbers in a robot's mirror; None where one has no image."""
        observations, actions = mirror
        places = {number[:3]: i for i, number in enumerate(self.seen)}
        images, signs = [], []
        for i, (kind, source, joint, *_) in enumerate(self.seen):
            if kind in (TOLD, WAVE):
                image, sign = i, -1.0 if kind == TOLD and source != _AHEAD else 1.0
            else:
                other = int(actions.images[joint]) if joint >= 0 else -1
                seen = int(observations.images[source]) if kind != ACTED else 0
                image = places.get((kind, seen, other), -1)
                sign = float(actions.signs[joint] if kind == ACTED else observations.signs[source])
            images.append(image)
            signs.append(sign)
        return Reflection(np.array(images), np.array(signs)) if min(images) >= 0 else None


@dataclass(frozen=True, eq=False)
class Residual(Controller):
    """Gaits around a frozen policy.

    A parameter vector holds the command (3), the offset of each joint, the share of each leg, the parts of
    each joint's wave as a sine and as a cosine, and the frequency; then a number that says whether the policy
    runs as its mirror image.
    """

    network: Network | Called
    inputs: Inputs
    places: np.ndarray  # the number of each joint among the policy's actions, (a,)
    home: np.ndarray  # action of each joint where the policy's is 0, (a,)
    reach: np.ndarray  # what is added to it for a policy's 1, (a,)
    per_unit: np.ndarray  # action of each joint for an offset of 1 rad or m, (a,)
    legs: np.ndarray  # number of each joint's leg, (a,)
    told: np.ndarray  # by default, at least and at most, (3, 3)
    control_step: float  # [s]
    mirror: Mirror | None  # of the numbers that the policy sees and of the joints; None if nobody knows
    checksum: str  # of the policy
    observation_dim: int
    sigma0: float

    step_sizes = None
    walks_first = blends = True
    kernel = staticmethod(_act)

    def __eq__(self, other: object) -> bool:
        """Whether parameters mean the same."""
        return isinstance(other, Residual) and self._meaning == other._meaning

    def __hash__(self) -> int:
        return hash(self._meaning)

    @property
    def _meaning(self) -> tuple:
        inputs, arrays = self.inputs, (self.places, self.home, self.reach, self.told, self.legs)
        numbers = (inputs.seen, self.control_step, self.mirror is None)
        return self.checksum, *numbers, *(part.tobytes() for part in (inputs.rows, inputs.factors, *arrays))

    @property
    def action_dim(self) -> int:  # type: ignore[override]
        """Number of outputs."""
        return len(self.places)

    @property
    def parameter_count(self) -> int:
        return 5 + 3 * self.action_dim + self._leg_count

    @property
    def _leg_count(self) -> int:
        return int(self.legs.max()) + 1

    @property
    def _blend(self) -> int:
        """Control steps in which a residual sets in."""
        return max(1, round(_BEGINS / self.control_step))

    @property
    def holds_heading(self) -> bool:
        """See `Controller`: whether it sees its heading and tells the policy to turn against it."""
        return self.inputs.heading >= 0

    @property
    def shape(self) -> str:
        """For example `waves-45-0f3a9c21`."""
        return f"waves-{self.parameter_count}-{self.checksum}"

    @property
    def label(self) -> str:
        return f"policy of {self.network.inputs} inputs with a residual"

    def initial(self, rng: np.random.Generator) -> np.ndarray:
        return np.zeros(self.parameter_count, np.float32)

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """See `Controller.arguments`, and the head of this file for what they are."""
        program, constants, address = self.network.program()
        seen, inputs, joints = len(self.inputs.seen), self.network.inputs, self.action_dim
        depth = 1 + int(self.inputs.rows[1].max())
        length = max(self.network.width, seen, inputs, joints, 5)
        rows = np.zeros((_PROGRAM + -(-len(program) // length), length), np.int64)
        memory = np.zeros((_PAST + depth + -(-len(constants) // length), length), np.float32)
        columns = np.array(self.inputs.seen)
        rows[:_IMAGE, :seen], memory[: _SHIFT + 1, :seen] = columns[:, :3].T, columns[:, 3:].T
        rows[_NUMBER : _LAG + 1, :inputs], memory[_LIMIT : _SCALE + 1, :inputs] = self.inputs[1:3]
        if self.mirror:
            rows[_IMAGE, :seen], memory[_SIGN, :seen] = self.mirror.observations
            rows[_OTHER_SIDE, :joints], memory[_TURNED, :joints] = self.mirror.actions
        rows[_PLACE, :joints] = self.places
        memory[_HOME, :joints], memory[_REACH, :joints] = self.home, self.reach
        memory[_PER_UNIT, :joints] = self.per_unit
        memory[_LEAST, :3], memory[_MOST, :3] = self.told[1:]
        rows[_PROGRAM:].reshape(-1)[: len(program)] = program
        memory[_PAST + depth :].reshape(-1)[: len(constants)] = constants
        counts = [seen, inputs, joints, len(program) // 4, address, self.inputs.heading]
        counts += [self._blend, depth, length]
        return np.concatenate([counts, rows.reshape(-1)]), memory

    def _parts(self, parameters: np.ndarray) -> list[np.ndarray]:
        """Views of the parts of parameters (..., p), in their order."""
        joints, legs = self.action_dim, self._leg_count
        return np.split(parameters, np.cumsum([3, joints, legs, joints, joints, 1]), axis=-1)

    def prepare(self, parameters: np.ndarray, memory: np.ndarray) -> None:
        joints, residual = self.action_dim, memory[_NOW : _NOW + _RESIDUAL]
        told, offsets, shares, sines, cosines, (tempo,), turned = self._parts(parameters)
        default, least, most = self.told
        residual[_REST, :3] = default + told * (most - least) / 3
        residual[_REST, _FLIPPED] = self.mirror is not None and turned[0] > _MIRRORED
        residual[_OFFSET, :joints] = _SPREAD * offsets
        residual[_SHARES, :joints] = np.clip(1 + _SHARE * shares, 0, 2)[self.legs]
        residual[_AMPLITUDE, :joints] = _SPREAD * np.hypot(sines, cosines)
        residual[_PHASE, :joints] = np.arctan2(cosines, sines)
        frequency = _FREQUENCY * math.exp(min(_TEMPO * float(tempo), 2.0))
        residual[_REST, _PACE] = 2 * np.pi * frequency * self.control_step

    def check(self) -> None:
        self.network.check()

    def written(self, parameters: np.ndarray, graph: Graph, observation: str) -> str:
        _, memory = self.arguments()
        self.prepare(parameters, memory)
        joints, rest = self.action_dim, memory[_NOW + _REST]
        last, part = graph.recalled(joints)
        begun = graph.of("Min", graph.of("Div", graph.step, float(self._blend)), 1.0)
        told = self.network.written(graph, self._fed(graph, observation, last, begun, memory))
        told = graph.chosen(told, self.places)
        if self.mirror and rest[_FLIPPED]:
            images, signs = self.mirror.actions
            told = graph.of("Mul", graph.chosen(told, images), signs)
        graph.keep(part, told)
        wave = graph.of(
            "Sin", graph.of("Add", graph.of("Mul", graph.step, rest[_PACE]), memory[_NOW + _PHASE, :joints])
        )
        moved = graph.of(
            "Add", graph.of("Mul", wave, memory[_NOW + _AMPLITUDE, :joints]), memory[_NOW + _OFFSET, :joints]
        )
        moved = graph.of("Mul", graph.of("Mul", moved, begun), self.per_unit)
        shared = graph.of("Mul", told, memory[_NOW + _SHARES, :joints] * self.reach)
        return graph.clipped(graph.of("Add", graph.of("Add", shared, moved), self.home), -1.0, 1.0)

    def _fed(self, graph: Graph, observation: str, last: str, begun: str, memory: np.ndarray) -> str:
        """What the policy observes, (1, i), of an observation and of its last action."""
        kinds, sources, joints = np.array([number[:3] for number in self.inputs.seen]).T
        factors, shifts = np.array([number[3:] for number in self.inputs.seen], np.float32).T
        waves, commands = kinds == WAVE, kinds == TOLD
        angles, sensed = kinds == ANGLE, (kinds == SENSED) | (kinds == ANGLE)
        asked, least, most = memory[[_NOW + _REST, _LEAST, _MOST], :3]
        turns = np.zeros(3)
        turns[_TURN] = (self.inputs.heading >= 0) * max(factors[commands & (sources == _TURN)], default=0)
        heading = graph.chosen(observation, [max(self.inputs.heading, 0)])
        told = graph.clipped(graph.of("Sub", asked, graph.of("Mul", heading, turns)), least, most)
        phases = graph.of("Add", graph.of("Mul", graph.step, factors[waves]), shifts[waves])
        parts = [observation, last, graph.of("Mul", told, begun)]
        parts += [graph.of("Sin", phases)] if waves.any() else []
        end = np.cumsum([self.observation_dim, self.action_dim, 3])
        elsewhere = (kinds == ACTED, joints), (commands, sources), (waves, np.cumsum(waves) - 1)
        places = sources.copy()
        for first, (which, numbers) in zip(end, elsewhere, strict=True):
            places[which] = first + numbers[which]
        shifts[angles] -= memory[_NOW + _OFFSET][joints[angles]]
        now = graph.of("Mul", graph.chosen(graph.together(*parts), places), np.where(sensed, factors, 1))
        now = graph.of("Add", now, np.where(sensed, shifts, 0))
        numbers, lags = self.inputs.rows
        size = len(kinds)
        every = graph.recent(now, size, int(lags.max()))
        images, signs = np.arange(size), np.ones(size)
        if self.mirror and memory[_NOW + _REST, _FLIPPED]:
            images, signs = self.mirror.observations
        rows = graph.chosen(every, lags * size + images[numbers])
        limits, scales = self.inputs.factors
        rows = graph.clipped(graph.of("Mul", rows, signs[numbers]), -limits, limits)
        return graph.of("Mul", rows, scales)

    def change(self, parameters: np.ndarray, memory: np.ndarray, step: int) -> None:
        """See `Controller.change`: within half a second."""
        memory[_BEFORE : _BEFORE + _RESIDUAL] = memory[_NOW : _NOW + _RESIDUAL]
        memory[_SINCE, 0] = step
        self.prepare(parameters, memory)

    def mirrored(self, parameters: np.ndarray, mirror: Mirror) -> np.ndarray | None:
        """See `Controller.mirrored`: None where it is not known what the policy observes in a mirror."""
        if self.mirror is None:
            return None
        told, offsets, shares, sines, cosines, tempo, turned = self._parts(parameters)
        images = mirror.actions.images
        legs = [int(self.legs[images[self.legs == leg][0]]) for leg in range(self._leg_count)]
        moved = [mirror.actions.of(part.T).T for part in (offsets, sines, cosines)]
        found = [told * [1, -1, -1], moved[0], shares[:, legs], *moved[1:], tempo]
        return np.concatenate([*found, 2 * _MIRRORED - turned], axis=1).astype(parameters.dtype)
