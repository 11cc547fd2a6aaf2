"""`OpenGLCanvas` draws a MuJoCo scene with OpenGL, where it works: `rendering_problem` tells."""

import os
import sys
import warnings
import weakref
from contextlib import suppress
from functools import cache
from typing import Any

import mujoco
import numpy as np

from robots.errors import RenderingError

_SHADOW_SIZE = 2048  # [pixels] at most: a processor takes half as long again for MuJoCo's default of 4096


class OpenGLCanvas:
    """An OpenGL context that holds a model's textures and meshes, and a buffer to draw in.

    `mujoco.Renderer` would do, were its OpenGL not settled by the environment when mujoco is imported: glfw,
    unless MUJOCO_GL says otherwise, which fails without a screen.

    Args:
        model: of the robot; the sizes of frames and shadows are part of it, and are set.
        width: of the frames [pixels].
        height: of the frames [pixels].
        samples: per pixel.
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int, samples: int) -> None:
        size, quality = model.vis.global_, model.vis.quality
        size.offwidth, size.offheight = width, height
        quality.shadowsize, quality.offsamples = min(quality.shadowsize, _SHADOW_SIZE), samples
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._gl = _gl_context_class()(width, height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._pixels = np.empty((height, width, 3), np.uint8)
        self.close = weakref.finalize(self, _free, self._gl, self._context)
        self.close.atexit = False  # the display may be gone by then, and the memory is freed anyway

    def draw(self, data: mujoco.MjData, scene: mujoco.MjvScene) -> np.ndarray:
        """Draw a scene, which holds all that is needed of `data`, (height, width, 3) uint8."""
        if not self.close.alive:
            raise RenderingError("the camera is closed")
        self._gl.make_current()
        mujoco.mjr_render(self._rectangle, scene, self._context)
        mujoco.mjr_readPixels(self._pixels, None, self._rectangle, self._context)
        return self._pixels[::-1].copy()  # OpenGL's first row is the lowest


def _free(gl: Any, context: mujoco.MjrContext) -> None:
    """Free what a canvas holds, of which the garbage collector knows neither the order nor the thread."""
    with suppress(Exception):
        gl.make_current()
        context.free()
        gl.free()


def _gl_context_class() -> Any:
    """MuJoCo's class of OpenGL contexts that suits this machine, or the one that MUJOCO_GL asks for."""
    if sys.platform == "linux" and not os.environ.get("MUJOCO_GL"):
        # imported only now: where the library is missing it fails, as does all of mujoco with MUJOCO_GL=egl
        from mujoco.egl import GLContext

        return GLContext
    return mujoco.GLContext


@cache
def rendering_problem() -> str | None:
    """What keeps OpenGL from working on this machine and what to do, in one line; None where it works.

    It is found out once in a process: where MuJoCo's loader of OpenGL has failed, calling it again aborts.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # glfw warns of what MuJoCo then raises
            OpenGLCanvas(mujoco.MjModel.from_xml_string("<mujoco/>"), 16, 16, samples=0).close()
    # libraries, symbols and devices that are missing show up as ImportError, AttributeError, OSError,
    # TypeError, mujoco.FatalError or errors of PyOpenGL, which cannot be named without OpenGL
    except Exception as error:
        choice = os.environ.get("MUJOCO_GL")
        remedy = f"unset MUJOCO_GL, which is {choice!r}, or " if choice else ""
        remedy += "on Debian or Ubuntu apt install libegl1 libgl1"
        return f"OpenGL does not work on this machine: {remedy} ({describe_failure(error)})"
    return None


def describe_failure(error: Exception) -> str:
    """An error's kind and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
