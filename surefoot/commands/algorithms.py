"""`surefoot algorithms`."""

import click

from surefoot.commands.console import console
from surefoot.printing import print_facts


@click.command()
def algorithms() -> None:
    """List the algorithms that can train a repertoire, and their settings."""
    from repertoire.algorithms.catalogue import ALGORITHMS
    from repertoire.strategies.table import STRATEGIES

    for algorithm in ALGORITHMS.values():
        known = algorithm.own_settings().items()
        own = ", ".join(f"{name} {value or '(as many as the batch size)'}" for name, value in known)
        print_facts({algorithm.name: [algorithm.summary, own]})
    console.print("\nStrategies, for algorithms that take any (--strategy):")
    print_facts({name: record.summary for name, record in STRATEGIES.items()})
