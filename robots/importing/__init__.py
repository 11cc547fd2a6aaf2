"""Reading a user's own robot: its files, its parts, a first YAML for it, and what looks wrong about it."""
