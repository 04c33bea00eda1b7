"""A comparison of modules before it is one: what is asked, what can be told before, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.arrays import Array, IntArray
from evenhand.errors import InputError
from evenhand.evaluation.checks import column
from evenhand.evaluation.module_inputs import Inputs, inputs_of
from evenhand.evaluation.module_labels import (
    Names,
    as_compared,
    label_codes,
    names_of_outputs,
    names_that_occur,
)
from evenhand.evaluation.module_predictions import Progress, ask
from evenhand.evaluation.module_row_labels import RowLabels
from evenhand.evaluation.module_trainings import Model, models_of, same_twice
from evenhand.groups import Groups


@dataclass(frozen=True)
class Answers:
    """Labels and predictions as `compare` reads them, with the order of the classes where they have names."""

    y_true: Array
    predictions: dict[str, Array]
    classes: list[str] | None


@dataclass(frozen=True)
class Question:
    """Which modules are asked about which inputs; `labels` are the codes of the user's column, if given."""

    models: Mapping[str, Model]
    inputs: Inputs
    labels: IntArray | None
    names: Names | None

    @classmethod
    def of(
        cls,
        modules: Mapping[str, Any],
        x: Any,
        y_true: object | None,
        batch_size: Any = None,
        class_names: Any = None,
        columns: Sequence[str] = (),
    ) -> Question:
        """All that can be checked before the first batch is read; `columns` are those beside y_true."""
        if not isinstance(modules, Mapping):
            raise InputError('give the modules with their names, such as {"whole": model, "pruned": small}')
        names = names_of_outputs(class_names)
        inputs = inputs_of(x, batch_size, columns if y_true is None else ("y_true", *columns))
        if inputs.rows == 0:
            raise InputError("the loader has no rows: its data set is empty")
        if inputs.cut and y_true is None:
            raise InputError(
                "there are no labels: give y_true, or a loader whose batches are (inputs, labels)"
            )
        labels = None if y_true is None else label_codes(y_true, names)
        if labels is not None and inputs.rows not in (None, len(labels)):
            raise InputError(
                f"there are {len(labels):,} labels for {inputs.rows:,} inputs; give one for each"
            )
        return cls(models_of(modules), inputs, labels, names)

    @property
    def knows_classes(self) -> bool:
        """Whether the labels alone tell what the classes are called."""
        return self.labels is not None and self.names is None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What whoever asks should know of the modules."""
        return tuple(same_twice(self.models))

    def imagined_labels(self, groups: object | None, weights: object | None) -> Array:
        """Labels with which to try columns and options; to ask the modules may take hours."""
        if self.labels is not None:
            return as_compared(self.labels, self.names)
        rows = self.inputs.rows
        if rows is None and groups is not None:
            rows = len(Groups.from_any(groups).ids)
        if rows is None and weights is not None:
            rows = len(column(weights, "weights"))
        return np.zeros(1 if rows is None else rows, dtype=np.int64)

    def answers(self, progress: Progress | None = None) -> Answers:
        """Ask all modules about all batches."""
        labels = RowLabels(self.labels, self.names)
        told = ask(self.models, self.inputs, labels, progress)
        codes = labels.codes
        classes = None if self.names is None else names_that_occur(self.names, [codes, *told.values()])
        predictions = {name: as_compared(each, self.names) for name, each in told.items()}
        return Answers(as_compared(codes, self.names), predictions, classes)
