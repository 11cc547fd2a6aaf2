"""What pages are told: it is the evaluation, and nothing that a page sends does any harm."""

import base64
import gzip
import json
import re
import shlex
import threading

import mujoco
import numpy as np
import pytest

import surefoot
from adapt.requests import RecoveryRequest
from adapt.selectors.catalogue import DEFAULT_SELECTOR
from repertoire.plots import stack
from robots.errors import SurefootError
from robots.robot import load_robot
from surefoot.explorer import export
from surefoot.explorer.answers import Answers, Request
from surefoot.explorer.archive import describe_archive
from surefoot.explorer.explorer import Explorer
from surefoot.explorer.export import export_page
from surefoot.explorer.scene import describe_scene
from surefoot.explorer.server import Session
from surefoot.shipped import repertoire_path
from tests.robots.stepping import begun

DAMAGE = "left_front:lost"


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    return Explorer(repertoire_path("hexapod"), "hexapod", RecoveryRequest(trials=8))


@pytest.fixture(scope="module")
def recovered(explorer: Explorer) -> list[dict]:
    """The messages of a recovery."""
    return asked(explorer, "recover", damage=DAMAGE, selector="rehearsed")


def asked(explorer: Explorer, do: str, **request: object) -> list[dict]:
    """The answers to a request."""
    messages: list[dict] = []
    asking = Answers(explorer, messages.append)
    asking.answer(Request(do=do, **request))
    return messages


def numbers(text: str, kind: str = "<f4") -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), kind)


@pytest.mark.parametrize("damage", ["", DAMAGE])
def test_the_poses_of_a_gait_are_those_of_the_episode_that_is_evaluated(explorer, damage):
    row = explorer.repertoire.best()
    scene, walk, *parts, _ = asked(explorer, "walk", row=row, damage=damage)
    rows = sum(part["rows"] for part in parts)
    poses = np.concatenate([numbers(part["poses"]) for part in parts]).reshape(rows, scene["bodies"], 7)
    touching = np.concatenate([numbers(part["touching"], "u1") for part in parts]).reshape(rows, -1)
    ahead = np.concatenate([numbers(part["curve"]) for part in parts])

    stepper = begun(explorer.robot(damage), explorer.request.seed)
    for step in range(walk["survived"]):
        stepper.drive(explorer.repertoire.elites.solutions[row])
        data = stepper.posed_data()
        np.testing.assert_array_equal(poses[step, :, :3], data.xpos.astype(np.float32))
        np.testing.assert_array_equal(poses[step, :, 3:], data.xquat.astype(np.float32))
    assert walk["distance"] == stepper.progress
    assert ahead[walk["survived"] - 1] == np.float32(walk["distance"])
    shares = touching[: walk["survived"]].mean(axis=0)
    np.testing.assert_allclose(shares[scene["measured"]], walk["measures"], atol=1e-12)
    assert walk["fell"] == bool(damage)  # the fall is shown, and what follows it
    assert rows == (250 if not damage else walk["survived"] + 50)


def test_a_recovery_is_that_of_the_command_that_the_page_prints(explorer, recovered, works, tmp_path):
    started = next(message for message in recovered if message["type"] == "recovery")
    works(*shlex.split(started["command"])[1:], "--out", tmp_path)
    record = json.loads((tmp_path / "recovery.json").read_text())
    trials = [message for message in recovered if message["type"] == "trial"]
    assert len(trials) == len(record["trials"]) >= 4
    for shown, kept in zip(trials, record["trials"], strict=True):
        assert {name: json.loads(json.dumps(shown[name])) for name in kept if name != "thought"} == {
            name: value for name, value in kept.items() if name != "thought"
        }
        ahead = np.concatenate([numbers(part["curve"]) for part in shown["walk"]["parts"]])
        assert len(ahead) >= kept["steps"] // 2
    assert (recovered[-1]["row"], recovered[-1]["stop"]) == (record["row"], record["stop"])


def test_the_page_offers_the_default_of_recover_and_groups_damages(explorer: Explorer) -> None:
    hello = explorer.hello()
    assert hello["selector"] == DEFAULT_SELECTOR
    assert {"self-model", "rehearsed"} < hello["selectors"].keys()
    pairs = hello["damages"].pop("several of these")
    assert all("+" in text for text in pairs)
    assert not any("+" in text for texts in hello["damages"].values() for text in texts)
    chosen = Explorer(explorer.file, "hexapod", RecoveryRequest(selector="map-bo"))
    assert chosen.hello()["selector"] == "map-bo"


