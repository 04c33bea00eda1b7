"""`evenhand study status DIR`: how far a study is, read by another terminal while it runs, or afterwards."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evenhand.cli import messages
from evenhand.cli import study_choices as given
from evenhand.cli.listing_parts import print_json
from evenhand.cli.live_study import Board, Log
from evenhand.cli.study_folder import reading
from evenhand.cli.study_state import State, Work

if TYPE_CHECKING:
    from evenhand.study.store import Store

EVERY = 1.0  # seconds between two looks
WINDOW = 60.0  # seconds over which the speed is judged


def status(folder: given.Folder, watch: given.Watch = False, json: given.AsJson = False) -> None:
    """How far a study is: runs done and failed, what is at work, time left; works while it runs."""
    if watch:
        _watch(folder, json)
        return
    with reading(folder) as store:
        state, alive = look(store)
        rate = recent_rate(store) if alive else 0.0
    state = with_rate(state, rate)
    if json:
        print_json(state.to_dict())
        return
    messages.console().print(Board(state, lambda: ending(state, folder, alive)))


def look(store: Store) -> tuple[State, bool]:
    """The state that the store shows, and whether anybody works on it now."""
    counts, live = store.counts_of_states(), store.live()
    failures = {str(entry["reason"]): int(entry["runs"]) for entry in store.failures()}
    alive = {owner["owner"] for owner in live["owners"] if owner["alive"]}
    state = State(
        str(store.study().get("name", store.folder.name)), counts["planned"], counts["done"],
        counts["failed"], counts["running"], failures=failures, work=tuple(_work(live, alive)),
    )  # fmt: skip
    return state, bool(alive)


def _work(live: Mapping[str, Any], alive: set[str]) -> Iterator[Work]:
    """The buckets at work; those of a process that died are not."""
    for bucket, standing in live["standings"].items():
        if standing["owner"] in alive:
            yield Work(
                bucket, standing.get("done", 0.0), standing.get("rate", 0.0), standing.get("words", "")
            )


def recent_rate(store: Store) -> float:
    """Runs a second over the last minute before the newest run."""
    from datetime import datetime

    table = store.table()
    times = sorted(
        datetime.fromisoformat(when).timestamp()
        for when, source in zip(table["finished"], table["source"], strict=True)
        if when and source == "run"
    )
    recent = [when for when in times if when > times[-1] - WINDOW]
    span = recent[-1] - recent[0] if len(recent) > 1 else 0.0
    return (len(recent) - 1) / span if span > 0 else 0.0


def with_rate(state: State, rate: float) -> State:
    """The state with its speed and what follows from it."""
    from dataclasses import replace

    left = state.left / rate if rate > 0 and state.left else None
    return replace(state, rate=rate, seconds_left=left)


def ending(state: State, folder: Path, alive: bool) -> str:
    """What one may want to know next."""
    if not state.left:
        return f"finished; 'evenhand study report {folder}' writes its report"
    return "" if alive else "nobody works on it now; 'evenhand study run' with this folder goes on"


@dataclass
class Speed:
    """Runs a second, judged by the looks of the last minute."""

    seen: deque[tuple[float, int]] = field(default_factory=deque)

    def after(self, when: float, done: int) -> float:
        """The speed once so many were done.

        >>> speed = Speed()
        >>> speed.after(0.0, 10), speed.after(2.0, 14), speed.after(4.0, 20)
        (0.0, 2.0, 2.5)
        """
        self.seen.append((when, done))
        while self.seen[0][0] < when - WINDOW:
            self.seen.popleft()
        (began, at_first), span = self.seen[0], when - self.seen[0][0]
        return (done - at_first) / span if span > 0 and began < when else 0.0


def _watch(folder: Path, json: bool) -> None:
    """Look again and again, until everything is over."""
    screen = _lines_of_json() if json else _screen(folder)
    next(screen)
    try:
        for state, alive in _looks(folder):
            screen.send((state, alive))
            if not state.left:
                break
    except KeyboardInterrupt:  # the usual way to end it: nothing went wrong
        raise typer.Exit(messages.INTERRUPTED) from None
    finally:
        screen.close()


def _looks(folder: Path) -> Iterator[tuple[State, bool]]:
    speed = Speed()
    with reading(folder) as store:
        while True:
            state, alive = look(store)
            yield with_rate(state, speed.after(time.monotonic(), state.done + state.failed)), alive
            time.sleep(EVERY)


def _screen(folder: Path) -> Any:
    """A board that is redrawn on a terminal, lines elsewhere; states are sent to it."""
    if not sys.stdout.isatty():
        log = Log(file=sys.stdout)
        while True:
            state, _ = yield
            log.show(state)
            if not state.left:
                log.close()
    from rich.live import Live

    note = [""]
    board = Board(State(folder.name), lambda: note[0])
    with Live(board, console=messages.console(), auto_refresh=False) as live:
        while True:
            state, alive = yield
            board.state, note[0] = state, ending(state, folder, alive)
            live.refresh()


def _lines_of_json() -> Any:
    """A JSON object a line, for another program."""
    import json

    while True:
        state, _ = yield
        print(json.dumps(state.to_dict(), ensure_ascii=False), flush=True)
