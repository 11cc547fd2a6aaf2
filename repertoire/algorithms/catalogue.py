"""Algorithms put emitters, strategies and archives together, without own logic; a table names some of them.

`configure` completes the settings of a search, and `start_search` puts it together.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from pydantic import BaseModel

from repertoire.algorithms.scheduler import Scheduler
from repertoire.algorithms.settings import MixedSettings, Settings, ThresholdSettings
from repertoire.archives.archive import Archive
from repertoire.emitters.arborescence import EstimatedArborescenceSettings, LearnedArborescenceSettings
from repertoire.emitters.emitter import EmitterSettings
from repertoire.emitters.evolution_strategy import EvolutionStrategySettings, ImprovementSettings
from repertoire.emitters.me_es import MEESSettings, Mode
from repertoire.emitters.pga_me import PGAMESettings
from repertoire.emitters.variation import VariationSettings
from repertoire.problems.problem import Problem
from repertoire.strategies.strategy import StrategySettings
from repertoire.strategies.table import STRATEGIES
from robots.errors import InvalidValueError, shown
from robots.files.records import by_kind, validate
from robots.registry import Registry
from robots.words import nameless

# the settings of a search whatever its algorithm
COMMON = ("evaluations", "seed", "archive", "min_objective")
_SUGGESTED = ("archive", "min_objective", "learning_rate", "sigma0")  # by problems


@dataclass(frozen=True)
class Algorithm:
    """Settings that are left open, and those that are not: an entry of the table, or one of a user's own."""

    name: str  # as on the command line
    summary: str  # what it is, in a line
    emitter: type[EmitterSettings]  # the settings of its emitters
    # names or settings of the strategies that its emitters can follow, the default one first; with several of
    # them the user chooses. Empty for emitters that follow no strategy.
    strategies: tuple[str | type[StrategySettings], ...] = ()
    # whether an archive whose thresholds rise guides the search; if not, the result archive does
    annealed: bool = False
    # values of settings that are part of what the name means
    fixed: Mapping[str, object] = field(default_factory=dict)
    # defaults that differ from those of the settings' records
    defaults: Mapping[str, object] = field(default_factory=dict)

    def own_settings(self, strategy: str | None = None) -> dict[str, object]:
        """Return its settings with defaults, beside `COMMON`, with the first strategy unless one is named."""
        records: list[type[BaseModel]] = [self.emitter, *self._strategy(strategy)]
        if self.annealed:
            records.append(ThresholdSettings)
        known: dict[str, object] = {"emitters": Settings.model_fields["emitters"].default}
        for record in records:
            known |= {name: entry.default for name, entry in record.model_fields.items()}
        known.pop("strategy", None)
        if len(self.strategies) > 1:
            known["strategy"] = next(iter(self._strategies))
        return {name: value for name, value in {**known, **self.defaults}.items() if name not in self.fixed}

    def settings(
        self, chosen: Mapping[str, object], *, suggested: Mapping[str, object] | None = None
    ) -> Settings:
        """Complete what a user chose of `COMMON` and `own_settings` to the settings of a search.

        What is `suggested` suits the problem: it is for settings that are neither chosen nor have a default
        of the algorithm's own.
        """
        strategy = chosen.get("strategy") if len(self.strategies) > 1 else None
        known = self.own_settings(None if strategy is None else str(strategy))
        for name in chosen:
            if name not in known and name not in COMMON:
                raise InvalidValueError(f"{self.name} has no setting {name}: it has {', '.join(known)}")
        values = {**(suggested or {}), **self.defaults, **chosen, **self.fixed}
        emitter = _pick(values, self.emitter.model_fields)
        for record in self._strategy(values.get("strategy")):
            emitter["strategy"] = validate(record, _pick(values, record.model_fields))
        thresholds = _pick(values, ThresholdSettings.model_fields) if self.annealed else None
        named = ALGORITHMS.get(self.name) is self
        parts = {
            "algorithm": self.name if named else nameless(self.name),
            "emitter": validate(self.emitter, emitter),
            "thresholds": thresholds,
        }
        return validate(Settings, _pick(values, (*COMMON, "emitters")) | parts)

    def _strategy(self, name: object) -> list[type[StrategySettings]]:
        known = self._strategies
        return [known.find(str(name or next(iter(known))))] if known else []

    @property
    def _strategies(self) -> Registry[type[StrategySettings]]:
        records = [STRATEGIES[one] if isinstance(one, str) else one for one in self.strategies]
        return by_kind("strategy", *records)


