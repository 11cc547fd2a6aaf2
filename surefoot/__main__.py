"""`surefoot` and `python -m surefoot` are the command line."""

from surefoot.startup import distrust_current_folder, prepare_process

distrust_current_folder()  # before anything else is imported

import sys  # noqa: E402

from robots.errors import SurefootError  # noqa: E402
from surefoot import interrupts  # noqa: E402

__spec__ = None  # then processes that are spawned import this file too


def run() -> None:
    """Run the command line; as long as it is being imported, Ctrl-C ends it without a traceback."""
    interrupts.end_silently()
    try:
        prepare_process()
    except SurefootError as error:
        print(f"surefoot: {error}", file=sys.stderr)
        sys.exit(2)
    from surefoot.commands.main import main

    try:
        main()
    except (SystemExit, KeyboardInterrupt) as end:
        interrupts.ignore()
        if isinstance(end, KeyboardInterrupt) or end.code == interrupts.INTERRUPTED:
            interrupts.leave()
        raise


if __name__ == "__main__":
    run()
