"""Fill the maze with ways through it, and draw some: a search of one's own around a benchmark."""

import sys
from pathlib import Path

import numpy as np

from repertoire.algorithms import find_algorithm
from repertoire.metrics import measure
from repertoire.problems.maze import Maze, draw_maze

SEED = 1

out = Path(sys.argv[1] if len(sys.argv) > 1 else "maze")
batches = int(sys.argv[2]) if len(sys.argv) > 2 else 500
out.mkdir(parents=True, exist_ok=True)

maze, algorithm = Maze(), find_algorithm("sep-cma-mae")
chosen = {
    "evaluations": 200 * batches,
    "seed": SEED,
    "learning_rate": maze.learning_rate,
    "archive": maze.archive,
    "min_objective": maze.min_objective,
}
search = algorithm.start(algorithm.settings(chosen), maze, np.random.SeedSequence(SEED))
for _ in range(batches):
    solutions = search.ask()
    search.tell(maze.evaluate(solutions, np.zeros(len(solutions), np.int64)))

metrics = measure(search.result, min_objective=maze.min_objective)
print(f"{metrics.elites} places reached, QD score {metrics.qd_score:,.0f}")
shown = search.result.sample_elites(40, np.random.default_rng(1))
draw_maze(maze, shown, out / "maze.png")
print(f"drawn to {out / 'maze.png'}")
