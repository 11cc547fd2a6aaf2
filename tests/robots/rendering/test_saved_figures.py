"""What is saved of a figure."""

from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

from robots.rendering.figures import save_figure


def test_text_that_runs_out_of_a_figure_is_not_cut(tmp_path: Path) -> None:
    figure = Figure(figsize=(1, 1))
    figure.suptitle("far too wide " * 5)
    save_figure(figure, tmp_path / "wide.png")
    with Image.open(tmp_path / "wide.png") as picture:
        assert picture.width > 3 * picture.height
