"""Multi-prior map-based Bayesian optimisation, which averages over rehearsed damages: `rehearsed`."""
