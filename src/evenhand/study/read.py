"""`read_study`: a study from a TOML file or from the package, checked; every mistake with its line."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.study.library import StudyText, find_study
from evenhand.study.mistakes import Mistakes
from evenhand.study.read_blocks import read_grouping, read_method, read_net, read_shift, read_task
from evenhand.study.read_fit import read_fit
from evenhand.study.smoke import SmokeSpec, smoke_form
from evenhand.study.spec import ReportSpec, SelectionSpec, Study
from evenhand.study.toml_lines import key_lines
from evenhand.study.toml_table import NUMBER, SWITCH, TABLE, TEXT, TEXTS, WHOLE, WHOLES, Table
from evenhand.study.validate import find_mistakes

STUDY_KEYS = (
    "name", "title", "about", "kind", "seeds", "search_seed", "parts", "score_bins", "claims", "recipe",
    "task", "grouping", "net", "method", "shift", "numbers", "selection", "report", "options", "smoke",
    "repeat", "runs", "fit", "predictions",
)  # fmt: skip
MOST_SEEDS = 1_000_000
SMOKE_KEYS = ("seeds", "tasks", "groupings", "nets", "methods", "settings", "recipe", "task", "options")
_KINDS = {"str": TEXT, "float": NUMBER, "tuple[str, ...]": TEXTS}


def read_study(source: str | Path) -> Study:
    """The study of a file, or of that name in the package; an InputError tells every mistake with its line.

    >>> read_study("first-look").report.base
    'erm'
    """
    study, mistakes = read_with_lines(find_study(source))
    mistakes.raise_if_any()
    return study


def read_with_lines(found: StudyText) -> tuple[Study, Mistakes]:
    """The study of a text as far as it can be made, and its mistakes, which know the lines of the text."""
    values = _parsed(found)
    mistakes = Mistakes(found.file, key_lines(found.text))
    study = _study(Table(values, (), mistakes), found)
    find_mistakes(study, mistakes)
    return study, mistakes


def _parsed(found: StudyText) -> dict[str, Any]:
    try:
        return tomllib.loads(found.text)
    except tomllib.TOMLDecodeError as error:
        told = str(error)
        at = re.search(r" \(at line (\d+), column (\d+)\)", told)
        line = int(at.group(1)) if at else len(found.text.splitlines()) or 1
        words = f"{told[: at.start()]} (column {at.group(2)})" if at else told
        raise InputError(f"{found.file}:{line}: this is no TOML: {words}") from error


def _study(top: Table, found: StudyText) -> Study:
    """The study itself, then its smoke form, which is made of it."""
    smoke = top.table("smoke")
    values: dict[str, Any] = {
        "name": top.take("name", TEXT, default=Path(found.file).stem),
        "source": Path(found.file).stem if found.packaged else str(Path(found.file).resolve()),
    }
    for key in ("title", "about", "kind"):
        values[key] = str(top.take(key, TEXT, default="train" if key == "kind" else "")).strip()
    for key in ("search_seed", "score_bins"):
        values[key] = top.take(key, WHOLE, default=0)
    values["seeds"] = _seeds(top, (0,))
    values["parts"] = tuple(top.take("parts", TEXTS, default=["validation", "test"]))
    values |= read_fit(top)
    values["claims"] = top.names("claims")
    values["recipe"] = top.take("recipe", TABLE, default={})
    values["options"] = top.take("options", TABLE, default={})
    values["tasks"] = tuple(made for block in top.tables("task") for made in read_task(block, found.base))
    values["groupings"] = tuple(made for block in top.tables("grouping") for made in read_grouping(block))
    values["nets"] = tuple(made for block in top.tables("net") for made in read_net(block))
    said = {name for recipe in (values["recipe"], *(t.recipe for t in values["tasks"])) for name in recipe}
    values["methods"] = tuple(
        made for block in top.tables("method") for made in read_method(block, found.base, said)
    )
    values["shifts"] = tuple(made for block in top.tables("shift") for made in read_shift(block))
    values["numbers"] = top.names("numbers")
    values["predictions"] = top.take("predictions", SWITCH, default=False)
    values["selection"] = _record(top.table("selection"), SelectionSpec)
    values["report"] = _record(top.table("report"), ReportSpec)
    top.refuse_rest("a study", STUDY_KEYS)
    study = Study(**values)
    return Study(**{**values, "smoke": smoke_form(study, _smoke(smoke, study))})


def _smoke(table: Table, study: Study) -> SmokeSpec:
    """What `[smoke]` says; names that are not in the study are told by the checks that follow."""
    values: dict[str, Any] = {key: table.names(key) for key in ("tasks", "groupings", "nets", "methods")}
    for key in values:
        known = [entry.name for entry in getattr(study, key)]
        for name in values[key]:
            if name not in known:
                table.wrong(f"the study has no {name!r} among its {key}: {', '.join(known) or 'none'}", key)
    by_task = table.table("task")
    knobs = {task.name: by_task.take(task.name, TABLE, default={}) for task in study.tasks}
    by_task.refuse_rest("the smoke form's 'task'", list(knobs))
    spec = SmokeSpec(
        **values,
        seeds=_seeds(table, ()),
        settings=table.take("settings", WHOLE, default=SmokeSpec.settings),
        recipe=table.take("recipe", TABLE, default={}),
        knobs=knobs,
        options=table.take("options", TABLE, default={}),
    )
    table.refuse_rest("a smoke form", SMOKE_KEYS)
    return spec


def _seeds(table: Table, default: tuple[int, ...]) -> tuple[int, ...]:
    """A number n is 0 to n - 1."""
    given = table.take("seeds", WHOLE, WHOLES)
    if given is None:
        return default
    if isinstance(given, int) and given < 1:
        table.wrong(f"'seeds' must be at least 1, or a list of seeds; not {given}", "seeds")
        return default
    if isinstance(given, int) and given > MOST_SEEDS:
        table.wrong(f"'seeds' must be at most {MOST_SEEDS:,}, not {given:,}", "seeds")
        return default
    return tuple(range(given)) if isinstance(given, int) else tuple(given)


def _record(table: Table, kind: Any) -> Any:
    """`[selection]` or `[report]`: every key is a field of the record."""
    known = {item.name: item for item in fields(kind)}
    given = {name: table.take(name, _KINDS[str(item.type)]) for name, item in known.items()}
    table.refuse_rest(f"[{table.path[0]}]", known)
    values = {name: value for name, value in given.items() if value is not None}
    return kind(
        **{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    )
