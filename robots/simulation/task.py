"""The walking task as kernels: reward, end of an episode, foot contact, and faults of signals.

It follows the locomotion task of QDgym; `docs/reference/robots.md` lists the definitions.
"""

import math

import numpy as np

from robots.compilation import compiled
from robots.files.texts import LARGEST
from robots.mjcf.compiling import HEARD
from robots.motors import ABSENT, motor_torque
from robots.simulation.observing import TARGET_X, observe, rescaled, uniform, wrapped
from robots.simulation.state import EpisodeState, Task
from robots.simulation.trace import trace_columns

# Speeds beyond this [m/s or rad/s] are a simulation blowing up, long before MuJoCo sees 1e10.
_ABSURD_SPEED = 1e3
_DROPS = 1 << 32  # from which numbers of `uniform` say which actions are lost
_NEAR_LIMIT = 0.99  # share of a joint's range beyond which it counts as being at its limit
_Pose = tuple[float, float, float, float, float, float]
_motor_torque, _trace_columns = compiled()(motor_torque), compiled()(trace_columns)


@compiled()
def begin(task: Task, episode: EpisodeState, seed: np.uint64) -> None:
    """Start the episode of a seed, whose initial state the row of state already holds."""
    pose, tally, position = _pose(task, episode.row), episode.tally[0], _position(task, episode.row)
    tally.steps, tally.seed, tally.initial_height = 0, seed, pose[2]
    tally.objective, tally.reward, tally.energy, tally.midway = 0.0, 0.0, 0.0, 0.0
    tally.initial_distance = tally.target_distance = _target_distance(position)
    tally.x, tally.y, tally.yaw = pose[0], pose[1], pose[5]
    tally.initial_x, tally.initial_y = pose[0], pose[1]
    tally.ahead, tally.height_sum, tally.path = 0.0, 0.0, 0.0
    tally.turned, tally.lateral, tally.heading = 0.0, 0.0, 0.0
    constants = task.constants[0]
    tally.commanded_speed = constants.slowest + uniform(seed, 0) * (constants.fastest - constants.slowest)
    tally.commanded_turn = constants.rightmost + uniform(seed, 1) * (constants.leftmost - constants.rightmost)
    tally.down, tally.fell, tally.terminated, tally.diverged = 0, False, False, False
    for foot in range(episode.contacts.size):
        episode.contacts[foot] = 0
        episode.touching[foot] = False
        episode.feet[foot].airborne = 0
        place = task.places[foot]
        if place != ABSENT:
            episode.feet[foot].x, episode.feet[foot].y = episode.row[place], episode.row[place + 1]
    episode.last_action[:] = 0.0
    episode.told[:] = 0.0
    episode.pending[:] = 0.0
    episode.held[:] = np.nan
    observe(task, episode, pose, position)


@compiled()
def carry_on(task: Task, episode: EpisodeState, seed: np.uint64, going: bool) -> None:
    """Start an episode where another one ended: delayed actions still reach the motors.

    With `going` the controller keeps its place in its cycle and what it observed.
    """
    steps, height = episode.tally[0].steps, episode.tally[0].initial_height
    told, past = episode.told.copy(), episode.past.copy()
    last_action, pending, held = episode.last_action.copy(), episode.pending.copy(), episode.held.copy()
    begin(task, episode, seed)
    episode.tally[0].initial_height = height
    episode.told[:], episode.last_action[:], episode.held[:] = told, last_action, held
    first = 0 if going else steps  # the oldest action is at this number of steps in the ring
    for j in range(task.joints.size):
        delay = task.joints[j].delay
        for step in range(delay):
            episode.pending[step, j] = pending[(first + step) % delay, j]
    if going:
        episode.tally[0].steps = steps
        episode.past[:] = past
    observe(task, episode, _pose(task, episode.row), _position(task, episode.row))


