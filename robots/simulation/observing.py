"""What sensors read and controllers see, as kernels; `robots.task.observations` says what it means."""

import math

import numpy as np
from numba import uint64

from robots.compilation import compiled
from robots.motors import ABSENT
from robots.simulation.state import EpisodeState, Task
from robots.task.observations import OBSERVATION_LIMIT

TARGET_X = 1000.0  # [m] straight ahead of the start
_LIMIT = np.float32(OBSERVATION_LIMIT)
_MISSES = 1 << 33  # from which numbers of `uniform` say which readings are missing
_GOLDEN = uint64(0x9E3779B97F4A7C15)
_Pose = tuple[float, float, float, float, float, float]


@compiled()
def observe(task: Task, episode: EpisodeState, pose: _Pose, position: tuple[float, float]) -> None:
    """Read the sensors, and write what the controller sees."""
    constants, tally, row = task.constants[0], episode.tally[0], episode.row
    readings = episode.readings
    _, _, z, roll, pitch, yaw = pose
    root = constants.root_qvel
    vx, vz = row[root + constants.along], row[root + constants.up]
    vy = 0.0 if constants.planar else row[root + 1]
    bearing = np.arctan2(-position[1], TARGET_X - position[0]) - yaw
    cos, sin = np.cos(yaw), np.sin(yaw)
    readings[0] = z - tally.initial_height
    readings[1] = np.sin(bearing)
    readings[2] = np.cos(bearing)
    readings[3] = 0.3 * (cos * vx + sin * vy)
    readings[4] = 0.3 * (cos * vy - sin * vx)
    readings[5] = 0.3 * vz
    readings[6] = roll
    readings[7] = pitch
    joints = task.joints.size
    for j in range(joints):
        joint = task.joints[j]
        readings[8 + 2 * j] = rescaled(task, row, j)
        readings[9 + 2 * j] = 0.1 * joint.rate * (row[joint.qvel] if joint.qvel != ABSENT else 0.0)
    for foot in range(episode.touching.size):
        readings[8 + 2 * joints + foot] = episode.touching[foot]
    if constants.composed:
        _read_imu(task, episode, yaw)
    if constants.faulty:
        _disturb(task, episode)
    clip(readings)
    if constants.composed:
        heading = tally.commanded_turn * constants.control_step * tally.steps
        compose(
            task.quantities,
            task.entries,
            readings,
            episode.told,
            (tally.commanded_speed, tally.commanded_turn, heading),
            episode.past,
            tally.steps,
            tally.seed,
            episode.observation,
        )


@compiled()
def _read_imu(task: Task, episode: EpisodeState, yaw: float) -> None:
    """Write what an IMU on the torso reads behind the other readings."""
    constants, row, imu, readings = task.constants[0], episode.row, task.imu, episode.readings
    qpos, qvel, first = constants.root_qpos, constants.root_qvel, readings.size - 10 - 3 * constants.flies
    if constants.planar:
        angle = row[qpos + 2]
        gx, gy, gz = np.sin(angle), 0.0, -np.cos(angle)
        wx, wy, wz = 0.0, row[qvel + 2], 0.0
    else:
        a, b, c, d = row[qpos + 3], row[qpos + 4], row[qpos + 5], row[qpos + 6]
        gx, gy, gz = 2 * (a * c - b * d), -2 * (c * d + a * b), 2 * (b * b + c * c) - 1
        wx, wy, wz = row[qvel + 3], row[qvel + 4], row[qvel + 5]
    for i in range(3):
        down = imu[i, 0] * gx + imu[i, 1] * gy + imu[i, 2] * gz
        readings[first + i] = down
        readings[first + 3 + i] = 0.1 * (imu[i, 0] * wx + imu[i, 1] * wy + imu[i, 2] * wz)
        felt = -constants.gravity * down  # at rest, before the first step of physics
        if episode.tally[0].steps > 0 and constants.accelerometer != ABSENT:
            felt = episode.sensordata[constants.accelerometer + i]
        readings[first + 6 + i] = 0.1 * felt
    readings[first + 9] = yaw
    if constants.flies:
        x, y, z = imu[3, 0], imu[3, 1], imu[3, 2]
        vx, vy, vz = row[qvel], row[qvel + 1], row[qvel + 2]
        # in the torso's frame: its own speed turned into it, and the IMU's around it
        sx = (1 - 2 * (c * c + d * d)) * vx + 2 * (b * c + a * d) * vy + 2 * (b * d - a * c) * vz
        sy = 2 * (b * c - a * d) * vx + (1 - 2 * (b * b + d * d)) * vy + 2 * (c * d + a * b) * vz
        sz = 2 * (b * d + a * c) * vx + 2 * (c * d - a * b) * vy + (1 - 2 * (b * b + c * c)) * vz
        sx, sy, sz = sx + wy * z - wz * y, sy + wz * x - wx * z, sz + wx * y - wy * x
        for i in range(3):
            readings[first + 10 + i] = 0.1 * (imu[i, 0] * sx + imu[i, 1] * sy + imu[i, 2] * sz)


