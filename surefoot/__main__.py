"""`surefoot` and `python -m surefoot` are the command line."""

import signal


def run() -> None:
    """Run the command line; as long as it is being imported, Ctrl-C ends it without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from surefoot.commands.main import main

    main()


if __name__ == "__main__":
    run()
