"""What is saved of a figure."""

from pathlib import Path

import matplotlib
from matplotlib.figure import Figure
from PIL import Image

from robots.rendering.figures import PLAIN, save_figure


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
