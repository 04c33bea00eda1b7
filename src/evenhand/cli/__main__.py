"""`python -m evenhand.cli` is `evenhand`."""

from evenhand.cli import main

main()
