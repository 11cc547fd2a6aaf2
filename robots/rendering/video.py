"""`open_video` opens an mp4 or a GIF to write frames to."""

import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import numpy as np
from PIL import Image

from robots.errors import InvalidValueError, RenderingError
from robots.files import replace_file

_H264 = "-c:v libx264 -crf 20 -pix_fmt yuv420p -movflags +faststart -f mp4"
_SAMPLES = 12  # frames of which the palette of a GIF is made


class VideoWriter(ABC):
    """Encodes frames; `open_video` makes one.

    Args:
        target: the file to write.
        fps: frames per second.
    """

    fastest: ClassVar[float]  # frames per second

    def __init__(self, target: Path, fps: float) -> None:
        self._target = target
        self._fps = fps
        self._shape: tuple[int, ...] | None = None

    def add(self, frame: np.ndarray) -> None:
        """Append a frame.

        Args:
            frame: (height, width, 3) uint8, as large as the frames before. H.264 has no odd sizes: in an mp4
                the last row or column of such a frame is left out.

        Raises:
            InvalidValueError: the frame is not such an array.
            InvalidFileError: the video cannot be written.
            RenderingError: ffmpeg, which writes an mp4, is missing.
        """
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or min(frame.shape) < 2:
            raise InvalidValueError(
                "frame must be (height, width, 3) uint8 of at least 2 x 2 pixels, "
                f"not {frame.shape} {frame.dtype}"
            )
        if self._shape not in (None, frame.shape):
            raise InvalidValueError(
                f"frame must have the shape of those before, {self._shape}, not {frame.shape}"
            )
        self._shape = frame.shape
        self._encode(frame)

    def finish(self) -> None:
        """Complete the video."""
        if self._shape is None:
            raise InvalidValueError("a video cannot be without frames")
        self._complete()

    def stop(self) -> None:  # noqa: B027 (a writer may have nothing to let go of)
        """Let go of what encoding takes, whether or not the video is complete."""

    @abstractmethod
    def _encode(self, frame: np.ndarray) -> None:
        """Append a checked frame."""

    @abstractmethod
    def _complete(self) -> None:
        """Wait until everything is written."""


class _Mp4(VideoWriter):
    """Encodes frames with ffmpeg while they come."""

    fastest = 1000.0
    _ffmpeg: "subprocess.Popen[bytes] | None" = None

    def _encode(self, frame: np.ndarray) -> None:
        height, width = frame.shape[0] // 2 * 2, frame.shape[1] // 2 * 2  # H.264 has no odd sizes
        if self._ffmpeg is None:
            self._ffmpeg = self._start(width, height)
        assert self._ffmpeg.stdin is not None
        try:
            self._ffmpeg.stdin.write(frame[:height, :width].tobytes())
        except BrokenPipeError:
            self._complete()  # tells what ffmpeg complained about

    def _complete(self) -> None:
        assert self._ffmpeg is not None
        _, complaint = self._ffmpeg.communicate()
        if self._ffmpeg.returncode:
            raise OSError((complaint.decode(errors="replace").strip().splitlines() or ["ffmpeg failed"])[-1])

    def stop(self) -> None:
        if self._ffmpeg is not None:
            self._ffmpeg.kill()
            self._ffmpeg.communicate()

    def _start(self, width: int, height: int) -> "subprocess.Popen[bytes]":
        """Start ffmpeg, which reads raw frames."""
        import imageio_ffmpeg  # type: ignore[import-untyped]

        try:
            program = imageio_ffmpeg.get_ffmpeg_exe()
        except RuntimeError as error:
            raise RenderingError(f"videos need ffmpeg: apt install ffmpeg ({error})") from error
        raw = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {self._fps} -i -".split()
        command = [program, "-v", "error", "-y", *raw, *_H264.split(), f"file:{self._target}"]
        # imageio's own writer lets ffmpeg write to the terminal, and does not ask whether it succeeded
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )


class _Gif(VideoWriter):
    """Collects frames and gives all of them one palette, which does not flicker."""

    fastest = 50.0  # browsers slow down a GIF whose frames last less than 0.02 s

    def __init__(self, target: Path, fps: float) -> None:
        super().__init__(target, fps)
        self._frames: list[np.ndarray] = []

    def _encode(self, frame: np.ndarray) -> None:
        self._frames.append(frame.copy())

    def _complete(self) -> None:
        chosen = np.linspace(0, len(self._frames) - 1, min(_SAMPLES, len(self._frames))).astype(int)
        montage = Image.fromarray(np.vstack([self._frames[row] for row in chosen]))
        # first so that no colour is far from one of the palette: those of the feet are rare; then the mean of
        # all that are nearest to each
        palette = montage.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1)
        images = [
            Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE)
            for frame in self._frames
        ]
        ends = np.rint(100 * np.arange(len(images) + 1) / self._fps)  # a GIF counts in hundredths of a second
        durations = (10 * np.diff(ends)).astype(int).tolist()
        images[0].save(
            self._target, "GIF", save_all=True, append_images=images[1:], duration=durations, loop=0
        )


_WRITERS: dict[str, type[VideoWriter]] = {".mp4": _Mp4, ".gif": _Gif}


@contextmanager
def open_video(path: Path, *, fps: float) -> Iterator[VideoWriter]:
    """Write a video; the file at `path` changes only when the body has ended well.

    Args:
        path: of the video; its extension, .mp4 (H.264) or .gif, tells the format. A GIF is encoded in memory.
        fps: frames per second, at most 1000, or 50 for a GIF.

    Raises:
        InvalidValueError: an argument is out of range, the extension is unknown, or there were no frames.
        InvalidFileError: the file cannot be written there.
    """
    kind = _WRITERS.get(path.suffix.lower())
    if kind is None:
        raise InvalidValueError(f"{path} must end in {' or '.join(_WRITERS)}")
    if not 0 < fps <= kind.fastest:
        raise InvalidValueError(f"fps of {path} must be above 0 and at most {kind.fastest:g}, not {fps}")
    with replace_file(path) as temporary:
        writer = kind(temporary, fps)
        try:
            yield writer
            writer.finish()
        finally:
            writer.stop()
