"""Robots whose models are part of other packages, and the real ones among them that come with Surefoot."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import h5py
import numpy as np
import pytest

import surefoot
from adapt.recovery import find_incumbent
from repertoire.evaluation.evaluator import Evaluator
from repertoire.storage.files import RunFiles
from repertoire.storage.repertoires import fingerprint
from robots.catalogue import ZOO, known_robots, zoo_names
from robots.controllers.policy import PolicyDescription
from robots.description import parse_description
from robots.errors import InvalidFileError, InvalidRobotError
from robots.importing.draft import draft_robot
from robots.mjcf.urdf import convert_urdf
from robots.robot import find_robot, load_robot, read_robot
from surefoot.shipped import included, repertoire_path
from tests.robots.importing.dogs import write_dog
from tests.robots.mjcf.test_urdf import PLACES
from tests.robots.mjcf.test_urdf import dog as urdog

PACKAGE = "package: {name: toys==1.2, maker: a toymaker, license: MIT, mass: 5.0}\n"
MISSING = r"dog\.xml is part of toys==1\.2, which is not installed: pip install toys==1\.2"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch) -> Path:
    """A package with the dog in it, and the description of the dog elsewhere."""
    site, home = tmp_path / "site", tmp_path / "home"
    home.mkdir()
    scene = write_dog(site / "toys")
    info = site / "toys-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.2\n")
    (info / "RECORD").write_text("toys/dog.xml,,\ntoys/scene.xml,,\n")
    monkeypatch.syspath_prepend(str(site))
    text = draft_robot(scene).path.read_text()
    path = home / "dog.yaml"
    path.write_text(text.replace("model: scene.xml\n", f"model: toys/dog.xml\n{PACKAGE}"))
    return path


def test_a_model_is_taken_from_a_package_and_no_file_holds_it(installed: Path, tmp_path: Path) -> None:
    robot = read_robot(installed)
    scene = next((tmp_path / "site" / "toys").glob("*.yaml"))
    np.testing.assert_array_equal(robot.physics.body_mass, read_robot(scene).physics.body_mass)
    assert robot.physics.geom("floor").type == 0, "which the scene adds to the model of the package"
    options = {"evaluations": 4, "batch_size": 2, "emitters": 1, "episode_steps": 3}
    made = surefoot.train(robot, out=tmp_path / "run", **options)
    file = RunFiles.of(tmp_path / "run").repertoire
    with h5py.File(file) as content:
        assert content["robot/mjcf"][()] == b""
    assert fingerprint(surefoot.load(file)) == fingerprint(made)
    heavy = robot.modified("heavy", lambda spec: setattr(spec.body("trunk"), "mass", 9.0)).as_written()
    assert heavy.description.package is None
    assert heavy.kept_xml
    record = tmp_path / "site" / "toys-1.2.dist-info"
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.3\n")
    with pytest.raises(InvalidFileError, match=MISSING):
        surefoot.load(file)
    (record / "METADATA").unlink()
    record.rename(record.with_name("gone"))
    with pytest.raises(InvalidFileError, match=MISSING):
        surefoot.load(file)


def test_a_model_of_a_package_may_be_a_urdf(installed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "site" / "toys"
    text = urdog(visual="obj").replace("package://dog_description/meshes", "assets")
    (folder / "urdog.urdf").write_text(text)
    (folder.parent / "toys-1.2.dist-info" / "RECORD").write_text("toys/urdog.urdf,,\n")
    path, _ = convert_urdf(folder / "urdog.urdf")
    drafted = draft_robot(path).path.read_text()
    installed.write_text(drafted.replace("model: urdog.xml\n", f"model: toys/urdog.urdf\n{PACKAGE}"))
    path.unlink()
    robot = read_robot(installed)
    assert list(robot.description.legs) == list(PLACES)
    assert robot.kept_xml == ""


def test_a_package_gives_only_its_own_files(installed: Path) -> None:
    installed.write_text(installed.read_text().replace("toys/dog.xml", "../home/dog.yaml"))
    with pytest.raises(InvalidRobotError, match=r"dog\.yaml is part of toys==1\.2"):
        read_robot(installed)


@pytest.mark.parametrize("name", zoo_names())
def test_a_robot_of_the_zoo_is_described_and_its_repertoire_holds_no_model(name: str) -> None:
    description = parse_description((ZOO / f"{name}.yaml").read_text(), origin=name)
    assert description.name == name
    assert known_robots()[name] == ZOO / f"{name}.yaml"
    assert name in included()
    file = repertoire_path(name)
    with h5py.File(file) as content:
        assert content["robot/mjcf"][()] == b""
        text = content["robot/yaml"][()].decode()
    stored = parse_description(text, origin=name)
    own = ("controller", "episode_steps") if isinstance(stored.controller, PolicyDescription) else ()
    assert stored.model_copy(update={key: getattr(description, key) for key in own}) == description
    assert file.stat().st_size + RunFiles(file).rehearsal.stat().st_size < 1_000_000
    try:
        package = description.package.name.partition("==")[0]
        found = f"{package}=={version(package)}"
    except PackageNotFoundError:
        found = ""
    if found != description.package.name:
        with pytest.raises(InvalidRobotError, match=f"pip install {description.package.name}"):
            load_robot(name)
        return
    robot = find_robot(name)
    assert robot.physics.body_mass.sum() == pytest.approx(description.package.mass, rel=0.01)
    repertoire = surefoot.load(name)
    whole = Evaluator(repertoire, {"intact": repertoire.robot})
    walks = whole.run(np.full(8, find_incumbent(whole, seed=1)), np.arange(8))
    assert np.median(walks.distances) > 1.5, "0.3 body lengths a second"
    assert walks.fell.sum() <= 2
