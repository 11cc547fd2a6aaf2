"""What a calibration is worth across the reality gap: parameters, diagnoses and refined gaits."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapt.damage.damage import Damage
from adapt.damage.text import parse_damage
from adapt.objective import find_objective
from adapt.relearning.refinement import refine
from adapt.self_model.calibrating import calibrate
from adapt.self_model.calibration import Calibration
from adapt.self_model.features import Features
from adapt.self_model.fit import Fit
from adapt.self_model.rating import Rating
from adapt.self_model.suspects import Suspects
from adapt.self_model.twin import RefinementSettings, Thinking, Twin
from repertoire.repertoire import Repertoire
from robots.backend import ModelBatch
from robots.description import Randomization
from robots.evaluations import Request
from robots.files.atomic import write_text
from robots.randomization import GAP, draw, draw_models, model_of
from robots.robot import Robot
from robots.simulation.episodes import Episodes
from robots.simulation.threads import ALL_CORES, Threads
from robots.simulation.trace import TraceColumns
from suites.recovery.faults import random_faults

_GAITS = 3
_READINGS = 0.01  # standard deviation of the noise of sensors, in units of a trace's columns
_FAULTS = 3  # of each robot
_THOUGHTS = 600  # episodes of a diagnosis
_FINALS = 10  # episodes of a refined gait
_MODELS = 8  # that a gait is refined on
_KINDS = ("mass of torso", "mass", "friction", "strength", "damping", "offset", "delay")


def measure_calibrations(
    repertoire: Repertoire, out: Path, *, robots: int, refined: int, episodes: int, say: Callable[[str], None]
) -> None:
    """Calibrate on some robots, diagnose three single faults of each, and refine gaits for a lost leg.

    Without a calibration, the traces from before are known too (`Thinking.before`).

    Args:
        repertoire: of the robot as built.
        out: CSV, with a row for each robot, written again after each.
        robots: how many.
        refined: on how many of these gaits are refined.
        episodes: of each refinement.
        say: told of progress.
    """
    order = np.argsort(-repertoire.gaits.objectives, kind="stable")
    rows = [int(order[0]), *np.random.default_rng(5).choice(order[1:200], _GAITS - 1, replace=False).tolist()]
    faults = [
        one for one in random_faults(repertoire.robot, 6 * _FAULTS * robots, seed=7) if len(one.singles) == 1
    ]
    found: list[dict[str, Any]] = []
    for number in range(robots):
        model = draw(repertoire.robot, np.random.default_rng(1000 + number), GAP)
        true = model_of(repertoire.robot, model, "real")
        rng = np.random.default_rng(number)
        traces = [_trace(repertoire, true, row, 50 + number, rng)[0] for row in rows]
        calibration = calibrate(repertoire, list(zip(rows, traces, strict=True)), seed=number)
        values = np.array(
            [
                *model.mass,
                model.friction,
                *model.strength,
                model.damping,
                *model.offset,
                model.delay,
                model.noise,
            ]
        )
        line: dict[str, Any] = {"robot": number, **_errors(calibration, values)}
        for name, given in (("without", None), ("with", calibration)):
            thinking = Thinking(
                repertoire,
                None,
                _THOUGHTS,
                before=tuple(zip(rows, traces, strict=True)),
                calibration=given,
            )
            some = faults[_FAULTS * number : _FAULTS * (number + 1)]
            line[f"right {name}"] = sum(_right(thinking, true, fault, rows[0], rng) for fault in some)
        if number < refined:
            legs = list(repertoire.robot.description.legs)
            lost = parse_damage(f"{legs[number % len(legs)]}:lost", repertoire.robot)
            line |= _refined(repertoire, calibration, true, lost, episodes)
        found.append(line)
        write_text(out, pd.DataFrame(found).to_csv(index=False, float_format="%.4g"))
        say(f"robot {number}: {line}")


def _trace(
    repertoire: Repertoire, robot: Robot, row: int, seed: int, rng: np.random.Generator
) -> tuple[np.ndarray, bool]:
    """What noisy sensors show of an episode of a gait, and whether the robot falls."""
    episodes = Threads(1).run(
        ModelBatch(robot), repertoire.gaits.solutions[[row]], np.array([seed]), request=Request(traces=True)
    )
    assert episodes.traces is not None
    trace, commands = np.array(episodes.traces[0]), TraceColumns.of(robot).angle
    trace[:, commands:] += _READINGS * rng.standard_normal(trace[:, commands:].shape)
    return trace, bool(episodes.fell[0])


def _errors(calibration: Calibration, true: np.ndarray) -> dict[str, float]:
    """Of each kind of parameter the mean error as built and calibrated, and the share within intervals."""
    neutral = np.array(
        [float(not name.startswith(("offset", "delay", "noise"))) for name in calibration.parameters.names]
    )
    at = {name: number for number, name in enumerate(calibration.parameters.names)}
    errors: dict[str, float] = {}
    for kind in _KINDS:
        some = [one for one in calibration.intervals if one.name.startswith(kind)]
        truth = np.array([true[at[one.name]] for one in some])
        built = np.array([neutral[at[one.name]] for one in some])
        inside = [one.low <= value <= one.high for one, value in zip(some, truth, strict=True)]
        errors |= {
            f"{kind} as built": float(np.abs(built - truth).mean()),
            f"{kind} calibrated": float(np.abs([one.middle for one in some] - truth).mean()),
            f"{kind} inside": float(np.mean(inside)),
        }
    return errors


def _right(thinking: Thinking, true: Robot, fault: Damage, row: int, rng: np.random.Generator) -> bool:
    """Whether kind and part of a fault come first after a trial of a gait."""
    twin = Twin(thinking)
    robot = thinking.repertoire.robot
    rating = Rating(twin, Features(robot), seed=1)
    fit = Fit(rating, Suspects(robot), [], seed=1)
    twin.begin()
    rating.tell(row, *_trace(thinking.repertoire, fault.apply(true), row, 77, rng))
    fit.search(1.0)
    best = rating.best(1)[0].damage
    return {(one.target, one.kind) for one in best.singles} == {
        (one.target, one.kind) for one in fault.singles
    }


def _refined(
    repertoire: Repertoire, calibration: Calibration, true: Robot, fault: Damage, episodes: int
) -> dict[str, Any]:
    """How far gaits walk on the real robot [m] that were refined on different models of its known damage."""
    robot = repertoire.robot
    wide = Randomization(
        mass=GAP.mass, friction=GAP.friction, strength=GAP.strength, delay=(0, 2), models=_MODELS
    )
    several = {
        "built": [robot],
        "randomised": draw_models(robot, wide),
        "calibrated": draw_models(robot, calibration.randomization)[:_MODELS],
    }
    objective = find_objective("progress", repertoire, 2.0)
    rows = np.argsort(-repertoire.gaits.objectives, kind="stable")[:8]
    found: dict[str, Any] = {"fault": str(fault)}
    for name, models in several.items():
        search = refine(
            [fault.apply(model) for model in models],
            repertoire.gaits.solutions[rows],
            objective=objective,
            settings=RefinementSettings(episodes),
            seed=1,
        )
        walked = _walk(fault.apply(true), search.solution)
        found |= {f"{name} [m]": float(walked.distances.mean()), f"{name} falls": int(walked.fell.sum())}
    return found


def _walk(robot: Robot, solution: np.ndarray) -> Episodes:
    """Fresh episodes of a gait."""
    return ALL_CORES.run(ModelBatch(robot), np.tile(solution, (_FINALS, 1)), np.arange(_FINALS) + 900)
