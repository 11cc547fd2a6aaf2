"""A robot whose model does what the models of the package do not.

Nested frames, two joints in a body, servos, given inertias, bodies without names, sensors, pairs, excluded
contacts and a keyframe.
"""

from pathlib import Path

from robots.robot import robot_from_text

XML, YAML = (Path(__file__).with_name(f"odd.{suffix}").read_text() for suffix in ("xml", "yaml"))


def odd_robot(*, more: str = ""):
    """The robot, with more elements in its MJCF."""
    return robot_from_text(XML.replace("</mujoco>", f"{more}</mujoco>"), YAML, origin="odd")
