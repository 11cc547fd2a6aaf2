"""Files of what is finished of a long evaluation: arrays, and what they are a function of."""

import json
from collections.abc import Mapping

import h5py
import numpy as np

from repertoire.storage.contents import (
    Contents,
    read_attribute,
    read_tree,
    verify,
    write_attribute,
    write_tree,
)
from robots.errors import InvalidValueError

_VERSION = 1
Identity = Mapping[str, str | int]  # what results are a function of, by name


def write_unfinished(
    file: h5py.File, form: str, arrays: Mapping[str, np.ndarray], identity: Identity
) -> None:
    """Write results to an open file; `form` is the name of their format."""
    write_attribute(file, "format", form)
    write_attribute(file, "version", _VERSION)
    write_tree(file, Contents(dict(arrays), {"identity": json.dumps(dict(identity))}))


def read_unfinished(file: h5py.File, form: str, identity: Identity) -> dict[str, np.ndarray]:
    """Read results of a format from an open file.

    Raises:
        InvalidValueError: it holds no sound ones, or those of something else.
        KeyError: it does not say what they are a function of.
    """
    if read_attribute(file, "format", "S") != form or read_attribute(file, "version", "i") != _VERSION:
        raise InvalidValueError(
            f"it holds no {form.removeprefix('surefoot ')} in version {_VERSION} of the format"
        )
    contents = read_tree(file)
    verify(file, contents)
    check_identity(json.loads(contents.texts["identity"]), identity)
    return contents.arrays


def check_identity(found: Identity, expected: Identity) -> None:
    """Check what a file's content is a function of.

    Raises:
        InvalidValueError: it is a function of something else than expected.
    """
    differences = [
        f"{name} {found.get(name)}, not {value}"
        for name, value in expected.items()
        if found.get(name) != value
    ]
    if differences:
        raise InvalidValueError(f"it belongs to another evaluation ({'; '.join(differences)})")
