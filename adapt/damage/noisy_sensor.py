"""`NoisySensor`: sensors that read something about right."""

from dataclasses import dataclass

from adapt.damage import concerns
from adapt.damage.anatomy import Anatomy
from adapt.damage.defect import Defect, register
from adapt.damage.effect import Change
from adapt.damage.marks import mark
from adapt.damage.parts import find_soles, limb_geoms
from adapt.damage.strength import Strength
from adapt.damage.target import Target
from robots.faults import Faults


@register("noisy-sensor")
@dataclass(frozen=True)
class NoisySensor(Defect):
    """Normal noise is added to what the controller sees of joints and feet; of a leg, of all there is in it.

    Only the controller is misled: the robot moves, and is judged, as it does.
    """

    title = "noise is added to what the joints' and feet's sensors read"
    family = "sensor"
    sorts = ("leg", "joint", "foot", "all")
    scale = Strength(
        "the noise's standard deviation, where 1 is half the joint's range, 10 rad/s or a contact",
        0.01,
        5.0,
        default=0.2,
    )

    def _change(self, anatomy: Anatomy, target: Target) -> Change:
        """See `Defect`."""
        joints, feet = anatomy.joints(target), anatomy.feet(target)
        names = [f"{joint} {what}" for joint in joints for what in ("position", "speed")]
        names += [f"{foot} contact" for foot in feet]
        return Change(
            concerns.angle_sensors(joints) | concerns.contact_sensors(feet),
            lambda spec: mark([*limb_geoms(spec, joints), *find_soles(spec, anatomy.robot, feet)]),
            Faults(noisy=dict.fromkeys(names, float(self.strength or 0))),
        )
