"""What Ctrl-C and SIGTERM do to a command."""

INTERRUPTED = 130  # exit code, as shells have it