AnyAlgorithm = str | Algorithm | EmitterSettings | Sequence[EmitterSettings]


def configure(problem: Problem, algorithm: AnyAlgorithm, chosen: Mapping[str, object]) -> Settings:
    """Complete the settings of a search with what the algorithm prescribes and with the problem's defaults.

    Of settings of emitters in place of an algorithm, there is one emitter each, which is told by how far
    thresholds that rise are exceeded. For `chosen` see `Algorithm.settings`.
    """
    problem.record.check_columns()
    suggested = {name: getattr(problem, name) for name in _SUGGESTED}
    if isinstance(algorithm, str):
        algorithm = ALGORITHMS.find(algorithm)
    if isinstance(algorithm, Algorithm):
        return algorithm.settings(chosen, suggested=suggested)
    given = (algorithm,) if isinstance(algorithm, EmitterSettings) else algorithm
    members = tuple(given) if isinstance(given, Iterable) else ()
    if not members or not all(isinstance(one, EmitterSettings) for one in members):
        raise InvalidValueError(
            "an algorithm is a name, an Algorithm, or settings of emitters such as VariationSettings(), "
            f"not {shown(algorithm)}"
        )
    kinds = " + ".join(dict.fromkeys(one.kind for one in members))
    own = Algorithm(kinds, "", MixedSettings, annealed=True, fixed={"members": members})
    settings = own.settings({"emitters": len(members), **chosen}, suggested=suggested)
    return settings if len(members) > 1 else settings.model_copy(update={"emitter": members[0]})


def start_search(settings: Settings, problem: Problem, seed: np.random.SeedSequence) -> Scheduler:
    """Put an algorithm together; all emitters start from one random solution."""
    members = [settings.emitter.member(number) for number in range(settings.emitters)]
    if any(one.needs_transitions for one in members) and not problem.policy_layers:
        raise InvalidValueError(
            f"{settings.algorithm} learns from the transitions of robots that are driven by networks, but "
            f"{problem.name} has none: choose such a robot, or another algorithm"
        )
    _check_memory(settings, members, problem)
    first, *others = seed.spawn(1 + len(members))
    initial = problem.initial(np.random.default_rng(first))
    emitters = [
        one.make(problem, initial, np.random.Generator(np.random.SFC64(child)))
        for one, child in zip(members, others, strict=True)
    ]
    make = partial(Archive, settings.archive, solution_dim=initial.size, ranges=problem.measure_ranges)
    soft = result = make()
    if settings.thresholds is not None:
        thresholds = settings.thresholds
        soft = make(
            min_objective=settings.min_objective, learning_rate=thresholds.learning_rate, rule=thresholds.rule
        )
    return Scheduler(soft=soft, result=result, emitters=emitters)


def _check_memory(settings: Settings, members: Sequence[EmitterSettings], problem: Problem) -> None:
    needed = sum(one.memory(problem) for one in members)
    available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > 0.9 * available:
        plural = "s" * (settings.emitters > 1)
        raise InvalidValueError(
            f"{settings.emitters} emitter{plural} of {settings.algorithm} would take {needed / 1e9:,.0f} GB "
            f"of memory for {problem.name}, and this machine has {available / 1e9:,.0f} GB: "
            f"choose {settings.emitter.memory_hint}, or fewer emitters"
        )


