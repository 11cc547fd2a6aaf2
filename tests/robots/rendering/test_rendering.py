import os
import subprocess
import sys
from pathlib import Path

import imageio_ffmpeg
import matplotlib
import mujoco
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from adapt.damage.kinds.limbs import Lost
from robots.errors import InvalidFileError, InvalidValueError
from robots.rendering import video
from robots.rendering.camera import Camera, CanvasKind, RenderingError, rendering_problem
from robots.rendering.figures import PLAIN, save_figure
from robots.rendering.video import open_video
from robots.robot import load_robot

SIZE = {"width": 160, "height": 120}
WITHOUT_CAMERA = """<mujoco><worldbody><geom type="plane" size="9 9 1" rgba=".9 .9 .9 1"/>
    <light directional="true" pos="0 0 9"/>
    <body pos="{x} 0 1"><freejoint/><geom size=".2" rgba="1 0 0 1"/></body></worldbody></mujoco>"""


def state(model: mujoco.MjModel, x: float = 0.0, ankle: float = 0.0) -> mujoco.MjData:
    data = mujoco.MjData(model)
    data.qpos[0] = x
    data.qpos[8:9] = ankle  # where there is one
    mujoco.mj_forward(model, data)
    return data


@pytest.fixture(params=["raycasting", "opengl"])
def canvas(request: pytest.FixtureRequest) -> CanvasKind:
    """What draws; OpenGL only where it works."""
    if request.param == "opengl" and rendering_problem() is not None:
        pytest.skip("OpenGL does not work here")
    return request.param


def test_frames_show_the_state_and_nothing_else(canvas: CanvasKind) -> None:
    model = load_robot("ant").model
    broken = Lost("front_left").apply(load_robot("ant")).model
    with Camera(model, **SIZE, canvas=canvas) as camera, Camera(broken, **SIZE, canvas=canvas) as another:
        assert another.frame(state(broken)).any()
        another.look_at(model)
        standing = camera.frame(state(model))
        bent = camera.frame(state(model, ankle=1.2))
        assert standing.shape == (120, 160, 3)
        assert standing.dtype == np.uint8
        assert (standing != bent).any(axis=2).mean() > 0.005
        assert np.array_equal(another.frame(state(model)), standing)
        assert np.array_equal(camera.frame(state(model)), standing)


def test_the_robot_stays_in_the_middle_while_the_ground_passes(canvas: CanvasKind) -> None:
    robot = load_robot("ant")
    shell = robot.model.mat("shell").rgba[:3]
    with Camera(robot.model, **SIZE, canvas=canvas) as camera:
        here, there = camera.frame(state(robot.model)), camera.frame(state(robot.model, x=30.25))
    blue = [is_hue(frame, shell) for frame in (here, there)]
    assert blue[0].sum() > 100
    rows, columns = np.nonzero(blue[0])
    assert 40 < rows.mean() < 80
    assert 60 < columns.mean() < 100
    assert (blue[0] == blue[1]).mean() > 0.99
    assert (here != there).any(axis=2).mean() > 0.05


def test_a_model_without_a_camera_is_followed(canvas: CanvasKind) -> None:
    for x in (0, 7):
        model = mujoco.MjModel.from_xml_string(WITHOUT_CAMERA.format(x=x))
        with Camera(model, **SIZE, canvas=canvas) as camera:
            frame = camera.frame(state(model, x=x)).astype(int)
        red = frame[..., 0] > 2 * frame[..., 1]
        rows, columns = np.nonzero(red)
        assert 0.1 < red.mean() < 0.6
        assert abs(rows.mean() - 60) < 5
        assert abs(columns.mean() - 80) < 5


def test_feet_light_up(canvas: CanvasKind) -> None:
    robot = load_robot("ant")
    yellow, green = (robot.model.mat(name).rgba[:3] for name in ("front_left", "back_right"))
    with Camera(robot.model, **SIZE, canvas=canvas) as camera:
        dark = camera.frame(state(robot.model))
        glowing = camera.frame(state(robot.model), {"front_left_shin"})
        assert np.array_equal(camera.frame(state(robot.model)), dark), "it is over with the frame"
    shin, other = is_hue(dark, yellow), is_hue(dark, green)
    assert glowing[shin].astype(int).sum() > 1.15 * dark[shin].astype(int).sum()
    assert (glowing[other] == dark[other]).mean() > 0.98


def test_impossible_frames() -> None:
    model = load_robot("ant").model
    with pytest.raises(InvalidValueError, match="at least 1 x 1"):
        Camera(model, width=0)
    with pytest.raises(RenderingError, match="1000000 x 1000000 pixels cannot be drawn"):
        Camera(model, width=10**6, height=10**6)
    with pytest.raises(InvalidValueError, match="'raycasting', not 'ascii'"):
        Camera(model, canvas="ascii")  # type: ignore[arg-type]


PROBE = """
import ctypes.util
ctypes.util.find_library = lambda name: None
real = ctypes.CDLL.__init__
def missing(self, name, *args, **kwargs):
    if name and "GL" in str(name):
        raise OSError(f"{name}: cannot open shared object file")
    real(self, name, *args, **kwargs)
ctypes.CDLL.__init__ = missing
from robots.rendering.camera import Camera, RenderingError, rendering_problem
from surefoot.commands.console import print_rendering_note
import mujoco
print(rendering_problem())
try:
    Camera(mujoco.MjModel.from_xml_string("<mujoco/>"), canvas="opengl")
except RenderingError as error:
    print(error)
print_rendering_note()
model = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
with Camera(model, width=8, height=6) as camera:
    print(camera.canvas, camera.frame(data).any())
"""


