"""The settings of a method: every point of its grids, combined with every point of its random search."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.methods.base import Method, float_fields
from evenhand.study.spec import Grid, MethodSpec, Search
from evenhand.study.tasks import load_method
from evenhand.train.recipe import Recipe

DIGITS = 6  # of a number that is drawn: two draws will not meet, and it can be read
RECIPE = "recipe."  # before the name of what is varied of the recipe
RATES = ("rate", "weight_decay", "clip")  # one number for each run
NUMBERS = (*RATES, "epochs", "batch_size", "momentum", "eps", "rho", "decay", "patience", "min_drop")


@dataclass(frozen=True)
class Setting:
    """One point: fields and recipe values that the study names, and of these what it varies."""

    fields: Mapping[str, Any]
    recipe: Mapping[str, Any]
    varied: Mapping[str, Any]


@dataclass(frozen=True)
class Range:
    """Between two bounds, on a log scale or not; whole numbers are rounded."""

    low: float
    high: float
    log: bool
    whole: bool = False

    def at(self, share: float) -> float | int:
        """The number at a share (0 to 1) of the range.

        >>> Range(0.01, 1.0, log=True).at(0.5), Range(1, 9, log=False, whole=True).at(0.5)
        (0.1, 5)
        """
        if self.log:
            value = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        rounded = round(value) if self.whole else float(f"{value:.{DIGITS}g}")
        return min(max(rounded, self.low), self.high)


def settings_of(spec: MethodSpec, search_seed: int = 0) -> list[Setting]:
    """All settings: for each point of the search the whole grid, the last field fastest.

    >>> found = settings_of(MethodSpec("gdro", fields={"eta": Grid((1, 2)), "by": "group"}))
    >>> [setting.varied for setting in found], found[0].fields
    ([{'eta': 1.0}, {'eta': 2.0}], {'eta': 1.0, 'by': 'group'})
    """
    method = load_method(spec.key, {})
    given = {**spec.fields, **{RECIPE + name: value for name, value in spec.recipe.items()}}
    grids = {name: value.values for name, value in given.items() if isinstance(value, Grid)}
    ranges = {
        name: range_of(name, value, method) for name, value in given.items() if isinstance(value, Search)
    }
    points = [draw(ranges, search_seed, spec.name, index) for index in range(spec.draws)] if ranges else [{}]
    made = []
    for point in points:
        for combination in product(*grids.values()):
            varied = {**dict(zip(grids, combination, strict=True)), **point}
            typed = {name: as_field(method, name, value) for name, value in {**given, **varied}.items()}
            made.append(
                Setting(
                    {name: value for name, value in typed.items() if not name.startswith(RECIPE)},
                    {name.removeprefix(RECIPE): typed[name] for name in typed if name.startswith(RECIPE)},
                    {name: typed[name] for name in given if name in varied},
                )
            )
    return made


def draw(ranges: Mapping[str, Range], search_seed: int, method: str, index: int) -> dict[str, Any]:
    """One point of a random search. Each number has a generator of its own, made of the search's seed, the
    method's name, the number of the point and the field: more draws, methods or fields change no other.
    """
    found = {}
    for name, range_ in ranges.items():
        key = hashlib.sha256(f"{search_seed}\n{method}\n{index}\n{name}".encode()).digest()[:16]
        generator = np.random.Generator(np.random.Philox(key=int.from_bytes(key, "little")))
        found[name] = range_.at(float(generator.random()))
    return found


def range_of(name: str, search: Search, method: Method) -> Range:
    """The range of a search: its own bounds, or those beside the method's field.

    >>> range_of("eta", Search(), load_method("gdro", {}))
    Range(low=0.01, high=1.0, log=True, whole=False)
    """
    recipe = name.startswith(RECIPE)
    items = {item.name: item for item in fields(Recipe if recipe else method)}
    item = items[name.removeprefix(RECIPE)]
    beside = item.metadata.get("search") or (None, None)
    low = beside[0] if search.low is None else search.low
    high = beside[1] if search.high is None else search.high
    if low is None or high is None:
        raise InputError(f"'{item.name}' has no range to search beside it; write {{low = ..., high = ...}}")
    default = item.default
    if (
        isinstance(default, bool)
        or not isinstance(default, (int, float))
        or (recipe and item.name not in NUMBERS)
    ):
        raise InputError(f"'{item.name}' is no number that could be searched; write {{grid = [...]}}")
    log = search.log if search.log is not None else low > 0 and bool(item.metadata.get("log", True))
    if not math.isfinite(low) or not math.isfinite(high) or not low < high:
        raise InputError(f"a search of '{item.name}' needs low < high, not {low} and {high}")
    if log and low <= 0:
        raise InputError(f"a search of '{item.name}' on a log scale needs low > 0, not {low}; or log = false")
    return Range(low, high, log, whole=isinstance(default, int))


def as_field(method: Method, name: str, value: Any) -> Any:
    """1 is 1.0 where a float is meant, so that equal settings are equal runs."""
    floats = (RECIPE + rate for rate in RATES) if name.startswith(RECIPE) else float_fields(method)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and name in floats else value