@compiled()
def apply_action(task: Task, episode: EpisodeState) -> None:
    """Clip the action to [-1, 1] and apply it, perhaps late; it is overwritten with what arrived.

    Of targets that change faster than the robot declares, the nearest that is allowed arrives.
    """
    tally, lost = episode.tally[0], np.inf
    if task.constants[0].drops and tally.steps > 0:
        lost = uniform(tally.seed, _DROPS + tally.steps)  # the same for all, which get one message
    for j in range(task.joints.size):
        episode.told[j] = min(max(episode.action[j], np.float32(-1.0)), np.float32(1.0))
    if task.constants[0].swapped:
        actions = episode.action.copy()
        for j in range(task.joints.size):
            episode.action[j] = actions[task.joints[j].source]
    for j in range(task.joints.size):
        joint = task.joints[j]
        action = min(max(episode.action[j], np.float32(-1.0)), np.float32(1.0))
        if joint.delay:
            due = tally.steps % joint.delay
            action, episode.pending[due, j] = episode.pending[due, j], action
        if joint.ctrl == ABSENT:
            action = np.float32(0.0)  # a motor that is gone draws nothing
        elif lost < joint.dropped:
            action = np.float32((episode.row[joint.ctrl] - joint.ctrl_middle) / joint.ctrl_half_range)
        else:
            control = joint.ctrl_middle + joint.ctrl_half_range * action
            if abs(control - episode.row[joint.ctrl]) > joint.change and tally.steps > 0:
                last = episode.row[joint.ctrl]
                control = min(max(control, last - joint.change), last + joint.change)
                action = np.float32((control - joint.ctrl_middle) / joint.ctrl_half_range)
            if joint.play > 0:  # until the gear's teeth meet, the motor goes where it went before
                control = min(max(episode.row[joint.ctrl], control - joint.play), control + joint.play)
            episode.row[joint.ctrl] = control
        episode.action[j] = action


@compiled()
def add_drag(task: Task, episode: EpisodeState) -> None:
    """Add the drag of all links to MuJoCo's passive forces, which hold for the velocities as they are.

    A link of mass m and inertia I at speed v that turns at w meets the force -k m v (1 + |v|) and the torque
    -k I w (1 + |w|), as in Bullet (`btMultiBody.cpp`). What they do to the joints adds up from the outermost
    links inwards.
    """
    k, row, drag = task.constants[0].drag, episode.row, episode.drag
    for i in range(task.links.size):
        link = task.links[i]
        at, c = link.cvel, link.centre
        wx, wy, wz = row[at], row[at + 1], row[at + 2]
        rx, ry, rz = (
            row[link.xipos] - row[c],
            row[link.xipos + 1] - row[c + 1],
            row[link.xipos + 2] - row[c + 2],
        )
        vx = row[at + 3] + wy * rz - wz * ry
        vy = row[at + 4] + wz * rx - wx * rz
        vz = row[at + 5] + wx * ry - wy * rx
        push = -k * link.mass * (1.0 + math.sqrt(vx * vx + vy * vy + vz * vz))
        fx, fy, fz = push * vx, push * vy, push * vz
        turn, r = -k * (1.0 + math.sqrt(wx * wx + wy * wy + wz * wz)), link.ximat
        # about the principal axes, which are the columns of the rotation
        tx = turn * link.inertia_x * (row[r] * wx + row[r + 3] * wy + row[r + 6] * wz)
        ty = turn * link.inertia_y * (row[r + 1] * wx + row[r + 4] * wy + row[r + 7] * wz)
        tz = turn * link.inertia_z * (row[r + 2] * wx + row[r + 5] * wy + row[r + 8] * wz)
        drag[i, 0] = row[r] * tx + row[r + 1] * ty + row[r + 2] * tz + ry * fz - rz * fy
        drag[i, 1] = row[r + 3] * tx + row[r + 4] * ty + row[r + 5] * tz + rz * fx - rx * fz
        drag[i, 2] = row[r + 6] * tx + row[r + 7] * ty + row[r + 8] * tz + rx * fy - ry * fx
        drag[i, 3], drag[i, 4], drag[i, 5] = fx, fy, fz
    for i in range(task.links.size - 1, -1, -1):
        link = task.links[i]
        for dof in range(link.dofs):
            for axis in range(6):
                row[link.passive + dof] += row[link.cdof + 6 * dof + axis] * drag[i, axis]
        if link.parent != ABSENT:
            for axis in range(6):
                drag[link.parent, axis] += drag[i, axis]


