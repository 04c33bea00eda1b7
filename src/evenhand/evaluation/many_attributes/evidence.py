"""Asks the runs for differences between methods, and remembers which runs were asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from evenhand.evaluation.many_attributes.judging import Asked, Table, contrast
from evenhand.evaluation.many_attributes.layout import MULTI, NAMES, SINGLE, printed_name
from evenhand.evaluation.many_attributes.runs import Runs, Structure

Which = Callable[[Structure], bool]
Place = tuple[Structure, str | None]


def one_attribute(structure: Structure) -> bool:
    """Groups of a single attribute."""
    return structure.attributes == 1


def several_attributes(structure: Structure) -> bool:
    """Groups of crossed attributes."""
    return structure.attributes > 1


@dataclass
class Evidence:
    """The runs, and the places (structure, method) that were looked at."""

    runs: Runs
    asked: set[Place] = field(default_factory=set)

    def kinds(self, *wanted: str) -> list[str]:
        """The kinds of task that the study has; a wanted one is named even if it has none."""
        own = [kind for kind in (MULTI, SINGLE) if self.where(kind)]
        return list(wanted) if wanted else own or [SINGLE]

    def where(self, kind: str, which: Which | None = None) -> list[Structure]:
        """Structures of one kind of task; those with target and protected attribute swapped stand apart."""
        return [
            structure for structure in self.runs.structures
            if structure.kind == kind and not structure.swapped and (which is None or which(structure))
        ]  # fmt: skip

    def values(self, structure: Structure, method: str | None, slot: str) -> dict[int, float]:
        """A metric by seed."""
        self.asked.add((structure, method))
        return self.runs.values(structure, method, slot)

    def table(
        self, one: str | None, other: str | None, slot: str, where: Iterable[Structure], drawn: bool = True
    ) -> Table:
        """One method less another, by structure and seed; nothing where either was not run.

        Where structures are `drawn`, networks on one choice of groups are no draws: their mean counts.
        """
        found: dict[tuple[str, int], list[float]] = {}
        for structure in where:
            first, second = (self.runs.values(structure, method, slot) for method in (one, other))
            both = first.keys() & second.keys()
            self.asked |= {(structure, one), (structure, other)} if both else set()
            name = structure.place if drawn else structure.name
            for seed in sorted(both):
                found.setdefault((name, seed), []).append(first[seed] - second[seed])
        return {place: float(np.mean(values)) for place, values in found.items()}

    def less(
        self,
        rule: str,
        one: str,
        other: str,
        slot: str,
        where: Sequence[Structure],
        words: str = "",
        drawn: bool = True,
    ) -> Asked:
        """A metric of the method with one key less that of another, over structures; `words` say which."""
        table = self.table(self.runs.find(one), self.runs.find(other), slot, where, drawn)
        told = f"{name_of(slot, where)} of {printed_name(one)} less {printed_name(other)}"
        return contrast(f"{told} ({words})" if words else told, rule, (1.0, table), drawn=drawn)

    def others(self, *but: str) -> list[str]:
        """Keys of the methods themselves that the study has, without some."""
        own = [self.runs.keys[name].removeprefix("pre+") for name in self.runs.claimed]
        return [key for key in dict.fromkeys(own) if key not in but]

    def trainings(self) -> int:
        """Models that were looked at."""
        return self.runs.trainings(self.asked)


def name_of(slot: str, where: Sequence[Structure]) -> str:
    """What a metric is called on these structures."""
    keys = dict.fromkeys(structure.key(slot) for structure in where)
    return (
        " or ".join(dict.fromkeys(NAMES.get(key, key) for key in keys)).replace(
            "reweighted accuracy or reweighted mAP", "reweighted accuracy or mAP"
        )
        or slot
    )
