"""Fill the maze with ways through it, and draw some: a search of one's own around a benchmark.

python examples/explore_maze.py [FOLDER] [BATCHES]
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from repertoire.algorithms.catalogue import ALGORITHMS, start_search
from repertoire.metrics import measure
from repertoire.problems.maze import Maze
from robots.rendering.figures import save_figure

SEED = 1


def draw_maze(maze: Maze, solutions: np.ndarray, path: Path) -> None:
    """Draw each robot's way in the colour of its objective, with a dot where it ends."""
    figure = Figure(figsize=(7.6, 6.6), layout="constrained")
    axes = figure.add_subplot()
    axes.add_collection(LineCollection(list(maze.walls), colors="#222222", linewidths=2.5, zorder=4))
    objectives = maze.evaluate(solutions, np.zeros(len(solutions), np.int64)).objectives
    order = np.argsort(objectives)  # the best on top
    ways = maze.trajectories(solutions[order])
    colors = {"cmap": "viridis", "array": objectives[order]}
    axes.add_collection(LineCollection(list(ways), linewidths=0.8, alpha=0.9, zorder=2, **colors))
    x, y = ways[:, -1].T
    ends = axes.scatter(x, y, c=objectives[order], cmap="viridis", s=14, zorder=3)
    axes.plot(*maze.start, marker="o", ms=8, mfc="white", mec="#d62728", mew=2, zorder=5)
    axes.set(aspect="equal", xlabel=maze.record.measure_names[0], ylabel=maze.record.measure_names[1])
    figure.colorbar(ends, ax=axes).set_label("objective [100 for turning no wheel]")
    figure.suptitle(f"Maze: the ways of {len(solutions):,} robots in {maze.steps} steps")
    save_figure(figure, path)


out = Path(sys.argv[1] if len(sys.argv) > 1 else "maze")
batches = int(sys.argv[2]) if len(sys.argv) > 2 else 500
out.mkdir(parents=True, exist_ok=True)

maze, algorithm = Maze(), ALGORITHMS.find("sep-cma-mae")
chosen = {
    "evaluations": 200 * batches,
    "seed": SEED,
    "learning_rate": maze.learning_rate,
    "archive": maze.archive,
    "min_objective": maze.min_objective,
}
search = start_search(algorithm.settings(chosen), maze, np.random.SeedSequence(SEED))
for _ in range(batches):
    solutions = search.ask()
    search.tell(maze.evaluate(solutions, np.zeros(len(solutions), np.int64)))

metrics = measure(search.result.objectives, cells=search.result.cells, min_objective=maze.min_objective)
print(f"{metrics.elites} places reached, QD score {metrics.qd_score:,.0f}")
shown = search.result.sample_elites(40, np.random.default_rng(1))
draw_maze(maze, shown, out / "maze.png")
print(f"drawn to {out / 'maze.png'}")