@compiled()
def slow_positions(task: Task, episode: EpisodeState) -> None:
    """Take back the share of the last physics step by which joints with a position rate do not move."""
    row = episode.row
    for j in range(task.joints.size):
        joint = task.joints[j]
        if joint.rate != 1.0 and joint.qpos != ABSENT:
            row[joint.qpos] -= (1.0 - joint.rate) * task.constants[0].physics_step * row[joint.qvel]


@compiled()
def is_sound(task: Task, episode: EpisodeState) -> bool:
    """Whether MuJoCo did not warn of a simulation, and its state may still be a walking robot's."""
    constants, row = task.constants[0], episode.row
    for kind in range(episode.warnings.size):
        if episode.warnings[kind] != HEARD:
            return False
    for column in range(constants.qpos_end):
        if not np.isfinite(row[column]):
            return False
    for column in range(constants.qvel, constants.qvel_end):
        if not abs(row[column]) < _ABSURD_SPEED:
            return False
    return True


@compiled()
def sense(task: Task, episode: EpisodeState) -> None:
    """Note which feet touched the floor in the last physics step."""
    for foot in range(task.soles.shape[0]):
        touching = False
        for sole in range(task.soles.shape[1]):
            column = task.soles[foot, sole]
            touching |= column != ABSENT and episode.sensordata[column] > 0
        episode.touching[foot] = touching
        episode.contacts[foot] += touching


@compiled()
def score(task: Task, episode: EpisodeState, sound: bool) -> bool:
    """Add a simulated control step to the tally and observe its result; returns whether the episode ended.

    The row of state must have the places of bodies after the step, if it is sound, see `is_sound`.
    """
    tally, pose = episode.tally[0], _pose(task, episode.row)
    if sound:
        position = _position(task, episode.row)
        _reward(task, episode, pose, position)
        observe(task, episode, pose, position)
    if not (sound and abs(tally.objective) <= LARGEST):  # by a reward without measure
        tally.diverged = True
        tally.terminated = True
        tally.reward = 0.0
    ended = tally.terminated or tally.steps == task.constants[0].max_steps
    if ended:
        tally.lateral = pose[1] - tally.initial_y
        tally.heading = pose[5]
    return ended


@compiled()
def _reward(task: Task, episode: EpisodeState, pose: _Pose, position: tuple[float, float]) -> None:
    constants, tally, row = task.constants[0], episode.tally[0], episode.row
    joints = task.joints.size
    work, effort, power, at_limit = 0.0, 0.0, 0.0, 0
    for j in range(joints):
        joint, a = task.joints[j], float(episode.action[j])
        velocity = row[joint.qvel] if joint.qvel != ABSENT else 0.0
        torque = _torque(task, row, j)
        work += abs(a * 0.1 * joint.rate * velocity)
        effort += a * a
        power += abs(torque * velocity)
        at_limit += abs(rescaled(task, row, j)) > _NEAR_LIMIT
    distance = _target_distance(position)
    alive = _alive(task, episode, pose)
    reward = constants.alive_weight if alive else -constants.alive_weight
    reward += constants.progress_weight * (tally.target_distance - distance) / constants.control_step
    reward += constants.electricity_weight * work / joints + constants.torque_weight * effort / joints
    reward += constants.joint_at_limit_weight * at_limit
    if constants.shaped:
        reward += _further_terms(task, episode, pose, tally.target_distance - distance, power)
    _move_on(task, episode, pose)
    tally.reward = reward
    tally.objective += reward
    tally.energy += power * constants.control_step
    tally.target_distance = distance
    tally.steps += 1
    if tally.steps <= constants.midway:
        tally.midway = tally.initial_distance - distance
    tally.down = 0 if alive and _is_up(task, episode, pose) else tally.down + 1
    tally.fell = tally.fell or tally.down > constants.patience
    tally.terminated = (constants.ends_episode and not alive) or (constants.until_it_falls and tally.fell)
    if tally.terminated and constants.forfeits:
        kept = min(tally.objective, 0.0)  # or who walks backwards would gain by falling
        tally.reward += kept - tally.objective
        tally.objective = kept


