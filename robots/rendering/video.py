"""`VideoWriter` writes frames to an mp4 or a GIF."""

import subprocess
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np
from PIL import Image

from robots.errors import InvalidFileError, InvalidValueError, RenderingError
from robots.files import replace_file

_H264 = "-c:v libx264 -crf 20 -pix_fmt yuv420p -movflags +faststart -f mp4"
_SAMPLES = 12  # frames of which the palette of a GIF is made


class _Mp4:
    """Encodes frames with ffmpeg while they come."""

    fastest = 1000.0  # frames per second

    def __init__(self, path: Path, target: Path, fps: float) -> None:
        self._path, self._target, self._fps = path, target, fps
        self._ffmpeg: subprocess.Popen[bytes] | None = None

    def add(self, frame: np.ndarray) -> None:
        """Append a frame, (height, width, 3) uint8."""
        height, width = frame.shape[0] // 2 * 2, frame.shape[1] // 2 * 2  # H.264 has no odd sizes
        if self._ffmpeg is None:
            self._ffmpeg = self._start(width, height)
        assert self._ffmpeg.stdin is not None
        try:
            self._ffmpeg.stdin.write(frame[:height, :width].tobytes())
        except BrokenPipeError:
            self.finish()  # tells what ffmpeg complained about

    def finish(self) -> None:
        """Wait until everything is written."""
        assert self._ffmpeg is not None
        _, complaint = self._ffmpeg.communicate()
        if self._ffmpeg.returncode:
            last = complaint.decode(errors="replace").strip().splitlines()[-1:] or ["ffmpeg failed"]
            raise InvalidFileError(f"{self._path} cannot be written: {last[0]}")

    def stop(self) -> None:
        """End ffmpeg, whether or not the video is whole."""
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


class _Gif:
    """Collects frames and gives all of them one palette, which does not flicker."""

    fastest = 50.0  # frames per second; browsers slow down a GIF whose frames last less than 0.02 s

    def __init__(self, path: Path, target: Path, fps: float) -> None:
        self._target, self._fps = target, fps
        self._frames: list[np.ndarray] = []

    def add(self, frame: np.ndarray) -> None:
        """Append a frame, (height, width, 3) uint8."""
        self._frames.append(frame.copy())

    def finish(self) -> None:
        """Write the GIF."""
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

    def stop(self) -> None:
        """Forget the frames."""
        self._frames.clear()


_ENCODERS: dict[str, type[_Mp4] | type[_Gif]] = {".mp4": _Mp4, ".gif": _Gif}


class VideoWriter:
    """Writes frames to a video, as a context; the file at `path` changes only when all went well.

    Args:
        path: of the video; its extension, .mp4 (H.264) or .gif, tells the format. A GIF is encoded in memory.
        fps: frames per second, at most 1000, or 50 for a GIF.

    Raises:
        InvalidValueError: an argument is out of range, or the extension is unknown.
        InvalidFileError: the file cannot be written there.
    """

    def __init__(self, path: Path, *, fps: float) -> None:
        encoder = _ENCODERS.get(path.suffix.lower())
        if encoder is None:
            raise InvalidValueError(f"{path} must end in {' or '.join(_ENCODERS)}")
        if not 0 < fps <= encoder.fastest:
            raise InvalidValueError(
                f"fps of {path} must be above 0 and at most {encoder.fastest:g}, not {fps}"
            )
        self.path = path
        self.fps = fps
        self._kind = encoder
        self._ending = ExitStack()
        self._shape: tuple[int, ...] | None = None

    def __enter__(self) -> "VideoWriter":
        # entered now: what cannot be written should not cost an episode first
        temporary = self._ending.enter_context(replace_file(self.path))
        self._encoder = self._kind(self.path, temporary, self.fps)
        self._ending.push(self._conclude)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.__exit__(kind, error, trace)

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
        self._encoder.add(frame)

    def _conclude(self, kind: type[BaseException] | None, *_: object) -> None:
        """Complete the video, unless something went wrong."""
        try:
            if kind is None and self._shape is None:
                raise InvalidValueError(f"{self.path} cannot be a video without frames")
            if kind is None:
                self._encoder.finish()
        finally:
            self._encoder.stop()
