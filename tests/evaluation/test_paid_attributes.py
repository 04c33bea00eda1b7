"""Who paid where groups are made of several attributes: combinations, and each attribute alone."""

import numpy as np
import pytest

import evenhand
from evenhand.evaluation.from_joined import rows_of_joined
from evenhand.evaluation.options import Options
from evenhand.evaluation.paid import NOT_SHOWN, PAID, payments
from evenhand.statistics.paired_shares import tango_interval
from evenhand.tables.columns import Columns
from evenhand.tables.joined import read_joined


def world(n=4000, seed=0):
    rng = np.random.default_rng(seed)
    y, sex = rng.integers(0, 2, n), rng.choice(["f", "m"], n)
    age = rng.choice(["old", "young", None], n, p=[0.4, 0.4, 0.2])
    base = np.where(rng.random(n) < 0.1, 1 - y, y)
    other = np.where((sex == "f") & (rng.random(n) < 0.06), 1 - y, base)
    return y, base, other, sex, age


def test_each_attribute_is_tested_alone_as_if_it_were_the_only_one():
    y, base, other, sex, age = world()
    both = evenhand.compare(y, {"a": base, "b": other}, {"sex": sex, "age": age}, replicates=50)
    groups = {one.name: one for one in both.paid["b"].groups}
    assert list(groups) == [
        "sex=f · age=old", "sex=f · age=young", "sex=m · age=old", "sex=m · age=young",
        "sex=f", "sex=m", "age=old", "age=young",
    ]  # fmt: skip
    for name, values in {"sex": sex, "age": age}.items():
        alone = evenhand.compare(y, {"a": base, "b": other}, {name: values}, replicates=50)
        for one in alone.paid["b"].groups:
            found = groups[f"{name}={one.name}"]
            assert (found.n, found.difference, found.low, found.high, found.p, found.verdict) == (
                one.n, one.difference, one.low, one.high, one.p, one.verdict
            )  # fmt: skip
            assert found.pairs["cev"].value == pytest.approx(one.pairs["cev"].value, nan_ok=True)
    assert groups["sex=f"].n == (sex == "f").sum()  # whether their age is known or not
    assert groups["sex=f"].verdict == PAID
    assert groups["sex=m"].verdict == NOT_SHOWN


def test_files_tell_the_same_as_arrays(tmp_path):
    y, base, other, sex, age = world(400)
    paths = []
    for name, guess in (("a", base), ("b", other)):
        lines = ["id,y,p,sex,age"]
        lines += [f"{i},{y[i]},{guess[i]},{sex[i]},{age[i] or ''}" for i in range(len(y))]
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("\n".join(lines))
    joined = read_joined(paths[0], paths[1:], Columns("y", "p", ("sex", "age"), key="id"))
    found = payments(rows_of_joined(joined), "a", ["b"], Options(replicates=50))["b"].groups
    expected = evenhand.compare(y, {"a": base, "b": other}, {"sex": sex, "age": age}, replicates=50)
    assert [(one.name, one.n, one.difference, one.p) for one in found] == [
        (one.name, one.n, one.difference, one.p) for one in expected.paid["b"].groups
    ]


def test_small_levels_of_an_attribute_are_not_tested():
    y, base, other, sex, age = world(300)
    age[:3] = "ancient"
    found = evenhand.compare(
        y, {"a": base, "b": other}, {"sex": sex, "age": age}, min_count=20, replicates=50
    )
    small = next(one for one in found.paid["b"].groups if one.name == "age=ancient")
    assert small.n == 3
    assert np.isnan(small.p)


@pytest.mark.parametrize("weights", [None, np.full(40, 3.0)])
def test_where_no_run_changed_a_row_an_interval_has_width(weights):
    y = np.repeat([0, 1], 20)
    still = np.stack([y, y])
    found = evenhand.compare(y, {"a": still, "b": still.copy()}, weights=weights, replicates=50)
    alone = evenhand.compare(y, {"a": y, "b": y.copy()}, replicates=50).paid["b"].classes
    for several, single in zip(found.paid["b"].classes, alone, strict=True):
        assert (several.low, several.high) == pytest.approx((single.low, single.high))
        assert several.low < 0 < several.high
        assert several.p == 1


def test_of_rows_that_weigh_unlike_the_width_is_that_of_fewer_and_of_the_weight_zero_of_none():
    y = np.repeat([0, 1], 20)
    weights = np.r_[np.ones(10), np.zeros(10), np.full(10, 3.0), np.ones(10)]
    still = np.stack([y, y])
    moved = still.copy()
    moved[:, 15] = 1  # a row of the weight 0
    found = evenhand.compare(y, {"a": still, "b": moved}, weights=weights, replicates=50).paid["b"].classes
    for one, rows in zip(found, (10.0, 16.0), strict=True):  # (30 + 10)^2 / (90 + 10)
        assert (one.low, one.high) == pytest.approx([end.item() for end in tango_interval([0], [0], [rows])])
