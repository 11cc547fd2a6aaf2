"""`Camera` draws a robot without a screen: with OpenGL where that works, by ray casting elsewhere."""

import copy
import math
from collections.abc import Collection
from typing import Literal

import mujoco
import numpy as np

from robots.errors import InvalidValueError, RenderingError
from robots.rendering.opengl import OpenGLCanvas, describe_failure, rendering_problem
from robots.rendering.raycasting import RayCanvas

__all__ = ["Camera", "CanvasKind", "RenderingError", "rendering_note", "rendering_problem"]

CanvasKind = Literal["opengl", "raycasting"]
_MARGIN = 1.3  # a free camera sees this many times the robot's radius
_GLOW = 0.55  # share of its colour that a glowing geom sends out by itself
_PALER = 0.15  # by which it is nearer to white


class Camera:
    """Draws frames of a robot, seen by its model's first tracking camera.

    Where the model has none, a free camera follows the first body that moves: the torso. Use a camera
    in the thread that made it, and close it, or use it as a context, when done.

    Args:
        model: of the robot, whole or damaged; it stays as it is.
        width: of the frames [pixels].
        height: of the frames [pixels].
        samples: per pixel: 4 draws smooth edges, 0 draws jagged ones in half the time.
        canvas: what draws; None stands for OpenGL where it works, and for ray casting elsewhere.

    Attributes:
        canvas: what draws.

    Raises:
        InvalidValueError: the frame has no pixels, or there is no such canvas.
        RenderingError: such frames cannot be drawn here; the message says what to do.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        *,
        width: int = 640,
        height: int = 480,
        samples: int = 4,
        canvas: CanvasKind | None = None,
    ) -> None:
        if width < 1 or height < 1:
            raise InvalidValueError(f"a frame must have at least 1 x 1 pixels, not {width} x {height}")
        if canvas not in (None, "opengl", "raycasting"):
            raise InvalidValueError(f"canvas must be None, 'opengl' or 'raycasting', not {canvas!r}")
        self.width = width
        self.height = height
        self.canvas: CanvasKind = canvas or ("opengl" if rendering_problem() is None else "raycasting")
        self._model = copy.copy(model)  # canvases change theirs
        self._view = _tracking_view(model) or _following_view(model)
        self._option = mujoco.MjvOption()
        self._scene = mujoco.MjvScene(self._model, maxgeom=10_000)
        self._canvas = _make_canvas(self.canvas, self._model, width, height, samples)

    def __enter__(self) -> "Camera":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Free the memory that drawing takes."""
        self._canvas.close()

    def frame(self, data: mujoco.MjData, glowing: Collection[str] = ()) -> np.ndarray:
        """Draw a state.

        Args:
            data: of the same model, with everything derived from the state (`mj_forward`).
            glowing: names of geoms to light up.

        Returns:
            The picture, (height, width, 3) uint8.
        """
        every = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self._model, data, self._option, None, self._view, every, self._scene)
        if glowing:
            self._light_up(glowing)
        return self._canvas.draw(data, self._scene)

    def _light_up(self, names: Collection[str]) -> None:
        """Make geoms of the scene glow."""
        for geom in self._scene.geoms[: self._scene.ngeom]:
            own = geom.objtype == mujoco.mjtObj.mjOBJ_GEOM
            if own and self._model.geom(geom.objid).name in names:
                geom.emission = _GLOW
                geom.rgba[:3] += _PALER * (1 - geom.rgba[:3])


def rendering_note() -> str | None:
    """What is particular about pictures drawn here, in one line; None where OpenGL draws them."""
    problem = rendering_problem()
    return None if problem is None else f"drawn by ray casting, as {problem}"


def _make_canvas(
    kind: CanvasKind, model: mujoco.MjModel, width: int, height: int, samples: int
) -> OpenGLCanvas | RayCanvas:
    """A canvas, or an error that says why not."""
    if kind == "raycasting":
        return RayCanvas(model, width, height, samples)
    # asked first, and remembered: trying a second time can end the process, see there
    problem = rendering_problem()
    if problem is not None:
        raise RenderingError(problem)
    try:
        return OpenGLCanvas(model, width, height, samples)
    except Exception as error:
        reason = describe_failure(error)
        raise RenderingError(f"frames of {width} x {height} pixels cannot be drawn ({reason})") from error


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
    torso = int(np.argmax(model.body_jntnum > 0))  # 0, the world, where nothing moves
    parts = model.body_rootid[model.geom_bodyid] == model.body_rootid[torso]  # (g,)
    offsets = np.linalg.norm(data.geom_xpos[parts] - data.subtree_com[torso], axis=1)
    radius = np.max(offsets + model.geom_rbound[parts], initial=0.0)
    view = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, view)
    view.type = mujoco.mjtCamera.mjCAMERA_TRACKING
    view.trackbodyid = torso
    view.distance = _MARGIN * radius / math.tan(math.radians(model.vis.global_.fovy) / 2)
    return view
