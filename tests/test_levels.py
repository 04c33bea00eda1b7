"""Coding a column: distinct values in a stable order, and -1 where there is none."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from evenhand.groups import Attribute
from evenhand.levels import code_values, level_name

A_DAY, NEXT_DAY = datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)

COLUMNS = {
    "strings": (["b", "a", "b"], ("a", "b"), [1, 0, 1]),
    "strings with None": (["b", None, "a"], ("a", "b"), [1, -1, 0]),
    "strings with NaN": (["b", float("nan"), "a"], ("a", "b"), [1, -1, 0]),
    "strings with empty ones": (["b", "", "a", "  "], ("a", "b"), [1, -1, 0, -1]),
    "an array of strings with empty ones": (np.array(["b", "", "a"]), ("a", "b"), [1, -1, 0]),
    "nothing but empty strings": (np.array(["", " "]), (), [-1, -1]),
    "bytes": (np.array([b"b", b"", b"a"]), ("a", "b"), [1, -1, 0]),
    "bytes that are no text": ([b"\xff", b"a"], ("a", "\\xff"), [1, 0]),
    "integers": ([30, 10, 20], ("10", "20", "30"), [2, 0, 1]),
    "integers far apart": ([10**9, -5, 7], ("-5", "7", "1000000000"), [2, 0, 1]),
    "minus one": ([1, -1, 0], ("0", "1"), [1, -1, 0]),
    "booleans": ([True, False, True], ("False", "True"), [1, 0, 1]),
    "booleans with None": ([True, None, False], ("False", "True"), [1, -1, 0]),
    "floats with NaN": ([1.0, float("nan"), 0.5], ("0.5", "1"), [1, -1, 0]),
    "floats with minus one": ([1.0, -1.0], ("1",), [0, -1]),
    "numbers and texts": (np.array([2, "a", 10], dtype=object), ("2", "10", "a"), [0, 2, 1]),
    "dates": ([NEXT_DAY, None, A_DAY], ("2020-01-01", "2020-01-02"), [1, -1, 0]),
    "numpy strings": (np.array(["b", "a"]), ("a", "b"), [1, 0]),
    "numpy dates": (
        np.array(["2020-01-02", "NaT", "2020-01-01"], dtype="M8[D]"),
        ("2020-01-01", "2020-01-02"),
        [1, -1, 0],
    ),
    "pandas object": (pd.Series(["b", None, "a", np.nan]), ("a", "b"), [1, -1, 0, -1]),
    "pandas Int64": (pd.Series([2, None, 1], dtype="Int64"), ("1", "2"), [1, -1, 0]),
    "pandas boolean": (pd.Series([True, None, False], dtype="boolean"), ("False", "True"), [1, -1, 0]),
    "pandas string": (pd.Series(["b", None, "a"], dtype="string"), ("a", "b"), [1, -1, 0]),
    "pandas category": (
        pd.Series(pd.Categorical(["b", "a", None], categories=["c", "b", "a"])),
        ("c", "b", "a"),
        [1, 2, -1],
    ),
    "pandas category of numbers": (pd.Series([3, 1, None]).astype("category"), ("1", "3"), [1, 0, -1]),
    "pandas Categorical": (pd.Categorical(["b", "a"], categories=["b", "a"]), ("b", "a"), [0, 1]),
    "pandas Categorical with an empty text": (pd.Categorical(["b", "", "a"]), ("a", "b"), [1, -1, 0]),
    "pandas Categorical with minus one": (pd.Categorical([1, -1, 2]), ("1", "2"), [0, -1, 1]),
    "pandas time zone": (
        pd.Series(pd.to_datetime(["2020-01-02", None]).tz_localize("UTC")),
        ("2020-01-02 00:00:00+00:00",),
        [0, -1],
    ),
    "polars strings": (pl.Series(["b", None, "a"]), ("a", "b"), [1, -1, 0]),
    "polars integers": (pl.Series([2, None, 1]), ("1", "2"), [1, -1, 0]),
    "polars booleans": (pl.Series([True, None, False]), ("False", "True"), [1, -1, 0]),
    "polars Categorical": (pl.Series(["b", None, "a"], dtype=pl.Categorical), ("a", "b"), [1, -1, 0]),
    "polars Enum": (pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "a", "z"])), ("b", "a", "z"), [0, -1, 1]),
    "torch integers": (torch.tensor([2, -1, 0]), ("0", "2"), [1, -1, 0]),
    "torch floats": (torch.tensor([1.0, float("nan")]), ("1",), [0, -1]),
    "torch booleans": (torch.tensor([True, False]), ("False", "True"), [1, 0]),
    "nothing": ([], (), []),
    "nothing known": ([None, None], (), [-1, -1]),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_every_column_is_coded_and_what_is_missing_is_minus_one(case):
    values, levels, codes = COLUMNS[case]
    attribute = Attribute.from_values(values)
    assert attribute.levels == levels
    assert attribute.codes.tolist() == codes


@pytest.mark.parametrize(
    "case", ["strings", "integers", "floats with NaN", "numbers and texts", "pandas object"]
)
def test_the_order_of_the_rows_does_not_change_the_levels(case):
    values = np.asarray(COLUMNS[case][0], dtype=object)
    backwards = Attribute.from_values(values[::-1])
    assert backwards.levels == Attribute.from_values(values).levels


def test_dense_and_sparse_whole_numbers_are_coded_alike():
    values = np.array([5, 3, -1, 900])
    levels, codes = code_values(values, None, "x")
    far, far_codes = code_values(np.where(values == 900, 9_000_000, values), None, "x")
    assert (levels, far) == (("3", "5", "900"), ("3", "5", "9000000"))
    assert codes.tolist() == far_codes.tolist() == [1, 0, -1, 2]


def test_given_levels_fix_the_order_and_may_name_what_does_not_occur():
    levels, codes = code_values(np.array(["lo", "hi"]), ["lo", "mid", "hi"], "dose")
    assert levels == ("lo", "mid", "hi")
    assert codes.tolist() == [0, 2]


def test_given_levels_fit_values_of_another_type_of_the_same_name():
    assert code_values(np.array([1.0, 3.0, np.nan]), [1, 2, 3], "x")[1].tolist() == [0, 2, -1]


def test_a_value_outside_the_given_levels_is_named():
    with pytest.raises(ValueError, match="'dose' holds 'huge', which is not among its levels: lo, hi"):
        code_values(np.array(["lo", "huge"]), ["lo", "hi"], "dose")


def test_unsigned_and_small_integers_are_coded_like_any_other():
    for dtype in (np.uint8, np.int8, np.uint32, np.uint64):
        assert code_values(np.array([7, 3], dtype=dtype), None, "x")[0] == ("3", "7")


def test_names_of_levels_read_as_people_write_them():
    assert [
        level_name(value) for value in (1.0, 1.5, np.float64(2), True, "x", np.datetime64("2020-01-01"))
    ] == ["1", "1.5", "2", "True", "x", "2020-01-01"]


def test_values_that_cannot_be_ordered_among_each_other_still_have_an_order():
    mixed = np.array([1, A_DAY, "a", 2.5], dtype=object)
    levels, codes = code_values(mixed, None, "x")
    assert sorted(levels) == sorted(["1", "2.5", "2020-01-01", "a"])
    assert [levels[code] for code in codes] == ["1", "2020-01-01", "a", "2.5"]


def test_no_two_levels_print_alike():
    """A group is known by its name: the number 1 and the text "1" cannot be two groups called 1."""
    levels, codes = code_values(np.array([1, "1", 2], dtype=object), None, "x")
    assert levels == ("1", "2")
    assert codes.tolist() == [0, 0, 1]
