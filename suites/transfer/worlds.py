"""`TransferWorld`: where gaits walk that were trained elsewhere: other models, motors, physics or ground."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from adapt.damage.edits import find_motors, joint_ids
from adapt.damage.parts import RobotParts
from robots.description import Randomization
from robots.randomization import GAP, randomised
from robots.robot import Edit, Faults, Modification, Patch, Robot
from robots.task.terrain import Ground, clearance, lay

ROBOTS = 32  # of a world whose robots differ from each other
WIDE = Randomization(mass=(0.7, 1.3), friction=(0.55, 1.45), strength=(0.775, 1.225), delay=(1, 2))
_LAG = 0.02  # [s] time constant of actuators
_SPARE = 2.0  # speed at which a motor gives no torque, in units of the greatest that gaits use
_ENCODER = 2 * np.pi / 1024  # [rad] of 10 bits
_HEIGHT, _BUMP = 0.01, 0.2  # of the ground [m]: from its lowest to its highest point, and between two bumps
_MARGIN = 3.0  # [m] of ground beyond where gaits come


@dataclass(frozen=True)
class Use:
    """What gaits do on their own robot, by which some worlds are made."""

    robot: Robot  # their own
    distance: float  # the greatest that they walk [m]
    speed: float  # the greatest of their joints, but for a hundredth of the control steps [rad/s]


def lagging(use: Use) -> Modification:
    """Actuators with a first-order lag."""
    return Modification(f"actuators that lag {1000 * _LAG:g} ms", _filter_commands(use.robot))


def other_physics(use: Use) -> Modification:
    """All that other simulators and real robots may have: physics, motors, sensors and ground."""
    reach, clear, floor = use.distance + _MARGIN, clearance(use.robot.spec()), use.robot.description.floor
    length = max(_BUMP, reach / 100)  # or else there would be too many bumps
    ground = Ground(kind="rough", height=_HEIGHT, length=length, size=(2 * reach, reach))
    filter_commands, brake = _filter_commands(use.robot), _brake(use)

    def edit(spec: mujoco.MjSpec) -> None:
        filter_commands(spec)
        lay(spec, floor, ground, clear)

    def exchange(model: mujoco.MjModel) -> None:
        model.opt.timestep /= 2  # of twice as many substeps, see `TransferWorld.robots`
        model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
        model.opt.solver = mujoco.mjtSolver.mjSOL_CG
        model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        _soften(model)
        brake(model)

    return Modification("another simulator", edit, _coarse(use.robot), exchange)


def _filter_commands(robot: Robot) -> Edit:
    parts = RobotParts(robot)

    def edit(spec: mujoco.MjSpec) -> None:
        for motor in find_motors(spec, robot.description.joints):
            motor.dyntype = mujoco.mjtDyn.mjDYN_FILTEREXACT
            motor.dynprm[0] = _LAG
            # the filter starts from 0, which is to be where a servo keeps the first pose
            slope = motor.biasprm[1] * motor.gear[0]
            rest = -(slope * parts.rest(motor.target) + motor.biasprm[0]) / motor.gainprm[0] if slope else 0.0
            motor.ctrlrange = np.asarray(motor.ctrlrange) - rest
            motor.biasprm[0] += motor.gainprm[0] * rest

    return edit


def _soften(model: mujoco.MjModel) -> None:
    """Make contacts twice as slow and less stiff."""
    for solref, solimp in ((model.geom_solref, model.geom_solimp), (model.pair_solref, model.pair_solimp)):
        timed = solref[:, 0] > 0  # others are given by stiffness and damping
        solref[timed, 0] *= 2
        solref[~timed] /= (4, 2)
        solimp[:, :2] *= (0.9, 0.95)
        solimp[:, 2] *= 5


def _brake(use: Use) -> Patch:
    """Have the torque of motors fall with speed."""
    parts, limit = RobotParts(use.robot), _SPARE * use.speed
    torques = {joint: parts.torque(joint) for joint in use.robot.description.joints}

    def patch(model: mujoco.MjModel) -> None:
        for joint, torque in torques.items():
            model.dof_damping[model.jnt_dofadr[joint_ids(model, [joint])]] += torque / limit

    return patch


def _coarse(robot: Robot) -> Faults:
    """Encoders of 10 bits, from which speeds follow, too."""
    steps = {"position": _ENCODER, "speed": _ENCODER / robot.control_step}
    gains = {channel.name: channel.gain for channel in robot.channels}
    return Faults(
        rounded={
            name: step * gains[name]
            for joint in robot.description.joints
            for kind, step in steps.items()
            for name in [f"{joint} {kind}"]
        }
    )


@dataclass(frozen=True)
class TransferWorld:
    """Where gaits walk."""

    title: str  # in words
    change: Callable[[Use], Modification] | None = None  # of its only robot
    finer: int = 1  # how many times as many substeps that has
    randomization: Randomization | None = None  # of which its robots are drawn, where they differ
    elsewhere: bool = False  # whether it is PyBullet's, which is no model of ours
    recovers: bool = True  # whether robots are damaged there, too

    def robots(self, use: Use, *, first: int = 0, count: int = ROBOTS) -> list[Robot]:
        """Some of its robots, by numbers from `first` on; the only one where they are all the same."""
        if self.randomization:
            return [randomised(use.robot, first + number, self.randomization) for number in range(count)]
        assert self.change is not None
        robot = use.robot.with_modifications(self.change(use))
        substeps = self.finer * robot.description.substeps
        return [replace(robot, description=robot.description.model_copy(update={"substeps": substeps}))]


WORLDS = {
    "gap": TransferWorld(f"robots never trained on: {GAP.ranges}", randomization=GAP),
    "wide": TransferWorld(f"ranges 1.5 times as wide: {WIDE.ranges}", randomization=WIDE),
    "lag": TransferWorld(f"actuators with a first-order lag of {1000 * _LAG:g} ms", lagging, recovers=False),
    "together": TransferWorld(
        "half the timestep, Euler's integrator, conjugate gradients, elliptic friction cones, contacts with "
        f"twice the time constant and five times the width, a lag of {1000 * _LAG:g} ms, motors whose torque "
        f"falls to 0 at {_SPARE:g} times the speed that the gaits use, encoders of 10 bits, ground uneven by "
        f"{100 * _HEIGHT:g} cm",
        other_physics,
        finer=2,
    ),
    "pybullet": TransferWorld("PyBullet's own environment of the robot", elsewhere=True),
}
