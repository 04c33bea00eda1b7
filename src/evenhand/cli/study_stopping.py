"""Ctrl-C during a study: once, workers save and end; twice, at once."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

WORDS = "stopping; what is finished is kept, run the same command to go on (Ctrl-C again: at once)"


@dataclass
class Stop:
    """Whether somebody asked to stop, and by which signal; the sentence is said where a log would miss it."""

    signal: int = 0
    said: bool = False
    silent: bool = False

    def __call__(self) -> bool:
        """Asked by the study between two things it does."""
        if self.signal and not self.said:
            self.said = True
            if not self.silent and not sys.stderr.isatty():  # a terminal has it on its board
                print(WORDS, file=sys.stderr, flush=True)
        return bool(self.signal)

    def note(self) -> str:
        """What the board says."""
        return WORDS if self.signal else ""


@contextlib.contextmanager
def once_or_twice(quiet: bool = False) -> Iterator[Stop]:
    """Gives the `stop` of a study: true after Ctrl-C, or SIGTERM, by which a cluster announces its end.

    A second signal does not wait: it raises `KeyboardInterrupt` where the program is.
    """
    stop = Stop(silent=quiet)
    if threading.current_thread() is not threading.main_thread():  # where signals cannot be waited for
        yield stop
        return
    signals = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in signals}

    def pressed(number: int, *_: Any) -> None:
        if stop.signal:
            raise KeyboardInterrupt
        stop.signal = number

    for number in signals:
        signal.signal(number, pressed)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
