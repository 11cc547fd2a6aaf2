"""`NoisySensor`: sensors that read something about right."""

from dataclasses import dataclass

from adapt.damage.damage import Change, changes_of
from adapt.damage.defect import Defect, Scale, register
from adapt.damage.edits import find_soles, limb_geoms, mark
from adapt.damage.parts import RobotParts, Target
from robots.robot import Faults


@register("noisy-sensor")
@dataclass(frozen=True)
class NoisySensor(Defect):
    """Normal noise is added to what the controller sees of joints and feet; of a leg, of all there is in it.

    Only the controller is misled: the robot moves, and is judged, as it does.
    """

    title = "noise is added to what the joints' and feet's sensors read"
    family = "sensor"
    sorts = ("leg", "joint", "foot", "all")
    scale = Scale(
        "the noise's standard deviation, where 1 is half the joint's range, 10 rad/s or a contact",
        0.01,
        5.0,
        default=0.2,
    )

    def _change(self, parts: RobotParts, target: Target) -> Change:
        """See `Defect`."""
        joints, feet = parts.joints(target), parts.feet(target)
        names = [f"{joint} {what}" for joint in joints for what in ("position", "speed")]
        names += [f"{foot} contact" for foot in feet]
        return Change(
            changes_of("joint sensor", joints) | changes_of("contact sensor", feet),
            lambda spec: mark([*limb_geoms(spec, joints), *find_soles(spec, parts.robot, feet)]),
            Faults(noisy=dict.fromkeys(names, self.amount)),
        )
