"""What users bring: robots, for which a first YAML is drafted and checked, and policies of others."""
