"""Groups: ids that do not depend on the order of the rows, intersections, unknown rows kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from evenhand.groups import UNKNOWN, Attribute, Groups, n_intersections

SEX, AGE = ["f", "m", "f", None], ["old", "old", "new", "new"]
FORMS = {
    "dict": {"sex": SEX, "age": AGE},
    "pandas frame": pd.DataFrame({"sex": SEX, "age": AGE}),
    "polars frame": pl.DataFrame({"sex": SEX, "age": AGE}),
    "attributes": (Attribute.from_values(SEX, "sex"), Attribute.from_values(AGE, "age")),
    "named columns": [pd.Series(SEX, name="sex"), pd.Series(AGE, name="age")],
    "polars columns": [pl.Series("sex", SEX), pl.Series("age", AGE)],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_way_to_give_two_attributes_means_the_same(form):
    groups = Groups.from_any(FORMS[form])
    assert groups.names == ("sex=f · age=new", "sex=f · age=old", "sex=m · age=new", "sex=m · age=old")
    assert groups.ids.tolist() == [1, 3, 0, UNKNOWN]
    assert [attribute.name for attribute in groups.attributes] == ["sex", "age"]


@pytest.mark.parametrize(
    "values",
    [[[0, 1, 0], [1, 1, 0]], np.array([[0, 1], [1, 1], [0, 0]]), torch.tensor([[0, 1], [1, 1], [0, 0]])],
    ids=["list of columns", "array of rows", "tensor of rows"],
)
def test_columns_without_names_are_numbered(values):
    groups = Groups.from_any(values)
    assert groups.ids.tolist() == [1, 3, 0]
    assert groups.names[1] == "attribute 1=0 · attribute 2=1"


@pytest.mark.parametrize(
    "column",
    [
        ["b", "a", "b"],
        np.array(["b", "a", "b"]),
        pd.Series(["b", "a", "b"]),
        pl.Series(["b", "a", "b"]),
        (value for value in ["b", "a", "b"]),
        Attribute.from_values(["b", "a", "b"]),
    ],
    ids=["list", "numpy", "pandas", "polars", "generator", "attribute"],
)
def test_one_column_is_one_attribute_called_by_its_levels(column):
    groups = Groups.from_any(column)
    assert groups.names == ("a", "b")
    assert groups.ids.tolist() == [1, 0, 1]


def test_a_column_keeps_its_own_name():
    assert Groups.from_any(pd.Series(["x", "y"], name="region")).attributes[0].name == "region"
    assert Groups.from_any(["x", "y"]).attributes[0].name == "group"


def test_groups_of_groups_are_themselves():
    groups = Groups.from_any(["x", "y"])
    assert Groups.from_any(groups) is groups


def test_three_attributes_give_all_combinations_in_a_stable_order():
    parts = [
        Attribute.from_values(values, name)
        for name, values in (("a", [0, 1, 1]), ("b", ["x", "y", "z"]), ("c", [True, False, True]))
    ]
    groups = Groups.from_attributes(parts)
    assert len(groups) == groups.n_groups == n_intersections(parts) == 12
    assert groups.names[0] == "a=0 · b=x · c=False"
    assert groups.names[-1] == "a=1 · b=z · c=True"
    assert groups.ids.tolist() == [1, 8, 11]
    assert groups.levels_of(8) == {"a": "1", "b": "y", "c": "False"}


def test_the_order_of_the_rows_does_not_change_the_groups():
    order = [2, 0, 3, 1]
    first = Groups.from_any({"sex": SEX, "age": AGE})
    second = Groups.from_any({"sex": [SEX[k] for k in order], "age": [AGE[k] for k in order]})
    assert second.names == first.names
    assert second.ids.tolist() == first.ids[order].tolist()


def test_unknown_in_any_attribute_is_unknown_in_the_intersection():
    groups = Groups.from_any({"a": [0, None, 1, None], "b": ["x", "x", None, None]})
    assert groups.ids.tolist() == [0, -1, -1, -1]
    assert len(groups.ids) == 4


def test_an_attribute_nobody_knows_has_no_groups_and_loses_no_row():
    groups = Groups.from_any([None, None])
    assert (groups.n_groups, groups.ids.tolist()) == (0, [-1, -1])


def test_only_groups_that_occur_can_be_kept():
    groups = Groups.from_any({"a": [0, 1, None], "b": ["x", "y", "x"]}).occurring()
    assert groups.names == ("a=0 · b=x", "a=1 · b=y")
    assert groups.ids.tolist() == [0, 1, -1]
    assert groups.levels_of(1) == {"a": "1", "b": "y"}


def test_levels_that_do_not_occur_are_groups_too():
    attribute = Attribute.from_values([1, 3], levels=[1, 2, 3])
    assert Groups.from_attributes([attribute]).names == ("1", "2", "3")


def test_attributes_of_different_lengths_are_refused_with_their_lengths():
    with pytest.raises(ValueError, match=r"different lengths: \{'a': 1, 'b': 2\}"):
        Groups.from_any({"a": [1], "b": [1, 2]})


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"sex": [0, 1, 1]}, "^attribute 'sex' has 3 group values for 4 rows; give one for each row"),
        ({"a": [0, 1, 1], "b": [0, 0, 1]}, r"^attribute 'a' \(and 1 more\) has 3 group values for 4 rows"),
        ([], "^attribute 'group' has 0 group values for 4 rows"),
    ],
)
def test_the_number_of_rows_is_checked_where_it_is_known(values, told):
    with pytest.raises(ValueError, match=told):
        Groups.from_any(values, n_rows=4)


def test_a_value_outside_the_levels_is_named():
    with pytest.raises(ValueError, match="'sex' holds 'x', which is not among its levels: f, m"):
        Attribute.from_values(["f", "x"], "sex", levels=["f", "m"])


def test_a_table_is_no_attribute():
    with pytest.raises(
        ValueError, match=r"attribute 'sex' must have one value a row, not the shape \(2, 2\)"
    ):
        Attribute.from_values([[0, 1], [1, 0]], "sex")


def test_no_attribute_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        Groups.from_attributes([])


def test_a_lone_text_is_no_column_of_letters():
    with pytest.raises(ValueError, match="one value a row"):
        Groups.from_any("male")