def test_a_recovery_shows_what_it_expects_and_imagines(explorer: Explorer, recovered: list[dict]) -> None:
    scenes = {message["damage"] for message in recovered if message["type"] == "scene"}
    expected, *maps = [numbers(message["map"]) for message in recovered if "map" in message]
    elites = len(explorer.repertoire.elites)
    assert all(len(values) == elites for values in maps), "specialists are no part of the archive"
    assert np.abs(maps[-1] - expected).max() > 0.5
    trials = [message for message in recovered if message["type"] == "trial"]
    for trial, values in zip(trials, maps, strict=True):
        row = trial["imagined"]["row"]
        assert row == int(values.argmax()) or elites <= row < len(explorer.repertoire)
        assert trial["imagined"]["damage"] == max(trial["diagnosis"], key=trial["diagnosis"].get)
    assert {trial["imagined"]["damage"] for trial in trials} <= scenes


def test_the_command_of_a_gait_repeats_it(explorer: Explorer, works) -> None:
    _, walk, *_ = asked(explorer, "walk", row=3, damage=DAMAGE)
    out = works(*shlex.split(walk["command"])[1:])
    assert f"{walk['distance']:.2f} m ahead" in out
    assert ("still on its feet" in out) == (not walk["fell"])


def test_a_scene_has_what_is_seen_of_a_robot(explorer: Explorer) -> None:
    whole, lame = describe_scene(explorer.robot("")), describe_scene(explorer.robot(DAMAGE))
    legs = {geom["leg"] for geom in whole["geoms"]}
    assert legs == {None, *explorer.repertoire.robot.description.legs}
    assert {geom["leg"] for geom in lame["geoms"]} == legs - {"left_front"}
    assert sum(geom["kind"] == "plane" for geom in whole["geoms"]) == 1
    assert {geom["mesh"] for geom in whole["geoms"]} == {None, *whole["meshes"]}
    model = explorer.repertoire.robot.model
    hidden = int((model.geom_group > 2).sum())
    assert len(whole["geoms"]) == model.ngeom - hidden
    (mesh,) = whole["meshes"].values()
    assert numbers(mesh["faces"], "<u4").max() < len(numbers(mesh["vertices"])) / 3


def test_height_fields_and_textures_become_meshes_and_colours() -> None:
    def edit(spec: mujoco.MjSpec) -> None:
        spec.add_hfield(name="hill", nrow=3, ncol=4, size=[2, 1, 0.5, 0.1], userdata=np.arange(12.0))
        kind = mujoco.mjtGeom.mjGEOM_HFIELD
        spec.worldbody.add_geom(name="hill", type=kind, hfieldname="hill", contype=0, conaffinity=0)

    scene = describe_scene(load_robot("hexapod").modified("on a hill", edit))
    field = scene["meshes"]["hfield 0"]
    vertices = numbers(field["vertices"]).reshape(-1, 3)
    assert vertices[:, 2].max() == pytest.approx(0.5)
    assert vertices[0].tolist() == [-2, -1, 0]
    triangles = vertices[numbers(field["faces"], "<u4").reshape(-1, 3)]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    assert len(triangles) == 12
    assert (normals[:, 2] > 0).all()
    floor = next(geom for geom in scene["geoms"] if geom["kind"] == "plane")
    assert 0.7 < floor["rgba"][0] < 0.8  # the mean of two tiles


def test_cells_lie_where_the_picture_of_the_archive_has_them(explorer: Explorer) -> None:
    about, repertoire = explorer.archive, explorer.repertoire
    order = stack(np.arange(np.prod(repertoire.grid)).reshape(repertoire.grid))
    column = (numbers(about["x"]) * about["columns"]).astype(int)
    row = ((1 - numbers(about["y"])) * about["rows"]).astype(int)
    np.testing.assert_array_equal(order[row, column], repertoire.elites.cells)
    assert numbers(about["objectives"]).argmax() == about["best"] == repertoire.best()


