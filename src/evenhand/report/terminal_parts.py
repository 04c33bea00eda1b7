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
GUTTER = 3  # characters between columns


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


@dataclass(frozen=True)
class Column:
    """A column of texts: numbers to the right. Those of the highest rank go first where room is short.

    `least` is the width down to which the texts may be folded; without it they stay whole.
    """

    head: str
    cells: Sequence[Text]
    right: bool = True
    rank: int = 0
    least: int | None = None

    @property
    def width(self) -> int:
        """The characters it cannot do without."""
        lines = (line for cell in self.cells for line in cell.split())  # a cell may have several
        longest = max([len(self.head), *(line.cell_len for line in lines)])
        return longest if self.least is None else min(longest, max(self.least, len(self.head)))


def fitting(columns: Sequence[Column], width: int) -> list[Column]:
    """The columns that fit beside each other, the dispensable ones left out.

    >>> columns = [Column("key", []), Column("interval", [], rank=2), Column("p", [], rank=1)]
    >>> [column.head for column in fitting(columns, 10)]
    ['key', 'p']
    """
    kept = list(columns)
    while sum(column.width + GUTTER for column in kept) > width + 1:
        dispensable = max(kept, key=lambda column: column.rank)
        if not dispensable.rank:
            break
        kept.remove(dispensable)
    return kept


def table(columns: Sequence[Column], width: int, title: str = "") -> Table:
    """An airy table of the columns that fit."""
    from rich import box
    from rich.table import Table

    made = Table(
        box=box.SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold", pad_edge=False
    )
    kept = fitting(columns, width)
    for column in kept:
        align: Any = "right" if column.right else "left"
        made.add_column(words(column.head), justify=align, no_wrap=column.least is None, overflow="fold")
    for row in zip(*(column.cells for column in kept), strict=True):
        made.add_row(*row)
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
