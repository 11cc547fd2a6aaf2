"""The table of selectors by name."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adapt.rehearsal.table import Table
from adapt.selectors.best_first import BestFirst
from adapt.selectors.gp_ucb import GPUCB
from adapt.selectors.map_bo import OF_2015, MapBO
from adapt.selectors.oracle import Oracle
from adapt.selectors.random_search import RandomSearch
from adapt.selectors.rehearsed import Rehearsed
from adapt.selectors.selector import Prior, Selector
from adapt.selectors.successive_halving import SuccessiveHalving
from adapt.selectors.thompson import Thompson
from robots.errors import InvalidValueError, UnknownNameError


@dataclass(frozen=True, eq=False)
class Request:
    """All that a selector may be made of, see `make_selector`."""

    prior: Prior
    trials: int
    seed: int
    table: Table | None
    truth: np.ndarray | None
    max_falls: int | None


@dataclass(frozen=True)
class Entry:
    """A selector that can be asked for by name.

    Attributes:
        summary: what it is, in a line.
        make: starts one.
        needs_table: whether it takes a rehearsal.
        needs_truth: whether it takes the true objectives.
    """

    summary: str
    make: Callable[[Request], Selector]
    needs_table: bool = False
    needs_truth: bool = False


_NO_TABLE = (
    "the rehearsed selector needs a rehearsal of the repertoire: make one with surefoot rehearse, or choose "
    "another selector"
)


def _random(request: Request) -> Selector:
    return RandomSearch(request.prior, trials=request.trials, seed=request.seed, max_falls=request.max_falls)


def _best_first(request: Request) -> Selector:
    return BestFirst(request.prior, trials=request.trials, max_falls=request.max_falls)


def _gp_ucb(request: Request) -> Selector:
    return GPUCB(request.prior, trials=request.trials, seed=request.seed, max_falls=request.max_falls)


def _map_bo(request: Request) -> Selector:
    return MapBO(request.prior, trials=request.trials, settings=OF_2015, max_falls=request.max_falls)


def _map_bo_tuned(request: Request) -> Selector:
    return MapBO(request.prior, trials=request.trials, max_falls=request.max_falls)


def _thompson(request: Request) -> Selector:
    return Thompson(request.prior, trials=request.trials, seed=request.seed, max_falls=request.max_falls)


def _successive_halving(request: Request) -> Selector:
    return SuccessiveHalving(request.prior, trials=request.trials, max_falls=request.max_falls)


def _rehearsed(request: Request) -> Selector:
    if request.table is None:
        raise InvalidValueError(_NO_TABLE)
    return Rehearsed(request.prior, trials=request.trials, table=request.table, max_falls=request.max_falls)


def _oracle(request: Request) -> Selector:
    if request.truth is None:
        raise InvalidValueError(
            "the oracle needs the true objectives of all controllers, on the damaged robot"
        )
    return Oracle(request.prior, trials=request.trials, truth=request.truth, max_falls=request.max_falls)


SELECTORS = {
    "random": Entry("controllers at random", _random),
    "best-first": Entry("in the order of the objectives on the intact robot", _best_first),
    "gp-ucb": Entry("Bayesian optimisation over the measures, without the repertoire's objectives", _gp_ucb),
    "map-bo": Entry("map-based Bayesian optimisation with the constants of 2015", _map_bo),
    "map-bo-tuned": Entry("map-based Bayesian optimisation with constants for noisy trials", _map_bo_tuned),
    "thompson": Entry("the best in a random draw from the belief of map-bo-tuned", _thompson),
    "successive-halving": Entry("the best once, the better half again, and so on", _successive_halving),
    "rehearsed": Entry("diagnoses the damage by a rehearsal, tries what works best then", _rehearsed, True),
    "oracle": Entry("knows the truth, for reference", _oracle, needs_truth=True),
}


def choose_selector(name: str | None, table: Table | None) -> str:
    """Name of the selector to use with a rehearsal, or with none.

    Args:
        name: one of `SELECTORS`; by default `rehearsed` if there is a table, `map-bo-tuned` if there is none.
        table: the rehearsal of the repertoire.

    Raises:
        UnknownNameError: there is no such selector.
        InvalidValueError: it needs a table and there is none, or there is one and it makes no use of it.
    """
    if name is None:
        return "map-bo-tuned" if table is None else "rehearsed"
    if _entry(name).needs_table and table is None:
        raise InvalidValueError(_NO_TABLE)
    if table is not None and not _entry(name).needs_table:
        raise InvalidValueError(
            f"the {name} selector makes no use of a rehearsal: leave it out, or choose the rehearsed selector"
        )
    return name


def make_selector(
    name: str,
    prior: Prior,
    *,
    trials: int,
    seed: int,
    table: Table | None = None,
    truth: np.ndarray | None = None,
    max_falls: int | None = None,
) -> Selector:
    """Start the selector of a name.

    Args:
        name: one of `SELECTORS`.
        prior: what the repertoire says.
        trials: how many trials there may be, at least 1.
        seed: of its random choices, at least 0; not all make any.
        table: the rehearsal of the repertoire, for those that need it.
        truth: objectives on the damaged robot, (k,), for the oracle.
        max_falls: how many trials may end in a fall; any number by default.

    Raises:
        UnknownNameError: there is no such selector.
        InvalidValueError: what it needs is missing, or an argument is out of range.
    """
    return _entry(name).make(Request(prior, trials, seed, table, truth, max_falls))


def _entry(name: str) -> Entry:
    """The selector of a name."""
    if name not in SELECTORS:
        raise UnknownNameError("selector", name, SELECTORS)
    return SELECTORS[name]