@pytest.mark.parametrize("archive", ["cvt:30", "30"])
def test_maps_of_problems_without_a_robot(archive: str, tmp_path) -> None:
    problem = "sphere-20" if archive.startswith("cvt") else "hopper"
    settings = {"episode_steps": 20, "hidden": (4,)} if problem == "hopper" else {}
    surefoot.train(problem, out=tmp_path, archive=archive, evaluations=200, **settings)
    shown = Explorer(tmp_path / "repertoire.h5", "mine")
    about = describe_archive(shown.repertoire)
    assert about["kind"] == ("regions" if archive.startswith("cvt") else "profile")
    x, y = numbers(about["x"]), numbers(about["y"])
    assert ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)).all()
    for corners, here in zip(about["corners"], zip(x, y, strict=True), strict=False):
        places = np.array(corners).reshape(-1, 2)
        assert (places.min(axis=0) <= here).all()
        assert (places.max(axis=0) >= here).all()
    hello = shown.hello()
    assert hello["walks"] == (problem == "hopper")
    if not hello["walks"]:
        with pytest.raises(SurefootError, match="no gait 0 that can be shown"):
            asked(shown, "walk", row=0)
    else:
        assert "surefoot rehearse mine" in hello["notes"][-1]
        assert "rehearsed" not in hello["selectors"]


def talk(explorer: Explorer, *texts: str, until: str) -> list[dict]:
    """What a session answers, until an answer of a type has come."""
    messages: list[dict] = []
    there = threading.Event()

    def send(message: dict) -> None:
        messages.append(message)
        if message["type"] == until:
            there.set()

    session = Session(explorer, send)
    for text in texts:
        session.handle(text)
    assert there.wait(timeout=120)
    session.close()
    session.thread.join(10)
    assert not session.thread.is_alive()
    return messages


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "not valid JSON"),
        ("[]", "a JSON object"),
        ('{"do": "upload"}', "do: input should be 'walk', 'mission', 'recover' or 'stop'"),
        ('{"do": "mission"}', "start surefoot explore with --mission LOG"),
        ('{"do": "walk", "row": "1"}', "row: "),
        ('{"do": "walk", "row": -1}', "row: "),
        ('{"do": "walk", "row": 0, "view": 2}', "view: "),
        ('{"do": "walk", "row": 0, "damage": "' + 301 * "x" + '"}', "damage: "),
        ('{"do": "walk", "row": 5000}', "there is no gait 5000"),
        ('{"do": "walk", "row": 0, "damage": "tail:lost"}', "unknown leg of the hexapod 'tail'"),
        ('{"do": "recover", "damage": ""}', "choose a damage first"),
        ('{"do": "recover", "damage": "all:weak@0.5", "selector": "best"}', "unknown selector 'best'"),
    ],
)
def test_whatever_a_page_sends_is_answered_in_a_sentence(explorer, text, sentence):
    (found,) = [message for message in talk(explorer, text, until="error") if message["type"] == "error"]
    assert sentence in found["text"]
    assert "\n" not in found["text"]


def test_a_further_request_for_a_view_takes_the_place_of_what_is_under_way(explorer: Explorer) -> None:
    walks = [json.dumps({"do": "walk", "row": row}) for row in range(6)]
    messages = talk(explorer, *walks, until="walked")
    assert [message["row"] for message in messages if message["type"] == "walk"][-1] == 5
    assert sum(message["type"] == "stopped" for message in messages) == 5
    recovery = json.dumps({"do": "recover", "damage": "all:weak@0.5", "selector": "map-bo-tuned"})
    messages = talk(explorer, recovery, '{"do": "stop"}', until="stopped")
    assert not any(message["type"] == "recovered" for message in messages)


def test_an_exported_page_holds_all_it_needs(explorer, recovered, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "_MOST_GAITS", 3)
    few = Explorer(explorer.file, "hexapod", RecoveryRequest(trials=4, selector="rehearsed"))
    gaits = export_page(few, tmp_path / "page.html", damage=DAMAGE)
    text = (tmp_path / "page.html").read_text()
    assert gaits == 3
    (packed,) = re.findall(r'id="packed">([^<]+)<', text)
    content = json.loads(gzip.decompress(base64.b64decode(packed)))
    outside = text.replace(packed, "")
    assert not re.findall(r'(?:src|href)="(?!data:,)', outside)
    sources = "\n".join(content["modules"].values())
    imported = re.findall(
        r'^(?:import|\} from|import .* from) *.*["\']([^"\']+)["\'];$', sources, re.MULTILINE
    )
    assert {"three", "archive", "stage"} <= set(imported) <= set(content["modules"])
    recorded = content["recorded"]
    kept = [message for message in recorded["answers"][f"recover {DAMAGE}"] if message["type"] == "trial"]
    first = next(message for message in recovered if message["type"] == "trial")
    assert json.dumps(kept[0]) == json.dumps(first)
    for row in recorded["hello"]["recorded"]:
        assert {f"walk {row} ", f"walk {row} {DAMAGE}"} <= recorded["answers"].keys()
