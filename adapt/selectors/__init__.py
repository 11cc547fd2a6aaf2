"""Selectors: ways to choose which controller of a repertoire to try next on a damaged robot.

* `selector`: `Selector`, the contract, and `Context`, what a selector knows when it starts.
* `catalogue`: the table of selectors by name, in which they register themselves.
* `baselines`: selectors that learn nothing of one controller from another.
* `map_bo`: map-based Bayesian optimisation and its relatives.
* `hypotheses`, `mixture`: what may be wrong, and how probable trials make it.
* `multi_prior`: `rehearsed`, which averages over rehearsed damages; `self_model` adds fitted ones.
"""
