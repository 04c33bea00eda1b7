"""What may be wrong with the methods and recipes of a study: every value of every field, looked at early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.fields import check_fields
from evenhand.methods.registry import METHODS
from evenhand.nets.names import no_such
from evenhand.study.mistakes import Mistakes
from evenhand.study.plain import GRID
from evenhand.study.read_blocks import METHOD_KEYS
from evenhand.study.search import RATES, RECIPE, as_field, range_of
from evenhand.study.spec import Grid, MethodSpec, Search, Study
from evenhand.study.tasks import load_method
from evenhand.study.toml_lines import KeyPath
from evenhand.train.recipe import Recipe


def check_methods(study: Study, mistakes: Mistakes) -> None:
    """Keys, fields, grids, searches and recipes of every method."""
    if not study.methods:
        mistakes.add(("method",), 'a study needs a [[method]], such as key = "erm"')
    for method in study.methods:
        place: KeyPath = ("method", method.name)
        with mistakes.at((*place, "key")):
            made = _made(method.key)
            _check_values(method, made, place, mistakes)
        check_recipe(method.recipe, (*place, "recipe"), mistakes, varied=True)
        _check_draws(method, place, mistakes)


def check_recipe(
    recipe: Mapping[str, Any], place: KeyPath, mistakes: Mistakes, *, varied: bool = False
) -> None:
    """Every value of a recipe by itself; variations only where a method is varied."""
    erm = load_method("erm", {})  # a recipe's ranges belong to no method
    for name, value in recipe.items():
        where = (*place, name)
        if not varied and isinstance(value, (Mapping, Grid, Search)):
            mistakes.add(where, f"'{name}' is varied here; what is varied belongs into a [[method]]'s recipe")
            continue
        if isinstance(value, Search) and name in {item.name for item in fields(Recipe)}:
            with mistakes.at(where):
                range_of(RECIPE + name, value, erm)
        for key, one in _single(value, where, mistakes):
            with mistakes.at(key):
                _check_recipe_value(name, one)


def _check_recipe_value(name: str, value: Any) -> None:
    if name in RATES and isinstance(value, (list, tuple)):
        raise InputError(
            f"'{name}' must be one number; to try several write {{grid = {list(value)}}} in a method"
        )
    Recipe.of(**{name: value})


def _made(key: str) -> Method:
    if ":" not in key and key not in METHODS and key.endswith(".py"):
        raise InputError(f"which class of {key} is meant? write it as {key}:CLASS")
    return load_method(key, {})


def _check_values(method: MethodSpec, made: Method, place: KeyPath, mistakes: Mistakes) -> None:
    known = [item.name for item in fields(made)]
    for name, value in method.fields.items():
        where = (*place, name)
        if name not in known:
            keys = [*known, *(key for key in METHOD_KEYS if key not in ("key", "technique"))]
            mistakes.add(where, no_such(f"the method '{method.name}' has no field", name, keys, "Its keys"))
            continue
        if isinstance(value, Search):
            with mistakes.at(where):
                range_ = range_of(name, value, made)
                for bound in (range_.low, range_.high):
                    _check_field(method.key, made, name, bound)
        for key, one in _single(value, where, mistakes):
            with mistakes.at(key):
                _check_field(method.key, made, name, one)


def _check_field(key: str, made: Method, name: str, value: Any) -> None:
    check_fields(load_method(key, {name: as_field(made, name, value)}))


def _single(value: Any, where: KeyPath, mistakes: Mistakes) -> Iterator[tuple[KeyPath, Any]]:
    """The concrete values of a field with their places; what is wrong with a grid as such is noted."""
    if isinstance(value, Search):
        return
    if not isinstance(value, Grid):
        yield where, value
        return
    if not value.values:
        mistakes.add((*where, GRID), f"the grid of '{where[-1]}' is empty; give it values, or leave it out")
    for place, one in enumerate(value.values):
        if one in value.values[:place]:
            mistakes.add((*where, GRID, place), f"the grid of '{where[-1]}' has {one!r} twice")
        else:
            yield (*where, GRID, place), one


def _check_draws(method: MethodSpec, place: KeyPath, mistakes: Mistakes) -> None:
    searched = [
        name
        for values in (method.fields, method.recipe)
        for name, value in values.items()
        if isinstance(value, Search)
    ]
    if method.draws < 0:
        mistakes.add((*place, "draws"), f"'draws' must be at least 1, not {method.draws}")
    elif searched and not method.draws:
        told = f"the method '{method.name}' searches {', '.join(searched)}: say how often with draws = NUMBER"
        mistakes.add(place, told)
    elif method.draws and not searched:
        told = f"the method '{method.name}' has draws = {method.draws} and searches nothing"
        mistakes.add((*place, "draws"), f"{told}; write FIELD = {{search = true}}, or leave draws out")
