"""Files: written atomically, locked, read with limits, and turned into records."""
