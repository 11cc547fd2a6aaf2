"""`Command`: the speed and turn that a robot is told, drawn for every episode from ranges."""

from robots.errors import InvalidValueError
from robots.files.records import Finite, Range, Record
from robots.files.texts import parse_number


class Command(Record):
    """What a robot is told to do: each episode draws a speed and a turn from these ranges by its seed.

    Attributes:
        speed: forward, along the torso's own heading [m/s].
        turn: rate of turning to the left [rad/s].
    """

    speed: Range[Finite]
    turn: Range[Finite]

    @property
    def words(self) -> str:
        """The ranges."""
        (slow, fast), (right, left) = self.speed, self.turn
        return f"speed {slow:g} to {fast:g} m/s, turn {right:g} to {left:g} rad/s, drawn for every episode"

    def narrowed(self, speed: float, turn: float) -> "Command":
        """The command that is always this one."""
        for name, value, (low, high), unit in (
            ("speed", speed, self.speed, "m/s"),
            ("turn", turn, self.turn, "rad/s"),
        ):
            if not low <= value <= high:
                raise InvalidValueError(
                    f"the command's {name} must be from {low:g} to {high:g} {unit}, as in training, "
                    f"not {value:g}"
                )
        return Command(speed=(speed, speed), turn=(turn, turn))


def parse_command(text: str) -> tuple[float, float]:
    """Read a speed [m/s] and a turn [rad/s] as given on a command line, such as `0.4,-0.2`."""
    try:
        speed, turn = (parse_number(part) for part in text.split(","))
    except (ValueError, InvalidValueError):
        raise InvalidValueError(
            f"a command is a speed in m/s and a turn to the left in rad/s, such as 0.4,-0.2, not {text!r}"
        ) from None
    return speed, turn
