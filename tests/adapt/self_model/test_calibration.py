"""Calibration: it finds the models that do what the robot did, and says so where none does."""

import dataclasses
import io
from functools import cache

import numpy as np
import pandas as pd
import pytest
from small_minds import short_gaits

import surefoot
from adapt.damage.damage import Combination
from adapt.damage.text import parse_damage
from adapt.self_model.calibrating import calibrate
from adapt.self_model.calibration import read_calibration, read_randomization, read_traces, write_calibration
from adapt.self_model.twin import Run, Thinking, Twin
from robots.deployment.traces import read_trace
from robots.description import Draw, Randomization
from robots.errors import InvalidFileError, InvalidValueError
from robots.randomization import draw, draw_models, model_of
from robots.robot import load_robot
from robots.simulation.threads import Threads
from tests.robots.stepping import run_episodes

PRIOR = Randomization(strength=(0.6, 1.4), delay=(0, 2), damping=(0.5, 1.5))
ROW = 7


def trace_of(robot):
    """What the gait does on a robot."""
    return run_episodes(robot, short_gaits().elites.solutions[ROW], 3, traces=True).traces[0]


@cache
def truth() -> Draw:
    ranges = Randomization(strength=(0.8, 1.2), delay=(1, 1), damping=(0.7, 1.3))
    return draw(short_gaits().robot, np.random.default_rng(4), ranges)


@cache
def calibrated():
    gaits = short_gaits()
    trace = trace_of(model_of(gaits.robot, truth(), "the real one"))
    return calibrate(gaits, [(ROW, trace)], prior=PRIOR, models=60, backend=Threads(2))


def test_it_finds_the_parameters_with_their_intervals():
    found = {interval.name: interval for interval in calibrated().intervals}
    robot = short_gaits().robot
    strengths = [interval for name, interval in found.items() if name.startswith("strength")]
    assert len(strengths) == robot.action_dim
    errors = np.array([one.middle for one in strengths]) - truth().strength
    assert np.abs(errors).mean() < 0.03  # 0.1 from the model as built
    inside = [one.low <= true <= one.high for one, true in zip(strengths, truth().strength, strict=True)]
    assert np.mean(inside) > 0.7
    assert all(one.constrained for one in strengths)
    assert found["delay [steps]"].middle == 1
    assert found["damping"].middle == pytest.approx(truth().damping, abs=0.1)


def test_a_damaged_robot_or_another_gait_is_refused():
    gaits = short_gaits()
    damaged = trace_of(parse_damage("joint=left_front_femur:locked@0.5", gaits.robot).apply(gaits.robot))
    for row, trace in ((ROW, damaged), (20, trace_of(gaits.robot))):
        with pytest.raises(InvalidValueError, match="no model within the ranges"):
            calibrate(gaits, [(row, trace)], prior=Randomization(friction=(0.5, 1.5)), models=8)
    with pytest.raises(InvalidValueError, match="at least one gait"):
        calibrate(gaits, [])
    with pytest.raises(InvalidValueError, match="at least 3 models for 1 parameter, not 2"):
        calibrate(gaits, [(ROW, damaged)], prior=Randomization(friction=(0.5, 1.5)), models=2)


def test_a_file_holds_it(tmp_path):
    path, robot = tmp_path / "c.h5", short_gaits().robot
    write_calibration(path, calibrated())
    again = read_calibration(path, robot)
    np.testing.assert_array_equal(again.values, calibrated().values)
    assert again.gaits == calibrated().gaits
    assert read_randomization(path) == calibrated().randomization
    with pytest.raises(InvalidFileError, match="another robot, hexapod"):
        read_calibration(path, load_robot("ant"))
    newer = dataclasses.replace(robot, xml=robot.xml.replace("</mujoco>", "<!-- --></mujoco>"))
    with pytest.raises(InvalidFileError, match="another version, hexapod"):
        read_calibration(path, newer)


def test_models_for_training_are_those_of_the_calibration():
    models = draw_models(short_gaits().robot, calibrated().randomization)
    assert len(models) == 16
    gains = np.array([model.physics.actuator_gainprm[:, 0] for model in models])
    factors = gains / short_gaits().robot.physics.actuator_gainprm[:, 0]
    names = calibrated().parameters.names
    strengths = calibrated().values[:16, [name.startswith("strength") for name in names]]
    np.testing.assert_allclose(factors, strengths)
    with pytest.raises(InvalidValueError, match="not of the ant"):
        draw_models(load_robot("ant"), calibrated().randomization)


