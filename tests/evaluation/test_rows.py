"""Every kind of column a user may bring ends in the same codes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

import evenhand
from evenhand.evaluation.labels import code_labels
from evenhand.evaluation.rows import models_of_rows

Y = [1, 0, 1, 1, 0, 0, 1, 0]
P = [1, 0, 0, 1, 1, 0, 1, 0]
G = ["f", "m", "f", "m", "f", "m", "f", "m"]
WORDS = ["no", "yes"]


def keyed(found):
    """What must not depend on the kind of column."""
    return {key: (value.value, value.decided_by) for key, value in found.metrics.items()}


def assert_same(found, expected):
    one, two = keyed(found), keyed(expected)
    assert one.keys() == two.keys()
    for key, (value, decided) in one.items():
        assert value == pytest.approx(two[key][0], nan_ok=True), key
        assert decided == two[key][1], key


@pytest.fixture(scope="module")
def plain():
    return evenhand.audit(Y, P, G, replicates=0)


COLUMNS = {
    "tuple": tuple,
    "numpy": np.array,
    "int8": lambda values: np.array(values, dtype=np.int8),
    "uint16": lambda values: np.array(values, dtype=np.uint16),
    "float": lambda values: np.array(values, dtype=float),
    "float16": lambda values: np.array(values, dtype=np.float16),
    "bool": lambda values: np.array(values, dtype=bool),
    "object": lambda values: np.array(values, dtype=object),
    "words": lambda values: [WORDS[value] for value in values],
    "word array": lambda values: np.array(WORDS)[values],
    "python booleans": lambda values: [bool(value) for value in values],
    "pandas": pd.Series,
    "pandas Int64": lambda values: pd.Series(values, dtype="Int64"),
    "pandas boolean": lambda values: pd.Series(values, dtype="boolean"),
    "pandas Float64": lambda values: pd.Series(values, dtype="Float64"),
    "pandas string": lambda values: pd.Series([WORDS[value] for value in values], dtype="string"),
    "pandas category": lambda values: pd.Series([WORDS[value] for value in values], dtype="category"),
    "pandas index": pd.Index,
    "pandas arrow": lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    "polars": pl.Series,
    "polars words": lambda values: pl.Series([WORDS[value] for value in values]),
    "polars categorical": lambda values: pl.Series([WORDS[v] for v in values], dtype=pl.Categorical),
    "torch": torch.tensor,
    "torch bool": lambda values: torch.tensor(values, dtype=torch.bool),
    "torch float": lambda values: torch.tensor(values, dtype=torch.float32),
    "torch bfloat16": lambda values: torch.tensor(values, dtype=torch.bfloat16),
    "list of tensors": lambda values: [torch.tensor(value) for value in values],
}


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
def test_labels_and_predictions_of_any_kind(plain, make):
    assert_same(evenhand.audit(make(Y), make(P), G, replicates=0), plain)


@pytest.mark.parametrize("labels", ["numpy", "bool", "float", "torch", "pandas Int64", "polars"])
@pytest.mark.parametrize("guesses", ["tuple", "python booleans", "int8", "torch float", "object"])
def test_labels_of_one_kind_and_predictions_of_another(plain, labels, guesses):
    assert_same(evenhand.audit(COLUMNS[labels](Y), COLUMNS[guesses](P), G, replicates=0), plain)


GROUPS = {
    "array": np.array(G),
    "object array": np.array(G, dtype=object),
    "pandas": pd.Series(G),
    "pandas string": pd.Series(G, dtype="string"),
    "pandas category": pd.Series(G, dtype="category"),
    "polars": pl.Series(G),
    "polars enum": pl.Series(G, dtype=pl.Enum(["f", "m"])),
    "tuple": tuple(G),
    "attribute": evenhand.Attribute.from_values(G),
    "groups": evenhand.Groups.from_any(G),
    "dict": {"sex": G},
    "pandas frame": pd.DataFrame({"sex": G}),
    "polars frame": pl.DataFrame({"sex": G}),
    "list of columns": [G],
    "2-D": np.array(G)[:, None],
}


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_groups_of_any_kind(plain, groups):
    assert_same(evenhand.audit(Y, P, groups, replicates=0), plain)


TWO = {
    "dict": {"sex": G, "old": Y},
    "pandas frame": pd.DataFrame({"sex": G, "old": Y}),
    "polars frame": pl.DataFrame({"sex": G, "old": Y}),
    "attributes": [evenhand.Attribute.from_values(G, "sex"), evenhand.Attribute.from_values(Y, "old")],
    "named columns": [pd.Series(G, name="sex"), pl.Series("old", Y)],
}


@pytest.mark.parametrize("groups", TWO.values(), ids=TWO)
def test_two_named_attributes(groups):
    found = evenhand.audit(Y, P, groups, replicates=0)
    assert [group.name for group in found.groups] == [
        "sex=f · old=0",
        "sex=f · old=1",
        "sex=m · old=0",
        "sex=m · old=1",
    ]
    assert list(found.attributes) == ["sex", "old"]


@pytest.mark.parametrize(
    "groups",
    [np.array([G, ["x"] * 8]).T, [G, ["x"] * 8], torch.tensor([Y, P]).T],
    ids=["2-D", "lists", "torch"],
)
def test_unnamed_columns_are_numbered(groups):
    assert list(evenhand.audit(Y, P, groups, replicates=0).attributes) == ["attribute 1", "attribute 2"]


MISSING = {
    "list": [None, 0, 1, 1, 0, 0, 1, 0],
    "float": np.array([np.nan, 0, 1, 1, 0, 0, 1, 0]),
    "object": np.array([None, 0, 1, 1, 0, 0, 1, 0], dtype=object),
    "pandas Int64": pd.Series([pd.NA, 0, 1, 1, 0, 0, 1, 0], dtype="Int64"),
    "pandas boolean": pd.Series([pd.NA, 0, 1, 1, 0, 0, 1, 0], dtype="boolean"),
    "pandas arrow": pd.Series([None, 0, 1, 1, 0, 0, 1, 0], dtype="int64[pyarrow]"),
    "polars": pl.Series([None, 0, 1, 1, 0, 0, 1, 0]),
    "polars bool": pl.Series([None, False, True, True, False, False, True, False]),
    "masked": np.ma.array([1, 0, 1, 1, 0, 0, 1, 0], mask=[True] + [False] * 7),
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_a_missing_label_or_prediction_leaves_its_row_out(labels):
    expected = evenhand.audit(Y[1:], P[1:], G[1:], replicates=0)
    for arguments in ((labels, P), (Y, labels)):
        found = evenhand.audit(*arguments, G, replicates=0)
        assert (found.n, found.subject.missing) == (7, 1)
    assert_same(evenhand.audit(labels, P, G, replicates=0), expected)


@pytest.mark.parametrize("kind", ["object", "string", "pandas string"])
def test_a_missing_word_comes_first(kind):
    words = [None, "no", "yes", "yes", "no", "no", "yes", "no"]
    labels = {"object": np.array(words, dtype=object), "string": words}.get(kind)
    labels = pd.Series(words, dtype="string") if labels is None else labels
    found = evenhand.audit(labels, [WORDS[value] for value in P], G, replicates=0)
    assert (found.n, found.subject.classes) == (7, ("no", "yes"))


UNKNOWN = {
    "none": ["f", None, "m", "m", "f", "m", "f", "m"],
    "nan": np.array([0, np.nan, 1, 1, 0, 1, 0, 1]),
    "minus one": [0, -1, 1, 1, 0, 1, 0, 1],
    "pandas": pd.Series(["f", pd.NA, "m", "m", "f", "m", "f", "m"], dtype="string"),
    "polars": pl.Series(["f", None, "m", "m", "f", "m", "f", "m"]),
    "dates": np.array(["2020", "NaT", "2021", "2021", "2020", "2021", "2020", "2021"], dtype="datetime64[Y]"),
    "masked": np.ma.array([0, 0, 1, 1, 0, 1, 0, 1], mask=[False, True] + [False] * 6),
}


@pytest.mark.parametrize("groups", UNKNOWN.values(), ids=UNKNOWN)
def test_a_missing_group_is_unknown(groups):
    found = evenhand.audit(Y, P, groups, replicates=0)
    assert (found.n, found.unknown, len(found.groups)) == (8, 1, 2)
    assert [group.n for group in found.groups] == [3, 4]


def test_a_column_is_aligned_by_place_whatever_its_index(plain):
    order = [5, 2, 7, 0, 1, 6, 3, 4]
    found = evenhand.audit(pd.Series(Y, index=order), P, pd.Series(G, index=order[::-1]), replicates=0)
    assert_same(found, plain)


def test_categories_keep_their_order_and_unused_ones_are_shown():
    kept = pd.Categorical(G, categories=["m", "x", "f"])
    for groups in (
        kept,
        pd.Series(kept),
        pd.DataFrame({"sex": kept}),
        pl.Series(G, dtype=pl.Enum(["m", "x", "f"])),
    ):
        found = evenhand.audit(Y, P, groups, replicates=0)
        assert [(group.name, group.n) for group in found.groups] == [("m", 4), ("x", 0), ("f", 4)]


# -- labels of minus one ----------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", [int, float, np.int8, object])
def test_labels_of_minus_one_and_one_are_two_classes(plain, kind):
    """-1 is the usual name of the negative class; only among groups does it mean unknown."""
    y, p = (np.array([2 * value - 1 for value in values], dtype=kind) for values in (Y, P))
    found = evenhand.audit(y, p, G, replicates=0)
    assert found.n == 8
    assert found.subject.classes == ("-1", "1")
    assert_same(found, plain)


# -- coding -----------------------------------------------------------------------------------------------
def test_codes_and_class_names():
    found = code_labels([3, 1, 3], [1, 2, 3])
    assert (found.y.tolist(), found.p.tolist(), found.classes) == ([2, 0, 2], [0, 1, 2], ("1", "2", "3"))
    found = code_labels(["b", "a"], [["a", "b"], ["b", "b"]], positive="a")
    assert (found.y.tolist(), found.p.tolist(), found.classes) == ([0, 1], [[1, 0], [0, 0]], ("b", "a"))


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([1, 1], ("0", "1")),
        ([0, 0], ("0", "1")),
        ([True, True], ("False", "True")),
        ([False], ("False", "True")),
        (["spam"], ("not spam", "spam")),
        ([7], ("not 7", "7")),
    ],
)
def test_a_single_class_is_one_of_two(values, names):
    found = code_labels(values, values)
    assert found.classes == names
    assert set(found.y.tolist()) == set(found.p.tolist()) == {0 if values[0] in (0, False) else 1}


def test_multilabel_columns():
    y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    for make in (
        np.array,
        torch.tensor,
        pd.DataFrame,
        pl.DataFrame,
        lambda v: v.tolist(),
        lambda v: v.astype(bool),
    ):
        found = evenhand.audit(make(y), make(y), [0, 0, 1, 1], replicates=0)
        assert found.subject.task == "multilabel"
        assert len(found.metrics["tpr.gap"].per_class) == 2
    with pytest.raises(ValueError, match="must be 0 or 1 everywhere"):
        evenhand.audit(y * 2, y, [0, 0, 1, 1])
    with pytest.raises(ValueError, match="0 or 1"):
        evenhand.audit([["a", "b"]] * 4, [["a", "b"]] * 4, [0, 0, 1, 1])


def test_a_row_that_lacks_one_of_its_labels_is_left_out():
    y = np.array([[1, np.nan], [0, 1], [1, 1], [0, 0]])
    found = evenhand.audit(y, np.ones((4, 2)), [0, 0, 1, 1], replicates=0)
    assert (found.n, found.subject.missing) == (3, 1)


# -- rows of several models -------------------------------------------------------------------------------
def test_models_share_classes_and_rows():
    rows = models_of_rows(
        ["a", None, "b"], {"one": ["a", "a", "c"], "two": [["b", "b", "b"]] * 2}, None, None
    )
    assert rows.classes == ("a", "b", "c")
    assert rows.missing == 1
    assert rows.y.tolist() == [0, 1]
    assert rows.predictions["two"].shape == (2, 2)
    assert rows.group_names == ()
    grouped = models_of_rows([0, 1], {"one": [0, 1]}, {"sex": ["m", None]}, [1.0, 2.0])
    assert (grouped.ids.tolist(), grouped.group_names, grouped.grouping) == ([0, -1], ("m",), ("sex",))
