"""Recipe: how a run is trained, apart from the method: budget, optimiser, schedule, stopping, precision."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

import numpy as np

from evenhand.errors import InputError

OPTIMIZERS = ("sgd", "adam", "adamw", "adadelta")
SCHEDULES = ("constant", "step", "cosine")
PRECISIONS = ("float32", "float64", "tf32", "bfloat16")
AUGMENTS = ("none", "flip", "crop-flip")
KEEPS = ("last", "best")


@dataclass(frozen=True)
class Recipe:
    """Numbers marked * may differ between runs of one stack: give a tuple with one for each run.

    rate*, weight_decay*, clip* (largest norm of a run's gradient; 0: none). `schedule`: constant; step (times
    `decay` at each of `milestones`, shares of the budget); cosine to 0. `patience`: epochs without a drop of
    the monitored validation number of more than `min_drop` after which a run stops; 0: never. `keep`: the
    last epoch's parameters or those of the best epoch. `monitor`: "loss", "error", or the key of a catalogue
    metric of counts, taken in its own direction. `deterministic`: equal to the bit every time. `compile`:
    None compiles on a GPU when the work is long enough. `share_batches`: all runs see the same batches.

    >>> Recipe(epochs=3).check().epochs
    3
    >>> Recipe(keep="bst").check()
    Traceback (most recent call last):
    evenhand.errors.InputError: 'keep' must be one of last, best, not 'bst'; did you mean 'best'?
    """

    epochs: int = 20
    batch_size: int = 256
    optimizer: str = "adam"
    rate: float | tuple[float, ...] = 1e-3
    weight_decay: float | tuple[float, ...] = 0.0
    momentum: float = 0.9
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    rho: float = 0.9
    schedule: str = "constant"
    milestones: tuple[float, ...] = (0.5, 0.75)
    decay: float = 0.1
    clip: float | tuple[float, ...] = 0.0
    patience: int = 0
    min_drop: float = 0.0
    monitor: str = "loss"
    keep: str = "last"
    augment: str = "none"
    precision: str = "float32"
    compile: bool | None = None
    deterministic: bool = False
    share_batches: bool = False

    def check(self) -> Recipe:
        """The recipe itself, after refusing impossible values."""
        for name, options in (
            ("optimizer", OPTIMIZERS), ("schedule", SCHEDULES), ("precision", PRECISIONS),
            ("augment", AUGMENTS), ("keep", KEEPS),
        ):  # fmt: skip
            _one_of(name, getattr(self, name), options)
        for name, least in (("epochs", 1), ("batch_size", 1), ("patience", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(f"'{name}' must be a whole number of at least {least}, not {value!r}")
        for name in ("rate", "weight_decay", "clip"):
            _numbers(name, getattr(self, name), several=True)
        for name in ("eps", "decay", "min_drop"):
            _numbers(name, getattr(self, name))
        for name in ("momentum", "rho", "betas", "milestones"):
            _numbers(name, getattr(self, name), several=name in ("betas", "milestones"), below=1)
        for name in ("compile", "deterministic", "share_batches"):
            _switch(name, getattr(self, name), may_be_none=name == "compile")
        if not isinstance(self.betas, tuple) or len(self.betas) != 2:
            raise InputError(f"'betas' must be two numbers, not {self.betas!r}")
        return self

    @classmethod
    def of(cls, **values: Any) -> Recipe:
        """A recipe with these values; an unknown name is told with the nearest."""
        known = [item.name for item in fields(cls)]
        for name in values:
            if name not in known:
                near = get_close_matches(name, known, n=2, cutoff=0.5)
                hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
                raise InputError(f"a recipe has no {name!r}{hint}")
        for name, value in values.items():
            values[name] = tuple(value) if isinstance(value, list) else _plain(value)
        return cls(**values).check()


def _one_of(name: str, value: object, options: tuple[str, ...]) -> None:
    if value not in options:
        near = get_close_matches(str(value), options, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"'{name}' must be one of {', '.join(options)}, not {value!r}{hint}")


def _switch(name: str, value: object, *, may_be_none: bool) -> None:
    if not isinstance(value, bool) and not (may_be_none and value is None):
        raise InputError(f"'{name}' must be True or False{', or None' if may_be_none else ''}, not {value!r}")


def _plain(value: Any) -> Any:
    """Numbers of numpy as Python's."""
    return value.item() if isinstance(value, np.generic) else value


def _numbers(name: str, value: Any, *, several: bool = False, below: float = math.inf) -> None:
    """Refuse what is no number of at least 0 (and below 1, say); a tuple where there may be several."""
    for number in value if several and isinstance(value, tuple) else (value,):
        plain = isinstance(number, (int, float)) and not isinstance(number, bool)
        if not plain or not 0 <= number < below:
            bounds = "of at least 0" if below == math.inf else f"of at least 0 and below {below}"
            raise InputError(f"'{name}' must be a number {bounds}, not {number!r}")
