"""`Camera` draws a robot without a screen: with OpenGL where that works, by ray casting elsewhere."""

import copy
import math
import os
import sys
import warnings
import weakref
from collections.abc import Collection
from contextlib import suppress
from functools import cache
from typing import Any, Literal

import mujoco
import numpy as np

from robots.errors import InvalidValueError, RenderingError
from robots.mjcf.compiling import unheard
from robots.rendering.raycasting import RayCanvas

CanvasKind = Literal["opengl", "raycasting"]
_MOST_PIXELS = 2**24  # ray casting takes some 200 bytes of memory for each
_MARGIN = 1.1  # a free camera sees this many times the robot's radius
_AZIMUTH, _ELEVATION = 130.0, -20.0  # [°] of a free camera: from ahead on the right, and from above
_GLOW = 0.55  # share of its colour that a glowing geom emits
_PALER = 0.15  # share of the way to white by which its colour is lightened
_SAMPLES = 4  # of a pixel, so that edges are smooth
_SHADOW_SIZE = 2048  # [pixels] at most: software OpenGL takes half as long again for MuJoCo's default of 4096
_TRACKING = [int(mujoco.mjtCamLight.mjCAMLIGHT_TRACK), int(mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM)]


class Camera:
    """Draws frames of a robot, as its model's first tracking camera sees it.

    Where the model has none, a free camera follows the torso: the first body that moves. A camera is used in
    the thread that made it, and closed when done; it is a context.

    Args:
        model: of the robot, whole or damaged; it is not changed.
        width, height: of the frames [pixels].
        canvas: what draws; None stands for OpenGL where it works, and for ray casting elsewhere.
    """

    def __init__(
        self, model: mujoco.MjModel, *, width: int = 640, height: int = 480, canvas: CanvasKind | None = None
    ) -> None:
        if width < 1 or height < 1:
            raise InvalidValueError(f"a frame must have at least 1 x 1 pixels, not {width} x {height}")
        if width * height > _MOST_PIXELS:
            raise RenderingError(
                f"frames of {width} x {height} pixels cannot be drawn: {_MOST_PIXELS:,} pixels are the most"
            )
        if canvas not in (None, "opengl", "raycasting"):
            raise InvalidValueError(f"canvas must be None, 'opengl' or 'raycasting', not {canvas!r}")
        self.width, self.height = width, height
        self.canvas: CanvasKind = canvas or ("opengl" if rendering_problem() is None else "raycasting")
        self._option = mujoco.MjvOption()
        self._canvas: RayCanvas | _OpenGLCanvas | None = None
        self._seen: mujoco.MjModel | None = None
        self.look_at(model)

    def __enter__(self) -> "Camera":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory that drawing takes."""
        if self._canvas is not None:
            self._canvas.close()
            self._canvas = None

    def look_at(self, model: mujoco.MjModel) -> None:
        """Draw data of this model from now on, for example that of the robot once it broke."""
        if model is self._seen:
            return
        self.close()
        self._seen, self._model = model, copy.copy(model)  # canvases change theirs
        self._view = _view(model)
        self._scene = mujoco.MjvScene(self._model, maxgeom=10_000)
        make = RayCanvas if self.canvas == "raycasting" else _open_gl_canvas
        self._canvas = make(self._model, self.width, self.height)

    def frame(self, data: mujoco.MjData, glowing: Collection[str] = ()) -> np.ndarray:
        """Draw a state, after `mj_forward`, in which some geoms glow, (height, width, 3) uint8."""
        if self._canvas is None:
            raise RenderingError("the camera is closed")
        categories = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self._model, data, self._option, None, self._view, categories, self._scene)
        if glowing:
            self._light_up(glowing)
        return self._canvas.draw(data, self._scene)

    def _light_up(self, names: Collection[str]) -> None:
        for geom in self._scene.geoms[: self._scene.ngeom]:
            is_geom = geom.objtype == mujoco.mjtObj.mjOBJ_GEOM
            if is_geom and self._model.geom(geom.objid).name in names:
                geom.emission = _GLOW
                geom.rgba[:3] += _PALER * (1 - geom.rgba[:3])


def _view(model: mujoco.MjModel) -> mujoco.MjvCamera:
    """The first tracking camera; or one that follows the torso from where the whole robot is seen."""
    view, tracking = mujoco.MjvCamera(), np.flatnonzero(np.isin(model.cam_mode, _TRACKING))
    if len(tracking):
        view.type = mujoco.mjtCamera.mjCAMERA_FIXED
        view.fixedcamid = int(tracking[0])
        return view
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    torso = int(np.argmax(model.body_jntnum > 0))  # 0, the world, where nothing moves
    parts = model.body_rootid[model.geom_bodyid] == model.body_rootid[torso]  # (g,)
    offsets = np.linalg.norm(data.geom_xpos[parts] - data.subtree_com[torso], axis=1)
    radius = np.max(offsets + model.geom_rbound[parts], initial=0.0)
    mujoco.mjv_defaultFreeCamera(model, view)
    view.type = mujoco.mjtCamera.mjCAMERA_TRACKING
    view.trackbodyid = torso
    view.azimuth, view.elevation = _AZIMUTH, _ELEVATION
    view.distance = _MARGIN * radius / math.tan(math.radians(model.vis.global_.fovy) / 2)
    return view


class _OpenGLCanvas:
    """An OpenGL context that holds a model's textures and meshes, and a buffer to draw in.

    `mujoco.Renderer` does the same, but its kind of OpenGL is settled when mujoco is imported: without
    MUJOCO_GL it is glfw, which fails without a screen.
    """

    def __init__(self, model: mujoco.MjModel, width: int, height: int) -> None:
        size, quality = model.vis.global_, model.vis.quality
        size.offwidth, size.offheight = width, height
        quality.shadowsize, quality.offsamples = min(quality.shadowsize, _SHADOW_SIZE), _SAMPLES
        self._rectangle = mujoco.MjrRect(0, 0, width, height)
        self._gl = _gl_context_class()(width, height)
        self._gl.make_current()
        with unheard():
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
        self._pixels = np.empty((height, width, 3), np.uint8)
        self.close = weakref.finalize(self, _free, self._gl, self._context)
        self.close.atexit = False  # the display may be gone by then, and the memory is freed anyway

    def draw(self, _: mujoco.MjData, scene: mujoco.MjvScene) -> np.ndarray:
        """Draw a scene, which holds all that is needed of its state, (height, width, 3) uint8."""
        self._gl.make_current()
        mujoco.mjr_render(self._rectangle, scene, self._context)
        mujoco.mjr_readPixels(self._pixels, None, self._rectangle, self._context)
        return self._pixels[::-1].copy()  # OpenGL's first row is the lowest


def _open_gl_canvas(model: mujoco.MjModel, width: int, height: int) -> _OpenGLCanvas:
    # known from the first attempt in this process: another one can end the process, see there
    problem = rendering_problem()
    if problem is not None:
        raise RenderingError(problem)
    try:
        return _OpenGLCanvas(model, width, height)
    except Exception as error:
        reason = _describe(error)
        raise RenderingError(f"frames of {width} x {height} pixels cannot be drawn ({reason})") from error


def _free(gl: Any, context: mujoco.MjrContext) -> None:
    """Free what a canvas holds, in the order and the thread that OpenGL needs."""
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
    """Why OpenGL does not work on this machine and what to do, in one line; None where it works.

    It is tried once in a process: after MuJoCo has failed to load OpenGL, another attempt aborts the process.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # glfw warns of what MuJoCo then raises
            _OpenGLCanvas(mujoco.MjModel.from_xml_string("<mujoco/>"), 16, 16).close()
    # libraries, symbols and devices that are missing show up as ImportError, AttributeError, OSError,
    # TypeError, mujoco.FatalError or errors of PyOpenGL, which cannot be named without OpenGL
    except Exception as error:
        choice = os.environ.get("MUJOCO_GL")
        remedy = f"unset MUJOCO_GL, which is {choice!r}, or " if choice else ""
        remedy += "on Debian or Ubuntu apt install libegl1 libgl1"
        return f"OpenGL does not work on this machine: {remedy} ({_describe(error)})"
    return None


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