def _pick(values: Mapping[str, object], names: Iterable[str]) -> dict[str, object]:
    return {name: values[name] for name in names if name in values}


def _mae(name: str, summary: str, *strategies: str, **fixed: object) -> Algorithm:
    return Algorithm(name, summary, EvolutionStrategySettings, strategies, annealed=True, fixed=fixed)


def _single(
    name: str,
    summary: str,
    emitter: type[EmitterSettings],
    *strategies: str,
    fixed: Mapping[str, object] | None = None,
    **defaults: object,
) -> Algorithm:
    defaults = {"emitters": 1, **defaults}
    return Algorithm(name, summary, emitter, strategies, fixed=fixed or {}, defaults=defaults)


def _me_es(name: str, summary: str, mode: Mode) -> Algorithm:
    """An entry that takes steps of OpenAI-ES from elites, by as many samples as Tjanaka et al. 2023."""
    return _single(name, summary, MEESSettings, "openai-es", fixed={"mode": mode}, batch_size=200)


def _mega(name: str, summary: str, emitter: type[EmitterSettings], batch_size: int) -> Algorithm:
    fixed = {"ranking": "discovery", "restart_unchanged": True}
    return _single(name, summary, emitter, "cma-es", fixed=fixed, batch_size=batch_size, sigma0=1.0)


_NAMED = (
    _mae("cma-mae", "a full covariance matrix (Fontaine & Nikolaidis 2023): quadratic in time", "cma-es"),
    _mae(
        "lm-ma-mae", "CMA-MAE with a limited-memory matrix (Tjanaka et al. 2023): linear in time", "lm-ma-es"
    ),
    _mae("sep-cma-mae", "CMA-MAE with a diagonal matrix (Tjanaka et al. 2023): linear in time", "sep-cma-es"),
    _mae("openai-mae", "CMA-MAE with a constant width (Tjanaka et al. 2023): linear in time", "openai-es"),
    Algorithm(
        "cma-me",
        "new cells first, then better elites; only these are learned from (Fontaine et al. 2020)",
        ImprovementSettings,
        ("cma-es", "lm-ma-es", "sep-cma-es"),
    ),
    _mae(
        "cma-es",
        "CMA-MAE with learning rate 0: only the objective counts; any strategy",
        *STRATEGIES,
        learning_rate=0.0,
    ),
    _single(
        "map-elites",
        "elites varied by Gaussian noise (Mouret & Clune 2015)",
        VariationSettings,
        fixed={"line_sigma": 0.0},
    ),
    _single(
        "map-elites-line",
        "elites varied by noise and by steps along lines between them (Vassiliades & Mouret 2018)",
        VariationSettings,
        sigma0=0.01,
    ),
    _me_es("me-es", "OpenAI-ES from elites, to objective and novelty (Colas et al. 2020)", "explore-exploit"),
    _me_es("me-es-exploit", "ME-ES towards the objective alone, from elites that have much of it", "exploit"),
    _me_es("me-es-explore", "ME-ES towards novelty alone, from elites that are novel", "explore"),
    _mega(
        "cma-mega-es",
        "branches along gradients that mirrored samples estimate (CMA-MEGA (ES), Tjanaka et al. 2022)",
        EstimatedArborescenceSettings,
        batch_size=99,
    ),
    _mega(
        "cma-mega-td3-es",
        "CMA-MEGA (ES) along the objective's gradient of a critic (TD3; Tjanaka et al. 2022)",
        LearnedArborescenceSettings,
        batch_size=98,
    ),
    _single(
        "pga-me",
        "elites varied by noise, lines and policy gradients of a critic (TD3; Nilsson & Cully 2021)",
        PGAMESettings,
        sigma0=0.005,
    ),
)
ALGORITHMS = Registry("algorithm", [(algorithm.name, algorithm) for algorithm in _NAMED])
