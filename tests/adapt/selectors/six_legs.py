"""A made-up robot with six legs: a world in which selectors can be tried in no time.

A controller has a duty factor, a thrust and a phase for each leg. The robot is as fast as its legs push, less
when they push askew or out of step, and falls when too few hold it. Damages take thrust and contact from
legs.
"""

import numpy as np

from adapt.records import Outcome
from adapt.rehearsal.table import Table, tabulate
from adapt.selectors.selector import Prior, Selector

LEGS = 6
_SIDES = np.array([1, 1, 1, -1, -1, -1.0])
EVIDENCE = (
    *(f"contact {i}" for i in range(LEGS)),
    *("midway", "lateral", "sine", "cosine", "power", "survived"),
)
# What a kind of damage leaves of a leg: (thrust, contact)
_LEFT = {"lost": (0.0, 0.0), "dead": (0.1, 0.6), "short@0.5": (0.5, 0.4), "locked": (0.6, 1.0)}


class World:
    """k controllers, each the best of its cell of `draws` random ones."""

    def __init__(self, k: int, seed: int = 0, draws: int = 60000) -> None:
        rng = np.random.default_rng(seed)
        self.duties, self.thrusts = rng.random((draws, LEGS)), rng.random((draws, LEGS)) ** 0.5
        self.phases = rng.random((draws, LEGS))
        self._waves = rng.normal(size=(3 * LEGS, 8)), rng.normal(size=(8, 4))
        speed = self.outcome("healthy")[0]
        order = np.argsort(-speed)
        _, first = np.unique((self.duties[order] * 2.999).astype(int), axis=0, return_index=True)
        kept = rng.permutation(order[first])[:k] if len(first) >= k else order[:k]
        self.duties, self.thrusts, self.phases = self.duties[kept], self.thrusts[kept], self.phases[kept]

    def outcome(self, damage: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mean objective (k,), probability of a fall (k,) and mean evidence (k, e) under a damage."""
        thrust, contact, drive = self.thrusts.copy(), self.duties.copy(), 1.0
        for part in damage.split("+"):
            if part == "healthy":
                continue
            place, kind = part.split(":")
            if place == "all":
                drive *= float(kind.partition("@")[2])
                continue
            leg = int(place)
            thrust[:, leg] *= _LEFT[kind][0]
            contact[:, leg] *= _LEFT[kind][1]
        push = drive * thrust * 4 * self.duties * (1 - self.duties)
        in_step = np.abs(np.exp(2j * np.pi * self.phases) @ (_SIDES * (-1) ** np.arange(LEGS) / LEGS))
        twist = push @ _SIDES / 3
        odd = np.tanh(np.hstack([push, contact, self.phases]) @ self._waves[0] / 3) @ self._waves[1]
        held = np.minimum(contact[:, :3].sum(axis=1), contact[:, 3:].sum(axis=1))
        fall = 1 / (1 + np.exp(40 * (held - 0.55 + 0.1 * odd[:, 0])))
        fall[fall < 0.02] = 0.0
        speed = 2 * push.mean(axis=1) * np.exp(-((1.5 * twist) ** 2)) * (0.6 + 0.8 * in_step)
        speed = np.maximum(speed * (1 + 0.15 * odd[:, 1]), 0.0) * (1 - fall)
        heading = 3 * twist + 0.2 * odd[:, 2]
        power = (push**2).sum(axis=1) * 3
        sine, cosine = np.sin(heading), np.cos(heading)
        shown = contact, 0.4 * speed, speed * sine, sine, cosine, power, 1 - 0.5 * fall
        return speed, fall, np.column_stack(shown)

    def table(self, damages: tuple[str, ...], *, episodes: int = 2, seed: int = 1) -> Table:
        """What so many episodes of all controllers under each damage would have measured."""
        rng, columns = np.random.default_rng(seed), []
        for damage in damages:
            speed, fall, evidence = self.outcome(damage)
            fell = rng.random((episodes, len(speed))) < fall
            up = speed / np.maximum(1 - fall, 1e-9)
            objective = np.where(fell, 0.0, up * (1 + 0.02 * rng.standard_normal(fell.shape)))
            shown = evidence + 0.02 * evidence.std(axis=0) * rng.standard_normal((episodes, *evidence.shape))
            columns.append((objective.T, fell.T, shown.swapaxes(0, 1)))
        all_of_them = map(np.stack, zip(*columns, strict=True))
        return tabulate(*all_of_them, conditions=damages, evidence_names=EVIDENCE)

    def replay(self, selector: Selector, damage: str, *, trials: int, seed: int = 0) -> tuple[list[int], int]:
        """Let a selector recover, for all trials: what it recommended, and when it would have stopped."""
        truth, rng = self.table((damage,), episodes=8, seed=7), np.random.default_rng(seed)
        objectives, noise, falls = (column[0] for column in (truth.objectives, truth.noise, truth.falls))
        recommended, stop = [], trials
        for trial in range(trials):
            row = selector.ask()
            share, offset, episode = rng.standard_normal(3)
            objective = objectives[row] * (1 + 0.05 * share) + 0.02 * offset + noise[row] * episode
            fell = bool(rng.random() < falls[row])
            shown = truth.evidence_std[0, row] * rng.standard_normal(len(EVIDENCE))
            selector.tell(row, Outcome(float(objective), fell, truth.evidence[0, row] + shown))
            recommended.append(selector.recommendation())
            if selector.done():
                stop = min(stop, trial + 1)
        return recommended, stop

    def prior(self) -> Prior:
        """What the repertoire says."""
        return Prior(self.outcome("healthy")[0], self.duties, 0.0)


def library() -> tuple[str, ...]:
    """Damages to rehearse."""
    singles = (f"{leg}:{kind}" for kind in _LEFT for leg in range(LEGS))
    return ("healthy", *singles, "all:weak@0.5", *(f"{leg}:lost+{leg + 3}:lost" for leg in range(3)))
