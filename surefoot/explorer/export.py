"""A page that needs no server: the archive, recorded gaits and a recovery in a single file."""

import base64
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from adapt.damage.library import damage_library
from repertoire.repertoire import Repertoire
from robots.errors import InvalidValueError
from robots.files.atomic import write_text
from surefoot.explorer.answers import Answers, Message
from surefoot.explorer.explorer import Explorer

STATIC = Path(__file__).parent / "static"
MOST_BYTES = 5_000_000  # of a page
_MOST_GAITS = 20
_SPACING = 0.04  # between poses [s]
_SPARE = 60_000  # bytes that compressing all at once may take more than in parts
_MODULES = {
    "three": "three/three.min.js",
    **{
        name: f"{name}.js"
        for name in ("archive", "connection", "main", "mission", "recovery", "stage", "view")
    },
}


def check_page(page: Path) -> None:
    """Refuse a page in another format."""
    if page.suffix.lower() not in (".html", ".htm"):
        raise InvalidValueError(f"{page} must end in .html")


def export_page(
    explorer: Explorer,
    page: Path,
    *,
    damage: str | None = None,
    on_progress: Callable[[str, float], None] = lambda _what, _share: None,
) -> int:
    """Write a page with a recovery, and with as many gaits, healthy and damaged, as fit into 5 MB.

    A mission that the explorer shows is part of it.

    Args:
        explorer: what to show.
        page: the .html file.
        damage: of the recovery; by default the first of the library, usually the first leg lost.
        on_progress: called with what is done, in words, and the share of it that is.

    Returns:
        The number of gaits.
    """
    check_page(page)
    recorder = _Recorder(explorer)
    hello = explorer.hello()
    rows: list[int] = []
    if explorer.walks:
        damages = (one for one in damage_library(explorer.repertoire.robot) if one.singles)
        broken = str(next(damages)) if damage is None else damage
        recorder.recover(broken, explorer.selector, on_progress)
        if explorer.mission is not None:
            recorder.mission()
        chosen = [recorder.incumbent, *_spread_rows(explorer.repertoire)]
        chosen.insert(1, recorder.found)
        wanted = list(dict.fromkeys(chosen))[:_MOST_GAITS]
        for number, row in enumerate(wanted):
            on_progress("recording gaits", number / len(wanted))
            if not recorder.walk(row, ("", broken)):
                break
            rows.append(row)
        on_progress("recording gaits", 1.0)
        selectors = {explorer.selector: hello["selectors"][explorer.selector]}
        hello |= {"damages": {"recorded": [broken]}, "selectors": selectors, "start": recorder.incumbent}
    recorded = {
        "hello": {**hello, "recorded": rows if explorer.walks else None},
        "scenes": recorder.scenes,
        "answers": recorder.answers,
    }
    write_text(page, _page(recorded))
    return len(rows)


class _Recorder:
    """Collects the answers to requests, as long as they fit into a page."""

    def __init__(self, explorer: Explorer) -> None:
        self.scenes: list[Message] = []
        self.answers: dict[str, list[Message]] = {}
        self.incumbent = self.found = 0
        self._now: list[Message] = []
        self._answers = Answers(explorer, self._take, spacing=_SPACING)
        self._left = MOST_BYTES - _SPARE - len(_page({"hello": explorer.hello()}))
        self._show: Callable[[str, float], None] = lambda _what, _share: None

    def recover(self, damage: str, selector: str, show: Callable[[str, float], None]) -> None:
        """Record a recovery."""
        self._show = show
        self._answers.recover({"damage": damage, "selector": selector, "pictures": False}, threading.Event())
        *_, recovered = self._now
        self.incumbent, self.found = recovered["incumbent"], recovered["row"]
        if not self._keep({f"recover {damage}": self._now}):
            raise InvalidValueError(
                "the recovery alone does not fit into a page of 5 MB: ask for fewer trials"
            )

    def mission(self) -> None:
        """Record the mission."""
        self._answers.mission({"pictures": False}, threading.Event())
        if not self._keep({"mission": self._now}):
            raise InvalidValueError("the mission does not fit into a page of 5 MB: export without --mission")

    def walk(self, row: int, damages: tuple[str, ...]) -> bool:
        """Record a gait with each of some damages; whether that still fits."""
        kept: dict[str, list[Message]] = {}
        for damage in damages:
            self._now = kept[f"walk {row} {damage}"] = []
            request = {"row": row, "damage": damage, "view": 0, "pictures": False}
            self._answers.walk(request, threading.Event())
        return self._keep(kept)

    def _keep(self, more: dict[str, list[Message]]) -> bool:
        self._left -= _size(more)
        if self._left >= 0:
            self.answers |= more
        self._now = []
        return self._left >= 0

    def _take(self, message: Message) -> None:
        if message["type"] == "scene":
            self.scenes.append(message)
            self._left -= _size(message)
        elif message["type"] == "progress":
            self._show(message["what"], message["share"])
        elif message["type"] == "ran":
            pass  # the trial itself follows at once
        else:
            self._now.append(message)


def _spread_rows(repertoire: Repertoire) -> Iterator[int]:
    """Rows of good gaits that differ: the best, and the best of each half and third of every measure."""
    elites = repertoire.elites
    low, high = np.array(repertoire.problem.measure_ranges).T
    shares = np.clip((elites.measures - low) / (high - low), 0, 0.999)
    order = np.argsort(-elites.objectives, kind="stable")
    for parts in (1, 2, 3):
        _, first = np.unique((shares[order] * parts).astype(int), axis=0, return_index=True)
        yield from (int(row) for row in order[np.sort(first)])


def _page(recorded: Message) -> str:
    """The page with what was recorded."""
    modules = {name: (STATIC / path).read_text("utf-8") for name, path in _MODULES.items()}
    text = (STATIC / "page.html").read_text("utf-8")
    before, rest = text.split('<script type="importmap"')
    _, after = rest.split('<script type="module" src="static/main.js"></script>')
    style = (STATIC / "explorer.css").read_text("utf-8")
    before = before.replace('<link rel="stylesheet" href="static/explorer.css">', f"<style>{style}</style>")
    boot = (STATIC / "boot.js").read_text("utf-8")
    packed = _compressed({"modules": modules, "recorded": recorded})
    end = f'<script type="text/plain" id="packed">{packed}</script>\n<script>{boot}</script>\n</body>'
    return before + after.replace("</body>", end)


def _compressed(content: Message) -> str:
    return base64.b64encode(gzip.compress(json.dumps(content, allow_nan=False).encode(), mtime=0)).decode()


def _size(content: Message) -> int:
    """Bytes that something takes in a page."""
    return len(_compressed(content))
