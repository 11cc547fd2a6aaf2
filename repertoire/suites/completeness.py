"""How much of a published study ours covers, and where it differs."""

from collections.abc import Iterator

from repertoire.suites.document import Block, Bullets
from repertoire.suites.trials import Trials


def completeness(trials: Trials) -> str:
    """How much of the published study this one covers, in a sentence."""
    published = trials.published
    ran = [key for key in published.means if trials.of(*key)]
    full = [key for key in ran if trials.as_long(*key) and len(trials.of(*key)) >= published.trials]
    number, budget = (
        len(published.means),
        f"{published.trials} trials of {published.evaluations:,} evaluations",
    )
    if len(full) == number:
        return f"Complete: at least {budget} for every algorithm in every domain of the paper."
    return (
        f"Incomplete: of the paper's {number} combinations of algorithm and domain {len(ran)} ran, "
        f"{len(full)} of them with at least {budget}."
    )


def gaps(trials: Trials) -> Iterator[Block]:
    """What the study lacks, and what it has that the published one has not."""
    published = trials.published
    other = [] if published.incomparable else [f"{name} in {domain}" for domain, name in _shortened(trials)]
    size = f"{published.evaluations:,}"
    algorithms = [name for name in trials.algorithms if name not in published.algorithms]
    reduced = [_budget(trials, name) for name in trials.domains] if published.incomparable else []
    consequences = {
        "Missing, so that nothing can be said of it": [_missing(trials, name) for name in published.domains],
        f"Not of {size} evaluations, so that agreement with the paper is not judged": other,
        f"Less than the paper's {published.trials} trials of {size} evaluations": reduced,
        "Domains not in the paper": [name for name in trials.domains if name not in published.domains],
        "Algorithms not in the paper (tests include them: F has other degrees of freedom)": algorithms,
    }
    found = {consequence: [name for name in names if name] for consequence, names in consequences.items()}
    items = [f"{consequence}: {', '.join(names)}." for consequence, names in found.items() if names]
    items += [f"{name} cannot be run here: {why}." for name, why in published.unavailable.items()]
    if items:
        yield Bullets(tuple(items))


def _missing(trials: Trials, domain: str) -> str:
    """A domain of the paper, with the algorithms that did not run there unless none did; empty if all did."""
    algorithms = [name for name in trials.published.algorithms if name not in trials.published.unavailable]
    names = [name for name in algorithms if not trials.of(domain, name)]
    if len(names) == len(algorithms):
        return domain
    return f"{domain} ({', '.join(names)})" if names else ""


def _shortened(trials: Trials) -> list[tuple[str, str]]:
    """What ran with another number of evaluations than in the paper."""
    return [key for key in trials.published.means if trials.of(*key) and not trials.as_long(*key)]


def _budget(trials: Trials, domain: str) -> str:
    """A domain with the trials and evaluations it had; empty if these are the paper's."""
    names, published = trials.algorithms_in(domain), trials.published
    numbers = sorted({len(trials.of(domain, name)) for name in names})
    sizes = sorted({int(size) for name in names for size in trials.values(domain, name, "evaluations")})
    if numbers[0] >= published.trials and sizes[0] >= published.evaluations:
        return ""
    number, size = (
        " to ".join(f"{value:,}" for value in dict.fromkeys((values[0], values[-1])))
        for values in (numbers, sizes)
    )
    return f"{domain} ({number} of {size})"
