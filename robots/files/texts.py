"""Texts of files that nobody vouches for: `read_text`, `parse_yaml` and `parse_json`, each with limits.

What they hold can be shown and computed with: no control characters, no numbers beyond `LARGEST`.
"""

import json
import math
import re
from pathlib import Path

import yaml

from robots.errors import InvalidFileError, InvalidValueError, naming, one_line, shown
from robots.files.atomic import check_regular, explain_errors

MOST = 50_000_000  # bytes of a text file; a robot's with its meshes is the largest
LARGEST = 1e30  # magnitude of a number in files and results; cubes of some then are numbers, too
_MOST_YAML = 200_000  # characters, which take a second to parse
_MOST_NODES = 100_000  # values in a YAML, counting what aliases repeat
# control characters but tabs and ends of lines; and halves of surrogate pairs, which UTF-8 cannot hold
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def check_values(tree: object, *, finite: bool = False) -> None:
    """Refuse texts that cannot be shown, numbers too large to compute with, and sets, however nested.

    With `finite`, refuse infinities and nan, too.
    """
    waiting = [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str) and (found := _UNPRINTABLE.search(value)):
            raise InvalidValueError(f"the character {found[0]!r} cannot be part of a text")
        if isinstance(value, int | float) and not abs(value) <= LARGEST and (finite or abs(value) < math.inf):
            raise InvalidValueError(f"numbers can be from {-LARGEST:g} to {LARGEST:g}, not {shown(value)}")
        if isinstance(value, set):  # YAML's; records would take it for a list in any order
            raise InvalidValueError("a set has no order: write a list instead")
        if isinstance(value, list | tuple | dict):
            waiting += [*value, *value.values()] if isinstance(value, dict) else value


def parse_number(text: str) -> float:
    """The number that a text writes in the digits 0 to 9; raises ValueError where it writes none."""
    if not text.isascii() or "_" in text:
        raise ValueError(f"{shown(text)} is not a number")
    return float(text)


def read_text(path: Path, *, most: int = MOST) -> str:
    """Read a text file of at most so many bytes."""
    try:
        text = read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidFileError(f"{path} is not a text file") from error
    with naming(path):
        check_values(text)
    return text


def read_bytes(path: Path, most: int) -> bytes:
    """Read a file of a limited size [bytes]."""
    with explain_errors(f"cannot read {path}"):
        check_regular(path)
        with path.open("rb") as file:
            content = file.read(most + 1)
        if len(content) > most:
            raise OSError(f"it is larger than {most / 1e6:.0f} MB")
        return content


def parse_yaml(text: str) -> object:
    """Parse a YAML without any tags but the standard ones."""
    if len(text) > _MOST_YAML:
        raise InvalidValueError(f"a YAML can have {_MOST_YAML:,} characters, not {len(text):,}")
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is not None and _count(node, {}) > _MOST_NODES:
            raise ValueError(f"its aliases repeat more than {_MOST_NODES:,} values")
        tree = None if node is None else loader.construct_document(node)
    except Exception as error:  # 2020-99-99, !!int x and others make PyYAML raise what it does not declare
        raise InvalidValueError(f"it is not valid YAML: {one_line(error) or type(error).__name__}") from error
    check_values(tree)
    return tree


def _count(node: yaml.Node, known: dict[int, float]) -> float:
    """Number of values in a node, counting those that aliases repeat; infinite if it contains itself."""
    if id(node) not in known:
        known[id(node)] = math.inf
        names = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            name = (key.tag, key.value) if isinstance(key, yaml.ScalarNode) else key
            if name in names:
                line = key.start_mark.line + 1
                raise ValueError(f"the key {shown(key.value)} is there twice, see line {line}")
            names.add(name)
        parts = node.value if isinstance(node, yaml.CollectionNode) else []
        flat = [one for part in parts for one in (part if isinstance(part, tuple) else (part,))]
        known[id(node)] = 1 + sum(_count(one, known) for one in flat)
    return known[id(node)]


def parse_json(text: str, *, finite: bool = False) -> object:
    """Parse a JSON, of which `finite` numbers may be demanded."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidValueError(f"it is not valid JSON: {one_line(error)}") from error
    check_values(tree, finite=finite)
    return tree


def read_json(path: Path) -> object:
    """Read a file that holds a JSON."""
    with naming(path):
        return parse_json(read_text(path))
