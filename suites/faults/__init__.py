"""Standard faults: how policies of others and gaits of ours walk while something breaks, and heals."""
