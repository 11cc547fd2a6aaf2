"""An MJCF with includes, meshes and textures becomes one text."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from robots.catalogue import MODELS
from robots.errors import InvalidRobotError
from robots.mjcf import reading
from robots.mjcf.reading import read_self_contained
from tests.robots.importing.dogs import dog, write_dog


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_dog(tmp_path)


def compiled(path: Path) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(read_self_contained(path))


def test_physics_stay_what_they_were(scene: Path) -> None:
    ours, theirs = compiled(scene), mujoco.MjModel.from_xml_path(str(scene))
    for name in ("body_mass", "body_inertia", "body_ipos", "jnt_range", "actuator_ctrlrange", "key_qpos"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-5, atol=1e-6)
    ends = []
    for model in (ours, theirs):
        data = mujoco.MjData(model)
        mujoco.mj_resetDataKeyframe(model, data, 0)
        mujoco.mj_step(model, data, 100)
        ends.append(data.qpos.copy())
    np.testing.assert_allclose(*ends, atol=1e-3)


def test_every_element_gets_the_same_name_each_time(scene: Path) -> None:
    model = compiled(scene)
    assert model.joint(0).name == "trunk_joint_0"
    assert model.body(model.geom("front_left_shin_geom_1").bodyid[0]).name == "front_left_shin"
    assert all(model.geom(geom).name for geom in range(model.ngeom))
    assert read_self_contained(scene) == read_self_contained(scene)


def test_names_that_are_taken_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        '<mujoco><worldbody><geom name="world_geom_1" size="1"/><geom size="2"/></worldbody></mujoco>'
    )
    model = compiled(path)
    assert [model.geom(geom).name for geom in range(2)] == ["world_geom_1", "world_geom_1_"]
    assert model.geom_size[:, 0].tolist() == [1, 2]


def test_a_mesh_that_is_only_seen_and_too_large_is_left_out_and_the_hidden_shape_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_MOST_DRAWN", 100)
    xml = dog().replace(
        '<geom type="box" size="0.2 0.1 0.05"/>', '<geom type="box" size=".2 .1 .05" group="3"/>'
    )
    xml = xml.replace('name="coat" texture="coat"', 'name="coat" texture="coat" rgba=".2 .4 .6 1"')
    scene = write_dog(tmp_path, xml)
    model, whole = compiled(scene), mujoco.MjModel.from_xml_path(str(scene))
    assert (model.nmesh, model.ntex) == (0, 0)
    assert model.ngeom == whole.ngeom - 1
    assert model.geom("trunk_geom_1").group == 0
    np.testing.assert_allclose(model.mat_rgba[model.geom("trunk_geom_1").matid[0]], [0.2, 0.4, 0.6, 1])
    np.testing.assert_allclose(model.body_mass, whole.body_mass)


def test_a_shape_that_is_only_seen_stays_and_weighs_nothing(tmp_path: Path) -> None:
    eye = '<geom name="eye" size="0.05" contype="0" conaffinity="0" rgba="1 1 1 1"/>'
    scene = write_dog(tmp_path, dog().replace("<freejoint/>", "<freejoint/>" + eye))
    eye = mujoco.MjSpec.from_string(read_self_contained(scene)).geom("eye")
    assert (eye.density, eye.group) == (0, 0)


def vertices(model: mujoco.MjModel, geom: int) -> np.ndarray:
    """The vertices of a mesh where it is in its robot's first pose, (v, 3)."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    first, count = model.mesh_vertadr[model.geom_dataid[geom]], model.mesh_vertnum[model.geom_dataid[geom]]
    return (
        model.mesh_vert[first : first + count] @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
    )


def test_what_touches_keeps_its_shape_and_place_and_needs_no_file(tmp_path: Path, monkeypatch) -> None:
    xml = dog().replace('material="coat" contype="0" conaffinity="0"', 'pos="0.1 0 0" euler="10 20 30"')
    xml = xml.replace(
        'file="trunk.obj"', 'file="trunk.obj" scale="1 -2 0.5" refpos="0.1 0 0" refquat="3 1 2 0"'
    )
    scene = write_dog(tmp_path, xml)
    text, theirs = read_self_contained(scene), mujoco.MjModel.from_xml_path(str(scene))
    for path in (*tmp_path.glob("assets/*"), *tmp_path.glob("*.xml")):
        path.unlink()
    monkeypatch.chdir(tmp_path)
    ours = mujoco.MjModel.from_xml_string(text)
    geom = int(np.flatnonzero(ours.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH))[0])
    assert ours.nmeshface == theirs.nmeshface == 3600
    np.testing.assert_allclose(vertices(ours, geom), vertices(theirs, geom), atol=1e-5)


