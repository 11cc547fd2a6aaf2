"""What a trial took is added up over interruptions, and belongs to the checkpoint that is there."""

import json

import pytest

from repertoire.suites import costs
from repertoire.suites.costs import Costs, Meter, read_costs
from repertoire.training.training import Timing
from robots.errors import InvalidFileError


@pytest.fixture
def clock(monkeypatch):
    """Wall clock and processor time that a test sets [s]."""

    class Clock:
        wall, cpu = 100.0, 50.0

    monkeypatch.setattr(costs.time, "perf_counter", lambda: Clock.wall)
    monkeypatch.setattr(costs.time, "process_time", lambda: Clock.cpu)
    return Clock


def test_parts_add_up(tmp_path, clock):
    path = tmp_path / "trial" / "costs.json"
    path.parent.mkdir()
    meter = Meter(path, 0)
    clock.wall, clock.cpu = 110, 58
    meter.note(200, Timing(search=1, evaluation=6, saving=0.5), 1000)
    clock.wall, clock.cpu = 130, 70
    meter.note(400, Timing(search=2, evaluation=12, saving=1), 1500)  # killed before that was saved
    assert read_costs(path, 200) == Costs(10, 8, 1, 6, 0.5, 1000)
    assert read_costs(path, 400) == Costs(30, 20, 2, 12, 1, 1500)
    clock.wall, clock.cpu = 500, 0
    meter = Meter(path, 200)
    clock.wall, clock.cpu = 525, 14
    meter.note(400, Timing(search=1.5, evaluation=7, saving=0.25), 1500)
    assert read_costs(path, 400) == Costs(35, 22, 2.5, 13, 0.75, 1500)
    assert read_costs(path, 200) == Costs(10, 8, 1, 6, 0.5, 1000)
    meter.note(600, Timing(), 1500)
    assert json.loads(path.read_text()).keys() == {"400", "600"}


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"200": 3}', '{"400": {}}', "[" * 10**5])
def test_what_does_not_tell_the_checkpoint_is_refused(tmp_path, text):
    path = tmp_path / "costs.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InvalidFileError, match=r"^.*costs\.json does not tell what the trial took: remove "):
        Meter(path, 200)
