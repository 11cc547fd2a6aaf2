"""Links from gaits to robots: what a robot must be told, exports, messages, and telemetry."""
