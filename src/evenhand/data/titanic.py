"""Titanic: who survived, told from ticket class, age, relatives aboard, fare and port, without the sex."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import torch

from evenhand.arrays import FloatArray, IntArray
from evenhand.data.cache import packaged, sha256
from evenhand.data.card import DataCard
from evenhand.data.encode import (
    Block,
    as_input,
    as_numbers,
    fill_missing,
    join,
    numbers,
    one_hot,
    read_columns,
    standardise,
)
from evenhand.data.splits import as_split, stratified
from evenhand.data.task import Task
from evenhand.groups import UNKNOWN, Attribute

FILE = "titanic.csv.gz"
NUMBERS = ("pclass", "age", "sibsp", "parch", "fare")
AGES = ("child", "adult", "senior")
CHILD_BEFORE, SENIOR_FROM = 16, 60


def titanic(seed: int = 0, test: float = 0.2, validation: float = 0.0) -> Task:
    """The 1,309 passengers; a share `test` of each class is held out, drawn by `seed`.

    Gaps of age and fare are filled with the median, those of the port with its most frequent value, then all
    inputs are z-scored: all by the training rows. `sex` is protected and no input; `boat` and `body` tell the
    outcome and are never used. An age that nobody wrote down is unknown in `age_group`.

    >>> task = titanic()
    >>> task.columns
    ('pclass', 'age', 'sibsp', 'parch', 'fare', 'embarked=C', 'embarked=Q', 'embarked=S')
    >>> {part: len(rows) for part, rows in task.split.items()}
    {'train': 1047, 'test': 262}
    """
    columns = read_columns(packaged(FILE))
    survived = as_numbers(columns["survived"]).astype(np.int64)
    split = stratified(survived, test, validation, seed)
    inputs = _inputs(columns, split["train"])
    return Task(
        "titanic",
        as_input(standardise(inputs.values, split["train"])),
        torch.from_numpy(survived),
        _attributes(columns),
        as_split(split),
        _card({"seed": seed, "test": test, "validation": validation}),
        classes=("died", "survived"),
        columns=inputs.names,
    )


def _inputs(columns: Mapping[str, Sequence[str]], train: IntArray) -> Block:
    ports = columns["embarked"]
    usual = Counter(ports[row] for row in train if ports[row]).most_common(1)[0][0]
    filled = [fill_missing(as_numbers(columns[name]), train, "median") for name in NUMBERS]
    blocks = [numbers(name, values) for name, values in zip(NUMBERS, filled, strict=True)]
    return join([*blocks, one_hot("embarked", [port or usual for port in ports])])


def _attributes(columns: Mapping[str, Sequence[str]]) -> tuple[Attribute, ...]:
    return (
        Attribute.from_values(np.asarray(columns["sex"]), "sex"),
        Attribute.from_values(np.asarray(columns["pclass"]), "pclass"),
        Attribute("age_group", AGES, _age_codes(as_numbers(columns["age"]))),
    )


def _age_codes(ages: FloatArray) -> IntArray:
    codes = np.searchsorted([CHILD_BEFORE, SENIOR_FROM], ages, side="right")
    return np.where(np.isnan(ages), UNKNOWN, codes).astype(np.int64)


def _card(knobs: Mapping[str, object]) -> DataCard:
    return DataCard(
        title="Titanic",
        about="The passengers of the Titanic: class, age, relatives aboard, fare, port, and who survived.",
        origin='OpenML data set 40945, "Titanic", version 1; in the package',
        licence='"Public" (OpenML\'s licence field)',
        citation="Harrell and Cason, Vanderbilt University, from the Encyclopedia Titanica; OpenML 40945",
        target="survived (class 1)",
        notes=(
            "`sex` is kept out of the inputs, as in S2; features and split are not stated there.",
            "`boat` and `body` record the outcome and are never used.",
        ),
        files={FILE: sha256(packaged(FILE))},
        knobs=knobs,
    )
