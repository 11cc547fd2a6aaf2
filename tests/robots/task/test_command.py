"""Commands: drawn by the seed from their ranges, seen by controllers, and followed by reflexes."""

import numpy as np
import pytest

import surefoot
from robots.description import parse_description
from robots.errors import InvalidRobotError, InvalidValueError, SurefootError
from robots.robot import Robot, load_robot, robot_from_text
from robots.simulation.stepper import Stepper
from robots.task.command import parse_command
from tests.robots.stepping import begun

RANGES = "command: {speed: [0.1, 0.5], turn: [-0.4, 0.4]}"


def commanded(terms: str = "[command, heading_error]", ranges: str = RANGES) -> Robot:
    """The Quadruped with commands, whose reflexes hold the commanded heading if they see it."""
    robot = load_robot("quadruped")
    yaml = robot.yaml.replace(
        "observations: proprioception", f"observations: {{preset: proprioception, terms: {terms}}}\n{ranges}"
    )
    assert yaml != robot.yaml
    return robot_from_text(robot.xml, yaml, origin="test")


def told(robot: Robot, *seeds: int) -> list[tuple[float, float]]:
    tallies = [begun(robot, seed).tally for seed in seeds]
    return [(float(tally.commanded_speed), float(tally.commanded_turn)) for tally in tallies]


def test_the_seed_draws_the_command_from_all_of_its_ranges() -> None:
    robot = commanded()
    found = np.array(told(robot, *range(200)))
    assert told(robot, 7) == [tuple(found[7])]
    for column, (low, high) in zip(found.T, ((0.1, 0.5), (-0.4, 0.4)), strict=True):
        counts = np.histogram(column, bins=4, range=(low, high))[0]
        assert counts.sum() == 200
        assert counts.min() > 25
    assert abs(np.corrcoef(found.T)[0, 1]) < 0.2
    assert told(robot.with_command(0.3, -0.1), 7) == [(0.3, -0.1)]


def test_reflexes_hold_the_heading_that_the_command_asks_for() -> None:
    """A gait that is walking when it is told to turn turns that way."""
    quadruped = surefoot.load("quadruped")
    gait = quadruped.elites.solutions[quadruped.best()]
    turned = []
    for turn in (-0.2, 0.2):
        stepper = Stepper(commanded().with_command(0.5, turn))
        stepper.run(gait, 3)
        assert not stepper.tally.terminated
        turned.append(stepper.tally.turned / 5.0)
    assert turned[0] < -0.1
    assert turned[1] > 0.1


def test_a_repertoire_records_the_ranges_and_deploy_takes_a_command(tmp_path, run, works) -> None:
    (tmp_path / "told.xml").write_text(load_robot("quadruped").xml)
    (tmp_path / "told.yaml").write_text(commanded().yaml.replace("quadruped.xml", "told.xml"))
    options = {"evaluations": 16, "emitters": 1, "batch_size": 8, "episode_steps": 20, "sigma0": 0.1}
    trained = surefoot.train(str(tmp_path / "told.yaml"), out=tmp_path / "run", **options)
    file = tmp_path / "run" / "repertoire.h5"
    assert surefoot.load(file).robot.description.command == commanded().description.command
    assert "speed 0.1 to 0.5 m/s, turn -0.4 to 0.4 rad/s" in run("robots", tmp_path / "told.yaml")[1]
    out = works("deploy", file, "--best", "--seconds", "0.4", "--command", "0.25,-0.3")
    assert "told 0.25 m/s and -0.30 rad/s, it went at" in " ".join(out.split())
    assert surefoot.deploy(trained, seconds=0.4, seed=5).command == told(commanded(), 5)[0]
    for command, expected in (("9,0", "speed must be from 0.1 to 0.5 m/s"), ("fast", "a speed in m/s")):
        code, _, err = run("deploy", file, "--best", "--command", command)
        assert code == 2
        assert expected in " ".join(err.split())


@pytest.mark.parametrize(
    ("terms", "ranges", "expected"),
    [
        ("[heading_error]", "", "need its ranges, such as command: {speed:"),
        ("[command]", "command: {speed: [0.1, 0.5]}", "missing key 'command.turn'"),
        ("[command]", "command: {speed: [0.5, 0.1], turn: [0, 0]}", "command.speed: a range goes from low"),
        ("[command]", "command: {speed: [0.5, .inf], turn: [0, 0]}", "command.speed.1: input should be"),
    ],
)
def test_a_command_without_ranges_is_refused_in_a_sentence(terms: str, ranges: str, expected: str) -> None:
    with pytest.raises(InvalidRobotError) as error:
        commanded(terms, ranges)
    assert expected in str(error.value)


def test_a_reward_of_a_command_needs_one_too(ant: Robot) -> None:
    before, _, after = ant.yaml.partition("\nreward:")
    rest = after.partition("controller:")[2]
    for reward in ("command", "{heading_error: -1.0}", "{speed_error: -1.0}"):
        yaml = f"{before}\nreward: {reward}\n\ncontroller:{rest}"
        with pytest.raises(SurefootError, match="need its ranges"):
            parse_description(yaml, origin="r.yaml")
        assert parse_description(f"{yaml}\n{RANGES}\n", origin="r.yaml").command


def test_commands_that_cannot_be_followed_are_refused(ant: Robot) -> None:
    with pytest.raises(InvalidValueError, match="ant is told no speed and no turn"):
        ant.with_command(0.3, 0.0)
    with pytest.raises(InvalidValueError, match=r"speed must be from .* m/s, as in training, not 2"):
        commanded().with_command(2.0, 0.0)
    with pytest.raises(InvalidValueError, match=r"turn must be from .* rad/s"):
        commanded().with_command(0.3, float("nan"))
    for text in ("0.3", "a,b", "1,2,3", ""):
        with pytest.raises(InvalidValueError, match="a speed in m/s and a turn to the left in rad/s"):
            parse_command(text)
    assert parse_command("0.3,-0.2") == (0.3, -0.2)
