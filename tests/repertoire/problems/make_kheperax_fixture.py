"""Make `kheperax.npz`: what Kheperax itself says of 1,000 controllers, for `test_maze.py` to compare with.

Not a test, and none needs it to be run again. Kheperax and its dependencies (JAX, QDax, Brax) belong in an
environment of their own:

    python3 -m venv kheperax-env
    kheperax-env/bin/pip install kheperax jax
    kheperax-env/bin/python tests/repertoire/problems/make_kheperax_fixture.py

The file next to this script was made with kheperax 0.2.0, qdax 0.5.0, flax 0.12.8, jax 0.10.2 and numpy
2.4.6 on a CPU. Maze, robot and dynamics are Kheperax' defaults, which include an action scale of 0.025 and
no noise. As in the benchmark of Tjanaka et al. 2023, episodes have 250 steps instead of 1,000, and the
network has hidden layers of 8 and 8 units instead of one of 8.

Many controllers are chaotic: where they end says more about rounding than about the maze. Therefore
Kheperax runs in float64 instead of float32, and only controllers are kept that are stable, which means that
they end within 1e-5 of the same place if they start 1e-9 further left: 98% of random controllers, 94% of
the explorers below.

The first look at -45 degrees passes through the lower end of the wall at x = 0.25. Kheperax sees the wall
there in float32, as geometry says, but not in float64; so the wall is made longer by 1e-12.

The file holds

* `controllers`, (1000, 138) float32: layer by layer the weights as an (inputs, outputs) matrix in row-major
  order, then the biases. Of the first 500, four kinds take turns: LeCun-uniform weights with zero biases, the
  same times 2, the same times 4, and the first plus Gaussian noise of standard deviation 1 on weights and
  biases. As few of them get far, the other 500 descend from such ones by noise of standard deviation 0.3 on
  whichever was the first to end in a cell of a 40 x 40 grid; they are the first stable ones of 500 cells;
* `positions`, (1000, 2): the descriptors, which are the positions before the last action;
* `fitness`, (1000,): minus the sum of squared wheel speeds.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from kheperax.tasks.config import KheperaxConfig
from kheperax.tasks.main import KheperaxTask

SIZES = (5, 8, 8, 2)
Score = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def lecun_uniform(rng: np.random.Generator, count: int) -> np.ndarray:
    """Weights of variance 1/inputs and zero biases, (count, 138)."""
    layers = []
    for inputs, outputs in itertools.pairwise(SIZES):
        bound = np.sqrt(3 / inputs)
        layers += [rng.uniform(-bound, bound, (count, inputs * outputs)), np.zeros((count, outputs))]
    return np.concatenate(layers, axis=1)


def random_controllers(rng: np.random.Generator, count: int) -> np.ndarray:
    """The four kinds in turn, (count, 138) float32."""
    controllers = lecun_uniform(rng, count)
    controllers[1::4] *= 2
    controllers[2::4] *= 4
    controllers[3::4] += rng.normal(size=controllers[3::4].shape)
    return controllers.astype(np.float32)


def explorers(score: Score, rng: np.random.Generator, count: int) -> np.ndarray:
    """Stable controllers that end in different places, (count, 138) float32."""
    parents: dict[tuple[int, int], np.ndarray] = {}
    kept: dict[tuple[int, int], np.ndarray] = {}
    controllers = random_controllers(rng, 1000)
    while len(kept) < count:
        _, positions, stable = score(controllers)
        for controller, position, good in zip(controllers, positions, stable, strict=True):
            cell = tuple((position * 40).astype(int))
            parents.setdefault(cell, controller)
            if good:
                kept.setdefault(cell, controller)
        chosen = rng.choice(list(parents.values()), 1000)
        controllers = (chosen + rng.normal(scale=0.3, size=chosen.shape)).astype(np.float32)
        print(f"{len(kept)} explorers; of the last 1,000 controllers {stable.sum()} are stable", flush=True)
    return np.array(list(kept.values())[:count])


def to_flax(controllers: np.ndarray) -> dict:
    """The controllers as the tree of parameters that Kheperax' network takes, in float64."""
    layers, start = {}, 0
    for number, (inputs, outputs) in enumerate(itertools.pairwise(SIZES)):
        end = start + inputs * outputs
        kernel = controllers[:, start:end].reshape(-1, inputs, outputs)
        layers[f"Dense_{number}"] = {"kernel": kernel, "bias": controllers[:, end : end + outputs]}
        start = end + outputs
    return jax.tree.map(lambda array: array.astype(np.float64), {"params": layers})


def kheperax(*, shift: float) -> Callable[[np.ndarray], list[np.ndarray]]:
    """What evaluates controllers (n, 138) from a start further left: gives fitness (n,), positions (n, 2)."""
    config = KheperaxConfig.get_default()
    config.episode_length = 250
    config.mlp_policy_hidden_layer_sizes = SIZES[1:-1]
    walls, posture = config.maze.inside_walls, config.robot.posture
    end = walls.p1.replace(y=walls.p1.y.at[0].add(-1e-12))
    config.maze = config.maze.replace(inside_walls=walls.replace(p1=end))
    config.robot = config.robot.replace(posture=posture.replace(x=posture.x - shift))
    _, _, score = KheperaxTask.create_default_task(config, random_key=jax.random.key(0))
    compiled = jax.jit(lambda parameters: score(parameters, jax.random.key(1))[:2])
    return lambda controllers: [np.asarray(result) for result in compiled(to_flax(controllers))]


def make_score() -> Score:
    """What gives fitness (n,), positions (n, 2) and whether these are stable (n,) of controllers (n, 138)."""
    jax.config.update("jax_enable_x64", True)
    jnp.float32 = jnp.float64  # which Kheperax asks for by name, for walls and lasers
    jax.tree_leaves = jax.tree.leaves  # the name that kheperax 0.2.0 uses; jax has since renamed it
    exact, shifted = kheperax(shift=0.0), kheperax(shift=1e-9)

    def score(controllers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        fitness, positions = exact(controllers)
        distances = np.abs(shifted(controllers)[1] - positions).max(axis=1)
        return fitness, positions, distances < 1e-5

    return score


def main() -> None:
    """Choose controllers, evaluate them and write the file."""
    rng, score = np.random.default_rng(2023), make_score()
    candidates = random_controllers(rng, 600)
    stable = score(candidates)[2]
    print(f"of {len(candidates)} random controllers {stable.sum()} are stable")
    controllers = np.concatenate([candidates[stable][:500], explorers(score, rng, 500)])
    fitness, positions, _ = score(controllers)
    path = Path(__file__).with_name("kheperax.npz")
    np.savez_compressed(path, controllers=controllers, positions=positions, fitness=fitness)
    print(f"{path}: {path.stat().st_size} bytes, {fitness.dtype}, {positions.dtype}")


if __name__ == "__main__":
    main()
