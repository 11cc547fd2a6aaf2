"""The self-model: a robot's simulator whose faults are fitted to what its trials showed.

* `features`: what the trace of a trial says, with whichever sensors there are.
* `registry`: the faults that a robot may have, and their strengths.
* `twin`: the robot's model at work between two trials, within a budget.
* `fit`: the search for faults under which it does what the robot did.
* `forecast`: what all gaits would do under a fault, from those that were simulated under it.

The selector that uses them is `adapt.selectors.multi_prior.self_model`.
"""
