"""The self-model: a robot's simulator whose damages are fitted to what its trials showed.

* `features`: what the trace of a trial says, with whichever sensors there are.
* `suspects`: what may be wrong with a robot, and in which strengths.
* `twin`: the robot's model at work between two trials, within a budget.
* `rating`: how well suspects explain what the robot did in its trials.
* `fit`: the search for those that explain it best.
* `calibration`: which parameters of the whole robot may differ from its model, such as masses and friction,
  what was found of them, and its file; `calibrating` finds them by traces.
* `relearner`: searches for better gaits on the models of what is believed to be wrong.
* `forecast`: what all gaits would do under a model, from those that were simulated under it.

The selector that uses them is `adapt.selectors.self_model`.
"""
