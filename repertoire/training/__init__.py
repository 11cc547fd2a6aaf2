"""Training: settings, the loop, and runs in folders."""
