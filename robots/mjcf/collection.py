"""`collect` reads an MJCF together with the files that it refers to, so that MuJoCo need not open any.

Includes are replaced by what they hold, and the names of meshes, height fields and attached models by hashes
of their content. Textures in files and skins are left out: they are only there to be looked at.
"""

import hashlib
import os
import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from xml.etree.ElementTree import Element

from robots.errors import InvalidRobotError
from robots.files.atomic import file_exists
from robots.files.texts import read_bytes, read_text
from robots.mjcf.screening import MOST_SAMPLES

_MOST = 250_000_000  # bytes of all files
_MOST_PARTS = 400_000  # elements and attributes of all files
_DEEPEST = 500  # elements in each other; MuJoCo accepts no more
_MOST_MODELS = 20  # attached models in each other
_PNG = b"\x89PNG\r\n\x1a\n"
# MuJoCo accepts comments that are not XML, with "--" in them; one without an end goes on to that of the text
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


def collect(path: Path) -> tuple[str, dict[str, bytes], bool]:
    """Read an MJCF and the files that it refers to, which must be in its folder or below.

    Returns:
        The MJCF without includes; the content of the files that it refers to, by the names that it uses; and
        whether it referred to no other file: the text is then as it was.

    Raises:
        InvalidFileError: a file cannot be read, is too large or no regular file.
        InvalidRobotError: a file is no XML or lies outside the folder, a model contains itself, or there is
            too much of it.
    """
    collection, text = _Collection(path), read_text(path)
    tree = collection.read(path, text)
    if collection.alone:
        return text, {}, True
    return ElementTree.tostring(tree, "unicode"), collection.files, False


class _Model(NamedTuple):
    """A model that is being read: of the MJCF itself, or of one that is attached."""

    folder: Path
    included: set[Path]  # the files that are part of it
    users: list[tuple[Element, Path]]  # what refers to files, and the folder of the file where it stands


