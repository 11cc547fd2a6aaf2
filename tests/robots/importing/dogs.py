"""A small robot in files: a scene that includes it, a mesh, a picture, a keyframe, and nameless elements."""

from pathlib import Path

import numpy as np
from PIL import Image

from robots.importing.draft import Draft, draft_robot

EXAMPLES = Path(__file__).parents[3] / "examples" / "robots"
MOTOR = '    <motor joint="{}" ctrlrange="-20 20"/>\n'
LEGS = {"front_left": (1, 1), "front_right": (1, -1), "back_left": (-1, 1), "back_right": (-1, -1)}

SCENE = """<mujoco model="Robo Dog scene">
  <include file="dog.xml"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
  </worldbody>
</mujoco>
"""

DOG = Path(__file__).with_name("dog.xml").read_text()


def dog(actuator: str = '    <position joint="{}"/>\n') -> str:
    """The MJCF of the dog, with an actuator for each joint."""
    before, after = DOG.split("  <actuator>\n")[0], DOG.split("  </actuator>")[1]
    actuators = "".join(actuator.format(f"{leg}_{joint}") for leg in LEGS for joint in ("hip", "knee"))
    return f"{before}  <actuator>\n{actuators}\n  </actuator>{after}"


def write_dog(folder: Path, xml: str | None = None) -> Path:
    """Write the dog and a scene with it; returns the scene's path."""
    assets = folder / "assets"
    assets.mkdir(parents=True)
    (folder / "scene.xml").write_text(SCENE)
    (folder / "dog.xml").write_text(dog() if xml is None else xml)
    (assets / "trunk.obj").write_text(_ball(60, 30))
    # red above, blue below
    picture = np.zeros((64, 64, 3), np.uint8)
    picture[:32, :, 0], picture[32:, :, 2] = 200, 200
    Image.fromarray(picture).save(assets / "coat.png")
    return folder / "scene.xml"


def draft_example(name: str, folder: Path, *changes: tuple[str, str]) -> Draft:
    """Draft a robot of the examples, whose MJCF is changed."""
    text = (EXAMPLES / f"{name}.xml").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (folder / f"{name}.xml").write_text(text)
    return draft_robot(folder / f"{name}.xml", overwrite=True)


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
