"""Adult (census income, 1994): does a person earn more than 50,000 dollars a year? Two preparations."""

from __future__ import annotations

import numpy as np

from evenhand.data import adult_s3
from evenhand.data.adult_raw import CATEGORIES, NUMBERS, Columns, attributes, chosen_columns, make_task, read
from evenhand.data.encode import as_numbers, check_choice, join, numbers, one_hot
from evenhand.data.rebalancing import composed
from evenhand.data.splits import cut
from evenhand.data.task import Task
from evenhand.errors import InputError

N_TRAIN = 30_000  # of the 48,842 rows, as in S4


def adult(
    preparation: str = "s4",
    seed: int = 0,
    validation: float | None = None,
    without: str = "",
    age_ratio: str = "0.5,0.5",
    balanced_test: bool = True,
    balanced_validation: bool = False,
    privileged_first: bool = False,
    mixing: float | None = None,
    by: str = "",
) -> Task:
    """Adult as S4 prepares it (default), or as S3's code does (`preparation="s3"`).

    "s4": all 48,842 rows; "?" is a level of its own; 6 numbers and 102 one-hot columns, z-scored by the
    training rows; 30,000 rows drawn by `seed` are for training. There is no validation part unless asked for:
    `validation=0.1` holds out a tenth of the training rows.

    "s3": the 45,222 rows without "?"; 112 inputs, sex not among them; the split of the original files, the
    first 20 % of the training file for validation. The first attribute is whether the age is within an
    interval, chosen by `age_ratio`; `balanced_test` keeps the first m rows of each cell of age and label for
    the test, m being the size of the smallest cell. `balanced_validation` adds a part "validation_balanced":
    copies of validation rows chosen in the same way, to choose settings on. S3's code has the ages within
    the interval, which it calls unprivileged, as level 0; `privileged_first` makes them level 1, so that
    acc_p and acc_up mean what they say (and as its figures have them).

    `without="sex,race"` leaves columns out of the inputs; they can be protected all the same.

    `mixing` keeps the share min(1, 2 (1 - mixing)) of the training rows in which the attribute `by` (sex,
    unless it is named) has the label's code, and the share min(1, 2 mixing) of the others: 0 leaves women
    with low and men with high income, 0.5 all, 1 the others. Inputs stay z-scored by all training rows.

    >>> task = adult()
    >>> tuple(task.x.shape), task.attribute("sex").levels, len(task.rows("test"))
    ((48842, 108), ('Female', 'Male'), 18842)
    """
    check_choice("preparation", preparation, ("s4", "s3"))
    columns = read()
    if preparation == "s3":
        task = adult_s3.prepare(
            columns, validation, without, age_ratio, balanced_test, balanced_validation, privileged_first
        )
        return composed(task, by, "sex", mixing=mixing, seed=seed)
    of_s3 = (age_ratio, balanced_test, balanced_validation, privileged_first)
    if of_s3 != ("0.5,0.5", True, False, False):
        told = "the knobs age_ratio, balanced_test, balanced_validation and privileged_first are of"
        raise InputError(f"{told} preparation='s3'; leave them out")
    task = _prepare_s4(columns, seed, validation or 0.0, without)
    return composed(task, by, "sex", mixing=mixing, seed=seed)


def _prepare_s4(columns: Columns, seed: int, validation: float, without: str) -> Task:
    blocks = [numbers(name, as_numbers(columns[name])) for name in chosen_columns(NUMBERS, without)]
    blocks += [one_hot(name, columns[name]) for name in chosen_columns(CATEGORIES, without)]
    order = np.random.default_rng(seed).permutation(len(columns["income"]))
    split = cut(order, N_TRAIN, validation)
    note = "Protected attributes are among the inputs, as in S4, unless the knob `without` names them."
    return make_task(
        columns,
        join(blocks),
        split["train"],
        split,
        attributes(columns),
        {"preparation": "s4", "seed": seed, "validation": validation, "without": without},
        (note,),
    )
