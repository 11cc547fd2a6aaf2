"""The library takes objects that are registered nowhere: what is recorded says so, and cannot be resumed."""

from pathlib import Path

import numpy as np
import pytest

import surefoot
from adapt.damage.damage import DamageModification, SingleDamage
from adapt.damage.kinds.motors import Weak
from adapt.damage.parts import RobotParts, Target
from adapt.damage.strength import Scale
from adapt.selectors.baselines import BestFirst
from repertoire.algorithms.catalogue import Algorithm
from repertoire.algorithms.settings import ARCHIVES
from repertoire.archives.grid import GridSpec
from repertoire.emitters.evolution_strategy import EvolutionStrategySettings
from repertoire.emitters.variation import VariationSettings
from repertoire.problems.benchmarks import Arm
from repertoire.problems.catalogue import PROBLEMS
from repertoire.problems.record import ProblemRecord
from repertoire.strategies.sep_cma_es import SepCMAESSettings
from repertoire.strategies.table import STRATEGIES
from repertoire.training.runs import start_training
from robots.errors import InvalidFileError, InvalidValueError, UnknownNameError
from robots.link.interface import Interface
from robots.robot import Faults, load_robot
from surefoot.environments import make_environment
from tests.adapt.rehearsal.small import small_repertoire

SMALL = {"evaluations": 500, "archive": "5,5"}


class LastFirst(BestFirst):
    """Tries gaits from the last to the first."""

    @property
    def worth(self) -> np.ndarray:
        return np.arange(len(self.prior))


class Halved(SingleDamage):
    """The motors give half of their torque, or another share."""

    title = "the motors give a share of their torque"
    family = "weak"
    sorts = ("leg",)
    scale = Scale("the share", 0.1, 0.9, default=0.5)

    def _modification(self, parts: RobotParts, target: Target) -> DamageModification:
        return Weak(self.target, self.amount)._modification(parts, target)


class Doubled(SepCMAESSettings):
    """A strategy under another name."""

    kind = "doubled"
    summary = "sep-CMA-ES"


class Bent(Arm):
    """An arm that is no benchmark."""

    def __init__(self, **facts: str) -> None:
        super().__init__(10)
        self.record = ProblemRecord("bent", 10, self.record.measure_ranges, **facts)


class Squares(GridSpec):
    """A grid under another name."""

    kind = "squares"

    def __str__(self) -> str:
        return f"squares:{super().__str__()}"


OWN = {
    "emitter": EvolutionStrategySettings(strategy=Doubled(batch_size=20, sigma0=0.1)),
    "emitters": (EvolutionStrategySettings(strategy=Doubled()), VariationSettings(batch_size=20)),
    "algorithm": Algorithm("mine", "own", EvolutionStrategySettings, (Doubled,), annealed=True),
}


def test_a_selector_is_a_class() -> None:
    asked = {"trials": 2, "confirmations": 0, "threads": 1}
    recovery = surefoot.recover(small_repertoire(), "front_left:lost", selector=LastFirst, **asked)
    assert recovery.trials[1].row == 4
    assert recovery.selector == "LastFirst (not registered)"


def test_a_damage_is_an_object_whose_kind_is_the_name_of_its_class(tmp_path: Path) -> None:
    gaits, damage = small_repertoire(), Halved("front_left")
    text = "front_left:Halved@0.5"
    assert surefoot.recover(gaits, damage, selector="random", trials=1, threads=1).damage == text
    assert text in surefoot.rehearse(gaits, [damage], episodes=1, threads=1).conditions
    surefoot.deploy(gaits, damage=damage, seconds=0.1)
    make_environment(gaits.robot, damage=damage)
    with pytest.raises(UnknownNameError, match="unknown kind of damage 'Halved'"):
        surefoot.rehearse(gaits, [damage], episodes=1, threads=1, out=tmp_path / "rehearsal.h5")
    assert not list(tmp_path.iterdir())


