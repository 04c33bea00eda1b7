"""The trade-off between accuracy and the gaps of groups, over several methods fitted to one task."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.fitted import Fitted
from evenhand.evaluation.option_names import refuse_unknown
from evenhand.evaluation.options import Options, chosen_metrics
from evenhand.evaluation.tradeoff_rows import check_alike, guesses_of, row_reaches
from evenhand.evaluation.tradeoff_values import Estimate, Moved, adjusted, estimate, frontier, moved
from evenhand.evaluation.values import plain
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS

ACCURACY = "acc"
METRICS = ("tpr.gap", "fpr.gap", "selection.gap", "odds.max")


@dataclass(frozen=True)
class Entry:
    """One method: its record, its numbers (accuracy first), and how far it is from the base (None for it)."""

    name: str
    facts: Mapping[str, Any] = field(repr=False)
    numbers: dict[str, Estimate]
    moved: dict[str, Moved] | None = None


@dataclass(frozen=True)
class TradeOff:
    """The result of `evenhand.tradeoff`: a point for each method and seed, the frontiers, the differences."""

    entries: tuple[Entry, ...]
    base: str
    metrics: tuple[str, ...]
    frontiers: dict[str, list[str]]
    about: dict[str, Any] = field(repr=False)  # rows, groups, classes: what was measured
    warnings: tuple[str, ...]
    options: Options
    created: str

    def to_dict(self) -> dict[str, Any]:
        """The trade-off as plain values: NaN is None. Reports read this."""
        from evenhand import __version__

        first = self.entries[0].facts
        body = {
            "evenhand": __version__,
            "kind": "tradeoff",
            "name": f"{first['task']['name']} by {' × '.join(self.about['grouping'])}",
            **self.about,
            "task": first["task"],
            "base": self.base,
            "metrics": self.metrics,
            "frontiers": self.frontiers,
            "methods": [_record(entry) for entry in self.entries],
            "warnings": self.warnings,
            "method": {
                "confidence": self.options.confidence,
                "replicates": self.options.replicates,
                "resampling": "stratified",
                "seed": self.options.seed,
                "min_count": self.options.min_count,
                "created": self.created,
                "versions": first["versions"],
            },
        }
        clean: dict[str, Any] = plain(body)
        return clean

    def to_json(self, indent: int | None = 2) -> str:
        """The trade-off as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False, default=str)

    def to_html(self) -> str:
        """The trade-off as one self-contained page."""
        from evenhand.report.tradeoff import render

        return render(self.to_dict())

    def figures(self) -> dict[str, str]:
        """The figures of the report as SVG texts; `evenhand.report.png.to_png` makes bitmaps of them."""
        from evenhand.report.exports import figures

        return figures(self.to_dict())

    def __rich__(self) -> Any:
        from evenhand.report.terminal_tradeoff import tradeoff_table

        return tradeoff_table(self.to_dict())

    def __repr__(self) -> str:
        shown = ", ".join(f"{e.name}: {e.numbers[ACCURACY].mean:.4f}" for e in self.entries)
        return f"TradeOff(base={self.base!r}, accuracy of {shown})"


def tradeoff(
    fits: Mapping[str, Fitted],
    metrics: Sequence[str] = METRICS,
    *,
    base: str | None = None,
    part: str = "test",
    **options: Any,
) -> TradeOff:
    """Put several fits of one task side by side: accuracy against gaps, a point for each seed.

    `fits` maps a method's name to what `evenhand.fit` gave back. `base` is what the others are compared with
    (default: "erm" if it is there, else the first). Where all have the same seeds, differences are taken seed
    by seed. Options are those of `evenhand.audit`.

    >>> import evenhand
    >>> fits = {name: evenhand.fit("mlp", name, "titanic", seeds=2, epochs=1) for name in ("erm", "sd")}
    >>> found = tradeoff(fits, metrics=["tpr.gap"], replicates=50)
    >>> found.base, len(found.entries[0].numbers["tpr.gap"].values)
    ('erm', 2)
    """
    refuse_unknown(tradeoff, options)
    chosen = Options(**options)
    chosen.check()
    if len(fits) < 2:
        raise InputError("a trade-off needs the fits of at least two methods")
    base = base or ("erm" if "erm" in fits else next(iter(fits)))
    if base not in fits:
        raise InputError(f"there is no fit {base!r} to be the base; there are {', '.join(fits)}")
    check_alike(list(fits.values()), part)
    keys = tuple(chosen_metrics(metrics, COUNT_METRICS))
    entries, about, warnings = _measured(fits, (ACCURACY, *keys), part, chosen)
    entries = _compared(entries, fits, base, part, chosen)
    return TradeOff(
        entries, base, keys, _frontiers(entries, keys), about, (*_notes(fits), *warnings), chosen,
        datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )  # fmt: skip


