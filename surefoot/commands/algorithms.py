"""`surefoot algorithms`."""

import click

from surefoot.commands.console import console


@click.command()
def algorithms() -> None:
    """List the algorithms that a repertoire can be trained with, and what they are made of."""
    from repertoire.algorithms import ALGORITHMS
    from repertoire.strategies.table import STRATEGIES

    for algorithm in ALGORITHMS.values():
        console.print(f"{algorithm.name:<16} {algorithm.summary}")
        console.print(f"{'':<16} {algorithm.ingredients}")
    console.print("\nStrategies, for algorithms that take any (--strategy):")
    for kind in STRATEGIES.values():
        console.print(f"{kind.name:<16} {kind.summary}")
