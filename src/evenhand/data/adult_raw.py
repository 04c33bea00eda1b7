"""What both preparations of Adult share: its columns as published, its protected attributes, its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from evenhand.arrays import IntArray
from evenhand.data.cache import packaged, sha256
from evenhand.data.card import DataCard
from evenhand.data.encode import Block, as_input, as_numbers, read_columns, standardise
from evenhand.data.splits import as_split
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import UNKNOWN, Attribute

FILE = "adult.csv.gz"
MISSING = "?"
CLASSES = ("<=50K", ">50K")
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CATEGORIES = (
    *("workclass", "education", "marital-status", "occupation"),
    *("relationship", "race", "sex", "native-country"),
)
CITATION = "Becker and Kohavi 1996, Adult, UCI Machine Learning Repository, doi:10.24432/C5XW20"

Columns = Mapping[str, Sequence[str]]


def read() -> Columns:
    """The 48,842 rows of adult.data and adult.test, in that order; `split` says which of the two."""
    return read_columns(packaged(FILE))


def attributes(columns: Columns) -> tuple[Attribute, ...]:
    """What a study of Adult may protect; a native country that is not on record is unknown."""
    married = [status.startswith("Married") for status in columns["marital-status"]]
    country = _binary("native_country", ("other", "United-States"), columns["native-country"])
    country.codes[[place == MISSING for place in columns["native-country"]]] = UNKNOWN
    return (
        _coded("sex", columns["sex"]),
        _coded("race", columns["race"]),
        _binary("race_binary", ("other", "White"), columns["race"]),
        Attribute("age", ("40 or younger", "over 40"), (as_numbers(columns["age"]) > 40).astype(np.int64)),
        Attribute("marital", ("not married", "married"), np.array(married, dtype=np.int64)),
        country,
    )


def _coded(name: str, values: Sequence[str]) -> Attribute:
    levels = tuple(sorted(set(values)))
    place = {level: index for index, level in enumerate(levels)}
    return Attribute(name, levels, np.array(list(map(place.__getitem__, values)), dtype=np.int64))


def _binary(name: str, levels: tuple[str, str], values: Sequence[str]) -> Attribute:
    """Whether a value is the second level."""
    return Attribute(name, levels, np.array([value == levels[1] for value in values], dtype=np.int64))


def chosen_columns(names: Sequence[str], without: str) -> list[str]:
    """The names less those that the knob `without` lists, parted by commas."""
    left_out = {name.strip() for name in without.split(",") if name.strip()}
    strange = left_out - {*NUMBERS, *CATEGORIES}
    if strange:
        known = ", ".join((*NUMBERS, *CATEGORIES))
        raise InputError(f"the knob without names {min(strange)!r}, which is no column of Adult: {known}")
    return [name for name in names if name not in left_out]


def make_task(
    columns: Columns,
    inputs: Block,
    fitted: IntArray,
    split: Mapping[str, IntArray],
    protected: tuple[Attribute, ...],
    knobs: Mapping[str, object],
    notes: tuple[str, ...] = (),
) -> Task:
    """The task whose inputs are z-scored by the `fitted` rows."""
    income = np.array([value == CLASSES[1] for value in columns["income"]], dtype=np.int64)
    card = DataCard(
        title="Adult",
        about="People of the 1994 census of the USA: work, education, family, and whether they earn much.",
        origin="UCI Machine Learning Repository, data set 2; in the package",
        licence="CC BY 4.0",
        citation=CITATION,
        target="income over 50,000 dollars a year (class 1)",
        notes=notes,
        files={FILE: sha256(packaged(FILE))},
        knobs=knobs,
    )
    return Task(
        "adult",
        as_input(standardise(inputs.values, fitted)),
        torch.from_numpy(income),
        protected,
        as_split(split),
        card,
        classes=CLASSES,
        columns=inputs.names,
    )
