"""The recovery benchmark: how well and how soon selectors recover, relative to the best of the repertoire."""
