"""The command line: `evenhand audit`, `compare`, `train`, `data`, `list`, `demo`.

Nothing heavy is imported before a command runs, so that `--help` answers at once.
"""


def main() -> None:
    """Run the command that was typed, and leave with its exit code."""
    import sys

    try:
        from evenhand.cli.app import command

        command().main()
    except KeyboardInterrupt:  # before or after the command itself, which sees to its own
        sys.exit(130)
