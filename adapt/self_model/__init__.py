"""The self-model: a robot's simulator whose damages are fitted to what its trials showed.

`features` reads traces, `suspects` lists what may be wrong, `twin` simulates, `rating` judges, `fit` looks,
`forecast` says what all gaits would do, `relearner` refines some, and `calibrating` fits the whole robot. The
selector that uses them is `adapt.selectors.self_model`.
"""
