"""The laboratory: studies of many trials that are run, resumed and reported on.

`suite` is the contract of a study, `study` runs one in a folder, and `requests` says what a study varies.
`records`, `statistics`, `markdown` and `figures` are what reports are made of. `paper` holds the
three studies of the algorithms' paper, `recovery` the benchmark of ways to recover, `transfer` that of gaits
in other simulators and models, `mission` that of missions, `faults` that of
policies and gaits on which something breaks.
"""
