"""Mutations of files: of their bytes, of the trees that YAML, JSON and XML are, and of what HDF5 holds."""

import copy
import json
import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import yaml

from repertoire.storage.formats import Contents, write_group

Rng = np.random.Generator

_NESTED: Any = []
for _ in range(150):
    _NESTED = [_NESTED]
_VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 7, 255, 2**31, -(2**31), 2**63, 2**64, 10**30, -(10**30)),
    *(0.0, -0.0, 0.5, 1e-320, 1e-12, 1e9, 9e29, 1e31, 1e308, -1e308, math.nan, math.inf, -math.inf),
    *(10**400, "\x00", "\ud800", "a\x9b2J", "\udfff\ud800"),
    *(True, False, None, "", "x", "é\u202e\x1b[31m\x07", "a" * 5000, "nan", "../x", "a-b.c:d@e+f=g", "6,6"),
    *([], {}, [0], [[]], {"": 0}, [1] * 3000, ["x"] * 3000, {"kind": "none"}, _NESTED, [1e308, -1e308]),
)
_NUMBERS = (
    "nan",
    "inf",
    "-inf",
    "-1",
    "0",
    "1",
    "3",
    "1e308",
    "1e-308",
    "1e9",
    "2000000000",
    "-7",
    "1 2",
    "",
)
_WORDS = (*_NUMBERS, "a" * 500, "true", "mesh", "sphere", "position", "&#27;", "../x", "é")
_NUMERIC = (
    "timestep iterations size nrow pos mass gear kp armature stiffness nuser_geom njmax solref friction"
)
_ATTRIBUTES = dict.fromkeys(_NUMERIC.split(), _NUMBERS) | {
    "range": ("0 0", "1 -1", "-1 1", "nan nan"),
    "ctrlrange": ("0 0", "-inf inf", "2 1"),
    "count": ("0", "3", "100", "1000000"),
    "memory": ("1", "1M", "900G", "-5"),
    "file": (
        "x.stl",
        "/etc/passwd",
        "../outside.xml",
        "../outside.obj",
        "..\\outside.obj",
        "outside.obj",
        "part",
    ),
    "meshdir": ("..", "/", "../", "meshes", "robot/..", "x"),
    "assetdir": ("..", "..\\", ""),
    "strippath": ("true", "false"),
    "class": ("main", "none"),
    "type": ("plane", "mesh", "hfield"),
    "quat": ("0 0 0 0", "nan 1 1 1"),
}
_WORLD = (  # for bodies
    "<geom size='1e9'/>",
    "<geom name='plane' type='plane' size='0 0 1e-9'/>",
    "<body name='extra' pos='0 0 9'><freejoint/><geom size='1' type='sphere'/></body>",
    "<body><joint type='ball'/><geom size='.1' type='sphere'/></body>",
    "<joint type='slide' axis='0 0 1'/>",
    "<replicate count='50' offset='1 0 0'><geom size='1' type='sphere'/></replicate>",
    "<replicate count='3' offset='0 0 1'><body><freejoint/><geom size='1' type='sphere'/></body></replicate>",
    "<flexcomp name='f' type='grid' count='5 5 5' spacing='1 1 1' radius='.1' dim='3'/>",
    "<light/>",
    "<camera name='c'/>",
    "<site name='s'/>",
)
_ROOT = (
    "<asset><hfield name='hills' nrow='9000' ncol='9000' size='1 1 1 1'/></asset>",
    "<asset><texture name='sky' builtin='flat' width='20000' height='20000'/></asset>",
    "<asset><mesh name='tetra' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>",
    "<asset><model name='none'/></asset>",
    "<custom><numeric name='many' size='499' data='1'/></custom>",
    "<size njmax='1' nconmax='1'/>",
    "<size memory='100K'/>",
    "<option timestep='0.05' integrator='RK4'/>",
    "<option solver='PGS' cone='elliptic' jacobian='sparse'/>",
    "<option integrator='implicit' iterations='1'/>",
    "<option><flag contact='disable' gravity='disable'/></option>",
    "<option><flag energy='enable' sensornoise='enable' island='enable'/></option>",
    "<compiler balanceinertia='true' boundmass='1' settotalmass='1e9'/>",
    "<compiler discardvisual='true' fusestatic='true'/>",
    "<compiler angle='degree' autolimits='false'/>",
    "<keyframe><key name='k'/></keyframe>",
    "<contact><exclude body1='torso' body2='world'/></contact>",
    "<equality><weld body1='torso' body2='world'/></equality>",
    "<sensor><framepos objtype='body' objname='torso'/></sensor>",
    "<include file='x.xml'/>",
    "<include file='../outside.xml'/>",
    "<compiler meshdir='..'/>",
    "<asset><mesh file='../outside.obj'/></asset>",
    """<asset><mesh name="file='" file="../outside.obj"/></asset>""",
    "<asset><hfield name='png' file='../outside.xml' size='1 1 1 1'/></asset>",
    "<asset><model name='outside' file='../outside.xml'/></asset>",
    "<extension><plugin plugin='mujoco.pid'/></extension>",
    "<default><geom density='1e9' friction='0 0 0'/></default>",
)
_FIELDS = (
    "",
    "nan",
    "-inf",
    "1e39",
    "1e300",
    "-1e309",
    "0",
    "1_0",
    "0x1",
    "x",
    '"',
    '"a,b"',
    "cell 0,0",
    "\0",
    "٣",
)
_PATHS = {"file", "meshdir", "assetdir"}
_PART = re.compile(r"""=("[^"]*"|'[^']*')""")  # the value of an attribute
_ODD = (
    "<!DOCTYPE mujoco [<!ENTITY up '..'>]>",
    "<!-- -- <x y='-->",
    "<?xml version='1.0' encoding='utf-16'?>",
    "<![CDATA[x]]>",
    "\ufeff",
)
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def pick(rng: Rng, options: Any) -> Any:
    """One of some options, as it is."""
    return options[int(rng.integers(len(options)))]


