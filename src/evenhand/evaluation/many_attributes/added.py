"""What decomposition, distillation and pre-training add to a method, seed by seed.

The structures are those of the study and not drawn: seeds alone make the interval (Student's, 95 % each).
A claim that is meant for other structures too is judged from wider ones (`judging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.evaluation.many_attributes.evidence import Evidence, name_of
from evenhand.evaluation.many_attributes.judging import crossed
from evenhand.evaluation.many_attributes.layout import BEFORE, BETTER, PRETRAINED, SLOTS, VARIANTS, plain_key
from evenhand.evaluation.many_attributes.runs import Runs, Structure

LEVEL = 0.95
ALL = "all"  # structures


def added_rows(runs: Runs) -> list[dict[str, Any]]:
    """One row for each base task, pair of methods and metric: over all structures, then on each of them."""
    evidence, found = Evidence(runs), []
    for track in runs.tracks:
        where = [structure for structure in runs.of(track) if not structure.swapped]
        scopes = {ALL: where} | {structure.grouping: [structure] for structure in where}
        found += [row for scope, own in scopes.items() for pair in pairs(runs)
                  for row in _rows(evidence, pair, own, scope)]  # fmt: skip
    return found


def pairs(runs: Runs) -> list[tuple[str, str]]:
    """Every variant with what it is a variant of, pre-trained both or neither; then pre-trained with not."""
    varied, before = [], []
    for name in runs.methods:
        key = runs.keys[name]
        first, own = key.startswith(PRETRAINED), plain_key(key)
        base = runs.find(VARIANTS[own], pretrained=first) if own in VARIANTS else None
        without = runs.find(own, pretrained=False) if first else None
        varied += [(name, base)] if base else []
        before += [(name, without)] if without else []
    return varied + before


def words(runs: Runs, one: str, other: str) -> str:
    """A pair in words, alike in studies with and without pre-training."""
    names, same = [runs.shown(name) for name in (one, other)], runs.keys[one].startswith(PRETRAINED)
    if runs.keys[other] == plain_key(runs.keys[one]):
        return f"{names[0]} less not"
    return " less ".join(name.removeprefix(BEFORE) if same else name for name in names)


def _rows(
    evidence: Evidence, pair: tuple[str, str], where: Sequence[Structure], scope: str
) -> list[dict[str, Any]]:
    """What one method has more than the other in each metric; nothing where they share no seed."""
    runs, found = evidence.runs, []
    for slot in SLOTS:
        table = evidence.table(*pair, slot, where, drawn=False)
        if not table:
            continue
        effect, low, high, _ = crossed([(1.0, table)], LEVEL, drawn=False)
        found.append({
            "track": runs.track_name(where[0].track), "scope": scope, "slot": slot, "better": BETTER[slot],
            "metric": name_of(slot, where), "words": words(runs, *pair),
            "effect": effect, "low": low, "high": high, "structures": len({name for name, _ in table}),
            "seeds": len({seed for _, seed in table}),
        })  # fmt: skip
    return found
