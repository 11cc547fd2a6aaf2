"""The commands of the command line, one a file; `main.py` puts them together."""
