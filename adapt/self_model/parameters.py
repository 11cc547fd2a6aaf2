"""`Parameters`: what a calibration fits: the numbers of a `Draw`, within the ranges of a `Randomization`."""

import numpy as np
from scipy.special import ndtr

from robots.description import Draw, Randomization
from robots.errors import InvalidValueError
from robots.robot import Robot

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
    """The p numbers by which models of a robot differ, in the order of their names.

    Args:
        robot: whole.
        prior: what they are before anything is known: uniform in these ranges. The noise of observations
            counts where a controller sees them.

    Attributes:
        robot, prior: the same.
        names: such as `strength of left_front_coxa`, (p,).
        low, high: of each, (p,); equal where it is known.

    Raises:
        InvalidValueError: the prior is one of models that were drawn, or it leaves nothing to find out.
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
        rest = list(map(float, values))
        mass, rest = rest[: self._bodies], rest[self._bodies :]
        friction, rest = rest[0], rest[1:]
        strength, rest = rest[: self._motors], rest[self._motors :]
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
