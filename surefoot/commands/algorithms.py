"""`surefoot algorithms`."""

import click

from surefoot.commands.console import console


@click.command()
def algorithms() -> None:
    """List the algorithms that a repertoire can be trained with, and what they are made of."""
    from repertoire.algorithms.catalogue import ALGORITHMS
    from repertoire.strategies.table import STRATEGIES

    for algorithm in ALGORITHMS.values():
        console.print(f"{algorithm.name:<16} {algorithm.summary}")
        own = ", ".join(f"{name} {_shown(value)}" for name, value in algorithm.own_settings().items())
        console.print(f"{'':<16} {own}")
    console.print("\nStrategies, for algorithms that take any (--strategy):")
    for name, record in STRATEGIES.items():
        console.print(f"{name:<16} {record.summary}")


def _shown(value: object) -> str:
    return "(as many as the batch size)" if value is None else str(value)