def mutate_bytes(data: bytes, rng: Rng) -> bytes:
    """Change, insert, remove, cut or repeat some bytes."""
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at = int(rng.integers(len(changed) + 1))
        to = min(len(changed), at + int(rng.integers(1, 20)))
        kind = int(rng.integers(6))
        if kind == 0:
            changed[at:to] = rng.bytes(to - at)
        elif kind == 1:
            changed[at:at] = rng.bytes(int(rng.integers(1, 20)))
        elif kind == 2:
            del changed[at:to]
        elif kind == 3:
            del changed[at:]
        elif kind == 4:
            changed[at:at] = changed[at:to] * int(rng.integers(1, 100))
        elif at < len(changed):
            changed[at] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def mutate_tree(tree: Any, rng: Rng) -> Any:
    """Change some places of what a YAML or JSON holds: values, keys, and how it is nested."""
    tree = [copy.deepcopy(tree)]  # so that the whole can be changed, too
    for _ in range(pick(rng, (1, 1, 2, 3))):
        places = _places(tree)
        parent, key = pick(rng, places)
        value, kind = parent[key], int(rng.integers(7))
        if kind == 0 and isinstance(parent, dict):
            del parent[key]
        elif kind == 1 and isinstance(parent, dict):
            parent[pick(rng, ("", "x", "kind", 1, None, "\x1b[2J"))] = parent.pop(key)
        elif kind == 2 and isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(OverflowError):  # of an integer that no float can hold
                parent[key] = type(value)(value * pick(rng, (-1, 0, 0.5, 1.5, 2, 10, 10**6)))
        elif kind == 3 and isinstance(value, str):
            parent[key] = _mutate_words(value, rng)
        elif kind == 4:
            other, place = pick(rng, places)
            parent[key] = copy.deepcopy(other[place]) if place in other or isinstance(other, list) else None
        elif kind == 5 and isinstance(value, list):
            value *= int(rng.integers(0, 4))
        else:
            parent[key] = copy.deepcopy(pick(rng, _VALUES))
    return tree[0]


