"""DataCard: where a data set comes from, who may use it, and what to know before using it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DataCard:
    """The facts that travel with a task into every report made from it.

    `files` maps the name of each file the task was read from to its SHA-256; `unchecked` are those among them
    that were compared with no published checksum, or are not the published ones. `knobs` holds the choices
    that made this very task (preparation, seed, ratios), so that a report says which one it was.

    >>> DataCard("demo", "two features drawn at random", "synthetic", "none needed").licence
    'none needed'
    """

    title: str
    about: str
    origin: str
    licence: str
    citation: str = ""
    target: str = ""
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    knobs: Mapping[str, object] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()
