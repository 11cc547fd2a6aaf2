"""Where work is done: on the cores of this machine, in processes, or on a cluster."""
