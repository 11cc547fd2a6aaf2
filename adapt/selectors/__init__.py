"""Selectors: ways to choose which controller of a repertoire to try next on a damaged robot.

* `selector`: `Selector`, the contract, and `Context`, what a selector knows when it starts.
* `catalogue`: the table of selectors by name, in which they register themselves.
* `baselines`, `successive_halving`: selectors that learn nothing of one controller from another; the oracle.
* `map_bo`: map-based Bayesian optimisation; `gp_ucb` and `thompson` are relatives of it.
* `multi_prior/`: `rehearsed`, which averages over rehearsed damages; `self-model`, which adds fitted ones.
"""
