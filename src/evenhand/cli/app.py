"""The commands put together, and what happens when one goes wrong: a sentence and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from evenhand.cli import audit, compare, data, demo, listing, messages, shift, study, train

HELP = """Measure how predictions treat groups of people, and what mitigation changes about it.

Exit codes: 0 all is well, 1 a gate failed, 2 something given was wrong, 3 evenhand itself failed."""


class Commands(TyperGroup):
    """The group of all commands; every error becomes one sentence on stderr."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> Any:
        """Run a command and exit: 0, 1 (a gate failed), 2 (wrong input), 3 (ours), 130 (interrupted)."""
        given = list(sys.argv[1:] if args is None else args)
        extra |= {"prog_name": "evenhand", "standalone_mode": False}
        messages.prepare_streams()
        try:
            code = super().main(given, **extra)
        except Exception as error:
            code = messages.explain(error, debug="--debug" in given)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a reader that closed the pipe (`| head`) is no error worth a word."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            messages.drop_stdout()
            raise typer.Exit(messages.BROKEN_PIPE) from None
        return code


app = typer.Typer(
    name="evenhand", cls=Commands, help=HELP, add_completion=False, pretty_exceptions_enable=False
)
app.command("audit")(audit.audit)
app.command("compare")(compare.compare)
app.command("train")(train.train)
app.command("shift")(shift.shift)
app.command("data")(data.data)
app.add_typer(study.app, name="study")
app.add_typer(listing.app, name="list")
app.command("demo")(demo.demo)


def _print_version(asked: bool) -> None:
    if asked:
        from evenhand import __version__

        typer.echo(f"evenhand {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _evenhand(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    # no docstring here: it would replace the help of the program
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def command() -> Any:
    """The program, ready to run."""
    return typer.main.get_command(app)
