"""`open_video` opens an mp4 or a GIF to write frames to."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from robots.errors import InvalidValueError, RenderingError
from robots.files.atomic import replace_file

# What ffmpeg is told, by the file's extension: H.264 has no odd sizes, and a GIF flickers unless its frames
# share one palette.
_FORMATS = {
    ".mp4": "-vf crop=trunc(iw/2)*2:trunc(ih/2)*2 -c:v libx264 -crf 20 -pix_fmt yuv420p "
    "-movflags +faststart -f mp4",
    ".gif": "-vf split[a][b];[a]palettegen=reserve_transparent=0[p];[b][p]paletteuse=dither=none "
    "-loop 0 -f gif",
}
# [frames/s] browsers slow a GIF down whose frames last below 0.02 s
FASTEST = {".mp4": 1000.0, ".gif": 50.0}


class VideoWriter:
    """Encodes frames for a file while they come, by options of ffmpeg; `open_video` makes one."""

    def __init__(self, target: Path, encoding: str, fps: float) -> None:
        self._target, self._encoding, self._fps = target, encoding, fps
        self._ffmpeg: subprocess.Popen[bytes] | None = None

    def add(self, frame: np.ndarray) -> None:
        """Append a frame, (height, width, 3) uint8, as large as those before; an mp4 cuts odd sizes."""
        self._ffmpeg = self._ffmpeg or self._start(frame.shape[1], frame.shape[0])
        assert self._ffmpeg.stdin is not None
        try:
            self._ffmpeg.stdin.write(frame.tobytes())
        except BrokenPipeError:
            self.finish()  # tells what ffmpeg complained about

    def finish(self) -> None:
        """Wait until everything is written."""
        if self._ffmpeg is None:
            raise InvalidValueError("a video cannot be without frames")
        _, complaint = self._ffmpeg.communicate()
        if self._ffmpeg.returncode:
            raise OSError((complaint.decode(errors="replace").strip().splitlines() or ["ffmpeg failed"])[-1])

    def stop(self) -> None:
        """Let go of what encoding takes, whether or not the video is complete."""
        if self._ffmpeg is not None:
            self._ffmpeg.kill()
            self._ffmpeg.communicate()

    def _start(self, width: int, height: int) -> "subprocess.Popen[bytes]":
        """Start ffmpeg, which reads raw frames: imageio's own writer does not ask whether it succeeded."""
        import imageio_ffmpeg  # type: ignore[import-untyped]

        raw = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {self._fps} -i -".split()
        options = ["-v", "error", "-y", *raw, *self._encoding.split(), f"file:{self._target}"]
        try:
            command = [imageio_ffmpeg.get_ffmpeg_exe(), *options]
            pipe = subprocess.PIPE
            return subprocess.Popen(command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe)
        except (RuntimeError, OSError) as error:
            raise RenderingError(f"videos need ffmpeg: apt install ffmpeg ({error})") from error


def check_video(path: Path) -> None:
    """Refuse a video in another format than those that can be written."""
    if path.suffix.lower() not in _FORMATS:
        raise InvalidValueError(f"{path} must end in {' or '.join(_FORMATS)}")


@contextmanager
def open_video(path: Path, *, fps: float) -> Iterator[VideoWriter]:
    """Write an .mp4 (H.264) or .gif; the file changes only when the body has ended well."""
    check_video(path)
    kind = path.suffix.lower()
    if not 0 < fps <= FASTEST[kind]:
        raise InvalidValueError(f"fps of {path} must be above 0 and at most {FASTEST[kind]:g}, not {fps}")
    with replace_file(path) as temporary:
        writer = VideoWriter(temporary, _FORMATS[kind], fps)
        try:
            yield writer
            writer.finish()
        finally:
            writer.stop()