def test_a_robot_that_was_modified_is_trained_and_recovers(tmp_path: Path) -> None:
    def edit(spec) -> None:
        for motor in spec.actuators:
            motor.gear = 0.5 * motor.gear

    robot = load_robot("ant")
    settings = {"evaluations": 10, "episode_steps": 40, "threads": 1, "emitters": 1, "batch_size": 10}
    trained = surefoot.train(robot, **settings, out=tmp_path / "whole")
    assert len(surefoot.load(tmp_path / "whole")) == len(trained)
    weak = surefoot.train(robot.modified("weak", edit), **settings)
    assert weak.robot.modifications[0].label == "weak"
    assert not np.array_equal(weak.elites.objectives, trained.elites.objectives)
    recovery = surefoot.recover(weak, "front_left:lost", selector=BestFirst, trials=1, threads=1)
    assert recovery.trials
    assert recovery.selector == "best-first", "a class that is registered has its name"
    saved = surefoot.train(robot.modified("weak", edit), **settings, out=tmp_path / "weak")
    np.testing.assert_allclose(saved.elites.objectives, weak.elites.objectives, rtol=1e-3)
    loaded = surefoot.load(tmp_path / "weak")
    hashes = [Interface.of(one).model_hash for one in (robot.modified("weak", edit), loaded.robot, robot)]
    assert hashes[0] == hashes[1] != hashes[2], "over a link it is the robot of its file"
    gear = loaded.robot.physics.actuator_gear[:, 0]
    np.testing.assert_allclose(gear, robot.physics.actuator_gear[:, 0] / 2, rtol=1e-5)
    assert surefoot.recover(loaded, "front_left:lost", selector=BestFirst, trials=1, threads=1).trials


def test_what_no_mjcf_can_express_is_not_trained_for_a_file(tmp_path: Path) -> None:
    robot = load_robot("ant")
    late = robot.modified("late", faults=Faults(delay=1))
    legless = robot.modified("legless", lambda spec: spec.delete(spec.body("front_left_thigh")))
    for changed, message in (
        (late, "no MJCF can express 'late'"),
        (legless, "ant with legless: the MJCF has no"),
    ):
        with pytest.raises(InvalidValueError, match=f"no file can hold this robot: .*{message}"):
            surefoot.train(changed, evaluations=10, threads=1, out=tmp_path / "run")
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("own", OWN)
def test_an_algorithm_of_own_settings(own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(tmp_path, "sphere-10", OWN[own])
    loaded = surefoot.load(tmp_path)
    assert len(loaded)
    assert loaded.settings.algorithm.endswith("(not registered)")
    assert "not registered" in repr(loaded)
    with pytest.raises(InvalidValueError, match="recorded with 'doubled', which is not registered here"):
        surefoot.resume(tmp_path)
    monkeypatch.setitem(STRATEGIES, "doubled", Doubled)  # as a plugin does
    resumed = surefoot.resume(tmp_path)
    whole = surefoot.train("sphere-10", OWN[own], **SMALL)
    np.testing.assert_array_equal(resumed.elites.solutions, whole.elites.solutions)


def test_a_problem_and_an_archive_are_objects(tmp_path: Path) -> None:
    trained = surefoot.train(Bent(), "cma-mae", out=tmp_path, **SMALL | {"archive": GridSpec((4, 4))})
    assert (trained.problem.name, trained.grid) == ("bent", (4, 4))
    assert len(surefoot.load(tmp_path)) == len(trained)
    interrupted(tmp_path / "stopped", Bent(), "cma-mae")
    with pytest.raises(InvalidValueError, match="the problem 'bent', which is not registered here"):
        surefoot.resume(tmp_path / "stopped")


def test_a_problem_that_changed_since_it_was_recorded_cannot_be_resumed(tmp_path, monkeypatch):
    interrupted(tmp_path, Bent(), "cma-mae")
    monkeypatch.setitem(PROBLEMS, "bent", lambda: Bent(objective_name="height"))
    with pytest.raises(InvalidValueError, match=r"registered here under that name has other objective name$"):
        surefoot.resume(tmp_path)


def test_a_file_of_an_own_archive_is_read_with_its_plugin(tmp_path, monkeypatch):
    trained = surefoot.train("sphere-10", out=tmp_path, **SMALL | {"archive": Squares((5, 5))})
    with pytest.raises(InvalidFileError, match="the archive 'squares', which is not registered here: load"):
        surefoot.load(tmp_path)
    monkeypatch.setitem(ARCHIVES, "squares", Squares)  # as a plugin does
    assert len(surefoot.load(tmp_path)) == len(trained)


def interrupted(folder: Path, problem: object, algorithm: object) -> None:
    """Leave a run after its first batch."""
    with start_training(problem, algorithm, out=folder, seed=1, **SMALL) as training:
        training.step()
        training.save(folder / "repertoire.h5")
