"""The commands of the command line, one a file; `surefoot.py` puts them together."""
