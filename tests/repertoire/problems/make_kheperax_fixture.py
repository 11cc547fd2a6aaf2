"""Make `kheperax.npz`: what Kheperax itself says of 1,000 random controllers, for `test_maze.py` to compare with.

Not a test, and none needs it to be run again. Kheperax and its dependencies (JAX, QDax, Brax) belong in an
environment of their own:

    python3 -m venv kheperax-env
    kheperax-env/bin/pip install kheperax jax
    kheperax-env/bin/python tests/repertoire/problems/make_kheperax_fixture.py

The file beside this script was made with kheperax 0.2.0, qdax 0.5.0, flax 0.12.8, jax 0.10.2 and numpy 2.4.6,
in float32 on a CPU. The maze, the robot and the dynamics are Kheperax' defaults, which set the action scale to
0.025 and all noise to 0; two settings differ from them, as the benchmark of Tjanaka et al. 2023 does: episodes
of 250 steps instead of 1,000, and hidden layers of 8 and 8 units instead of 8. It holds

* `controllers`, (1000, 138) float32: layer by layer the weights as an (inputs, outputs) matrix in row-major
  order, then the biases. Of the first 500, four kinds take turns: LeCun-uniform weights with zero biases, the
  same times 2, the same times 4, and the first plus Gaussian noise of standard deviation 1 on weights and
  biases. As few of them get far, the other 500 descend from them by such noise, of standard deviation 0.3, on
  whichever was the first to end in a cell of a 30 x 30 grid, and end in 500 different cells;
* `positions`, (1000, 2) float32: the descriptors, which are the positions before the last action;
* `fitness`, (1000,) float32: minus the sum of squared wheel speeds.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
from kheperax.tasks.config import KheperaxConfig
from kheperax.tasks.main import KheperaxTask

SIZES = (5, 8, 8, 2)
Score = Callable[[np.ndarray], list[np.ndarray]]


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
    """Controllers that end in different places, (count, 138) float32."""
    found: dict[tuple[int, int], np.ndarray] = {}
    controllers = random_controllers(rng, 1000)
    while len(found) < count:
        for controller, position in zip(controllers, score(controllers)[1], strict=True):
            found.setdefault(tuple((position * 30).astype(int)), controller)
        parents = rng.choice(list(found.values()), 1000)
        controllers = (parents + rng.normal(scale=0.3, size=parents.shape)).astype(np.float32)
    return np.array(list(found.values())[:count])


def to_flax(controllers: np.ndarray) -> dict:
    """The controllers as the tree of parameters that Kheperax' network takes."""
    layers, start = {}, 0
    for number, (inputs, outputs) in enumerate(itertools.pairwise(SIZES)):
        end = start + inputs * outputs
        kernel = controllers[:, start:end].reshape(-1, inputs, outputs)
        layers[f"Dense_{number}"] = {"kernel": kernel, "bias": controllers[:, end : end + outputs]}
        start = end + outputs
    return {"params": layers}


def kheperax() -> Score:
    """What evaluates controllers (n, 138): gives fitness (n,) and positions (n, 2), float32."""
    jax.tree_leaves = jax.tree.leaves  # the name that kheperax 0.2.0 uses; jax has since renamed it
    config = KheperaxConfig.get_default()
    config.episode_length = 250
    config.mlp_policy_hidden_layer_sizes = SIZES[1:-1]
    _, _, score = KheperaxTask.create_default_task(config, random_key=jax.random.key(0))
    compiled = jax.jit(lambda parameters: score(parameters, jax.random.key(1))[:2])
    return lambda controllers: [np.asarray(result) for result in compiled(to_flax(controllers))]


def main() -> None:
    """Evaluate the controllers and write the file."""
    rng, score = np.random.default_rng(2023), kheperax()
    controllers = np.concatenate([random_controllers(rng, 500), explorers(score, rng, 500)])
    fitness, positions = score(controllers)
    path = Path(__file__).with_name("kheperax.npz")
    np.savez_compressed(path, controllers=controllers, positions=positions, fitness=fitness)
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
