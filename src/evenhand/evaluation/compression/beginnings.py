"""Whether students began with the network that the base is: the same training, or only the same seed.

A student's teacher is trained before it, by the recipe, seed and data of the base, and a study takes one
training for both where it can (`evenhand.study.first_training`). Where it cannot, as when a study goes on
elsewhere and the trainings did not come along, a GPU may train the second otherwise than the first, and a
change of the student against the base would hold the change of the base against itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.evaluation.compression.populations import base_name
from evenhand.study.frame import Frame

LOSS, PHASE = "train", "phase"


def begun_alike(store: Any, frame: Frame) -> dict[str, int]:
    """Of how many `runs` it is known, and in how many (`same`) every epoch's loss is the base's."""
    base, bases, students = base_name(frame.study), {}, []
    for row in np.flatnonzero(frame.trained & frame.done).tolist():
        own = {name: column[row] for name, column in frame.columns.items()}
        place = (own["task"], own["net"], str(own["spec"].get("recipe")), own["seed"])
        history = store.history(own["id"])
        if own["method"] == base:
            bases[place] = list(history.get(LOSS, ()))
        elif before := losses_before(history):
            students.append((place, before))
    known = [(bases[place], before) for place, before in students if bases.get(place)]
    return {"runs": len(known), "same": sum(own == before for own, before in known)}


def losses_before(history: Mapping[str, list[Any]]) -> list[Any]:
    """The training losses of the phases before the last; none for a method that has but one.

    >>> losses_before({"phase": ["teacher", "teacher", "student"], "train": [0.5, 0.4, 0.6]})
    [0.5, 0.4]
    >>> losses_before({"phase": ["train"], "train": [0.5]})
    []
    """
    phases = history.get(PHASE) or [None]
    return [loss for phase, loss in zip(phases, history.get(LOSS, ()), strict=False) if phase != phases[-1]]
