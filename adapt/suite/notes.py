"""How a benchmark was run, in sentences for its report."""

from collections.abc import Sequence

from adapt.oracle import FINAL_EPISODES, FINALISTS
from adapt.selectors.catalogue import find_selector
from adapt.suite.gap import FRICTION, LATENCY, MASS, STRENGTH
from adapt.suite.replays import Arena
from adapt.suite.study import Benchmark
from repertoire.provenance import processor_name, software_versions


def run_notes(bench: Benchmark, arena: Arena, selectors: Sequence[str]) -> list[str]:
    """Sentences on how a benchmark was run.

    Args:
        bench: the benchmark.
        arena: of its recoveries.
        selectors: that ran.
    """
    repertoire, settings, library = bench.repertoire, bench.settings, bench.library
    known = sum(text in library.conditions for text in settings.texts)
    means = f"means over {repertoire.spread.episodes} episodes" if repertoire.spread else "single episodes"
    versions = ", ".join(f"{name} {version}" for name, version in software_versions().items())
    notes = [
        f"Repertoire: {repertoire.robot.name}, {len(repertoire):,} gaits of "
        f"{repertoire.settings.algorithm} after {repertoire.evaluations:,} evaluations; "
        f"objectives are {means}.",
        f"Library: {len(library)} conditions, means over {library.episodes} episodes. It holds "
        f"{known} of the damages that are put to the test; tracks say what of it selectors are given.",
        f"Truth: {len(settings.damages)} damages; of every gait, means over {settings.episodes} episodes for "
        f"trials to show, and over {settings.episodes} others to score by. The oracle is the best of "
        f"the {FINALISTS} with the highest means of the former, by {FINAL_EPISODES} further episodes.",
        f"Recoveries: {arena.trials} trials, {arena.seeds} seeds for each damage. A trial shows the gait's "
        f"mean with noise of standard deviation {arena.noise.share:.0%} of it, {arena.noise.offset:g}, "
        "and that of its episodes.",
        f"Selectors: {'; '.join(f'{name}: {find_selector(name).summary}' for name in selectors)}.",
    ]
    if True in arena.worlds:
        notes.append(
            f"Reality gap: {settings.gaps} robots with masses ±{MASS:.0%}, friction ±{FRICTION:.0%}, motor "
            f"strength ±{STRENGTH:.0%} and {LATENCY} control step of latency; each for some of the damages."
        )
    return [*notes, f"Seed {settings.seed}. Ran on: {processor_name()}, with {versions}."]
