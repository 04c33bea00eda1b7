"""What decomposition, distillation and pre-training add to a method: tables and pictures of S1's studies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from evenhand.report.figures.forest import ForestRow, forest
from evenhand.report.many_attributes_names import ARROWS, SLOTS
from evenhand.report.numbers import UNDEFINED, interval, number
from evenhand.report.study_tables import Cell, Table

Json = Mapping[str, Any]
Pictures = dict[str, tuple[str, Callable[..., str]]]
Named = tuple[str, Json]  # the study's name where several stand together, and its row
ALL = "all"
FOLDER = "many-attributes"  # of what several studies share
TITLE = "What decomposition, distillation and pre-training add"
NOTE = (
    "Method less method, seed by seed, the mean over the study's structures [95 % interval]: Student's, over "
    "seeds, with these structures; wider ones, which also hold for others, decide the claims. AD: decomposed "
    "by attribute, KD: distilled."
)


def over_all(study: Json) -> list[Json]:
    """The rows over all structures; none where a study has no variants."""
    return [row for row in study["added"] if row["scope"] == ALL]


def added_table(study: Json) -> Table:
    """One row for each task and pair."""
    places = dict.fromkeys((row["track"], row["words"]) for row in over_all(study))
    found = {(row["track"], row["words"], row["slot"]): row for row in over_all(study)}
    rows = tuple(
        (*place, *(_estimate(found.get((*place, slot))) for slot in SLOTS)) for place in places
    )  # fmt: skip
    heads = ("Task", "Pair", *(f"{name.capitalize().replace('map', 'mAP')} {ARROWS[slot]}"
                               for slot, name in SLOTS.items()))  # fmt: skip
    return Table(TITLE, heads, rows, NOTE)


def added_numbers(study: Json) -> Table:
    """Every number, also on each structure."""
    keys = ("track", "scope", "words", "metric", "effect", "low", "high", "structures", "seeds")
    heads = ("task", "structures", "pair", "metric", "effect", "95 % low", "95 % high", "of", "seeds")
    rows: list[tuple[Cell, ...]] = [tuple(row[key] for key in keys) for row in study["added"]]
    return Table(TITLE, heads, tuple(rows))


def _estimate(row: Json | None) -> str:
    if row is None:
        return UNDEFINED
    told = number(row["effect"], signed=True)
    return told if row["low"] is None else f"{told} [{interval((row['low'], row['high']), signed=True)}]"


# -- studies together --------------------------------------------------------------------------------------
def shared(body: Json) -> list[Json]:
    """The studies that have a pair on a task which another has too."""
    own = [{place_of(row) for row in over_all(study)} for study in body["studies"]]
    often = Counter(place for places in own for place in places)
    return [
        study
        for study, places in zip(body["studies"], own, strict=True)
        if any(often[place] > 1 for place in places)
    ]


def place_of(row: Json) -> tuple[str, str, str]:
    """Metric, task and pair."""
    return row["slot"], row["track"], row["words"]


def together(body: Json) -> list[Named]:
    """What several studies have, by task, then pair, then study."""
    named = [(study["name"], row) for study in shared(body) for row in over_all(study)]
    often = Counter(place_of(row) for _, row in named)
    kept = [(name, row) for name, row in named if often[place_of(row)] > 1]
    tracks, pairs = (list(dict.fromkeys(row[key] for _, row in kept)) for key in ("track", "words"))
    return sorted(kept, key=lambda one: (tracks.index(one[1]["track"]), pairs.index(one[1]["words"])))


def beside_added_table(body: Json) -> Table:
    """One row for each metric, task and pair that several studies have, one column for each of them."""
    names, named = [study["name"] for study in shared(body)], together(body)
    found = {(*place_of(row), name): row for name, row in named}
    rows = [
        (told, *place[1:], *(_estimate(found.get((*place, name))) for name in names))
        for slot, told in SLOTS.items()
        for place in dict.fromkeys(place_of(row) for _, row in named)
        if place[0] == slot
    ]
    return Table(f"{TITLE}, study by study", ("Metric", "Task", "Pair", *names), tuple(rows), NOTE)


# -- pictures ----------------------------------------------------------------------------------------------
def added_drawn(study: Json) -> dict[str, str]:
    """A picture of every metric by the name of its file."""
    return {file: draw() for file, (_, draw) in added_pictures(study).items()}


def added_pictures(study: Json) -> Pictures:
    """Title of each picture and what draws it at a width, by the name of its file."""
    return _pictures([("", row) for row in over_all(study)])


def beside_pictures(body: Json) -> Pictures:
    """The same of several studies together."""
    return _pictures(together(body))


def _pictures(named: Sequence[Named]) -> Pictures:
    """One for each metric and task: their scales differ."""
    found: Pictures = {}
    for slot in SLOTS:
        for track in dict.fromkeys(row["track"] for _, row in named if row["slot"] == slot):
            own = [(study, row) for study, row in named if (row["slot"], row["track"]) == (slot, track)]
            title = f"{TITLE}, {track}: {own[0][1]['metric']} {ARROWS[slot]}"
            found[f"added-{_slug(track)}-{slot}"] = title, partial(_drawn, own, title)
    return found


def _slug(track: str) -> str:
    """A task as a part of a file's name.

    >>> _slug("Table 4, resnet18")
    'table-4-resnet18'
    """
    return re.sub(r"[^a-z0-9]+", "-", track.lower()).strip("-")


def _drawn(named: Sequence[Named], title: str, width: float = 760) -> str:
    """One row for each pair; where studies stand together, one for each study under the pair."""
    rows = []
    for words in dict.fromkeys(row["words"] for _, row in named):
        own = [(study, row) for study, row in named if row["words"] == words]
        rows += [ForestRow(words, None, heading=True)] if own[0][0] else []
        rows += [_forest_row(study or words, row) for study, row in own]
    return forest(rows, title=title, reference=("no difference", 0.0), width=width, signed=True)


def _forest_row(label: str, row: Json) -> ForestRow:
    return ForestRow(label, row["effect"], row["low"], row["high"],
                     note=f"{row['structures']} structures, {row['seeds']} seeds")  # fmt: skip