def test_thinking_begins_with_it():
    thinking = Thinking(short_gaits(), 100, calibration=calibrated(), backend=Threads(1))
    ((row, trace),) = thinking.traces_before
    assert row == ROW
    healthy = Twin(thinking).run([Run(Combination(), ROW, 3)], traced=True).traces[0]
    built = trace_of(short_gaits().robot)
    assert np.abs(healthy - trace).mean() < 0.3 * np.abs(built - trace).mean()


def changed(text, column, value):
    """The text of a CSV with another number in its third row."""
    table = pd.read_csv(io.StringIO(text), dtype=str)
    table.loc[2, column] = str(value)
    return table.to_csv(index=False)


def walk(folder, steps=10, **settings):
    """The gaits, and the table of a short walk with one of them."""
    gaits, path = short_gaits(), folder / "walk.csv"
    seconds = steps * gaits.robot.control_step
    surefoot.deploy(gaits, gaits.cell(ROW), seconds=seconds, seed=3, csv=path, **settings)
    return gaits, path


PLACES = ["x [m]", "y [m]"]
NOWHERE = dict.fromkeys(PLACES, "nan")


class TestTraces:
    @pytest.mark.parametrize("lost", [[19], [4, 5, 12, 19, 30, 41]])  # the latter a tenth of all
    def test_the_row_before_stands_for_one_that_was_lost(self, lost, tmp_path):
        gaits, path = walk(tmp_path, 60)
        lines = path.read_text().splitlines(keepends=True)
        whole = read_trace(path, gaits.robot)[1]
        path.write_text("".join(line for number, line in enumerate(lines) if number - 1 not in lost))
        found = read_trace(path, gaits.robot)[1]
        np.testing.assert_array_equal(found[lost[-1] - 1], found[lost[-1]])
        np.testing.assert_array_equal(np.delete(found, lost, axis=0), np.delete(whole, lost, axis=0))

    def test_what_deploy_writes_is_the_trace(self, tmp_path):
        gaits, _ = walk(tmp_path, 60, damage="all:delay@2")
        neutral = draw(gaits.robot, np.random.default_rng(1), Randomization(delay=(2, 2)))
        ((row, trace),) = read_traces([tmp_path], gaits)
        assert row == ROW
        np.testing.assert_allclose(trace, trace_of(model_of(gaits.robot, neutral, "late")), atol=1e-4)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda text: text.replace("left_front_coxa angle", "hip angle"), "no column 'left_front_coxa"),
            (lambda text: text[:-8], "no whole CSV"),
            (lambda text: text[:-10] + '1"\n', "several gaits"),
            (lambda text: text.replace(text.splitlines()[2].split(",")[12], "nan"), "row"),
            (lambda text: text.replace("cell ", "cell 9,"), "lacks"),
            (lambda text: text.replace('"\n', '",\n'), "more fields than its first row names"),
            (lambda text: changed(text, "time [s]", 0), "row 3 is .* s after the one before"),
            (lambda text: changed(text, "left_front_coxa command [-1..1]", 1.01), "-1 to 1, .* in row 3"),
            (lambda text: changed(text, "left_front contact [0/1]", 0.5), "contacts must be 0 or 1"),
            (lambda text: "", "no trace"),
        ],
    )
    def test_what_is_none_is_refused(self, tmp_path, change, message):
        gaits, path = walk(tmp_path)
        path.write_text(change(path.read_text()))
        with pytest.raises(InvalidFileError, match=message):
            read_traces([path], gaits)

    @pytest.mark.parametrize(
        "without", [lambda table: table.drop(columns=PLACES), lambda table: table.assign(**NOWHERE)]
    )
    def test_a_robot_without_odometry_has_traces_without_it(self, tmp_path, without):
        gaits, path = walk(tmp_path)
        ((_, whole),) = read_traces([path], gaits)
        without(pd.read_csv(path)).to_csv(path, index=False)
        with pytest.raises(InvalidFileError, match="no odometry, leave it out of the sensors"):
            read_traces([path], gaits)
        ((_, trace),) = read_traces([path], gaits, ("encoders", "currents", "imu", "contacts"))
        np.testing.assert_allclose(trace[:, :-2], whole[:, :-2], atol=1e-6)
        assert not trace[:, -2:].any()
        assert whole[:, -2:].any()

    def test_one_of_another_robot_is_refused(self, tmp_path):
        gaits, path = walk(tmp_path)
        with pytest.raises(InvalidFileError, match="no trace of the ant"):
            read_trace(path, load_robot("ant"))
        (tmp_path / "empty").mkdir()
        with pytest.raises(InvalidFileError, match=r"no \.csv"):
            read_traces([tmp_path / "empty"], gaits)
