"""`check_study`: everything that can be wrong with a study before its data is loaded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import get_args

from evenhand.data.task import PARTS
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.view import Convention
from evenhand.nets.names import no_such
from evenhand.study.fit import check_fit
from evenhand.study.method_limits import check_method_limits, clashing_names
from evenhand.study.mistakes import Mistakes
from evenhand.study.names import complete
from evenhand.study.number_names import NUMBERS_PART, is_number
from evenhand.study.select_rules import RULES
from evenhand.study.smoke import LIMIT, smoke_form
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, NetEntry, Study
from evenhand.study.toml_lines import KeyPath
from evenhand.study.validate_blocks import (
    check_groupings,
    check_limits,
    check_net_methods,
    check_nets,
    check_tasks,
)
from evenhand.study.validate_methods import check_methods, check_recipe
from evenhand.study.validate_once import check_once
from evenhand.study.validate_shifts import check_numbers, check_shifts

MOST_RUNS = 1_000_000  # the plan and its identities are held in memory
KINDS = ("train", "replay", "program")
TESTS = ("mann-whitney", "wilcoxon", "permutation")
CORRECTIONS = ("holm", "benjamini-hochberg", "none")
CONVENTIONS = get_args(Convention)
BINS, ECE_BINS = 240, 15  # bins of scores that serve every metric; those that ECE joins them into
FIGURES = ("frontier", "ranks", "groups", "classes", "variance", "levelling", "cost", "spearman")
SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def check_study(study: Study) -> Study:
    """A study that was made in Python, with all names and a smoke form filled in; its mistakes in one error.

    >>> from evenhand.study.spec import GroupingSpec, MethodSpec, TaskSpec
    >>> study = Study("mine", tasks=(TaskSpec("titanic"),), groupings=(GroupingSpec(("sex",)),),
    ...               methods=(MethodSpec("gdro", fields={"etta": 0.1}),))
    >>> check_study(study)
    Traceback (most recent call last):
    evenhand.errors.InputError: method 'gdro', etta: the method 'gdro' has no field 'etta'; did you mean
    'eta'? Its keys: eta, adjustment, by, balanced, name, draws, tasks, recipe, once,
    groupings
    """
    mistakes = Mistakes()
    study = complete(study)
    study = study if study.smoke is not None else replace(study, smoke=smoke_form(study))
    find_mistakes(study, mistakes)
    mistakes.raise_if_any()
    return study


def find_mistakes(study: Study, mistakes: Mistakes) -> None:
    """Note every mistake of a study and of its smoke form."""
    _look(study, mistakes)
    if study.smoke is not None:
        mistakes.small = True
        _look(study.smoke, mistakes)
        mistakes.small = False


def _look(study: Study, mistakes: Mistakes) -> None:
    _check_top(study, mistakes)
    check_fit(study, mistakes)
    check_numbers(study, mistakes)
    _check_selection(study, mistakes)
    _check_report(study, mistakes)
    if study.kind != "train":
        return  # what is not trained has neither tasks nor methods of ours
    _check_names(study, mistakes)
    check_recipe(study.recipe, ("recipe",), mistakes)
    blocks = (check_tasks, check_groupings, check_nets, check_methods)
    limits = (check_limits, check_net_methods, check_method_limits)
    for check in (*blocks, *limits, check_shifts, check_once, _check_size):
        check(study, mistakes)


def _check_size(study: Study, mistakes: Mistakes) -> None:
    """A slip of some zeros would otherwise be met as a planning that never ends."""
    runs = (
        len(study.seeds)
        * max(study.repeats, 1)
        * sum(
            _groupings(study, task.name, method) * _nets(study, task.name, method) * _settings(method)
            for task in study.tasks
            for method in study.methods
            if task.name in (method.tasks or (task.name,))
        )
    )
    if runs > MOST_RUNS:
        told = f"the study would have {runs:,} runs, and at most {MOST_RUNS:,} can be planned: fewer seeds, "
        mistakes.add(("seeds",), f"{told}draws or values of grids, or several studies")


def _number(entries: Sequence[GroupingSpec | NetEntry], task: str) -> int:
    return sum(task in (entry.tasks or (task,)) for entry in entries)


def _groupings(study: Study, task: str, method: MethodSpec) -> int:
    return min(_number(study.groupings, task), 1 if method.once else MOST_RUNS)


def _nets(study: Study, task: str, method: MethodSpec) -> int:
    return _number([net for net in study.nets if net.is_for(method.name)], task) if study.nets else 1


def _settings(method: MethodSpec) -> int:
    varied = [*method.fields.values(), *method.recipe.values()]
    return prod(len(value.values) for value in varied if isinstance(value, Grid)) * max(method.draws, 1)


def _check_top(study: Study, mistakes: Mistakes) -> None:
    if not SAFE.fullmatch(study.name):
        told = f"the name {study.name!r} becomes a folder: use letters, digits, '-', '_' and '.'"
        mistakes.add(("name",), told)
    _one_of(("kind",), "kind", study.kind, KINDS, mistakes)
    for seed, times in Counter(study.seeds).items():
        if times > 1 or seed < 0:
            mistakes.add(
                ("seeds",), f"the seed {seed} is there twice" if times > 1 else f"the seed {seed} is below 0"
            )
    if not study.seeds:
        mistakes.add(("seeds",), "a study needs at least one seed")
    if study.score_bins < 0 or study.search_seed < 0:
        key = "score_bins" if study.score_bins < 0 else "search_seed"
        mistakes.add((key,), f"'{key}' must be at least 0, not {getattr(study, key)}")
    for part in study.parts:
        if part.partition("_")[0] not in PARTS:  # "validation_balanced" is for the data to know
            _one_of(("parts",), "a part", part, PARTS, mistakes)
    for option in study.options if study.kind == "train" else ():
        if option != LIMIT:
            mistakes.add(("options", option), f"a study that trains has no option {option!r}")
    limit = study.options.get(LIMIT, 1)
    if study.kind == "train" and not (isinstance(limit, int) and limit >= 1):
        mistakes.add((LIMIT,), f"'{LIMIT}' must be a whole number of at least 1, not {limit!r}")


def _net_names(study: Study) -> list[str]:
    """The names of networks, once where those of one name are for other methods or tasks."""
    names = []
    for place, net in enumerate(study.nets):
        earlier = [other for other in study.nets[:place] if other.name == net.name]
        clash = any(_overlap(net.methods, o.methods) and _overlap(net.tasks, o.tasks) for o in earlier)
        names += [net.name] if clash or not earlier else []
    return names


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    return not one or not other or bool(set(one) & set(other))


def _check_names(study: Study, mistakes: Mistakes) -> None:
    names = {
        "task": [task.name for task in study.tasks],
        "grouping": [grouping.name for grouping in study.groupings],
        "net": _net_names(study),
        "method": clashing_names(study),
    }
    for block, called in names.items():
        for name, times in Counter(called).items():
            if times > 1:
                told = (
                    f"there are {times} {block}s called '{name}'; give each a name of its own: name = \"...\""
                )
                mistakes.add((block, name), told)


def _check_selection(study: Study, mistakes: Mistakes) -> None:
    chosen = study.selection
    _one_of(("selection", "rule"), "rule", chosen.rule, tuple(RULES), mistakes)
    for key in ("metric", "accuracy"):
        _check_metric(("selection", key), getattr(chosen, key), study, mistakes)
        if is_number(getattr(chosen, key)) and chosen.part != NUMBERS_PART:
            told = f"'{getattr(chosen, key)}' is taken on {NUMBERS_PART} rows: to choose by it is an oracle, "
            mistakes.add(("selection", key), f'{told}and asks for part = "{NUMBERS_PART}"')
    if study.kind == "train":
        _one_of(("selection", "part"), "part", chosen.part, study.parts, mistakes)
    if not chosen.tolerance >= 0:
        mistakes.add(("selection", "tolerance"), f"'tolerance' must be at least 0, not {chosen.tolerance}")


def _check_report(study: Study, mistakes: Mistakes) -> None:
    shown = study.report
    for place, key in enumerate(shown.metrics):
        _check_metric(("report", "metrics", place), key, study, mistakes)
    _check_metric(("report", "accuracy"), shown.accuracy, study, mistakes)
    for key, options in (("test", TESTS), ("correction", CORRECTIONS), ("convention", CONVENTIONS)):
        _one_of(("report", key), key, getattr(shown, key), options, mistakes)
    for place, figure in enumerate(shown.figures):
        _one_of(("report", "figures", place), "a figure", figure, FIGURES, mistakes)
    if not 0 < shown.confidence < 1:
        told = f"'confidence' must be between 0 and 1, such as 0.95; not {shown.confidence}"
        mistakes.add(("report", "confidence"), told)
    if study.kind == "train":
        _one_of(("report", "part"), "part", shown.part, study.parts, mistakes)
        names = [method.name for method in study.methods]
        if shown.base and shown.base not in names:
            told = no_such(
                "the base of the report is no method of the study:", shown.base, names, "Its methods"
            )
            mistakes.add(("report", "base"), told)


def _check_metric(place: KeyPath, key: str, study: Study, mistakes: Mistakes) -> None:
    if key not in CATALOGUE:
        told = no_such("there is no metric", key, CATALOGUE, "There are").partition(" There are")[0]
        mistakes.add(place, f"{told} `evenhand list metrics` shows all")
        return
    needs = CATALOGUE[key].needs
    if needs == "scores" and not study.score_bins:
        told = f"the metric '{key}' needs scores, which are not kept: set score_bins = {BINS} at the top"
        mistakes.add(place, told)
    elif key.startswith("ece.") and study.score_bins % ECE_BINS:
        told = f"the metric '{key}' joins the scores into {ECE_BINS} bins, and {study.score_bins} cannot be"
        mistakes.add(place, f"{told}: set score_bins = {BINS} at the top")
    elif is_number(key) and key not in study.numbers:
        told = f"the metric '{key}' is taken of trained models, and only where it is asked for"
        mistakes.add(place, f'{told}: set numbers = ["{key}"] at the top')
    elif needs not in ("counts", "scores") and not is_number(key):
        mistakes.add(place, f"the metric '{key}' needs {needs}; a study measures one model at a time")


def _one_of(place: KeyPath, what: str, value: str, options: tuple[str, ...], mistakes: Mistakes) -> None:
    if value not in options:
        mistakes.add(place, no_such(f"there is no {what.removeprefix('a ')}", value, options, "There are"))
