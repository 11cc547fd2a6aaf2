"""Hypotheses on how groups compare, and verdicts on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from repertoire.statistics.comparison import Comparison
from robots.errors import InvalidValueError

Verdict = Literal["supported", "supported as far as tested", "not supported", "not tested"]


@dataclass(frozen=True)
class Expectation:
    """Whether groups compare as expected.

    Attributes:
        verdict: "supported" if in every pair the first group is significantly below the second; "as far as
            tested" if in some pairs a group is missing.
        contradicted: pairs that are significantly the other way round.
        undecided: pairs without a significant difference.
        missing: groups that were not compared, in the order of the pairs.
    """

    verdict: Verdict
    contradicted: tuple[tuple[str, str], ...] = ()
    undecided: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


def judge_expectation(comparison: Comparison, pairs: Sequence[tuple[str, str]]) -> Expectation:
    """Judge the hypothesis that in each pair of groups the first is below the second.

    Pairs of which a group was not compared are not tested, and do not count.

    Raises:
        InvalidValueError: there are no pairs, or one names the same group twice.
    """
    if not pairs or any(first == second for first, second in pairs):
        raise InvalidValueError(f"pairs must name two groups each, not {list(pairs)}")
    names = dict.fromkeys(chain.from_iterable(pairs))
    missing = tuple(name for name in names if name not in comparison.groups)
    tested = [pair for pair in pairs if not set(missing).intersection(pair)]
    if comparison.untested or not tested:
        return Expectation("not tested", missing=missing)
    signs = {pair: comparison.sign(*pair) for pair in tested}
    supported: Verdict = "supported as far as tested" if missing else "supported"
    return Expectation(
        verdict=supported if all(sign == "<" for sign in signs.values()) else "not supported",
        contradicted=tuple(pair for pair, sign in signs.items() if sign == ">"),
        undecided=tuple(pair for pair, sign in signs.items() if sign == "-"),
        missing=missing,
    )
