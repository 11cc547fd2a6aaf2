"""Controllers: each kind turns a flat parameter vector and an observation into an action."""
