"""Multi-prior Bayesian optimisation over rehearsed damages, `rehearsed`, and fitted ones, `self-model`."""
