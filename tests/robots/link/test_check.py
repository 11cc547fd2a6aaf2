"""A log that was made with one thing wrong: `surefoot export --check` names it."""

import re

import numpy as np
import pandas as pd
import pytest

import surefoot
from robots.deployment.deployment import deploy
from robots.errors import InvalidFileError
from robots.link.check import Exported, differences
from robots.link.export import onnx_model
from robots.link.logs import Log, read_log
from robots.robot import load_robot
from tests.robots.link.test_export import channels_of, limited, quadruped, random_gait
from tests.robots.stepping import begun

STEPS = 60


class Walk:
    """The best gait of the Ant as a file, and a log of it."""

    def __init__(self) -> None:
        repertoire = surefoot.load("ant")
        self.robot, solution = repertoire.robot, repertoire.gaits.solutions[repertoire.find("best")]
        self.gait = Exported(onnx_model(self.robot, solution, gait="best").SerializeToString(), "gait.onnx")
        self.names = [column["name"] for column in self.gait.told["obs"]]
        stepper, seen, told = begun(self.robot, 3), [], []
        for _ in range(STEPS):
            known = channels_of(stepper)
            seen.append([known[name] for name in self.names])
            told.append(np.clip(stepper.action(solution), -1, 1))
            stepper.step(told[-1])
        self.seen, self.told = np.array(seen), np.array(told, np.float64)
        self.joints = list(self.robot.description.joints)

    def columns(self, *ends: str) -> list[int]:
        return [place for place, name in enumerate(self.names) if name.endswith(ends)]

    def found(self, seen: np.ndarray, told: np.ndarray | None = None) -> list[str]:
        """What is found where the robot saw this, and told this of what followed, but the log is right."""
        told = self.gait.actions(seen) if told is None else told
        return list(differences(self.gait, Log(self.seen, told), self.robot)[0])


@pytest.fixture(scope="module")
def walk() -> Walk:
    return Walk()


def test_a_log_of_the_simulation_fits(walk: Walk) -> None:
    wrong, words = differences(walk.gait, Log(walk.seen, walk.told), walk.robot)
    assert wrong == []
    assert words == f"{STEPS} control steps: actions differ by 0.00% of their size"


@pytest.mark.parametrize(
    ("factor", "columns", "words"),
    [
        (1 / 20, ("hip speed", "ankle speed"), "joint_speed looks 20 times too small"),
        (
            57.29578,
            ("hip speed", "ankle speed"),
            "joint_speed looks 57.3 times too large, as degrees for radians",
        ),
        (-3.0, ("hip speed", "ankle speed"), "joint_speed looks 3 times too large and has the opposite sign"),
        (-1.0, ("upward speed",), "upward speed has the opposite sign"),
    ],
)
def test_a_wrong_unit_or_sign_is_named(
    walk: Walk, factor: float, columns: tuple[str, ...], words: str
) -> None:
    seen = walk.seen.copy()
    seen[:, walk.columns(*columns)] *= factor
    assert walk.found(seen) == [words]


def test_a_joint_that_turns_the_other_way_is_named(walk: Walk) -> None:
    seen = walk.seen.copy()
    seen[:, walk.columns("back_left_ankle position", "back_left_ankle speed")] *= -1
    told = walk.gait.actions(seen)
    told[:, walk.joints.index("back_left_ankle")] *= -1
    assert walk.found(seen, told) == ["back_left_ankle has the opposite sign"]


def swap(walk: Walk, rows: np.ndarray, names: list[str], one: str, other: str) -> np.ndarray:
    order = [
        names.index(re.sub(one, other, name) if one in name else re.sub(other, one, name)) for name in names
    ]
    return rows[:, order]


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("front_left_hip", "front_left_ankle", "front_left_hip and front_left_ankle are swapped"),
        ("back_left_", "back_right_", "the leg back_left and the leg back_right are swapped"),
    ],
)
@pytest.mark.parametrize("where", ["", " in positions and speeds", " in commands"])
def test_what_is_swapped_is_named(walk: Walk, one: str, other: str, words: str, where: str) -> None:
    seen, contacts = walk.seen, walk.columns("contact")
    if where != " in commands":
        seen = swap(walk, seen, walk.names, one, other)
        seen[:, contacts] = walk.seen[:, contacts]
    told = walk.gait.actions(seen)
    if where != " in positions and speeds":
        told = swap(walk, told, walk.joints, one, other)
    assert walk.found(seen, told) == [words + where]


def test_limits_are_named(walk: Walk) -> None:
    seen, speeds = walk.seen.copy(), walk.columns("hip speed", "ankle speed")
    seen[:, speeds] = np.clip(seen[:, speeds], -5, 5)  # [rad/s], as where clips come before scales
    assert walk.found(seen) == ["joint_speed stays within ±5"]
    told = walk.gait.actions(walk.seen)
    joint = walk.joints.index("front_right_ankle")
    told[:, joint] = np.clip(told[:, joint], -0.2, 0.4)
    size = walk.gait.told["actions"][joint]["scale"]
    expected = f"the command of front_right_ankle stays from {-0.2 * size:.3g} to {0.4 * size:.3g} N m"
    assert walk.found(walk.seen, told) == [expected]


