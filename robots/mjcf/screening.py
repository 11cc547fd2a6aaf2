"""`screen`: a model that comes in a file is compiled by a process with limits before it is compiled here.

A few lines of MJCF can ask for any amount of memory or time. Models that this process accepted before, and
included models, are not checked again.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from robots.catalogue import MODELS
from robots.errors import InvalidRobotError
from robots.files.atomic import explain_errors
from robots.mjcf.compiling import library_path

_MEMORY = 2**31  # [bytes] that compiling a model may take
_PART = 2**28  # [bytes] that the compiled model may take, and so many again every simulation of it
_SECONDS = 20  # [s] of processor time that it may take
_PATIENCE = 120.0  # [s] after which the process is ended, however little time it got
_STEP = 0.2  # [s] of processor time that a physics step may take
_OUT_OF_TIME, _WITHOUT_MEMORY = -24, (-6, -9)  # exit codes where signals end a process
_CHILD = Path(__file__).with_name("screening_child.py")
_MAIN = "the model itself"  # its name among the files of the process
_NO_FILES: Mapping[str, bytes] = MappingProxyType({})
_NO_MEMORY = re.compile(r"alloc|length_error|out of memory", re.IGNORECASE)
# what MuJoCo says of an MJCF that it cannot read, and what that means
_MEANINGS = (
    (r".*ELEMENT_DEPTH_EXCEEDED.*", r"its elements are nested too deeply"),
    (r"XML parse error.*Line number=(\d+).*", r"it is not XML, see line \1"),
    (r".*Error opening file ('.*?').*", r"it refers to \1, which cannot be opened"),
)
_accepted: set[bytes] = set()  # digests of texts


def screen(xml: str, origin: str, files: Mapping[str, bytes] = _NO_FILES) -> None:
    """Refuse a text that MuJoCo cannot compile, or only with more memory or time than any robot needs.

    The process that compiles it can open no file: what is accepted needs none but those that are given.
    `files` is the content of each, by a name that stands for the content.
    """
    if not _accepted:
        _accepted.update(_digest(path.read_text(encoding="utf-8"), ()) for path in MODELS.glob("*/*.xml"))
    digest = _digest(xml, files)
    if digest in _accepted:
        return
    contents = {_MAIN: _encoded(xml), **files}
    header = json.dumps([[name, len(content)] for name, content in contents.items()]).encode()
    with explain_errors(f"{origin}: its MJCF cannot be tried"), tempfile.TemporaryDirectory() as folder:
        try:
            child = subprocess.run(
                [sys.executable, "-I", "-S", *map(str, (_CHILD, library_path(), _MEMORY, _SECONDS))],
                cwd=folder,
                env=os.environ | {"MALLOC_ARENA_MAX": "1"},  # the arena of each thread would count as memory
                input=b"".join((header, b"\n", *contents.values())),
                capture_output=True,
                timeout=_PATIENCE,
            )
            refusal = _refusal(child)
        except subprocess.TimeoutExpired:
            refusal = _exceeds(f"{_PATIENCE:g} s to compile")
    if refusal:
        raise InvalidRobotError(f"{origin}: the MJCF {refusal}")
    _accepted.add(digest)


def meaning(message: str) -> str:
    """What is wrong with an MJCF, from what MuJoCo says of it."""
    message = " ".join(message.split())
    for pattern, words in _MEANINGS:
        message = re.sub(pattern, words, message)
    return message


def _refusal(child: subprocess.CompletedProcess[bytes]) -> str:
    """What is wrong with a model, from how the process that compiled it ended; "" if nothing is."""
    answer = json.loads(child.stdout or "{}")
    said = answer.get("error") or " ".join(child.stderr.decode(errors="replace").split())
    if "seconds" in answer:
        for part in ("model", "simulation"):
            if answer[part] > _PART:
                return _exceeds(f"{_PART / 2**20:g} MiB of memory for a {part}")
        return _exceeds(f"{_STEP:g} s for a physics step") if answer["seconds"] > _STEP else ""
    if _NO_MEMORY.search(said) or (not said and child.returncode in _WITHOUT_MEMORY):
        return _exceeds(f"{_MEMORY / 2**30:g} GiB of memory to compile")
    if child.returncode == _OUT_OF_TIME:
        return _exceeds(f"{_SECONDS} s of processor time to compile")
    return f"cannot be read: {meaning(said) if 'error' in answer else 'it makes MuJoCo crash'}"


def _exceeds(limit: str) -> str:
    return f"is refused because it takes more than {limit}"


def _encoded(xml: str) -> bytes:
    return xml.encode("utf-8", "replace")  # what cannot be encoded comes back as an error of MuJoCo's reader


def _digest(xml: str, files: Iterable[str]) -> bytes:
    return hashlib.sha256(_encoded(xml) + b"\0" + "\n".join(sorted(files)).encode()).digest()
