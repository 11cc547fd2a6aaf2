"""`python -m surefoot` is the command line."""

from surefoot.commands.main import main

if __name__ == "__main__":
    main()