def _measured(
    fits: Mapping[str, Fitted], keys: tuple[str, ...], part: str, options: Options
) -> tuple[tuple[Entry, ...], dict[str, Any], list[str]]:
    """Every fit audited; what is the same for all of them; what the audits warn of."""
    entries, warnings, about = [], list[str](), dict[str, Any]()
    for name, fitted in fits.items():
        audit = fitted.audit(part, **{**vars(options), "metrics": keys})
        runs, confidence = len(fitted.seeds), options.confidence
        numbers = {key: estimate(audit.metrics[key], CATALOGUE[key], confidence, runs) for key in keys}
        entries.append(Entry(name, fitted.facts, numbers))
        said = [f"{name}: {note}" if note in audit.subject.warnings else note for note in audit.warnings]
        warnings += [note for note in said if note not in warnings]
        groups = [{"name": group.name, "n": group.n} for group in audit.groups]
        about = {
            "n": audit.n, "unknown": audit.unknown, "classes": audit.subject.classes, "part": part,
            "grouping": audit.subject.grouping.attributes, "groups": groups,
        }  # fmt: skip
    return tuple(entries), about, warnings


def _compared(
    entries: tuple[Entry, ...], fits: Mapping[str, Fitted], base: str, part: str, options: Options
) -> tuple[Entry, ...]:
    """Every entry with its differences from the base, and all p-values adjusted together."""
    first = next(entry for entry in entries if entry.name == base)
    guesses = {name: guesses_of(fitted, part) for name, fitted in fits.items()}
    metrics = [CATALOGUE[key] for key in first.numbers]
    found: dict[tuple[str, str], Moved] = {}
    for entry in entries:
        if entry.name == base:
            continue
        alike = fits[entry.name].seeds == fits[base].seeds
        rows = row_reaches(fits[base], part, guesses[base], guesses[entry.name], metrics, options)
        for key, number in entry.numbers.items():
            found[entry.name, key] = moved(first.numbers[key], number, rows[key], options.confidence, alike)
    corrected = dict(zip(found, adjusted(list(found.values())), strict=True))
    found = {place: replace(entry, p_adjusted=corrected[place]) for place, entry in found.items()}
    return tuple(
        entry
        if entry.name == base
        else replace(entry, moved={key: found[entry.name, key] for key in entry.numbers})
        for entry in entries
    )


def _frontiers(entries: Sequence[Entry], keys: Sequence[str]) -> dict[str, list[str]]:
    return {
        key: frontier(
            {e.name: (e.numbers[ACCURACY].mean, e.numbers[key].mean) for e in entries}, CATALOGUE[key]
        )
        for key in keys
    }


def _notes(fits: Mapping[str, Fitted]) -> list[str]:
    """What makes the comparison weaker than it looks."""
    facts, notes = [fitted.facts for fitted in fits.values()], []
    for key, words in (("net", "networks"), ("recipe", "recipes")):
        if any(entry[key] != facts[0][key] for entry in facts):
            notes.append(
                f"the methods were trained with different {words}: what differs is not the method alone"
            )
    if any(fitted.seeds != next(iter(fits.values())).seeds for fitted in fits.values()):
        notes.append("the methods have different seeds: differences are not taken seed by seed")
    if any(len(fitted.seeds) < 2 for fitted in fits.values()):
        notes.append("one seed tells nothing of what training again would change; give several")
    return notes


def _record(entry: Entry) -> dict[str, Any]:
    facts = entry.facts
    kept = {key: facts[key] for key in ("method", "net", "recipe", "seeds", "seconds", "device")}
    numbers = {key: number for key, number in entry.numbers.items() if key != ACCURACY}
    return {"name": entry.name, **kept, "accuracy": entry.numbers[ACCURACY], "metrics": numbers,
            "against_base": entry.moved}  # fmt: skip
