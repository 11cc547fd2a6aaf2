"""How long selectors take to choose and to take in an outcome, on a made-up repertoire."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adapt.damage import HEALTHY
from adapt.records import Outcome
from adapt.rehearsal.table import Table
from adapt.selectors.catalogue import find_selector, make_selector, selector_entries
from adapt.selectors.selector import Context, Prior, Selector
from repertoire.execution.resources import one_blas_thread

Figures = dict[str, Any]
_MEASURES, _EVIDENCE = 6, 12
_MANY, _WIDE, _DONE = 10_000, 96, 50  # controllers, conditions, and trials done, when a choice is timed
_CHOICES = 10
_TRUTH = 3  # condition that is the truth, and that the library lacks


@dataclass(frozen=True, eq=False)
class _Stand:
    """A made-up repertoire with its rehearsal, and a damage that was not rehearsed.

    Attributes:
        prior: of k controllers.
        table: the library.
        truth: of the damage, the only condition.
    """

    prior: Prior
    table: Table
    truth: Table

    def start(self, name: str, trials: int, seed: int) -> Selector:
        """Start a selector."""
        table = self.table if find_selector(name).needs_table else None
        context = Context(self.prior, trials, seed=seed, table=table, truth=self.truth.objectives[0])
        return make_selector(name, context)


def measure_selectors(*, say: Callable[[str], None] = lambda _: None) -> Figures:
    """Measure every selector that does not simulate between trials, on one core.

    Args:
        say: told what is being measured.

    Returns:
        By selector: `choice_ms`, the median time to choose the next of 10,000 controllers after 50 trials,
        and `tell_ms`, that to take in its outcome, with a library of 95 conditions. The truth is one more.
    """
    stand, figures = _stand(_MANY, _WIDE), {}
    with one_blas_thread():
        for name, entry in selector_entries().items():
            if entry.thinks:  # it simulates between trials, which no table can replay
                continue
            say(name)
            choice, tell = _choice(stand, name)
            figures[name] = {"choice_ms": float(f"{1e3 * choice:.3g}"), "tell_ms": float(f"{1e3 * tell:.3g}")}
    return figures


def _choice(stand: _Stand, name: str) -> tuple[float, float]:
    """Median times to choose and to take in [s] after `_DONE` trials."""
    selector = stand.start(name, _DONE + _CHOICES, 0)
    choices, tells = [], []
    for _ in range(_DONE + _CHOICES):
        started = time.perf_counter()
        row = selector.ask()
        chosen = time.perf_counter()
        evidence = stand.truth.evidence[0, row].astype(np.float64)
        selector.tell(row, Outcome(float(stand.truth.objectives[0, row]), False, evidence))
        tells.append(time.perf_counter() - chosen)
        choices.append(chosen - started)
    return float(np.median(choices[_DONE:])), float(np.median(tells[_DONE:]))


def _stand(k: int, conditions: int) -> _Stand:
    """Objectives and evidence that are smooth over random measures, each condition's in its own way."""
    rng = np.random.default_rng(0)
    measures = rng.random((k, _MEASURES))
    healthy = 1 + rng.random(k)
    bends = rng.normal(size=(conditions, _MEASURES)) @ (measures - 0.5).T  # (d, k)
    bends[0] = 0
    shape = (conditions, k)
    evidence = np.tanh(measures @ rng.normal(size=(_MEASURES, _EVIDENCE)))
    offsets = 0.5 * rng.normal(size=(conditions, 1, _EVIDENCE))
    table = Table(
        conditions=(HEALTHY, *(f"leg_{i}:lost" for i in range(1, conditions))),
        objectives=(healthy * (1 - 0.5 * np.abs(np.tanh(bends)))).astype(np.float32),
        noise=np.full(shape, 0.02, np.float32),
        falls=np.zeros(shape, np.float32),
        evidence=(evidence + offsets).astype(np.float32),
        evidence_std=np.full((*shape, _EVIDENCE), 0.02, np.float32),
        evidence_names=tuple(f"number {i}" for i in range(_EVIDENCE)),
        episodes=2,
    )
    unknown = table.conditions[_TRUTH]
    library = table.take([text for text in table.conditions if text != unknown])
    return _Stand(Prior(table.objectives[0], measures, 0.0), library, table.take([unknown]))
