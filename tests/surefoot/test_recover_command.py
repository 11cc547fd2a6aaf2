"""`surefoot recover` as a user types it."""

import json
import math
import shlex
import signal
from pathlib import Path

from adapt.damage.text import parse_damage
from adapt.records import Trial, diagnosis_words
from adapt.recovery import recover
from adapt.rehearsal.rehearsal import quick_rehearsal
from adapt.requests import RecoveryRequest
from repertoire.storage.repertoires import read_repertoire
from robots.files.locks import locked
from robots.simulation.threads import Threads

BROKEN = "recover gaits.h5 --damage front_left:lost --threads 1"


def record(folder: str = "."):
    return json.loads(Path(folder, "recovery.json").read_text())


def test_a_rehearsal_beside_the_repertoire_is_used(works, rehearsed: Path, monkeypatch) -> None:
    monkeypatch.setattr(Threads, "differences", {"workers": "numpy 0.1 instead of 2.3"})
    out = works(f"{BROKEN} --trials 3 --selector rehearsed")
    assert out.startswith("selector: rehearsed, with 3 conditions of gaits-rehearsal.h5 trial 1 cell ")
    found = record()
    for trial in found["trials"]:
        assert (words := diagnosis_words(trial["diagnosis"].items()))
        went = f"expected {trial['predicted']:.2f} m went {trial['distance']:.2f} m "
        assert f"{went}{'fell ' * trial['fell']}{words}" in out
    for level in ("healthy", "broken", "recovered"):
        assert f"{found[level]['distance']:.2f} m" in out
    assert found["workers"] == "numpy 0.1 instead of 2.3"
    assert Path("recovery.png").exists()


def test_an_interrupt_ends_the_search_with_what_is_confirmed(works, rehearsed: Path, monkeypatch) -> None:
    def interrupting(trial: Trial, **_: str) -> None:
        if trial.number == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("surefoot.commands.recover.print_trial", interrupting)
    out = works(f"{BROKEN} --think-episodes 30 --refine 60")
    assert "interrupt again to stop at once" in out
    found = record()
    assert (found["stop"], len(found["trials"])) == ("it was interrupted", 2)
    assert found["row"] == found["incumbent"], "nothing was confirmed yet"


def test_a_robot_that_nothing_helps_is_told_so(works, rehearsed: Path, monkeypatch) -> None:
    monkeypatch.setattr("adapt.confirmation.HOPELESS", 3)
    monkeypatch.setattr("adapt.objective.LIMPING", 100.0)
    monkeypatch.setattr("surefoot.commands.recover.LIMPING", 100.0)
    out = works(f"{BROKEN} --selector best-first --trials 20")
    assert len(record()["trials"]) == 3
    assert "surefoot rehearse and surefoot strengthen" in out


def test_what_a_folder_holds_is_replaced_only_if_told_so(run, work: Path) -> None:
    line = f"{BROKEN} --selector best-first --trials 1"
    Path("recovery.png").write_bytes(b"mine")
    with locked(work / "recovery.json"):
        assert "recovery.json is in use by process" in run(f"{line} --overwrite")[2]
    code, out, err = run(line)
    assert (code, out, Path("recovery.json").exists()) == (2, "", False)
    assert "recovery.png exists already" in err
    assert Path("recovery.png").read_bytes() == b"mine"
    assert run(f"{line} --overwrite --rehearsal rehearsal.h5 --selector rehearsed")[0] == 0
    assert record()["selector"] == "rehearsed"
    assert "recovery.json exists already" in run(line)[2]
    assert run(f"{line} --out other")[0] == 0
    assert record("other")["selector"] == "best-first"


def test_a_self_model_thinks_refines_and_the_last_line_plays_the_gait(works, rehearsed, monkeypatch):
    monkeypatch.setattr("adapt.selectors.self_model.GOOD", math.inf)  # however well a known gait does
    thinking = "--think-episodes 60 --refine 150 --sensors encoders,imu --trials 3 --confirmations 0"
    out = works(f"{BROKEN} {thinking} --out 'my gaits'")
    told = record("my gaits")
    assert told["objective"] == "progress"
    thought = told["trials"][0]["thought"]
    assert thought["episodes"] >= 40
    assert f"(explains {thought['explained']:.0%}, thought " in out
    assert told["refined"], "what the trial showed is explained, so gaits are refined"
    line = f"surefoot deploy 'my gaits/recovery.h5' --row {told['row']} --damage front_left:lost"
    assert out.rstrip().endswith(line)
    works(*shlex.split(line)[1:], "--seconds", 1)
    found = read_repertoire(Path("my gaits/recovery.h5"))
    assert len(found) == 5 + len(told["refined"])
    assert [list(texts) for texts in found.specialists.damages] == [
        gait["believed"] for gait in told["refined"]
    ]


def test_without_a_rehearsal_each_leg_is_rehearsed_dead_and_lost_first(
    works, work: Path, monkeypatch
) -> None:
    rehearsals: list[tuple[str, ...]] = []

    def watched(*arguments, **settings):
        table = quick_rehearsal(*arguments, **settings)
        rehearsals.append(table.conditions)
        return table

    monkeypatch.setattr("adapt.recovery.quick_rehearsal", watched)
    short = f"{BROKEN} --overwrite --trials 1 --refine 0 --think-episodes 20"
    out = works(short)
    assert "with a rehearsal of dead and lost legs alone" in out
    legs = ("front_left", "front_right", "back_left", "back_right")
    (conditions,) = rehearsals
    assert set(conditions) == {"healthy", *(f"{leg}:{kind}" for leg in legs for kind in ("dead", "lost"))}
    out = works(f"{short} --no-rehearsal")
    assert len(rehearsals) == 1
    assert out.startswith("selector: self-model, without a rehearsal trial 1")
    works(f"{BROKEN} --overwrite --trials 1 --selector map-bo")
    assert len(rehearsals) == 1, "a selector that makes no use of a rehearsal needs none"


def test_what_takes_time_is_told(gaits) -> None:
    told: list[tuple[str, float]] = []
    request = RecoveryRequest(trials=1, think_episodes=40, refine=0)
    damage = parse_damage("front_left:lost", gaits.robot)
    recover(gaits, damage, request, backend=Threads(1), on_progress=lambda *one: told.append(one))
    for what in ("trying every gait", "thinking"):
        shares = [share for phase, share in told if phase == what]
        assert shares == sorted(shares)
        assert 0 < shares[0] < 1 == shares[-1]
