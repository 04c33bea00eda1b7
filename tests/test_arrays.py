"""Any array-like becomes one numpy array; codes are whole numbers or an error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from evenhand.arrays import as_array, as_codes, is_array_like, is_torch


@pytest.mark.parametrize(
    "values",
    [
        [1, 0, 2],
        (1, 0, 2),
        range(1, 4),
        np.array([1, 0, 2], dtype=np.int8),
        pd.Series([1, 0, 2], index=[7, 8, 9]),
        pd.Series([1, 0, 2], dtype="Int64"),
        pl.Series([1, 0, 2]),
        torch.tensor([1, 0, 2]),
    ],
    ids=["list", "tuple", "range", "numpy", "pandas", "nullable", "polars", "torch"],
)
def test_every_kind_of_column_becomes_a_numpy_array(values):
    array = as_array(values)
    assert isinstance(array, np.ndarray)
    assert array.tolist() == list(np.asarray(values).tolist())


def test_a_numpy_array_is_not_copied():
    array = np.arange(3)
    assert as_array(array) is array


def test_a_tensor_that_is_being_trained_is_detached():
    assert as_array(torch.tensor([0.25, 0.5], requires_grad=True)).tolist() == [0.25, 0.5]


def test_rows_of_different_length_do_not_form_an_array():
    with pytest.raises(ValueError, match="different lengths"):
        as_array([[1, 2], [3]])


def test_a_tensor_is_told_by_its_type_alone():
    assert is_torch(torch.tensor([1]))
    assert is_torch(torch.nn.Parameter(torch.zeros(1)))
    assert not is_torch(np.array([1]))
    assert not is_torch([1])


def test_a_text_is_one_value_and_not_an_array_of_letters():
    assert not is_array_like("male")
    assert is_array_like(["male"])


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32"]
)
def test_codes_keep_their_value_whatever_their_type(dtype):
    assert as_codes(np.array([1, 0, 1], dtype=dtype), "labels").tolist() == [1, 0, 1]


def test_no_values_are_codes_too():
    assert as_codes([], "labels").dtype.kind == "i"


@pytest.mark.parametrize("values", [[0.5, 1.0], [0.0, float("nan")], [float("inf")], ["a"], [None, 1]])
def test_what_is_not_a_whole_number_is_refused_by_name(values):
    with pytest.raises(ValueError, match="labels must be whole-number codes"):
        as_codes(values, "labels")


def test_a_float_beyond_every_integer_is_refused_without_a_warning():
    with pytest.raises(ValueError, match="whole-number codes"):
        as_codes([1e300], "labels")