class _Collection:
    """The files that an MJCF refers to, as far as they were read."""

    def __init__(self, path: Path) -> None:
        self.files: dict[str, bytes] = {}
        self.alone = True
        self._origin, self._folder = path, _real(path.parent)
        self._attached = {_real(path): ""}  # names of models by path; "" while they are read
        self._bytes = self._parts = 0

    def read(self, path: Path, text: str, depth: int = 0) -> Element:
        """Parse a model, put in what it includes, and read what else it refers to."""
        if depth > _MOST_MODELS:
            raise self._refusal("its models are nested too deeply")
        tree, model = self._parse(path, text), _Model(path.parent, {_real(path)}, [])
        self._include(tree, path.parent, model)
        _drop_pictures(tree, model.users)
        meshes, strips = _take_folders(tree)
        for element, place in model.users:
            for key in _references(element):
                name = PurePosixPath(element.attrib[key].replace("\\", "/"))
                if element.tag == "model":
                    element.attrib[key] = self._attach(self._find(str(name), path.parent, place), depth)
                    continue
                found = self._find(name.name if strips else str(name), path.parent / meshes, place)
                element.attrib[key] = self._keep(self._bytes_of(found), found.suffix.lower())
                if element.tag in ("mesh", "hfield"):
                    element.attrib.setdefault("name", name.stem)  # as MuJoCo names it
        return tree

    def _include(self, element: Element, place: Path, model: _Model, depth: int = 0) -> None:
        """Put the content of includes in their places in an element that stands in a file of a folder."""
        if depth > _DEEPEST:
            raise self._refusal("its elements are nested too deeply")
        children = list[Element]()
        for child in element:
            self.alone = self.alone and not _references(child)
            if child.tag.lower() == "include":
                name = child.get("file", "")
                path = self._find(name, model.folder, place)
                if path in model.included:
                    raise self._refusal(f"it includes {name!r} twice, or in a circle")
                model.included.add(path)
                root = self._parse(path, self._bytes_of(path).decode(errors="replace"))
                self._include(root, path.parent, model, depth + 1)
                children += root
                continue
            children.append(child)
            self._include(child, place, model, depth + 1)
            if _references(child):
                model.users.append((child, place))
        element[:] = children

    def _parse(self, path: Path, text: str) -> Element:
        name = "it" if path == self._origin else repr(path.name)
        text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
        self._parts += text.count("<") + text.count("=")
        if self._parts > _MOST_PARTS:
            raise self._refusal(f"it has more than {_MOST_PARTS:,} elements and attributes")
        if "<!" in text:
            raise self._refusal(f"{name} declares a type of document or has sections of CDATA")
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError as error:
            raise self._refusal(f"{name} is not XML, see line {error.position[0]}") from error
        if root.tag.lower() == "robot":
            raise InvalidRobotError(f"{path} is a URDF, but only MJCF can be read")
        return root

    def _find(self, name: str, *folders: Path) -> Path:
        """The file of a name, in the first of some folders that has it."""
        for folder in folders:
            path = _real(folder / name.replace("\\", "/"))
            if not path.is_relative_to(self._folder):
                raise InvalidRobotError(
                    f"{self._origin}: the MJCF refers to {name!r}, which is outside its folder: "
                    "copy the file into it"
                )
            if file_exists(path):
                return path
        raise self._refusal(f"it refers to {str(folders[0] / name)!r}, which cannot be opened")

    def _attach(self, path: Path, depth: int) -> str:
        """Read a model that is attached; returns the name under which it is kept."""
        if path not in self._attached:
            self._attached[path] = ""
            tree = self.read(path, self._bytes_of(path).decode(errors="replace"), depth + 1)
            self._attached[path] = self._keep(ElementTree.tostring(tree), ".xml")
        if not self._attached[path]:
            raise self._refusal(f"it attaches {path.name!r} to itself")
        return self._attached[path]

    def _keep(self, content: bytes, suffix: str) -> str:
        """Keep the content of a file; returns its name."""
        # MuJoCo reuses what it has compiled from a file of the same name, although the content differs
        name = hashlib.blake2b(content, digest_size=16).hexdigest() + suffix
        self.files[name] = content
        return name

    def _bytes_of(self, path: Path) -> bytes:
        content = read_bytes(path, _MOST)
        self._bytes += len(content)
        if self._bytes > _MOST:
            raise self._refusal(f"its files take more than {_MOST / 1e6:.0f} MB")
        if content.startswith(_PNG):  # a few bytes make a very large height field
            columns, rows = struct.unpack(">II", content[16:24].ljust(8, b"\0"))
            if columns * rows > MOST_SAMPLES:
                raise self._refusal(
                    f"{path.name!r} has {columns:,} x {rows:,} pixels; {MOST_SAMPLES:,} are possible"
                )
        return content

    def _refusal(self, reason: str) -> InvalidRobotError:
        return InvalidRobotError(f"{self._origin}: the MJCF cannot be read: {reason}")


def _references(element: Element) -> list[str]:
    """The attributes of an element that name files."""
    return [key for key, value in element.items() if value and key.lower().startswith("file")]


def _drop_pictures(tree: Element, users: list[tuple[Element, Path]]) -> None:
    """Leave out skins and textures in files, and forget that they refer to files."""
    dropped = {element for element, _ in users if element.tag in ("texture", "skin")}
    names = {
        element.get("name") or PurePosixPath(element.get("file", "").replace("\\", "/")).stem
        for element in dropped
    }
    users[:] = [user for user in users if user[0] not in dropped]
    for parent in tree.iter():
        if parent.tag == "material" and parent.get("texture") in names:
            del parent.attrib["texture"]
        parent[:] = [
            child
            for child in parent
            if child not in dropped and not (child.tag == "layer" and child.get("texture") in names)
        ]


def _take_folders(tree: Element) -> tuple[str, bool]:
    """Remove the folders of assets; returns that of meshes, and whether folders in names do not count."""
    meshes, strips = "", False
    for compiler in tree.iter("compiler"):
        strips = compiler.get("strippath", "true" if strips else "false") == "true"
        folders = [compiler.attrib.pop(key, None) for key in ("texturedir", "assetdir", "meshdir")]
        meshes = next((folder for folder in reversed(folders[1:]) if folder is not None), meshes)
    return meshes.replace("\\", "/"), strips


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
