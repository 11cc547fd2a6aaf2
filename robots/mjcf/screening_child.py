"""Compiles an MJCF within limits and simulates two steps; `screening` runs it as a process of its own.

It is a script that calls MuJoCo's library through ctypes: it starts in 20 ms, where `import mujoco` takes ten
times as long. Arguments: the library, and the limits on memory [bytes] and processor time [s]. Standard input
is a line of JSON with the names and sizes of the MJCF and of the files that it refers to, then their content.
"""

import ctypes
import json
import os
import sys
import time
from contextlib import suppress

_MESSAGE = 1000  # bytes of MuJoCo's message at most
_LOG = 1_000_000  # bytes of its log file at most


def _limit(memory: int, seconds: int) -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LOG, _LOG))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))  # signals 24 and 9
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))  # nothing can be opened any more


def _screen(mujoco: ctypes.CDLL) -> dict[str, object]:
    """Return the `error` for which MuJoCo refuses a model; or the `seconds` of a step, and sizes in bytes."""
    mujoco.mj_loadXML.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    mujoco.mj_loadXML.restype = mujoco.mj_makeData.restype = ctypes.c_void_p
    mujoco.mj_makeData.argtypes = [ctypes.c_void_p]
    mujoco.mj_step.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    message = ctypes.create_string_buffer(_MESSAGE)
    files = ctypes.c_void_p()  # the one field of MuJoCo's virtual file system
    mujoco.mj_defaultVFS(ctypes.byref(files))
    names = json.loads(sys.stdin.buffer.readline())
    for name, size in names:
        mujoco.mj_addBufferVFS(ctypes.byref(files), name.encode(), sys.stdin.buffer.read(size), size)
    model = mujoco.mj_loadXML(names[0][0].encode(), ctypes.byref(files), message, _MESSAGE)
    if not model:
        return {"error": message.value.decode(errors="replace") or "MuJoCo does not say why"}
    mujoco.mj_sizeModel.restype, mujoco.mj_sizeModel.argtypes = ctypes.c_int64, [ctypes.c_void_p]
    data = mujoco.mj_makeData(model)
    for _ in range(2):  # the first one also claims memory
        started = time.process_time()
        mujoco.mj_step(model, data)
    seconds = time.process_time() - started
    simulation = sum((ctypes.c_int64 * 2).from_address(data))  # narena and nbuffer
    return {"seconds": seconds, "model": mujoco.mj_sizeModel(model), "simulation": simulation}


if __name__ == "__main__":
    answers = os.dup(1)
    os.dup2(2, 1)  # what MuJoCo prints is no answer
    mujoco = ctypes.CDLL(sys.argv[1])
    _limit(*map(int, sys.argv[2:]))
    os.write(answers, json.dumps(_screen(mujoco)).encode())
