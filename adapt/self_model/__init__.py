"""The self-model: a robot's simulator whose faults are fitted to what its trials showed.

* `features`: what the trace of a trial says, with whichever sensors there are.
* `registry`: the faults that a robot may have, and their strengths.
* `twin`: the robot's model at work between two trials, within a budget.
* `rating`: how well faults explain what the robot did in its trials.
* `fit`: the search for the faults that explain it best.
* `parameters`: what of the whole robot may differ from its model, such as masses and friction.
* `calibrating`: `calibrate`, which finds these by traces of the whole robot.
* `calibration`: `Calibration`, what was found, and its file.
* `forecast`: what all gaits would do under faults, from those that were simulated under them: `Expectations`.

The selector that uses them is `adapt.selectors.self_model`.
"""