def _mutate_words(text: str, rng: Rng) -> str:
    """Change a number in a text, or add something to the text."""
    numbers = list(_NUMBER.finditer(text))
    if numbers and rng.random() < 0.7:
        found = pick(rng, numbers)
        return text[: found.start()] + pick(rng, _NUMBERS) + text[found.end() :]
    return text + pick(rng, ("x", "", "-1", "@1", ":lost", "+", "+floor:slope@9", "\n", "0", "\x00"))


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Every place of a tree as its list or mapping and the index or key in it."""
    found: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting:
        parent = waiting.pop()
        keys = range(len(parent)) if isinstance(parent, list) else list(parent)
        found += [(parent, key) for key in keys]
        waiting += [parent[key] for key in keys if isinstance(parent[key], list | dict)]
    return found


def mutate_json(text: str, rng: Rng) -> str:
    """Change a JSON, usually as the tree that it is."""
    try:
        tree = json.loads(text)
    except ValueError:  # it was changed before
        tree = None
    if tree is None or rng.random() < 0.1:
        return mutate_bytes(text.encode(), rng).decode(errors="replace")
    return json.dumps(mutate_tree(tree, rng))


def mutate_csv(text: str, rng: Rng) -> str:
    """Change fields, columns and rows of a table, or some of its bytes."""
    if rng.random() < 0.3:
        return mutate_bytes(text.encode(), rng).decode(errors="replace")
    rows = [line.split(",") for line in text.splitlines()]
    for _ in range(int(rng.integers(1, 4))):
        row = int(rng.integers(len(rows)))
        column = int(rng.integers(len(rows[row])))
        change = rng.integers(6)
        if change == 0:
            del rows[row][column]
        elif change == 1:
            rows.insert(row, list(pick(rng, rows)))
        elif change == 2:
            del rows[int(rng.integers(len(rows))) :]
            rows = rows or [[""]]
            break
        elif change == 3:
            value = pick(rng, _FIELDS)
            rows = [rows[0], *([*one[:column], value, *one[column + 1 :]] for one in rows[1:])]
        else:
            rows[row][column] = pick(rng, _FIELDS)
        rows = [one or [""] for one in rows]
    return "\n".join(",".join(row) for row in rows) + "\n"


def mutate_yaml(text: str, rng: Rng) -> str:
    """Change a YAML, usually as the tree that it is."""
    if rng.random() < 0.2:
        return mutate_bytes(text.encode(), rng).decode(errors="replace")
    try:
        changed = yaml.safe_dump(mutate_tree(yaml.safe_load(text), rng), sort_keys=False, allow_unicode=True)
    except (yaml.YAMLError, TypeError):  # of mixed keys
        return mutate_bytes(text.encode(), rng).decode(errors="replace")
    if rng.random() < 0.2:
        odd = pick(
            rng, ("2020-99-99", "!!int x", "0b_", "&a [*a]", "!!python/none", "*none", "[" * 3000, "1:9:9")
        )
        at = changed.find(": ", int(rng.integers(len(changed) + 1)))
        changed = changed[: at + 2] + odd + changed[at + 2 :]
    return changed


def mutate_xml(text: str, rng: Rng) -> str:
    """Change an MJCF: attributes, elements, and how they are nested."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:  # it was changed before
        root = None
    if root is None or rng.random() < 0.1:
        return mutate_bytes(text.encode(), rng).decode(errors="replace")
    for _ in range(pick(rng, (1, 1, 2, 3))):
        elements = list(root.iter())
        element, parent, kind = pick(rng, elements), pick(rng, elements), int(rng.integers(12))
        users = [element for element in elements if element.attrib.keys() & _PATHS]
        if users and rng.random() < 0.5:
            element = pick(rng, users)
            name = pick(rng, sorted(element.attrib.keys() & _PATHS))
            element.set(name, pick(rng, _ATTRIBUTES[name]))
        elif kind < 4 and element.attrib:
            name = pick(rng, list(element.attrib))
            others = [other.attrib[name] for other in elements if name in other.attrib]
            changed = _mutate_words(element.attrib[name], rng)
            element.set(name, pick(rng, (changed, changed, pick(rng, others), pick(rng, _WORDS))))
        elif kind == 4 and element.attrib:
            del element.attrib[pick(rng, list(element.attrib))]
        elif kind == 5 and len(parent):
            parent.remove(pick(rng, list(parent)))
        elif kind == 6 and len(parent):
            again = copy.deepcopy(pick(rng, list(parent)))
            for part in again.iter():
                part.attrib.pop("name", None)
            parent.extend([again] * pick(rng, (1, 2, 300)))
        elif kind == 7 and element not in parent.iter() and parent not in element.iter():
            parent.append(copy.deepcopy(element))
        elif kind == 8:
            name = pick(rng, list(_ATTRIBUTES))
            element.set(name, pick(rng, _ATTRIBUTES[name]))
        elif kind == 9:
            root.append(ElementTree.fromstring(pick(rng, _ROOT)))
        else:
            body = pick(
                rng, [element for element in elements if element.tag in ("body", "worldbody")] or [root]
            )
            body.insert(int(rng.integers(len(body) + 1)), ElementTree.fromstring(pick(rng, _WORLD)))
    return _disguise(ElementTree.tostring(root, encoding="unicode"), rng)


def _disguise(text: str, rng: Rng) -> str:
    """Write the same MJCF in another way, or put something odd before it."""
    kind = int(rng.integers(10))
    if kind == 0:
        return _PART.sub(lambda found: found[0].replace(".", "&#46;").replace("/", "&#x2F;"), text)
    return pick(rng, _ODD) + text if kind == 1 else text


