"""Sockets of a link over ZeroMQ: addresses, limits, and keys where others than this machine can reach them.

A robot at tcp://HOST:PORT pulls commands at PORT, publishes states at PORT + 1, answers hellos at PORT + 2.
"""

from __future__ import annotations

import ipaddress
import re
import struct
from pathlib import Path
from typing import Any

from robots.errors import InvalidFileError, InvalidValueError, installed
from robots.files.atomic import explain_errors, make_folder
from robots.link.messages import MOST_BYTES

with installed("a link to a robot needs pyzmq, which is", "'surefoot[robot]'"):
    import zmq
    import zmq.auth
    from zmq.utils import z85

COMMANDS, STATES, HELLOS = 0, 1, 2  # what is added to the port
_ROBOT, _COMPUTER = "robot", "computer"  # files of keys
_ADVICE = "`surefoot robot --keys` makes all keys in a new folder"


def parse_address(address: str) -> tuple[str, int]:
    """Host and port of tcp://HOST:PORT."""
    found = re.fullmatch(r"tcp://([A-Za-z0-9.-]+):([0-9]{1,5})", address)
    if not found or not 1024 <= int(found[2]) <= 65533:
        raise InvalidValueError(
            f"a robot's address must be tcp://HOST:PORT with a port from 1024 to 65533, not {address!r}"
        )
    return found[1], int(found[2])


def check_keys(host: str, keys: Path | None) -> None:
    """Refuse a link that others can reach without keys."""
    try:
        own = ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = host == "localhost"
    if keys is None and not own:
        raise InvalidValueError(
            f"{host} can be reached by others: name a folder of keys, --keys, or use 127.0.0.1"
        )


def make_keys(folder: Path) -> None:
    """Make the keys of a robot and of the computer that drives it, if they are not there."""
    make_folder(folder)
    with explain_errors(f"keys cannot be written to {folder}"):
        for name in (_ROBOT, _COMPUTER):
            if not (folder / f"{name}.key_secret").exists():
                _, secret = zmq.auth.create_certificates(folder, name)
                Path(secret).chmod(0o600)


def guard(socket: Any, keys: Path | None) -> None:
    """Have the robot's socket encrypt; who may connect is said by a `zmq.auth` authenticator."""
    if keys is not None:
        socket.curve_publickey, socket.curve_secretkey = _load(keys, f"{_ROBOT}.key_secret")
        socket.curve_server = True


def unlock(socket: Any, keys: Path | None) -> None:
    """Have the computer's socket encrypt."""
    if keys is not None:
        socket.curve_publickey, socket.curve_secretkey = _load(keys, f"{_COMPUTER}.key_secret")
        socket.curve_serverkey, _ = _load(keys, f"{_ROBOT}.key")


def _load(folder: Path, name: str) -> tuple[bytes, bytes | None]:
    try:
        public, secret = zmq.auth.load_certificate(folder / name)
        for key in (public, secret) if name.endswith("_secret") else (public,):
            if len(z85.decode(key or b"")) != 32:
                raise ValueError("another length")
    except (OSError, KeyError, ValueError, struct.error) as error:
        raise InvalidFileError(f"{folder} has no key {name}, or a damaged one: {_ADVICE}") from error
    return public, secret


def new_socket(context: Any, kind: int, *, latest: bool = False) -> Any:
    """A socket that waits for nothing when it is closed, and takes no message that is too long."""
    socket = context.socket(kind)
    socket.linger, socket.maxmsgsize = 0, MOST_BYTES
    if latest:
        socket.conflate = True
    else:
        socket.rcvhwm = socket.sndhwm = 100
    return socket
