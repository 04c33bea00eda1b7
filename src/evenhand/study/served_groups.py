"""What a grouping asks of a task: its attributes, and that they are not what is predicted."""

from __future__ import annotations

import numpy as np

from evenhand.data.task import Task
from evenhand.nets.names import no_such
from evenhand.study.mistakes import Mistakes
from evenhand.study.spec import GroupingSpec, TaskSpec


def has_attributes(task: Task, spec: TaskSpec, grouping: GroupingSpec, mistakes: Mistakes) -> bool:
    """Whether the task has what a grouping is made of, and is measured by."""
    known = [attribute.name for attribute in task.attributes]
    lists = [("attributes", grouping.attributes), *(("measure", names) for names in grouping.measure)]
    wrong = [(key, name) for key, names in lists for name in names if name not in known]
    for key, name in wrong:
        told = no_such(f"the task '{spec.name}' has no attribute", name, known, "Its attributes")
        mistakes.add(("grouping", grouping.name, key), told)
    return not wrong


def check_labels(task: Task, spec: TaskSpec, grouping: GroupingSpec, mistakes: Mistakes) -> None:
    """What is predicted should not be what makes the groups: of several labels, some must be left."""
    if task.multi_label:
        if spec.drop_protected and set(task.classes) <= set(grouping.attributes):
            told = f"every label of the task '{spec.name}' is protected: nothing is left to be measured"
            mistakes.add(("grouping", grouping.name, "attributes"), told)
        return
    for name in grouping.attributes:
        codes = np.asarray(task.attribute(name).codes)
        known = codes >= 0  # of few rows, where group labels are scarce
        same = known.any() and np.array_equal(codes[known], np.asarray(task.y)[known])
        if len(task.attribute(name).levels) == task.n_classes and same:
            told = f"the attribute '{name}' is what the task '{spec.name}' predicts; limit the grouping to "
            mistakes.add(("grouping", grouping.name, "attributes"), f"{told}other tasks with tasks = [...]")