def mutate_hdf5(path: Path, rng: Rng) -> None:
    """Change a file: its bytes, or its texts, arrays and links, after which its checksums are made anew."""
    if rng.random() < 0.3:
        path.write_bytes(mutate_bytes(path.read_bytes(), rng))
        return
    with h5py.File(path, "r") as file:
        attributes = dict(file.attrs)
        names: list[str] = []
        file.visit(names.append)
        found = {name: file[name][()] for name in names if isinstance(file[name], h5py.Dataset)}
    texts = {name: value.decode() for name, value in found.items() if isinstance(value, bytes)}
    arrays = {name: np.asarray(value) for name, value in found.items() if name not in texts}
    for _ in range(int(rng.integers(1, 3))):
        if texts and rng.random() < 0.5:
            name = pick(rng, list(texts))
            texts[name] = _mutate_text(name, texts[name], rng)
        elif arrays:
            _mutate_arrays(arrays, rng)
    with h5py.File(path, "w", libver="v108") as file:
        for name, value in attributes.items():
            file.attrs[name] = (
                value if rng.random() < 0.99 else pick(rng, (np.int64(3), np.bytes_(b"x"), 0.5))
            )
        inner = {name: array for name, array in arrays.items() if name.startswith("search/")}
        write_group(file, Contents({n: a for n, a in arrays.items() if n not in inner}, texts))
        if inner:
            own = {name.removeprefix("search/"): array for name, array in inner.items()}
            write_group(file.create_group("search"), Contents(own))
        if rng.random() < 0.05:
            pick(rng, _STORAGE)(file)


def _mutate_text(name: str, text: str, rng: Rng) -> str:
    """Change a text as what it is."""
    kinds: dict[str, Callable[[str, Rng], str]] = {"robot/mjcf": mutate_xml, "robot/yaml": mutate_yaml}
    if text[:1] in "{[" and rng.random() < 0.9:
        return mutate_json(text, rng)
    return kinds.get(name, lambda text, rng: mutate_bytes(text.encode(), rng).decode(errors="replace"))(
        text, rng
    )


def _mutate_arrays(arrays: dict[str, np.ndarray], rng: Rng) -> None:
    """Change one of some arrays: its values, shape, type or name, or whether it is there."""
    name, kind = pick(rng, list(arrays)), int(rng.integers(8))
    array = arrays[name].copy()
    if kind < 3 and array.size:
        value = pick(rng, [value for value in _VALUES if isinstance(value, int | float) and value != 10**400])
        where = rng.random(array.shape) < pick(rng, (0.01, 0.5, 1.0))
        with np.errstate(all="ignore"):
            array[where] = np.float64(value).astype(array.dtype)
        arrays[name] = array
    elif kind == 3:
        del arrays[name]
    elif kind == 4:
        arrays[pick(rng, ("history/x", "elites/x", "search/x", "x"))] = arrays.pop(name)
    elif kind == 5:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(pick(rng, ("<f4", "<f8", ">f8", "<i8", "<u1", "?", "<c16")))
    elif kind == 6:
        arrays[name] = np.resize(array, pick(rng, ((), (0,), (1,), (2, 3), (*array.shape, 1), (7,) * 4)))
    else:
        arrays[name] = array[: array.shape[0] // 2] if array.ndim else array[None]


def _claim(file: h5py.File) -> None:
    file.create_dataset("claim", (2**40,), "f8", chunks=(2**20,), compression="gzip")


def _nest(file: h5py.File) -> None:
    group: Any = file
    for _ in range(3000):
        group = group.create_group("nested")


def _crowd(file: h5py.File) -> None:
    for number in range(20_001):
        file.create_group(f"crowd/{number}")


def _enlarge_attribute(file: h5py.File) -> None:
    name = "checksum"
    file.attrs.pop(name, None)
    file.attrs.create(name, np.zeros(2**22), dtype="f8")


_STORAGE: tuple[Callable[[h5py.File], Any], ...] = (
    _claim,
    _nest,
    _crowd,
    _enlarge_attribute,
    lambda file: file.__setitem__("again", file["/"]),
    lambda file: file.__setitem__("link", h5py.SoftLink("/settings")),
    lambda file: file.__setitem__("link", h5py.ExternalLink("/etc/passwd", "/")),
    lambda file: file.create_dataset("words", data=["a", "b"], dtype=h5py.string_dtype()),
    lambda file: file.create_dataset("pairs", data=np.zeros(2, [("a", "i4"), ("b", "f8")])),
    lambda file: file.create_dataset("outside", (9,), "f8", external=[("/etc/passwd", 0, 72)]),
    lambda file: file.create_dataset(
        "shuffled", data=np.zeros(9), chunks=(9,), shuffle=True, compression="lzf"
    ),
    lambda file: file.create_dataset("nothing", dtype="f8", shape=None),
    lambda file: file.create_group("empty"),
)