@pytest.mark.parametrize("choice", ["", "glfw"])
def test_without_opengl_rays_draw_and_a_line_says_so(choice: str) -> None:
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "PYOPENGL_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["MUJOCO_GL"] = choice
    done = subprocess.run([sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    problem, raised, note, drawn = done.stdout.splitlines()
    assert problem == raised
    assert note == f"note: drawn by ray casting, as {problem}"
    assert drawn == "raycasting True"
    assert "apt install libegl1 libgl1" in problem
    assert ("unset MUJOCO_GL" in problem) == bool(choice)


def frames(count: int, height: int = 48, width: int = 64) -> np.ndarray:
    """A bright square that moves to the right, (count, height, width, 3)."""
    pixels = np.full((count, height, width, 3), 40, np.uint8)
    for i, frame in enumerate(pixels):
        frame[8:24, 2 * i : 2 * i + 16] = 230
    return pixels


def write(path: Path, pixels, **settings: float) -> None:
    with open_video(path, **settings) as video:  # type: ignore[arg-type]
        for frame in pixels:
            video.add(frame)


def test_mp4_reads_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pixels = frames(20, height=49, width=65)  # odd sizes, which H.264 lacks
    write(tmp_path / "walk.mp4", pixels, fps=25)
    assert list(tmp_path.iterdir()) == [tmp_path / "walk.mp4"]
    assert capfd.readouterr() == ("", "")
    ffmpeg = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", tmp_path / "walk.mp4"]
    done = subprocess.run(
        [*ffmpeg, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], capture_output=True, check=True
    )
    read = np.frombuffer(done.stdout, np.uint8).reshape(-1, 48, 64, 3)
    for fact in (b"Video: h264", b"yuv420p", b"64x48", b"25 fps", b"Duration: 00:00:00.80"):
        assert fact in done.stderr
    assert len(read) == 20
    assert np.abs(read.astype(int) - pixels[:, :48, :64]).mean() < 5


def test_gif_reads_back(tmp_path: Path) -> None:
    pixels = frames(20)
    write(tmp_path / "walk.gif", pixels, fps=30)
    with Image.open(tmp_path / "walk.gif") as gif:
        assert gif.size == (64, 48)
        assert gif.n_frames == 20
        assert gif.info["loop"] == 0
        durations = []
        for i, frame in enumerate(pixels):
            gif.seek(i)
            durations.append(gif.info["duration"])
            assert np.abs(np.asarray(gif.convert("RGB")).astype(int) - frame).max() < 12
    assert sum(durations) == pytest.approx(1000 * 20 / 30, abs=20)


def test_an_encoder_that_fails_or_is_missing_is_reported(tmp_path: Path, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(video._FORMATS, ".mp4", "-c:v nonsense -f mp4")
        with pytest.raises(InvalidFileError, match=r"walk\.mp4 cannot be written: .+"):
            write(tmp_path / "walk.mp4", frames(500), fps=25)

    def missing() -> str:
        raise RuntimeError("No ffmpeg exe could be found")

    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", missing)
    with pytest.raises(RenderingError, match="apt install ffmpeg"):
        write(tmp_path / "walk.mp4", frames(2), fps=25)
    monkeypatch.setattr(imageio_ffmpeg, "get_ffmpeg_exe", lambda: "/nowhere")
    with pytest.raises(RenderingError, match="videos need ffmpeg"):
        write(tmp_path / "walk.mp4", frames(2), fps=25)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("walk.avi", {"fps": 25}, r"\.mp4 or \.gif"),
        ("walk.gif", {"fps": 60}, "at most 50"),
        ("walk.mp4", {"fps": 0}, "above 0"),
        ("walk.mp4", {"fps": float("nan")}, "above 0"),
    ],
)
def test_bad_arguments(tmp_path: Path, name: str, settings: dict[str, float], message: str) -> None:
    with pytest.raises(InvalidValueError, match=message):
        write(tmp_path / name, [], **settings)  # type: ignore[arg-type]


def is_hue(frame: np.ndarray, color: np.ndarray) -> np.ndarray:
    """Which pixels have a color, brighter or darker, (height, width)."""
    pixels = frame.astype(float) + 1e-6
    towards = pixels @ color / np.linalg.norm(pixels, axis=2) / np.linalg.norm(color)
    return towards > 0.985


def test_text_that_runs_out_of_a_figure_is_not_cut(tmp_path: Path) -> None:
    figure = Figure(figsize=(1, 1))
    figure.suptitle("far too wide " * 5)
    save_figure(figure, tmp_path / "wide.png")
    with Image.open(tmp_path / "wide.png") as picture:
        assert picture.width > 3 * picture.height


def test_settings_of_the_user_change_no_picture(tmp_path: Path) -> None:
    @PLAIN
    def draw(path: Path) -> bytes:
        figure = Figure()
        figure.add_subplot().set_title("$x_{$ 机")
        save_figure(figure, path)
        return path.read_bytes()

    plain = draw(tmp_path / "a.png")
    with matplotlib.rc_context({"text.usetex": True, "axes.facecolor": "red", "savefig.dpi": 20}):
        assert draw(tmp_path / "b.png") == plain
