"""`python -m charter` is the command line."""

from .cli import main

main()
