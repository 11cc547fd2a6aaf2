"""`VideoWriter` makes an mp4 or a GIF of frames."""

import subprocess
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

import numpy as np

from robots.errors import InvalidFileError, InvalidValueError
from robots.files import replace_file
from robots.rendering.camera import RenderingError


class _Format(NamedTuple):
    """What ffmpeg is told to write, and how many frames per second make sense."""

    arguments: str
    fastest: float


_FORMATS = {
    ".mp4": _Format("-c:v libx264 -crf 20 -pix_fmt yuv420p -movflags +faststart -f mp4", fastest=1000),
    # One palette for all frames does not flicker, and without dithering what stands still costs nothing.
    # Browsers slow down a GIF whose frames last less than 0.02 s.
    ".gif": _Format(
        "-filter_complex split[a][b];[a]palettegen=max_colors={colors}:reserve_transparent=0[p];"
        "[b][p]paletteuse=dither=none:diff_mode=rectangle -f gif",
        fastest=50,
    ),
}


class VideoWriter:
    """Writes frames to a video, as a context; what is at `path` changes only when all went well.

    Args:
        path: of the video; its extension, .mp4 (H.264) or .gif, says the format. A GIF is encoded in memory.
        fps: frames per second, at most 50 for a GIF.
        colors: in the palette of a GIF, 2 to 256; fewer make a smaller file.

    Raises:
        InvalidValueError: an argument is out of range, or the extension is unknown.
        InvalidFileError: the file cannot be written there.
    """

    def __init__(self, path: Path, *, fps: float, colors: int = 256) -> None:
        known = _FORMATS.get(path.suffix.lower())
        if known is None:
            raise InvalidValueError(f"{path} must end in {' or '.join(_FORMATS)}")
        if not 0 < fps <= known.fastest:
            raise InvalidValueError(f"fps of {path} must be above 0 and at most {known.fastest}, not {fps}")
        if not 2 <= colors <= 256:
            raise InvalidValueError(f"colors must be in 2 to 256, not {colors}")
        self.path = path
        self.fps = fps
        self._arguments = known.arguments.format(colors=colors).split()
        self._ending = ExitStack()
        self._encoder: subprocess.Popen[bytes] | None = None
        self._shape: tuple[int, ...] = ()

    def __enter__(self) -> "VideoWriter":
        # entered now: what cannot be written should not cost an episode first
        self._temporary = self._ending.enter_context(replace_file(self.path))
        self._ending.push(self._conclude)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.__exit__(kind, error, trace)

    def add(self, frame: np.ndarray) -> None:
        """Append a frame.

        Args:
            frame: (height, width, 3) uint8, as large as the frames before; of an odd height or width, which
                H.264 lacks, the last row or column is left out.

        Raises:
            InvalidValueError: the frame is not such an array.
            InvalidFileError: the video cannot be written.
        """
        if frame.dtype != np.uint8 or frame.ndim != 3 or frame.shape[2] != 3 or min(frame.shape) < 2:
            raise InvalidValueError(
                "frame must be (height, width, 3) uint8 of at least 2 x 2 pixels, "
                f"not {frame.shape} {frame.dtype}"
            )
        height, width = frame.shape[0] // 2 * 2, frame.shape[1] // 2 * 2
        if self._encoder is None:
            self._shape = frame.shape
            self._encoder = self._start(width, height)
        if frame.shape != self._shape:
            raise InvalidValueError(
                f"frame must have the shape of those before, {self._shape}, not {frame.shape}"
            )
        assert self._encoder.stdin is not None
        try:
            self._encoder.stdin.write(frame[:height, :width].tobytes())
        except BrokenPipeError:
            self._finish()  # says what the encoder complained about

    def _start(self, width: int, height: int) -> "subprocess.Popen[bytes]":
        """Start ffmpeg, which reads raw frames."""
        import imageio_ffmpeg  # type: ignore[import-untyped]

        try:
            program = imageio_ffmpeg.get_ffmpeg_exe()
        except RuntimeError as error:
            raise RenderingError(f"videos need ffmpeg: apt install ffmpeg ({error})") from error
        raw = f"-f rawvideo -pix_fmt rgb24 -s {width}x{height} -r {self.fps} -i -".split()
        command = [program, "-v", "error", "-y", *raw, *self._arguments, f"file:{self._temporary}"]
        # imageio's own writer lets ffmpeg write to the terminal, and does not ask whether it succeeded
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    def _conclude(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the encoder, with the video whole unless something went wrong."""
        try:
            if kind is None:
                self._finish()
        finally:
            if self._encoder is not None:
                self._encoder.kill()
                self._encoder.communicate()

    def _finish(self) -> None:
        """Wait until everything is written."""
        if self._encoder is None:
            raise InvalidValueError(f"{self.path} cannot be a video without frames")
        _, complaint = self._encoder.communicate()
        if self._encoder.returncode:
            last = complaint.decode(errors="replace").strip().splitlines()[-1:] or ["ffmpeg failed"]
            raise InvalidFileError(f"{self.path} cannot be written: {last[0]}")
