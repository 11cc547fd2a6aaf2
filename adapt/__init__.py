"""What to do when it breaks: damage, recovery, deployment."""