@compiled()
def compose(
    quantities: np.ndarray,
    entries: np.ndarray,
    readings: np.ndarray,
    told: np.ndarray,
    command: tuple[float, float, float],
    past: np.ndarray,
    step: int,
    seed: np.uint64,
    observation: np.ndarray,
) -> None:
    """Make an observation (o,) of what sensors read in a control step and in those before.

    The other arrays are those of `Task` and `EpisodeState`; step 0 fills `past`. The command is a speed
    [m/s], a turn [rad/s], and what turns added up to since the start [rad].
    """
    depth = past.shape[0]
    now = step % depth
    for i in range(quantities.size):
        quantity = quantities[i]
        if quantity.kind == 0:
            value = quantity.factor * readings[quantity.source] + quantity.offset
        elif quantity.kind == 1:
            value = quantity.factor * told[quantity.source]
        elif quantity.kind == 2:
            value = quantity.factor * np.sin(2 * np.pi * quantity.turns * step + quantity.phase)
        elif quantity.kind == 3:
            value = quantity.factor * command[quantity.source]
        else:
            value = quantity.factor * wrapped(readings[quantity.source] - command[2])
        if quantity.noise > 0:
            value += quantity.noise * normal(seed, step, readings.size + i)
        past[now, i] = value
        if step == 0:
            past[:, i] = past[0, i]
    for i in range(entries.size):
        value, limit = past[(step - entries[i].lag) % depth, entries[i].quantity], entries[i].limit
        observation[i] = min(max(value, -limit), limit)


@compiled()
def wrapped(angle: float) -> float:
    """The same angle from -π to π [rad]."""
    return angle - 2.0 * np.pi * np.rint(angle / (2.0 * np.pi))


@compiled()
def clip(values: np.ndarray) -> None:
    """Clip numbers to the limit in place."""
    for i in range(values.size):
        values[i] = min(max(values[i], -_LIMIT), _LIMIT)


@compiled()
def _disturb(task: Task, episode: EpisodeState) -> None:
    """What faulty sensors read: off, with noise and rounded; as before where it is missing; or one value."""
    tally, readings = episode.tally[0], episode.readings
    missing = uniform(tally.seed, _MISSES + tally.steps)  # the same for all, which are one message
    for i in range(readings.size):
        sensor = task.sensors[i]
        readings[i] += sensor.biased
        if sensor.noisy > 0:
            readings[i] += sensor.noisy * normal(tally.seed, tally.steps, i)
        if sensor.rounded > 0:
            readings[i] = sensor.rounded * np.rint(readings[i] / sensor.rounded)
        if missing < sensor.missing and not np.isnan(episode.held[i]):
            readings[i] = episode.held[i]
        episode.held[i] = readings[i]
        if not np.isnan(sensor.stuck):
            readings[i] = sensor.stuck


@compiled()
def rescaled(task: Task, row: np.ndarray, j: int) -> float:
    """A joint's position with its range rescaled to [-1, 1]; 0 of one that is lost."""
    joint = task.joints[j]
    if joint.qpos == ABSENT:
        return joint.fixed
    return (row[joint.qpos] - joint.middle) / joint.half_range


@compiled()
def normal(seed: int | np.uint64, step: int, channel: int) -> float:
    """A standard normal number that depends on its arguments alone; channels are below 2^20."""
    state = _mixed(uint64(seed) + _GOLDEN * (uint64(step) * uint64(1 << 20) + uint64(channel) + uint64(1)))
    first, second = _uniform(state), _uniform(_mixed(state + _GOLDEN))
    return math.sqrt(-2.0 * math.log(1.0 - first)) * math.cos(2.0 * math.pi * second)  # Box and Muller 1958


@compiled()
def uniform(seed: int | np.uint64, number: int) -> float:
    """A number in [0, 1) that depends on its arguments alone."""
    return _uniform(_mixed(_mixed(uint64(seed)) + _GOLDEN * (uint64(number) + uint64(1))))


@compiled()
def _mixed(state: np.uint64) -> np.uint64:
    """The output function of SplitMix64 (Steele, Lea & Flood 2014)."""
    state = uint64(state)
    state = (state ^ (state >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> uint64(27))) * uint64(0x94D049BB133111EB)
    return state ^ (state >> uint64(31))


@compiled()
def _uniform(state: np.uint64) -> float:
    """A number in [0, 1) from 64 bits."""
    return (uint64(state) >> uint64(11)) * (1.0 / (1 << 53))
