"""Training as it goes: a line for each method on a terminal, a line now and then in a log."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenhand.cli import messages

if TYPE_CHECKING:
    from evenhand.train.progress import Progress, Tell

LOGGED = 0.1  # share of the work between two lines of a log
BAR = 12  # characters
Start = Callable[[str, str | None], "Tell"]


@dataclass
class Clock:
    """How long it will still take, judged by how long it took since the first report."""

    began: float = 0.0
    done: float = -1.0

    def left(self, done: float, now: float) -> float | None:
        """Seconds; None at the first report, which may be of work that a checkpoint had.

        >>> clock = Clock()
        >>> clock.left(0.2, 100.0), clock.left(0.6, 104.0)
        (None, 4.0)
        """
        if self.done < 0:
            self.began, self.done = now, done
        gained = done - self.done
        return round((now - self.began) * (1 - done) / gained, 6) if gained > 0 else None


def facts(progress: Progress, left: float | None, watch: str | None) -> list[tuple[str, int]]:
    """What is told, in order, each with its rank: where room is short the highest go first.

    Steps are those of single models: a stack of eight takes eight at a time. Accuracy and gap are of the
    validation rows at the end of the last epoch, means over the seeds.
    """
    phase = "" if progress.phase == "train" else f"{progress.phase}, "
    epoch = min(progress.epoch + 1, progress.epochs)  # after the last one there is no next
    told = [(f"{progress.done:.0%}", 0), (f"{phase}epoch {epoch}/{progress.epochs}", 3)]
    told += [(f"{progress.rate:,.0f} steps/s", 5)] if progress.rate else []
    told += [(f"{spell_seconds(left)} left", 1)] if left is not None and progress.done < 1 else []
    numbers = progress.numbers
    told += [(f"loss {numbers['train']:.3f}", 4)] if "train" in numbers else []
    told += [(f"accuracy {1 - numbers['error']:.3f}", 2)] if "error" in numbers else []
    return told + ([(f"{watch} {numbers[watch]:.3f}", 2)] if watch in numbers and watch else [])


def fitted(told: Sequence[tuple[str, int]], width: int) -> str:
    """As much as fits in a line.

    >>> fitted([("43%", 0), ("epoch 3 of 7", 2), ("4 s left", 1)], 14)
    '43%  4 s left'
    """
    kept = list(told)
    while len(kept) > 1 and sum(len(text) + 2 for text, _ in kept) - 2 > width:
        kept.remove(max(kept, key=lambda entry: entry[1]))
    return "  ".join(text for text, _ in kept)


def spell_seconds(seconds: float) -> str:
    """A stretch of time in few letters.

    >>> spell_seconds(9.4), spell_seconds(75), spell_seconds(7300)
    ('9 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return (
        f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"
    )


@dataclass
class Board:
    """The lines on the terminal, one for each method, redrawn by rich as they change."""

    lines: dict[str, tuple[float, list[tuple[str, int]]]] = field(default_factory=dict)

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Called by rich several times a second."""
        from rich.progress_bar import ProgressBar
        from rich.table import Table

        made = Table.grid(padding=(0, 1))
        names = max((len(name) for name in self.lines), default=0)
        for name, (done, told) in list(self.lines.items()):
            room = options.max_width - names - BAR - 3
            made.add_row(name, ProgressBar(total=1.0, completed=done, width=BAR), fitted(told, room))
        yield made


@contextlib.contextmanager
def training(quiet: bool = False) -> Iterator[Start]:
    """Gives a function that starts a line, `start(name, watched metric)`, and gives back what `fit` tells."""
    if quiet:
        yield lambda name, watch: lambda progress: None
    elif not sys.stderr.isatty():
        yield _log
    else:
        from rich.live import Live

        board = Board()
        with Live(board, console=messages.console(stderr=True), refresh_per_second=8):
            yield lambda name, watch: _line(board, name, watch)


def _line(board: Board, name: str, watch: str | None) -> Tell:
    clock = Clock()
    board.lines[name] = (0.0, [("starting", 0)])

    def tell(progress: Progress) -> None:
        left = clock.left(progress.done, time.monotonic())
        board.lines[name] = (progress.done, facts(progress, left, watch))

    return tell


def _log(name: str, watch: str | None) -> Tell:
    """A plain line for every tenth of the work."""
    clock, reached = Clock(), [0.0]

    def tell(progress: Progress) -> None:
        left = clock.left(progress.done, time.monotonic())
        if progress.done - reached[0] >= LOGGED - 1e-9 or progress.done >= 1:
            reached[0] = progress.done
            print(f"{name}: {', '.join(text for text, _ in facts(progress, left, watch))}", file=sys.stderr)

    return tell
