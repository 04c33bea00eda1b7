"""Which figures of S1 a study fills: 2, 3, 4 for every base task, 6 to 9 by collection, 10 with variants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evenhand.evaluation.many_attributes.layout import (
    COLLECTION_FIGURES,
    SENSITIVE,
    SHOWN_VARIANTS,
    SLOTS,
    VARIANTS,
    plain_key,
)
from evenhand.evaluation.many_attributes.numbers import Json, against_size, bars, normalised, spread
from evenhand.evaluation.many_attributes.runs import Runs, Structure

OTHER_VARIANTS = "variants that S1 does not show"


def figures(runs: Runs) -> list[Json]:
    """Every figure with all its numbers, in the order of the paper."""
    found = [figure for track in runs.tracks for figure in _of_track(runs, track)]
    return sorted(found, key=lambda figure: figure["number"] or 99)


def _of_track(runs: Runs, track: tuple[str, str]) -> Iterator[Json]:
    own = runs.of(track)
    where = [structure for structure in own if not structure.swapped] or own
    name, main = runs.track_name(track), runs.main
    count = f"{len(where)} structure{'s' if len(where) != 1 else ''}"
    yield _figure(runs, 2, name, f"averages over {count}", where, bars(runs, where, main))
    if len(where) > 1:
        yield _figure(
            runs, 3, name, "by ERM's own result and by attributes", where, spread(runs, where, main)
        )
        title = "intersectional bias less ERM's"
        yield _figure(runs, 4, name, title, where, normalised(runs, where, main))
    collections = list(dict.fromkeys(structure.collection for structure in where))
    for collection in collections if len(collections) > 1 else ():
        own = [structure for structure in where if structure.collection == collection]
        number = COLLECTION_FIGURES.get(collection)
        title = f"{collection} attributes ({len(own)} structures)"
        yield _figure(runs, number, name, title, own, spread(runs, own, main), "" if number else collection)
    own = [structure for structure in where if structure.collection == SENSITIVE] or where
    for printed, title in ((True, "decomposed (AD) and distilled (KD) variants"), (False, OTHER_VARIANTS)):
        varied = with_variants(runs, printed)
        if varied:
            panels = [against_size(runs, own, varied, slot) for slot in SLOTS]
            yield _figure(runs, 10, name, title, own, panels, "" if printed else "more variants")


def with_variants(runs: Runs, printed: bool) -> list[str]:
    """ERM, the variants that S1 shows (or all others), and what they are variants of; nothing without any."""
    keys = {name: plain_key(runs.keys[name]) for name in runs.methods}
    shown = {key for key in keys.values() if key in VARIANTS and (key in SHOWN_VARIANTS) == printed}
    bases = {VARIANTS[key] for key in shown}
    return [name for name, key in keys.items() if key in shown | bases | {"erm"}] if shown else []


def _figure(
    runs: Runs, number: int | None, track: str, title: str, where: Sequence[Structure], panels: list[Json],
    also: str = "",
) -> Json:  # fmt: skip
    names = {structure.key(slot): slot for structure in where for slot in SLOTS}
    parts = [f"figure-{number}" if number else "collection", track, also]
    slug = re.sub(r"[^a-z0-9]+", "-", " ".join(filter(None, parts)).lower()).strip("-")
    keys = {slot: key for key, slot in names.items()}
    return {"file": slug, "number": number, "track": track, "title": title, "keys": keys, "panels": panels,
            "kind": "bars" if number == 2 else "points"}  # fmt: skip
