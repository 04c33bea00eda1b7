"""What is asked for S1's claim on wrong group labels; written before its study was run."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.data.faces_names import INCONSISTENT
from evenhand.evaluation.many_attributes.evidence import Evidence, name_of
from evenhand.evaluation.many_attributes.judging import Asked, contrast
from evenhand.evaluation.many_attributes.layout import CLEAN, NOISY, PERFORMANCE, printed_name
from evenhand.evaluation.many_attributes.rules import below
from evenhand.evaluation.many_attributes.runs import Structure

REWEIGHTING = ("w-erm", "gdro")


def noisy_labels(e: Evidence) -> list[Asked]:
    """12: what W-ERM and Group DRO add to ERM's performance is less on the inconsistent collection than on
    structures of as many attributes that hold none of its attributes; in a study that has a task with wrong
    and with right group labels: less with the wrong ones.
    """
    twins = clean_twins(e)
    if twins:
        return [_lost_to_noise(e, key, kind, twins) for kind in e.kinds() for key in REWEIGHTING]
    found = []
    for kind in e.kinds():
        noisy = [one for one in e.where(kind) if one.collection == NOISY]
        sizes = {structure.attributes for structure in noisy}
        marred = {name for structure in noisy for name in structure.names} | set(INCONSISTENT)
        rest = [one for one in e.where(kind) if one.attributes in sizes and not marred & set(one.names)]
        for key in REWEIGHTING:
            names = e.runs.find(key), e.runs.find("erm")
            one, two = (e.table(*names, PERFORMANCE, where) for where in (noisy, rest))
            words = f"{name_of(PERFORMANCE, noisy)} that {printed_name(key)} adds to U-ERM: inconsistent less"
            found.append(contrast(f"{words} other attributes ({kind})", below(), (1.0, one), (-1.0, two)))
    return found


def clean_twins(e: Evidence) -> dict[Structure, Structure]:
    """Each structure whose task has wrong group labels, with the same that has right ones."""
    named = {(one.task, one.grouping, one.net): one for one in e.runs.structures}
    return {
        one: twin for (task, grouping, net), one in named.items()
        if (twin := named.get((task + CLEAN, grouping, net)))
    }  # fmt: skip


def _lost_to_noise(e: Evidence, key: str, kind: str, twins: Mapping[Structure, Structure]) -> Asked:
    """What a method adds to ERM with wrong group labels less what it adds with right ones."""
    names, table = (e.runs.find(key), e.runs.find("erm")), dict[tuple[str, int], float]()
    own = {one: twin for one, twin in twins.items() if one.kind == kind}
    for one, twin in own.items():
        wrong, right = (e.table(*names, PERFORMANCE, [place]) for place in (one, twin))
        adds = {seed: value for (_, seed), value in right.items()}
        table |= {(one.name, seed): value - adds[seed] for (_, seed), value in wrong.items() if seed in adds}
    words = (
        f"{name_of(PERFORMANCE, list(own))} that {printed_name(key)} adds to U-ERM: wrong less right group"
    )
    return contrast(f"{words} labels ({kind})", below(), (1.0, table))
