"""`surefoot` and `python -m surefoot` are the command line.

It sets up its process, and those that it starts; whoever imports Surefoot keeps environment and handlers.
"""

import io
import os
import sys


def distrust_current_folder() -> None:
    """Have this process and those that it starts neither run nor obey what lies in the current folder.

    It may be anybody's, as one for downloads is. Call this before anything else is imported.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["MATPLOTLIBRC"] = os.devnull  # a picture is the same whatever the user's own look like
    os.environ["MPLBACKEND"] = "agg"  # pictures are files
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no imports yet
    if not sys.flags.safe_path and sys.path[:1] != [home]:  # `python -m` puts the current folder first
        del sys.path[:1]


distrust_current_folder()  # before anything else is imported

from robots.errors import SurefootError  # noqa: E402
from surefoot import interrupts  # noqa: E402

__spec__ = None  # then processes that are spawned import this file too


def prepare_process() -> None:
    """Have what is printed fit the terminal, and libraries be imported.

    Raises:
        SurefootError: MuJoCo or numba cannot be used as they would be set up.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # of an encoding without the character
    for name in ("HDF5_DRIVER", "SOURCE_DATE_EPOCH", "COLUMNS"):  # with which HDF5, numpy and rich may fail
        os.environ.pop(name, None)
    if os.path.exists(".numba_config.yaml"):  # noqa: PTH110
        raise SurefootError("numba would obey the .numba_config.yaml of this folder: remove it")
    if choice := os.environ.get("MUJOCO_GL"):
        try:
            import mujoco  # noqa: F401
        except Exception as error:  # of many kinds where a library of OpenGL is missing
            raise SurefootError(f"MuJoCo cannot be imported with MUJOCO_GL={choice!r}: unset it") from error


def run() -> None:
    """Run the command line; as long as it is being imported, Ctrl-C ends it without a traceback."""
    interrupts.end_silently()
    try:
        prepare_process()
    except SurefootError as error:
        print(f"surefoot: {error}", file=sys.stderr)
        sys.exit(2)
    from surefoot.commands.main import main

    try:
        main()
    except (SystemExit, KeyboardInterrupt) as end:
        interrupts.ignore()
        if isinstance(end, KeyboardInterrupt) or end.code == interrupts.INTERRUPTED:
            interrupts.leave()
        raise


if __name__ == "__main__":
    run()