def test_scales_and_offsets_of_commands_are_named(walk: Walk) -> None:
    told = walk.gait.actions(walk.seen)
    assert walk.found(walk.seen, 0.5 * told) == ["every action looks 2 times too small"]
    told[:, 2] += 0.1
    expected = (
        f"the command of {walk.joints[2]} is off by {0.1 * walk.gait.told['actions'][2]['scale']:.3g} N m"
    )
    assert walk.found(walk.seen, told) == [expected]


def test_faults_are_named_together_and_through_noise(walk: Walk) -> None:
    seen = walk.seen + 0.003 * np.random.default_rng(1).normal(size=walk.seen.shape)
    assert walk.found(seen) == []
    seen[:, walk.columns("hip speed", "ankle speed")] /= 20
    told = walk.gait.actions(seen)[[0, *range(STEPS - 1)]]
    found = sorted(walk.found(seen, told))
    assert found[0] == "commands lag by 1 control step"
    assert 15 < float(found[1].removeprefix("joint_speed looks ").split()[0]) < 30


def test_what_nothing_explains_is_said(walk: Walk) -> None:
    told = np.random.default_rng(1).uniform(-1, 1, walk.told.shape)
    assert "no scale, sign, order, lag or limit" in walk.found(walk.seen, told)[0]


@pytest.mark.parametrize("ending", ["csv", "mcap"])
@pytest.mark.parametrize("source", ["hexapod", "quadruped"])
def test_telemetry_fits_the_gait_that_made_it(run, source: str, ending: str, tmp_path) -> None:
    log = tmp_path / f"walk.{ending}"
    surefoot.deploy(source, "best", seconds=2, **{ending: log})
    code, out, _ = run(f"export {source} --best --check {log}")
    assert (code, "fits" in out) == (0, True), out
    if ending == "csv":  # of the next gait
        row = surefoot.load(source).find("best") + 1
        code, out, _ = run(f"export {source} --row {row} --check {log}")
        assert (code, "explains" in out) == (1, True), out


def test_a_network_on_a_robot_with_encoders_and_an_imu_fits_its_telemetry(tmp_path) -> None:
    robot = quadruped(
        "{terms: [gravity, gyroscope, joint_position, {term: joint_speed, history: 2}, last_action]}"
    )
    robot, solution = robot.with_command(0.3, 0.0), random_gait(robot)
    deploy(robot, solution, seconds=2, seed=1).write_csv(tmp_path / "walk.csv", "gait")
    gait = Exported(onnx_model(robot, solution, gait="gait").SerializeToString(), "gait.onnx")
    wrong, words = differences(gait, read_log(tmp_path / "walk.csv", robot, gait.told), robot)
    assert wrong == []
    assert float(words.split("differ by ")[1].split("%")[0]) < 0.1


def test_a_table_of_ones_own_has_the_names_of_the_file(walk: Walk, tmp_path) -> None:
    table = pd.DataFrame(walk.seen, columns=walk.names)
    for joint, one in zip(walk.joints, walk.gait.told["actions"], strict=True):
        table[f"{joint} target"] = one["offset"] + one["scale"] * walk.told[:, walk.joints.index(joint)]
    table.to_csv(tmp_path / "own.csv", index=False)
    log = read_log(tmp_path / "own.csv", walk.robot, walk.gait.told)
    np.testing.assert_allclose(log.seen, walk.seen)
    np.testing.assert_allclose(log.told, walk.told, atol=1e-12)
    good = (tmp_path / "own.csv").read_text()
    for wrong, message in {
        good.replace("forward speed", "speed"): "no column 'forward speed', which this gait needs",
        good.replace("front_left_hip target", "x"): "no column 'front_left_hip target'",
        good.splitlines()[0]: "no rows",
        "\n".join(good.splitlines()[:9]): "of 8 control steps, and a comparison needs 20",
        "": "no whole CSV",
        good.replace(good.splitlines()[1].split(",")[0], "nan", 1): "finite and less than 1e9, but 'height",
    }.items():
        (tmp_path / "wrong.csv").write_text(wrong)
        with pytest.raises(InvalidFileError, match=re.escape(message)):
            read_log(tmp_path / "wrong.csv", walk.robot, walk.gait.told)


def test_targets_of_a_log_keep_to_what_the_file_allows(tmp_path) -> None:
    robot = limited(load_robot("hexapod"), 3.0, 3.0)
    gait = Exported(onnx_model(robot, random_gait(robot), gait="g").SerializeToString(), "gait.onnx")
    offset, scale = np.transpose([(one["offset"], one["scale"]) for one in gait.told["actions"]])
    found = []
    for allowed in (True, False):
        told = offset + scale * gait.actions(np.zeros((STEPS, 0)), limited=allowed)
        names = [f"{joint} target" for joint in robot.description.joints]
        pd.DataFrame(told, columns=names).to_csv(tmp_path / "own.csv", index=False)
        found.append(differences(gait, read_log(tmp_path / "own.csv", robot, gait.told), robot)[0])
    assert found[0] == []
    assert found[1] != []
