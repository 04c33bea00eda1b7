"""What `--help` prints is what was written: brackets are markup there, and vanish with what they hold."""

from collections.abc import Iterator

import pytest
import typer
from rich.text import Text

from evenhand.cli.app import app


def texts(command, path="evenhand") -> Iterator[tuple[str, str]]:
    """Every help text of a command and of those below it, and where it stands."""
    yield path, command.help or ""
    for parameter in command.params:
        yield f"{path}: {parameter.name}", getattr(parameter, "help", None) or ""
    for name, below in getattr(command, "commands", {}).items():
        yield from texts(below, f"{path} {name}")


def test_no_bracket_of_a_help_text_is_lost():
    found = dict(texts(typer.main.get_command(app)))
    assert len(found) > 100
    lost = {
        where: text
        for where, text in found.items()
        if Text.from_markup(text).plain != text.replace("\\[", "[")
    }
    assert not lost


@pytest.mark.parametrize("command", ["audit", "compare", "shift", "study report"])
def test_the_extra_for_bitmaps_is_named(run, command):
    told = " ".join(run(*command.split(), "--help").out.replace("│", " ").split())
    assert "evenhand[png]." in told