def test_a_height_field_comes_along_and_a_picture_does_not(tmp_path: Path) -> None:
    scene = write_dog(tmp_path)
    scene.write_text(
        scene.read_text()
        .replace("<worldbody>", '<asset><hfield name="hills" file="coat.png" size="1 1 1 1"/>'
                 '<material name="lawn" texture="coat"/></asset><worldbody>')
        .replace('size="0 0 1"/>', 'size="0 0 1" material="lawn"/><geom type="hfield" hfield="hills"/>')
    )  # fmt: skip
    model = compiled(scene)
    assert (model.hfield_nrow[0], model.hfield_ncol[0]) == (64, 64)
    np.testing.assert_allclose(
        model.hfield_data, mujoco.MjModel.from_xml_path(str(scene)).hfield_data, atol=1e-4
    )
    assert model.mat("lawn").texid.max() == -1


def test_an_mjcf_that_needs_nothing_stays_as_it_is() -> None:
    path = MODELS / "ant" / "ant.xml"
    assert read_self_contained(path) == path.read_text()


MESH = '<mujoco><compiler {}/><asset><mesh file="x.obj"/></asset></mujoco>'


def including(file: str) -> str:
    return f'<mujoco><include file="{file}"/></mujoco>'


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.xml": including("b.xml"), "b.xml": including("a.xml")}, "includes 'a.xml' twice"),
        ({"a.xml": including("none.xml")}, r"refers to '.*none\.xml', which cannot be opened"),
        ({"a.xml": MESH.format("")}, r"refers to '[^']*/x\.obj', which cannot be opened"),
        ({"a.xml": MESH.format('meshdir="assets"')}, r"refers to '[^']*/assets/x\.obj', which cannot be"),
        (
            {"a.xml": '<?xml version="1.0"?>\n<!-- mine -->\n<robot name="r"/>'},
            "is a URDF: give it a name",
        ),
        ({"b.xml": "<mujoco/>"}, r"there is no such file; MJCF files in its folder: b\.xml"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(tmp_path: Path, files: dict, message: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(InvalidRobotError, match=message) as caught:
        read_self_contained(tmp_path / "a.xml")
    assert str(tmp_path / "a.xml") in str(caught.value)


def test_meshes_that_are_too_large_are_refused(scene: Path, monkeypatch) -> None:
    monkeypatch.setattr("robots.mjcf.reading.MOST", 1_000)
    with pytest.raises(InvalidRobotError, match="its meshes take 0 MB"):
        read_self_contained(scene)


def test_a_text_that_no_longer_compiles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text('<mujoco><worldbody><geom type="box" size="1 1 1e-320"/></worldbody></mujoco>')
    with pytest.raises(InvalidRobotError, match="the MJCF cannot be read: Error: size 2 must be positive"):
        read_self_contained(path)


def test_a_keyframe_of_a_robot_with_a_ball_joint_is_read(tmp_path: Path) -> None:
    path = tmp_path / "ball.xml"
    path.write_text(
        """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/><body name="trunk"><freejoint/>
        <geom name="box" size=".1"/><body name="arm"><joint name="shoulder" type="ball"/>
        <geom name="ball" size=".1"/></body></body></worldbody>
        <keyframe><key name="home" qpos="0 0 1 1 0 0 0 1 0 0 0"/></keyframe></mujoco>"""
    )
    assert "shoulder" in read_self_contained(path)
    path.write_text(path.read_text().replace(" 1 0 0 0 1 0 0 0", " 1 0 0 0 1 0 0"))
    with pytest.raises(InvalidRobotError, match="'home' has 10 positions, the joints have 11"):
        read_self_contained(path)
