"""Ctrl-C while training: the step that is going on ends first, so that what is kept is whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.train.progress import Progress, Tell

Wrap = Callable[["Tell"], "Tell"]


@contextlib.contextmanager
def between_steps() -> Iterator[Wrap]:
    """Gives a function that makes a `tell` raise `KeyboardInterrupt` once Ctrl-C was pressed.

    `tell` is called between two steps. Who presses a second time does not wait for that.
    """
    pressed = threading.Event()

    def stop(*_: Any) -> None:
        if pressed.is_set():
            raise KeyboardInterrupt
        pressed.set()

    def wrap(tell: Tell) -> Tell:
        def told(progress: Progress) -> None:
            tell(progress)
            if pressed.is_set():
                raise KeyboardInterrupt

        return told

    if threading.current_thread() is not threading.main_thread():  # where signals cannot be waited for
        yield wrap
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield wrap
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed.is_set():
        raise KeyboardInterrupt
