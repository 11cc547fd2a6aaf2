"""Words for what a damage changes: damages that share one contradict each other."""

from collections.abc import Iterable


def motors(joints: Iterable[str]) -> frozenset[str]:
    """The motors of joints."""
    return frozenset(f"the motor of {joint}" for joint in joints)


def limbs(joints: Iterable[str]) -> frozenset[str]:
    """What joints move, up to the next joint each."""
    return frozenset(f"the limb that {joint} moves" for joint in joints)


def angle_sensors(joints: Iterable[str]) -> frozenset[str]:
    """What senses the positions and speeds of joints."""
    return frozenset(f"the sensor of joint {joint}" for joint in joints)


def soles(feet: Iterable[str]) -> frozenset[str]:
    """The soles of feet."""
    return frozenset(f"the sole of foot {foot}" for foot in feet)


def contact_sensors(feet: Iterable[str]) -> frozenset[str]:
    """What senses whether feet touch the floor."""
    return frozenset(f"the sensor of foot {foot}" for foot in feet)
