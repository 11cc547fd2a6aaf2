"""`Camera` draws a robot without a screen."""

import copy
import math
import os
import sys
import warnings
import weakref
from contextlib import suppress
from functools import cache
from typing import Any

import mujoco
import numpy as np

from robots.errors import InvalidValueError, SurefootError

_SHADOW_SIZE = 2048  # [pixels] at most: a processor takes half as long again for MuJoCo's default of 4096
_MARGIN = 1.3  # a free camera sees this many times the robot's radius


class RenderingError(SurefootError):
    """A picture that cannot be drawn, or a video that cannot be encoded, on this machine."""


class Camera:
    """Draws frames of a robot, seen by its model's first tracking camera.

    Where the model has none, a free camera follows the first body that moves freely: the torso. Use a camera
    in the thread that made it, and close it, or use it as a context, when done.

    Args:
        model: of the robot, whole or damaged; it stays as it is.
        width: of the frames [pixels].
        height: of the frames [pixels].
        samples: per pixel: 4 draws smooth edges, 0 draws jagged ones in half the time.

    Raises:
        InvalidValueError: the frame has no pixels.
        RenderingError: such frames cannot be drawn here; the message says what to do.
    """

    def __init__(
        self, model: mujoco.MjModel, *, width: int = 640, height: int = 480, samples: int = 4
    ) -> None:
        if width < 1 or height < 1:
            raise InvalidValueError(f"a frame must have at least 1 x 1 pixels, not {width} x {height}")
        self.width = width
        self.height = height
        self._model = copy.copy(model)  # the sizes of frames and shadows are part of a model
        self._view = _tracking_view(model) or _following_view(model)
        self._option = mujoco.MjvOption()
        self._scene = mujoco.MjvScene(self._model, maxgeom=10_000)
        # asked first, and remembered: trying a second time can end the process, see there
        problem = rendering_problem()
        if problem is not None:
            raise RenderingError(problem)
        try:
            self._canvas = _Canvas(self._model, width, height, samples)
        except Exception as error:
            raise RenderingError(
                f"frames of {width} x {height} pixels cannot be drawn ({_one_line(error)})"
            ) from error

    def __enter__(self) -> "Camera":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory that OpenGL holds."""
        self._canvas.close()

    def frame(self, data: mujoco.MjData) -> np.ndarray:
        """Draw a state.

        Args:
            data: of the same model, with everything derived from the state (`mj_forward`).

        Returns:
            The picture, (height, width, 3) uint8.
        """
        every = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self._model, data, self._option, None, self._view, every, self._scene)
        return self._canvas.draw(self._scene)


class _Canvas:
    """An OpenGL context that holds a model's textures and meshes, and a buffer to draw in.

    `mujoco.Renderer` would do, were its OpenGL not settled by the environment when mujoco is imported: glfw,
    unless MUJOCO_GL says otherwise, which fails without a screen.
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

    def draw(self, scene: mujoco.MjvScene) -> np.ndarray:
        """Draw a scene, (height, width, 3)."""
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
    """What keeps this machine from drawing and what to install, in one line; None where it can draw.

    It is found out once in a process: where MuJoCo's loader of OpenGL has failed, calling it again aborts.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # glfw warns of what MuJoCo then raises
            _Canvas(mujoco.MjModel.from_xml_string("<mujoco/>"), 16, 16, samples=0).close()
    # libraries, symbols and devices that are missing show up as ImportError, AttributeError, OSError,
    # TypeError, mujoco.FatalError or errors of PyOpenGL, which cannot be named without OpenGL
    except Exception as error:
        choice = os.environ.get("MUJOCO_GL")
        remedy = f"unset MUJOCO_GL, which is {choice!r}, or " if choice else ""
        remedy += "on Debian or Ubuntu apt install libegl1 libgl1"
        return f"pictures need OpenGL, which does not work on this machine: {remedy} ({_one_line(error)})"
    return None


def _tracking_view(model: mujoco.MjModel) -> mujoco.MjvCamera | None:
    """The model's first camera that moves along with a body."""
    tracking = np.isin(
        model.cam_mode,
        [int(mujoco.mjtCamLight.mjCAMLIGHT_TRACK), int(mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM)],
    )
    if not tracking.any():
        return None
    view = mujoco.MjvCamera()
    view.type = mujoco.mjtCamera.mjCAMERA_FIXED
    view.fixedcamid = int(np.argmax(tracking))
    return view


def _following_view(model: mujoco.MjModel) -> mujoco.MjvCamera:
    """A camera that follows the torso from a distance at which the whole robot is seen."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    free = np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE))
    torso = int(model.jnt_bodyid[free[0]]) if len(free) else 0  # 0 is the world
    parts = model.body_rootid[model.geom_bodyid] == model.body_rootid[torso]  # (g,)
    offsets = np.linalg.norm(data.geom_xpos[parts] - data.subtree_com[torso], axis=1)
    radius = np.max(offsets + model.geom_rbound[parts], initial=0.0)
    view = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, view)
    view.type = mujoco.mjtCamera.mjCAMERA_TRACKING
    view.trackbodyid = torso
    view.distance = _MARGIN * radius / math.tan(math.radians(model.vis.global_.fovy) / 2)
    return view


def _one_line(error: Exception) -> str:
    """An error's kind and the first line of its message."""
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
