"""`TransferWorld`: where gaits walk that were trained elsewhere: other physics, motors, sensors or ground."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from adapt.damage.edits import find_motors, joint_ids
from adapt.damage.parts import RobotParts
from robots.description import Randomization
from robots.randomization import GAP, randomised
from robots.robot import Faults, Modification, Robot
from robots.task.terrain import Ground, clearance, lay
from suites.suite import choose

ROBOTS = 32  # of a world whose robots differ from each other
WIDE = Randomization(mass=(0.7, 1.3), friction=(0.55, 1.45), strength=(0.775, 1.225), delay=(1, 2))
_LAG = 0.02  # [s] time constant of actuators
_SPARE = 2.0  # speed at which a motor gives no torque, in units of the greatest that gaits use
_ENCODER = 2 * np.pi / 1024  # [rad] of 10 bits
_HEIGHT, _BUMP = 0.01, 0.2  # of the ground [m]: from its lowest to its highest point, and between two bumps
_MARGIN = 3.0  # [m] of ground beyond where gaits come


@dataclass(frozen=True)
class Use:
    """What gaits do on their own robot, by which some worlds are made.

    Attributes:
        robot: their own.
        distance: the greatest that they walk [m].
        speed: the greatest of their joints, but for a hundredth of the control steps [rad/s].
    """

    robot: Robot
    distance: float
    speed: float


def _timestep(use: Use) -> Modification:
    def halve(model: mujoco.MjModel) -> None:
        model.opt.timestep /= 2  # of twice as many substeps, see `TransferWorld.robots`

    return Modification("half the timestep", patch=halve)


def _solver(use: Use) -> Modification:
    def exchange(model: mujoco.MjModel) -> None:
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        model.opt.solver = mujoco.mjtSolver.mjSOL_CG

    return Modification("Euler's integrator and conjugate gradients", patch=exchange)


def _elliptic(use: Use) -> Modification:
    def exchange(model: mujoco.MjModel) -> None:
        model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC

    return Modification("elliptic friction cones", patch=exchange)


def _soft(use: Use) -> Modification:
    def soften(model: mujoco.MjModel) -> None:
        for solref, solimp in (
            (model.geom_solref, model.geom_solimp),
            (model.pair_solref, model.pair_solimp),
        ):
            timed = solref[:, 0] > 0  # others are given by stiffness and damping
            solref[timed, 0] *= 2
            solref[~timed] /= (4, 2)
            solimp[:, :2] *= (0.9, 0.95)
            solimp[:, 2] *= 5

    return Modification("contacts twice as slow and less stiff", patch=soften)


def _lag(use: Use) -> Modification:
    parts = RobotParts(use.robot)

    def filter_commands(spec: mujoco.MjSpec) -> None:
        for motor in find_motors(spec, use.robot.description.joints):
            motor.dyntype = mujoco.mjtDyn.mjDYN_FILTEREXACT
            motor.dynprm[0] = _LAG
            # the filter starts from 0, which is to be where a servo keeps the first pose
            slope = motor.biasprm[1] * motor.gear[0]
            rest = -(slope * parts.rest(motor.target) + motor.biasprm[0]) / motor.gainprm[0] if slope else 0.0
            motor.ctrlrange = np.asarray(motor.ctrlrange) - rest
            motor.biasprm[0] += motor.gainprm[0] * rest

    return Modification(f"actuators that lag {1000 * _LAG:g} ms", filter_commands)


def _torque_speed(use: Use) -> Modification:
    parts, limit = RobotParts(use.robot), _SPARE * use.speed
    torques = {joint: parts.torque(joint) for joint in use.robot.description.joints}

    def brake(model: mujoco.MjModel) -> None:
        for joint, torque in torques.items():
            model.dof_damping[model.jnt_dofadr[joint_ids(model, [joint])]] += torque / limit

    return Modification(f"motors whose torque falls to 0 at {limit:.3g} rad/s", patch=brake)


def _encoders(use: Use) -> Modification:
    steps = {"position": _ENCODER, "speed": _ENCODER / use.robot.control_step}
    gains = {channel.name: channel.gain for channel in use.robot.channels}
    rounded = {
        name: step * gains[name]
        for joint in use.robot.description.joints
        for kind, step in steps.items()
        for name in [f"{joint} {kind}"]
    }
    return Modification("encoders of 10 bits", faults=Faults(rounded=rounded))


def _ground(use: Use) -> Modification:
    reach, clear, floor = use.distance + _MARGIN, clearance(use.robot.spec()), use.robot.description.floor
    length = max(_BUMP, reach / 100)  # or else there would be too many of them
    ground = Ground(kind="rough", height=_HEIGHT, length=length, size=(2 * reach, reach))
    return Modification("uneven ground", lambda spec: lay(spec, floor, ground, clear))


_CHANGES: dict[str, Callable[[Use], Modification]] = {
    "timestep": _timestep,
    "solver": _solver,
    "elliptic": _elliptic,
    "soft": _soft,
    "lag": _lag,
    "torque-speed": _torque_speed,
    "encoders": _encoders,
    "ground": _ground,
}


@dataclass(frozen=True)
class TransferWorld:
    """Where gaits walk.

    Attributes:
        name: short.
        title: in words.
        changes: names of `_CHANGES` that its only robot has.
        randomization: of which its robots are drawn; None for one robot.
        elsewhere: whether it is PyBullet's, which is no model of ours.
        recovers: whether robots are damaged there, too.
    """

    name: str
    title: str
    changes: tuple[str, ...] = ()
    randomization: Randomization | None = None
    elsewhere: bool = False
    recovers: bool = False

    def robots(self, use: Use, *, first: int = 0, count: int = ROBOTS) -> list[Robot]:
        """Some of its robots, by numbers from `first` on; the only one where they are all the same."""
        if self.randomization:
            return [randomised(use.robot, first + number, self.randomization) for number in range(count)]
        robot = use.robot.with_modifications(*(_CHANGES[name](use) for name in self.changes))
        if "timestep" in self.changes:
            substeps = 2 * robot.description.substeps
            robot = replace(robot, description=robot.description.model_copy(update={"substeps": substeps}))
        return [robot]


WORLDS = (
    TransferWorld("gap", f"robots never trained on: {GAP.ranges}", randomization=GAP, recovers=True),
    TransferWorld("wide", f"ranges 1.5 times as wide: {WIDE.ranges}", randomization=WIDE, recovers=True),
    TransferWorld("timestep", "half the timestep", ("timestep",)),
    TransferWorld(
        "solver", "Euler's integrator, and conjugate gradients in place of Newton's method", ("solver",)
    ),
    TransferWorld("elliptic", "elliptic friction cones", ("elliptic",)),
    TransferWorld("soft", "softer contacts: twice the time constant, five times the width", ("soft",)),
    TransferWorld("lag", f"actuators with a first-order lag of {1000 * _LAG:g} ms", ("lag",)),
    TransferWorld(
        "torque-speed",
        f"motors whose torque falls with speed, to 0 at {_SPARE:g} times the speed that the gaits use",
        ("torque-speed",),
    ),
    TransferWorld("encoders", "encoders of 10 bits, from which speeds follow, too", ("encoders",)),
    TransferWorld("ground", f"ground uneven by {100 * _HEIGHT:g} cm", ("ground",)),
    TransferWorld("together", "all from timestep to ground together", tuple(_CHANGES), recovers=True),
    TransferWorld("pybullet", "PyBullet's own environment of the robot", elsewhere=True, recovers=True),
)


def find_worlds(names: Sequence[str] | None = None) -> tuple[TransferWorld, ...]:
    """The worlds of some names, in the order in which they are listed; all by default."""
    return WORLDS if names is None else choose("world", WORLDS, names)
