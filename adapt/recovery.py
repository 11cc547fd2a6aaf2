"""Recovery: tries controllers of a repertoire on a damaged robot until one works."""

from collections.abc import Callable
from numbers import Integral

from adapt.bench import Bench
from adapt.damage.damage import Damage
from adapt.records import Recovery, Trial
from adapt.rehearsal.table import Table
from adapt.selectors import SELECTORS, Prior, Selector, choose_selector, make_selector
from repertoire.repertoire import Repertoire
from robots.controllers import robot_controller
from robots.errors import InvalidValueError
from robots.simulation.simulation import Simulation

_NEGLIGIBLE = 0.01  # probability below which a cause is left out of the record


def recover(
    repertoire: Repertoire,
    damage: Damage,
    *,
    seed: int,
    trials: int = 20,
    selector: str | None = None,
    table: Table | None = None,
    max_falls: int | None = None,
    confirmations: int | None = None,
    threads: int | None = None,
    oracle: bool = False,
    on_trial: Callable[[Trial], None] | None = None,
) -> Recovery:
    """Find a controller that works on the damaged robot.

    Args:
        repertoire: of the intact robot.
        damage: what broke.
        seed: at least 0; the result depends on nothing else that is not in the other arguments.
        trials: how many controllers to try at most, at least 1.
        selector: name of what chooses the trials, one of `SELECTORS`; by default `rehearsed` if there is a
            table, and `map-bo-tuned` if there is none.
        table: the repertoire's rehearsal.
        max_falls: how many trials may end in a fall, at least 1; any number by default.
        confirmations: how often a controller must have been tried before the search ends with it, at least
            1; by default what the selector needs, see `Selector.confirmations`. The last trials are kept for
            this.
        threads: of the simulation; all cores by default. The result does not depend on it.
        oracle: whether to find the repertoire's best by trying all of it, many times.
        on_trial: called after each trial.

    Raises:
        UnknownNameError: the robot has no such part, or there is no such selector.
        InvalidValueError: the repertoire is empty or does not fit its robot, the selector needs a table and
            there is none or the other way round, or an argument is outside what is said here.
    """
    optional = {"max_falls": max_falls, "confirmations": confirmations}
    _check_counts({"trials": trials} | {key: value for key, value in optional.items() if value is not None})
    _check(repertoire, seed)
    name = choose_selector(selector, table)
    intact = repertoire.robot.with_episode_steps(repertoire.configuration.episode_steps)
    damaged = damage.apply(intact)
    with Simulation(intact, threads=threads) as before, Simulation(damaged, threads=threads) as after:
        intact_bench, bench = Bench(repertoire, before, int(seed)), Bench(repertoire, after, int(seed))
        search = make_selector(
            name,
            _prior(repertoire),
            trials=trials,
            seed=int(seed),
            table=table,
            truth=bench.truth() if SELECTORS[name].needs_truth else None,
            max_falls=max_falls,
        )
        incumbent = intact_bench.incumbent()
        confirmations = confirmations or search.confirmations
        tried = _search(bench, search, incumbent, confirmations, on_trial)
        chosen = search.recommendation()
        winner = bench.winner(chosen) if oracle else None
        return Recovery(
            robot=intact.name,
            damage=str(damage),
            selector=name,
            seed=int(seed),
            incumbent=incumbent,
            healthy=intact_bench.performance(incumbent),
            broken=bench.performance(incumbent),
            recovered=bench.performance(chosen),
            oracle=None if winner is None else bench.performance(winner),
            oracle_row=winner,
            trials=tuple(tried),
            row=chosen,
            cell=repertoire.cell(chosen),
            stop=search.done()
            or f"the best gait was tried {confirmations} times, and too few trials remain to confirm another",
        )


def _prior(repertoire: Repertoire) -> Prior:
    """What the repertoire says of its controllers."""
    elites = repertoire.elites
    return Prior(elites.objectives, elites.measures, repertoire.configuration.min_objective)


def _search(
    bench: Bench,
    search: Selector,
    incumbent: int,
    confirmations: int,
    on_trial: Callable[[Trial], None] | None,
) -> list[Trial]:
    """Try the incumbent, which is how damage is noticed, and then what a selector proposes.

    Before the search ends, the recommended controller is tried again until one has had its confirmations.
    """
    tried: list[Trial] = []
    kept = min(2 * (confirmations - 1), search.trials // 4)  # enough to find a lucky first leader out
    while not search.spent():
        ending = search.done() is not None or len(tried) >= search.trials - kept
        row = _next(search, incumbent, confirmations, ending)
        if row is None:
            break
        tried.append(_try(bench, search, len(tried) + 1, row))
        if on_trial:
            on_trial(tried[-1])
    return tried


def _next(search: Selector, incumbent: int, confirmations: int, ending: bool) -> int | None:
    """Row to try next, or None to stop."""
    if not search.rows:
        return incumbent
    if not ending:
        return search.next()
    leader = search.recommendation()
    return leader if search.rows.count(leader) < confirmations else None


def _try(bench: Bench, search: Selector, number: int, row: int) -> Trial:
    """Try a controller once, and tell the selector."""
    predicted = float(search.predicted[row])
    run = bench.trial(number, row)
    search.tell(row, run.outcome)
    return Trial(
        number=number,
        row=row,
        cell=bench.repertoire.cell(row),
        seed=run.seed,
        predicted=predicted,
        measured=run.outcome.objective,
        fell=run.outcome.fell,
        steps=run.steps,
        distance=run.distance,
        diagnosis={cause: p for cause, p in search.diagnosis() if p >= _NEGLIGIBLE},
    )


def _check_counts(counts: dict[str, int]) -> None:
    """Refuse what is no whole number of at least 1."""
    for name, value in counts.items():
        if not _whole(value, 1):
            raise InvalidValueError(f"{name} must be a whole number of at least 1, not {value!r}")


def _check(repertoire: Repertoire, seed: int) -> None:
    """Refuse what no recovery can start from."""
    if not _whole(seed, 0):
        raise InvalidValueError(f"seed must be a whole number of at least 0, not {seed!r}")
    if not len(repertoire):
        raise InvalidValueError("the repertoire is empty: there is no controller to try")
    controller = robot_controller(repertoire.robot)
    if (
        repertoire.controller != controller.shape
        or repertoire.elites.solutions.shape[1] != controller.parameter_count
    ):
        raise InvalidValueError(
            f"the repertoire's {repertoire.controller} controllers do not fit the {repertoire.robot.name}, "
            f"which has {controller.shape}"
        )


def _whole(value: object, least: int) -> bool:
    """Whether it is a whole number of at least so much."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
