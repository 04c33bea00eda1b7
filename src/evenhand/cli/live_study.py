"""A study as it goes: a board on a terminal, a line now and then in a log."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from evenhand.cli import messages
from evenhand.cli.live import fitted, spell_seconds
from evenhand.cli.study_state import State, Work

EVERY = 10.0  # seconds between two lines of a log
BAR = 24  # characters
MOST_WORK = 8  # buckets that are shown
Show = Callable[[State], None]


def facts(state: State) -> list[tuple[str, int]]:
    """What is told of the whole, each with its rank: where room is short the highest go first."""
    told = [(f"{state.done:,}/{state.planned:,} runs", 0)]
    told += [(f"{state.failed:,} failed", 1)] if state.failed else []
    told += [(f"{spell_seconds(state.seconds_left)} left", 2)] if state.seconds_left and state.left else []
    told += [(f"{spell_rate(state.rate)}", 3)] if state.rate > 0 and state.left else []
    return told + ([(f"{state.reused:,} taken over", 4)] if state.reused else [])


def spell_rate(rate: float) -> str:
    """Runs in the unit that is easiest to read.

    >>> spell_rate(12.34), spell_rate(0.5), spell_rate(0.001)
    ('12.3 runs/s', '30.0 runs/min', '3.6 runs/h')
    """
    for factor, unit in ((1, "s"), (60, "min")):
        if rate * factor >= 1:
            return f"{rate * factor:,.1f} runs/{unit}"
    return f"{rate * 3600:,.1f} runs/h"


def failure_words(failures: dict[str, int] | Any, most: int = 3) -> str:
    """Why runs failed, the commonest reason first.

    >>> failure_words({"out of memory": 1, "the loss is NaN": 4})
    'the loss is NaN (4), out of memory (1)'
    """
    ordered = sorted(failures.items(), key=lambda entry: -entry[1])
    more = [f"{len(ordered) - most} other reasons"] if len(ordered) > most else []
    return ", ".join([*(f"{reason} ({runs})" for reason, runs in ordered[:most]), *more])


def line(state: State) -> str:
    """A line of a log.

    >>> line(State("s", planned=8, done=4, failed=1, rate=2.0, seconds_left=1.5, failures={"NaN": 1}))
    's: 62%, 4/8 runs, 1 failed, 2 s left, 2.0 runs/s; failed: NaN (1)'
    """
    failed = f"; failed: {failure_words(state.failures)}" if state.failures else ""
    words = f" ({state.words})" if state.words else ""
    told = ", ".join([f"{state.share:.0%}", *(text for text, _ in facts(state))])
    return f"{state.name}: {told}{words}{failed}"


@dataclass
class Board:
    """The study's bar, the buckets at work, and why runs failed; redrawn by rich as they change."""

    state: State
    note: Callable[[], str] = field(default=lambda: "")

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """Called by rich several times a second."""
        from evenhand.report.terminal_parts import safe, words

        state, width = self.state, options.max_width
        name = safe(state.name)[: max(width // 3, 8)]
        yield _row(name, state.share, fitted(facts(state), width - len(name) - BAR - 2), BAR)
        for work in state.work[:MOST_WORK]:
            yield words((_cut(f"  {work_line(work)}", width), "dim"))
        if len(state.work) > MOST_WORK:
            yield words((f"  and {len(state.work) - MOST_WORK} more", "dim"))
        if state.failures:
            yield words((_cut(f"  failed: {safe(failure_words(state.failures))}", width), "yellow"))
        note = self.note() or state.words
        if note:
            yield words((safe(note), "bold"))


def work_line(work: Work) -> str:
    """What a worker is at.

    >>> work_line(Work("b1", 0.5, 1200.0, "gdro on adult, 8 runs"))
    ' 50%  gdro on adult, 8 runs  1,200 steps/s'
    """
    from evenhand.report.terminal_parts import safe

    rate = f"  {work.rate:,.0f} steps/s" if work.rate else ""
    return f"{work.done:4.0%}  {safe(work.words or work.name)}{rate}"


def _row(name: str, share: float, told: str, bar: int) -> Any:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    made = Table.grid(padding=(0, 1))
    made.add_row(name, ProgressBar(total=1.0, completed=share, width=bar), told)
    return made


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


@contextlib.contextmanager
def following(name: str, quiet: bool = False, note: Callable[[], str] = lambda: "") -> Iterator[Show]:
    """Gives a function that shows the state: on a terminal as a board, in a log as lines."""
    if quiet:
        yield lambda state: None
    elif not sys.stderr.isatty():
        log = Log()
        yield log.show
        log.close()
    else:
        from rich.live import Live

        board = Board(State(name, words="planning"), note)

        def show(state: State) -> None:
            board.state = state

        with Live(board, console=messages.console(stderr=True), refresh_per_second=4):
            yield show


@dataclass
class Log:
    """A line when it begins, every ten seconds, and when it is over."""

    last: float = -math.inf
    file: Any = None
    told: str = ""
    latest: str = ""

    def show(self, state: State) -> None:
        """Print a line if it is time for one."""
        self.latest, now = line(state), time.monotonic()
        if now - self.last >= EVERY:
            self.last = now
            self.close()

    def close(self) -> None:
        """Print what was shown last, unless it stands there already."""
        if self.latest != self.told:
            self.told = self.latest
            print(self.latest, file=self.file or sys.stderr, flush=True)
