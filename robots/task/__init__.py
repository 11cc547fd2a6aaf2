"""The task as a robot's YAML declares it: observations, reward, and measures, which tell gaits apart."""
