"""What the terminal summaries share: a renderable that knows its width, plain tables, text made safe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.report.palette import LIGHT, step_from_reference

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

Json = Mapping[str, Any]
Builder = Callable[[int], Iterable[Any]]


@dataclass(frozen=True)
class Fitted:
    """Something that is laid out once the width of the terminal is known."""

    build: Builder

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Called by rich."""
        yield from self.build(options.max_width)


def safe(text: object) -> str:
    """Names come from the data: control characters must not reach a terminal, nor line breaks a table.

    >>> safe("red \\x1b[31m\\nname")
    'red �[31m name'
    """
    flat = " ".join(str(text).split())
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in flat)


def words(*parts: str | tuple[str, str]) -> Text:
    """A line of text with styles; nothing in it is read as markup."""
    from rich.text import Text

    return Text.assemble(*parts)


def table(heads: Sequence[tuple[str, str]], title: str = "") -> Table:
    """An airy table; each head is (name, alignment) with alignment 'left' or 'right'."""
    from rich import box
    from rich.table import Table

    made = Table(
        box=box.SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False
    )
    for name, align in heads:
        # numbers must stay whole; names may be folded
        made.add_column(
            words(name),
            justify="right" if align == "right" else "left",
            no_wrap=align == "right",
            overflow="fold",
        )
    return made


def bullets(lines: Sequence[str], sign: str, style: str) -> Table:
    """Sentences with a sign before each, indented where they go on."""
    from rich.table import Table

    made = Table.grid(padding=(0, 1))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for line in lines:
        made.add_row(words((sign, style)), words(safe(line)))
    return made


def shade(difference: float | None) -> str:
    """The style of a rate by its distance from the rate of all rows; none where it hardly differs.

    >>> shade(0.0), shade(-0.3)
    ('', '#1b222c on #73aed6')
    """
    step = step_from_reference(difference)
    return f"{LIGHT['ink']} on {LIGHT[step]}" if step in LIGHT and step != "zero" else ""
