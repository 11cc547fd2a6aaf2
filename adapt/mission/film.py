"""`filmed`: films a mission, with a map of its path and what happens beside the robot."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from adapt.mission.log import Event
from adapt.mission.world import World
from adapt.requests import MissionRequest
from robots.rendering.camera import Camera
from robots.rendering.figures import BLUE, GREEN, QUIET, VERMILION
from robots.rendering.video import open_video
from robots.robot import Robot

_ROBOT, _MAP, _LINE = (480, 360), (360, 360), 44  # [pixels]
_FPS = 20.0
_MARGIN = 30  # of the map [pixels]
_PAPER = "#ffffff"
_WARNING = ("alarm", "fall", "assistance", "change")


@contextmanager
def filmed(
    request: MissionRequest, robot: Robot, path: Path
) -> Iterator[Callable[[World, Event | None], None]]:
    """Film a mission of a robot to a video: what is given back is to be called after every control step."""
    trail: list[tuple[float, float]] = []
    with (
        open_video(path, fps=_FPS) as writer,
        Camera(robot.model, width=_ROBOT[0], height=_ROBOT[1]) as camera,
    ):
        font = ImageFont.load_default(13)
        shown = 0

        def add(world: World, event: Event | None) -> None:
            nonlocal shown
            trail.append((world.pose.x, world.pose.y))
            if world.clock * _FPS < shown:
                return
            shown = int(world.clock * _FPS) + 1  # while somebody sets the robot upright nothing is filmed
            camera.look_at(world.robot.model)
            page = Image.new("RGB", (_ROBOT[0] + _MAP[0], _ROBOT[1] + _LINE), _PAPER)
            page.paste(Image.fromarray(camera.frame(world.posed_data())), (0, 0))
            pen = ImageDraw.Draw(page)
            pen.font = font
            _draw_map(pen, trail, request)
            color = QUIET if event is None else VERMILION if event.kind in _WARNING else "#111111"
            words = "" if event is None else event.words
            pen.text((12, _ROBOT[1] + 6), f"{world.clock:5.1f} s", fill=QUIET)
            room = (_ROBOT[0] + _MAP[0] - 90) // 7
            pen.text((78, _ROBOT[1] + 6), words[:room], fill=color)
            pen.text((78, _ROBOT[1] + 23), words[room : 2 * room], fill=color)
            writer.add(np.asarray(page))

        yield add


def _draw_map(pen: ImageDraw.ImageDraw, trail: list[tuple[float, float]], request: MissionRequest) -> None:
    """Draw the path so far and the goals, as seen from above; ahead is to the right."""
    places = np.array([(0.0, 0.0), *request.goals, *trail])
    low, high = places.min(axis=0), places.max(axis=0)
    size = max(float((high - low).max()), 2.0)
    middle = (low + high) / 2
    scale = (min(_MAP) - 2 * _MARGIN) / size

    def pixel(place: tuple[float, float]) -> tuple[float, float]:
        x, y = (place[0] - middle[0]) * scale, (place[1] - middle[1]) * scale
        return _ROBOT[0] + _MAP[0] / 2 + x, _MAP[1] / 2 - y

    for goal in request.goals:
        x, y = pixel(goal)
        radius = max(request.within * scale, 4)
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), outline=GREEN, width=2)
    if len(trail) > 1:
        pen.line([pixel(place) for place in trail[::5]] + [pixel(trail[-1])], fill=BLUE, width=2)
    x, y = pixel(trail[-1])
    pen.ellipse((x - 5, y - 5, x + 5, y + 5), fill=BLUE)
    left, bottom = _ROBOT[0] + _MARGIN, _MAP[1] - 12
    pen.line((left, bottom, left + scale, bottom), fill=QUIET, width=2)
    pen.text((left + scale + 6, bottom - 9), "1 m", fill=QUIET)
