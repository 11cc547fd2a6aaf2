"""Recover on a robot behind a link: it is told which gaits to walk, and never what is broken.

surefoot robot hexapod --serve --damage left_front:lost --set-upright    # in another terminal
python examples/recover_over_link.py tcp://127.0.0.1:6000 [TRIALS] [EPISODES]

A trial takes 5 s of the robot's time, and EPISODES are those that the computer simulates after it.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import surefoot
from adapt.confirmation import ConfirmedSearch
from adapt.records import Outcome, diagnosis_words
from adapt.selectors.catalogue import make_selector
from adapt.selectors.selector import Context, Prior
from adapt.self_model.twin import Thinking
from robots.deployment.traces import read_trace
from robots.falls import has_fallen
from robots.link.driving import DrivenStep, drive, first_state
from robots.link.link import LinkError
from robots.link.remote import RemoteLink
from robots.link.telemetry import write_link_csv
from robots.robot import Robot

PATIENCE = 60  # [s] for somebody to set the robot on its feet


def walk(robot: Robot, solution: np.ndarray, address: str) -> Outcome:
    """A trial: the objective of the Hexapod's training, whether it fell, and what its sensors read."""
    moments: list[DrivenStep] = []
    with RemoteLink(robot, address) as link:
        first = state = first_state(link)
        while has_fallen(robot, state.imu_state.quaternion):
            state = first_state(link)
            if state.time > first.time + PATIENCE:
                raise LinkError(f"nobody set the robot on its feet in {PATIENCE} s")
        walked = drive(link, solution, robot.description.episode_steps * robot.control_step, moments.append)
    if walked.ended == "damping":
        raise LinkError("the robot damped itself, since commands came late")
    with TemporaryDirectory() as folder:
        log = Path(folder) / "trial.csv"
        write_link_csv(moments, log, robot.description.joints, tuple(robot.description.feet), gait="trial")
        _, trace = read_trace(log, robot)
    fell = walked.ended == "fall"
    return Outcome(0.0 if fell else walked.ahead or 0.0, fell, trace=trace)  # who falls gets nowhere


def main(address: str, trials: int, episodes: int) -> None:
    """Recover in at most so many trials."""
    repertoire = surefoot.load("hexapod")
    gaits = repertoire.gaits
    prior = Prior(gaits.objectives, gaits.measures, repertoire.settings.min_objective)
    thinking = Thinking(repertoire, episodes)
    selector = make_selector("self-model", Context(prior, trials=trials, seed=1, thinking=thinking))
    search = ConfirmedSearch(selector, repertoire.best())  # beginning with the gait that it walked with
    while (row := search.ask()) is not None:
        outcome = walk(repertoire.robot, gaits.solutions[row], address)
        search.tell(row, outcome)
        print(f"gait {row}: {outcome.objective:.2f} m; {diagnosis_words(selector.diagnosis())}")
    print(f"walk on with gait {search.recommendation()}: {search.stop}")


if __name__ == "__main__":
    arguments = [int(text) for text in sys.argv[2:4]]
    main(sys.argv[1], *arguments, *(12, 800)[len(arguments) :])
