"""A damaged Ant through Gymnasium, with random actions: `python examples/gymnasium_loop.py`."""

import gymnasium

import surefoot.environments  # noqa: F401 (registers them)


def main() -> None:
    """Run one episode."""
    environment = gymnasium.make("surefoot/QDAnt-v0", damage="front_left:dead")
    environment.action_space.seed(0)
    _observation, info = environment.reset(seed=0)
    total, over = 0.0, False
    while not over:
        _observation, reward, terminated, truncated, info = environment.step(
            environment.action_space.sample()
        )
        total, over = total + float(reward), terminated or truncated
    print(f"return {total:.1f}, {info['distance']:.2f} m, feet on the ground {info['measures'].round(2)}")


if __name__ == "__main__":
    main()
