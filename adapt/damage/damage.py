"""`Damage`: what everything that can be wrong with a robot promises."""

from abc import ABC, abstractmethod

from adapt.damage.anatomy import Anatomy
from adapt.damage.effect import Effect, check_compatible, effects_on
from robots.robot import Robot


class Damage(ABC):
    """What is wrong with a robot: nothing, one thing or several.

    Its text says it all, e.g. `front_left:lost+floor:friction@0.4`; `parse_damage` reads it back. Damages
    are equal when their texts are.
    """

    @abstractmethod
    def __str__(self) -> str:
        """The text."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """What it does, in a line."""

    @abstractmethod
    def effects(self, anatomy: Anatomy) -> tuple[Effect, ...]:
        """What it does to a robot, in the order in which it has to be done.

        Raises:
            UnknownNameError: the robot has no such part.
            InvalidValueError: the part is not of a sort that this happens to, or the strength not for it.
        """

    def apply(self, robot: Robot) -> Robot:
        """The robot with this damage; the one given stays as it is.

        Raises:
            UnknownNameError: the robot has no such part.
            InvalidValueError: see `effects`, or this contradicts itself or a damage that the robot has.
            InvalidRobotError: the damaged model does not compile.
        """
        effects = self.effects(Anatomy(robot))
        check_compatible([*effects_on(robot), *effects])
        for effect in effects:
            robot = robot.modified(effect.label, effect, effect.change.faults)
        return robot
