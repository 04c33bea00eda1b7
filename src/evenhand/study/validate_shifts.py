"""What may be wrong with the shifts and numbers of a study before its data is looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evenhand.data.shift_registry import check_severity, find_shift
from evenhand.errors import InputError
from evenhand.nets.names import no_such
from evenhand.study.mistakes import Mistakes
from evenhand.study.number_names import NUMBERS
from evenhand.study.shifted import names_of
from evenhand.study.spec import ShiftSpec, Study
from evenhand.study.toml_lines import KeyPath

MOST_PARTS = 1000  # parts of one task under shifts: each is measured by every run


def check_shifts(study: Study, mistakes: Mistakes) -> None:
    """Kinds, severities, draws, parts and tasks; and that no part is measured twice."""
    sound = [shift for shift in study.shifts if _is_sound(shift, study, mistakes)]
    for task in study.tasks:
        own = [shift for shift in sound if task.name in (shift.tasks or (task.name,))]
        named = [(name, shift) for shift in own for name in names_of(shift)]
        times = Counter(name for name, _ in named)
        for name, shift in dict(named).items():
            if times[name] > 1:
                told = f"the task '{task.name}' would be measured {times[name]} times on '{name}'"
                mistakes.add(("shift", shift.name), f"{told}; leave it out of one [[shift]]")
        if len(named) > MOST_PARTS:
            told = f"every run on '{task.name}' would be measured on {len(named):,} shifted parts"
            most = f"at most {MOST_PARTS:,} can be: fewer draws or severities"
            mistakes.add(("shift", own[-1].name), f"{told}, and {most}")


def _is_sound(shift: ShiftSpec, study: Study, mistakes: Mistakes) -> bool:
    """Whether a shift can be spelled out; what is wrong with it is noted."""
    wrong = [*_wrong(shift, study), *_wrong_severities(shift)]
    block: KeyPath = ("shift", shift.name)
    for keys, reason in wrong:
        lost = mistakes.line((*block, *keys)) == mistakes.line(block)  # one severity may stand in a list
        listed = lost and keys == ("severity",) and mistakes.line(block)
        mistakes.add((*block, "severities") if listed else (*block, *keys), reason)
    return not wrong


def _wrong(shift: ShiftSpec, study: Study) -> Iterator[tuple[KeyPath, str]]:
    try:
        find_shift(shift.kind)
    except InputError as error:
        yield ("kind",), str(error)
    if not 1 <= shift.draws <= MOST_PARTS:
        yield ("draws",), f"'draws' must be from 1 to {MOST_PARTS:,}, not {shift.draws:,}"
    if shift.part not in study.parts:
        told = no_such("the study does not measure the part", shift.part, study.parts, "It measures")
        yield ("part",), told
    names = [task.name for task in study.tasks]
    for name in (name for name in shift.tasks if name not in names):
        yield ("tasks",), no_such("the study has no task", name, names, "Its tasks")


def _wrong_severities(shift: ShiftSpec) -> Iterator[tuple[KeyPath, str]]:
    """Numbers that mean nothing for the shift, and those that are there twice."""
    for number, severity in enumerate(shift.severities):
        where: KeyPath = ("severities", number) if len(shift.severities) > 1 else ("severity",)
        try:
            check_severity(find_shift(shift.kind)[0], severity)
        except InputError as error:
            yield where, str(error)
        if severity == 0:
            yield where, f"the severity 0 leaves '{shift.part}' as it is, which is measured anyway"
        elif severity in shift.severities[:number]:
            yield where, f"the severity {severity:g} is there twice"


def check_numbers(study: Study, mistakes: Mistakes) -> None:
    """Known ones, each once."""
    for place, name in enumerate(study.numbers):
        if name not in NUMBERS:
            told = no_such("there is no number", name, NUMBERS, "There are")
            mistakes.add(("numbers", place), told)
        elif name in study.numbers[:place]:
            mistakes.add(("numbers", place), f"the number '{name}' is there twice")