@compiled()
def _further_terms(task: Task, episode: EpisodeState, pose: _Pose, progress: float, power: float) -> float:
    """The terms of a control step's reward that the paper's does not have, see `robots.task.reward`."""
    constants, tally, row = task.constants[0], episode.tally[0], episode.row
    _, y, z, _, _, yaw = pose
    dt, root = constants.control_step, constants.root_qvel
    turning, left = (0.0, 0.0) if constants.planar else (wrapped(yaw - tally.yaw) / dt, row[root + 1])
    forward = np.cos(yaw) * row[root + constants.along] + np.sin(yaw) * left
    sideways = np.cos(yaw) * left - np.sin(yaw) * row[root + constants.along]
    change = 0.0
    for j in range(task.joints.size):
        step = float(episode.action[j]) - float(episode.last_action[j])
        change += step * step
        episode.last_action[j] = episode.action[j]
    slip, swing = _footwork(task, episode)
    reward = constants.drift_weight * (abs(y) - abs(tally.y)) / dt
    reward += constants.heading_weight * min(abs(yaw), 1.0) * abs(progress) / dt
    reward += constants.yaw_rate_weight * abs(turning) + constants.sideways_weight * abs(sideways)
    reward += constants.energy_weight * power
    reward += constants.action_rate_weight * change / task.joints.size
    reward += constants.height_weight * abs(z - tally.initial_height)
    reward += constants.slip_weight * slip / dt + constants.air_time_weight * swing / dt
    target = tally.commanded_speed if np.isnan(constants.target_speed) else constants.target_speed
    reward += constants.speed_error_weight * abs(forward - target)
    astray = wrapped(yaw - tally.commanded_turn * dt * (tally.steps + 1))
    return float(reward + constants.heading_error_weight * min(abs(astray), 1.0))


@compiled()
def _footwork(task: Task, episode: EpisodeState) -> tuple[float, float]:
    """How far feet slid in a step [m], and the time of swings that ended in it, less the least each [s]."""
    constants, slip, swing = task.constants[0], 0.0, 0.0
    for number in range(task.places.size):
        foot, place = episode.feet[number], task.places[number]
        if place == ABSENT:
            continue
        x, y = episode.row[place], episode.row[place + 1]
        if episode.touching[number]:
            if foot.airborne:
                swing += foot.airborne * constants.control_step - constants.least_swing
            else:
                slip += np.hypot(x - foot.x, y - foot.y)
            foot.airborne = 0
        else:
            foot.airborne += 1
        foot.x, foot.y = x, y
    return slip, swing


@compiled()
def _move_on(task: Task, episode: EpisodeState, pose: _Pose) -> None:
    tally = episode.tally[0]
    x, y, z, _, _, yaw = pose
    tally.path += np.hypot(x - tally.x, y - tally.y)
    tally.ahead += np.cos(yaw) * (x - tally.x) + np.sin(yaw) * (y - tally.y)
    tally.height_sum += z
    if not task.constants[0].planar:
        tally.turned += wrapped(yaw - tally.yaw)
    tally.x, tally.y, tally.yaw = x, y, yaw


@compiled()
def _torque(task: Task, row: np.ndarray, j: int) -> float:
    """What a joint's motor gives [N m or N]; 0 of one that is gone."""
    joint = task.joints[j]
    if joint.ctrl == ABSENT:
        return 0.0
    velocity = row[joint.qvel] if joint.qvel != ABSENT else 0.0
    return float(_motor_torque(joint, row[joint.told], row[joint.qpos], velocity))


@compiled()
def record(task: Task, episode: EpisodeState, trace: np.ndarray) -> None:
    """Write what the sensors read after a control step behind the action, see `TraceColumns`."""
    constants, row = task.constants[0], episode.row
    joints, feet = task.joints.size, episode.touching.size
    at = _trace_columns(joints, feet)
    for j in range(joints):
        trace[at.angle + j] = episode.readings[8 + 2 * j]
        trace[at.torque + j] = _torque(task, row, j)
    pose, turning = _pose(task, row), constants.root_qvel
    for i in range(3):
        trace[at.attitude + i] = pose[3 + i]
        trace[at.rate + i] = 0.0 if constants.planar else row[turning + 3 + i]
    if constants.planar:
        trace[at.rate + 1] = row[turning + 2]
    for foot in range(feet):
        trace[at.contact + foot] = episode.readings[8 + 2 * joints + foot]
    trace[at.position], trace[at.position + 1] = pose[0], pose[1]


