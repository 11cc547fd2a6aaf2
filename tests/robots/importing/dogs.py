"""A small robot in files: a scene that includes it, a mesh, a picture, a keyframe, and nameless elements."""

from pathlib import Path

import numpy as np
from PIL import Image

LEGS = {"front_left": (1, 1), "front_right": (1, -1), "back_left": (-1, 1), "back_right": (-1, -1)}

SCENE = """<mujoco model="Robo Dog scene">
  <include file="dog.xml"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
  </worldbody>
</mujoco>
"""

_DOG = """<mujoco model="Robo Dog">
  <compiler angle="degree" autolimits="true" meshdir="assets" texturedir="assets"/>
  <default>
    <joint range="-60 60" damping="0.5" armature="0.01"/>
    <position kp="30" kv="1" inheritrange="1" forcerange="-20 20"/>
  </default>
  <asset>
    <mesh name="trunk" file="trunk.obj"/>
    <texture name="coat" type="2d" file="coat.png"/>
    <material name="coat" texture="coat"/>
  </asset>
  <worldbody>
    <body name="trunk" pos="0 0 0.4">
      <freejoint/>
      <inertial pos="0 0 0" mass="4" diaginertia="0.1 0.1 0.1"/>
      <geom type="mesh" mesh="trunk" material="coat" contype="0" conaffinity="0"/>
      <geom type="box" size="0.2 0.1 0.05"/>
{legs}
    </body>
  </worldbody>
  <actuator>
{actuators}
  </actuator>
  <keyframe>
    <key name="home" qpos="0 0 0.365 1 0 0 0 {pose}"/>
  </keyframe>
</mujoco>
"""

_LEG = """      <body name="{leg}_thigh" pos="{x} {y} 0">
        <joint name="{leg}_hip" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" contype="0" conaffinity="0" mass="0.3"/>
        <body name="{leg}_shin" pos="0 0 -0.2">
          <joint name="{leg}_knee" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.17" size="0.015" mass="0.2"/>
          <geom type="sphere" pos="0 0 -0.18" size="0.02" mass="0.05"/>
        </body>
      </body>
"""


def dog(actuator: str = '    <position joint="{}"/>\n') -> str:
    """The MJCF of the dog, with an actuator for each joint."""
    joints = [f"{leg}_{joint}" for leg in LEGS for joint in ("hip", "knee")]
    return _DOG.format(
        legs="".join(_LEG.format(leg=leg, x=0.18 * x, y=0.1 * y) for leg, (x, y) in LEGS.items()),
        actuators="".join(actuator.format(joint) for joint in joints),
        pose="0.5 -0.9 " * 4,
    )


def write_dog(folder: Path, xml: str | None = None) -> Path:
    """Write the dog and a scene with it; returns the scene's path."""
    assets = folder / "assets"
    assets.mkdir()
    (folder / "scene.xml").write_text(SCENE)
    (folder / "dog.xml").write_text(dog() if xml is None else xml)
    (assets / "trunk.obj").write_text(_ball(60, 30))
    # red above, blue below
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[:32, :, 0], picture[32:, :, 2] = 200, 200
    Image.fromarray(picture).save(assets / "coat.png")
    return folder / "scene.xml"


def _ball(columns: int, rows: int) -> str:
    """A flattened ball of 2 · columns · rows triangles as OBJ; its picture is wrapped around it, upright."""
    lines, faces = [], []
    for row in range(rows + 1):
        for column in range(columns + 1):
            up, around = np.pi * row / rows, 2 * np.pi * column / columns
            x, y, z = np.sin(up) * np.cos(around), np.sin(up) * np.sin(around), np.cos(up)
            lines.append(f"v {0.2 * x:.6f} {0.1 * y:.6f} {0.06 * z:.6f}")
            lines.append(f"vt {column / columns:.6f} {1 - row / rows:.6f}")
    for row in range(rows):
        for column in range(columns):
            a = row * (columns + 1) + column + 1
            b, c, d = a + 1, a + columns + 1, a + columns + 2
            faces += [f"f {a}/{a} {c}/{c} {b}/{b}", f"f {b}/{b} {c}/{c} {d}/{d}"]
    return "\n".join([*lines, *faces, ""])
