"""What the command line says, and where: results on stdout, everything about them on stderr."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from evenhand.cli.refusals import is_refusal

WRONG_INPUT = 2
OUR_MISTAKE = 3
INTERRUPTED = 130
BROKEN_PIPE = 141  # what a shell reports of a program that a closed pipe ended
# what a terminal without Unicode shows instead
PLAIN = {
    "–": "-",
    "−": "-",
    "±": "+/-",
    "·": "&",
    "×": "x",
    "∞": "inf",
    "›": ">",
    "†": "+",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "“": '"',
    "”": '"',
}


def prepare_streams() -> None:
    """Let text through that the terminal cannot show, in its nearest plain form, instead of failing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed, as for a service: there is nobody to write for
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - until the program ends
    codecs.register_error("evenhand", _in_plain_letters)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # a stream that a test has put there
            stream.reconfigure(errors="evenhand")  # type: ignore[union-attr]


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """A codec's error handler.

    >>> codecs.register_error("evenhand", _in_plain_letters)
    >>> "−0.5 · ñ".encode("ascii", "evenhand")
    b'-0.5 & ?'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


def drop_stdout() -> None:
    """Nobody reads stdout any more: the flush at exit must not complain."""
    with contextlib.suppress(OSError, ValueError):
        lost, nowhere = sys.stdout.fileno(), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, lost)
        os.close(nowhere)


def explain(error: Exception, *, debug: bool = False) -> int:
    """Print one sentence for an error and return the exit code; with `debug`, the traceback before it."""
    import typer

    if isinstance(error, typer.Abort):
        return INTERRUPTED
    if debug:
        import traceback

        traceback.print_exception(error)
    sentence, code = _sentence(error)
    # one line, whatever was in a name or in a library's message
    print(f"error: {' '.join(sentence.split())}", file=sys.stderr)
    return code


def _sentence(error: Exception) -> tuple[str, int]:
    if hasattr(error, "format_message"):  # of the command line itself: a missing option, a bad value
        return _usage(error), WRONG_INPUT
    if isinstance(error, OSError):
        where = f" {error.filename}" if error.filename else ""
        return f"the file{where} cannot be used: {error.strerror or error}", WRONG_INPUT
    if isinstance(error, ValueError) and is_refusal(error):  # InputError, and what the functions refuse
        return str(error), WRONG_INPUT
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; audit fewer groups or classes", WRONG_INPUT
    return f"evenhand failed ({type(error).__name__}: {error}); --debug shows where", OUR_MISTAKE


def _usage(error: Any) -> str:
    text = str(error.format_message()).rstrip(".").replace("Value error, ", "")
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "evenhand"
    see = " See" if text.endswith("?") else "; see"
    return f"{text[:1].lower()}{text[1:]}{see} '{path} --help'"


def console(*, stderr: bool = False, unbound: int = 110) -> Any:
    """A rich console on stdout or stderr, which lets a closed pipe be noticed.

    `unbound` is the width where no terminal sets one: in a log or a pipe.
    """
    from rich.console import Console

    class Open(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    bound = (sys.stderr if stderr else sys.stdout).isatty() or "COLUMNS" in os.environ
    return Open(stderr=stderr, highlight=False, width=None if bound else unbound)


@contextlib.contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """A spinner with a few words on stderr while something takes long; silent where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield lambda words: None
        return
    with console(stderr=True).status("reading") as status:
        yield lambda words: status.update(words.replace("[", r"\["))