@compiled()
def _alive(task: Task, episode: EpisodeState, pose: _Pose) -> bool:
    constants = task.constants[0]
    alive = pose[2] > constants.min_height and abs(pose[4]) < constants.max_pitch
    if constants.min_upright >= -1.0:
        alive &= np.cos(pose[3]) * np.cos(pose[4]) > constants.min_upright
    for foot in range(episode.touching.size):
        alive &= not (episode.touching[foot] and task.untouched[foot])
    return alive


@compiled()
def _is_up(task: Task, episode: EpisodeState, pose: _Pose) -> bool:
    constants, height = task.constants[0], episode.tally[0].initial_height
    leaning = np.cos(pose[3]) * np.cos(pose[4])
    return bool(leaning > constants.least_upright and pose[2] > constants.least_share * height)


@compiled()
def _target_distance(position: tuple[float, float]) -> float:
    return float(np.hypot(TARGET_X - position[0], position[1]))


@compiled()
def _position(task: Task, row: np.ndarray) -> tuple[float, float]:
    """Where the robot is, x and y [m]: the mean of the points that its description names, or the torso."""
    constants = task.constants[0]
    root = constants.root_qpos
    if task.parts.size == 0:
        x = constants.origin_x + row[root + constants.along]
        return x, 0.0 if constants.planar else row[root + 1]
    x, y = 0.0, 0.0
    for i in range(task.parts.size):
        part = task.parts[i]
        at, turn = part.xpos, part.xmat
        x += part.share * (row[at] + row[turn] * part.x + row[turn + 1] * part.y + row[turn + 2] * part.z)
        y += part.share * (
            row[at + 1] + row[turn + 3] * part.x + row[turn + 4] * part.y + row[turn + 5] * part.z
        )
    return x, y


@compiled()
def _pose(task: Task, row: np.ndarray) -> _Pose:
    """The torso's x, y, height above the ground [m] and its roll, pitch and yaw about fixed axes [rad]."""
    constants = task.constants[0]
    root = constants.root_qpos
    if constants.planar:  # beyond the vertical it looks back
        angle = row[root + 2]
        turned = np.pi if np.cos(angle) < 0 else 0.0
        x = constants.origin_x + row[root + constants.along]
        z = constants.origin_z + row[root + constants.up]
        return x, 0.0, z - _ground_height(task, x, 0.0), turned, np.arcsin(np.sin(angle)), turned
    qw, qx, qy, qz = row[root + 3], row[root + 4], row[root + 5], row[root + 6]
    roll = np.arctan2(2 * (qw * qx + qy * qz), 1 - 2 * (qx * qx + qy * qy))
    pitch = np.arcsin(min(max(2 * (qw * qy - qz * qx), -1.0), 1.0))
    yaw = np.arctan2(2 * (qw * qz + qx * qy), 1 - 2 * (qy * qy + qz * qz))
    x, y = row[root], row[root + 1]
    return x, y, row[root + 2] - _ground_height(task, x, y), roll, pitch, yaw


@compiled()
def _ground_height(task: Task, x: float, y: float) -> float:
    """Height of the ground at a place [m], between the points of a height field as at its edge beyond it."""
    ground, constants = task.ground, task.constants[0]
    if ground.size == 0:
        return float(constants.floor)
    rows, columns = ground.shape
    across = min(max((y - constants.ground_y) / constants.ground_dy, 0.0), rows - 1.0)
    along = min(max((x - constants.ground_x) / constants.ground_dx, 0.0), columns - 1.0)
    i, j = min(int(across), rows - 2), min(int(along), columns - 2)
    v, u = across - i, along - j
    near = (1 - u) * ground[i, j] + u * ground[i, j + 1]
    far = (1 - u) * ground[i + 1, j] + u * ground[i + 1, j + 1]
    return float((1 - v) * near + v * far)
