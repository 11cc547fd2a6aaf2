"""The studies of the paper: `optimization`, `locomotion` and `ablation`, next to its own tables."""
