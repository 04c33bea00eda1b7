"""Other populations from the same rows: exact counts, weights, and groups that are not known."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from evenhand.data.registry import load
from evenhand.data.shift_counters import Counters
from evenhand.data.shift_resampling import covariate, systematic
from evenhand.data.shifts import SHIFTS, shift_rows
from evenhand.errors import InputError
from evenhand.groups import Attribute


@pytest.fixture(scope="module")
def titanic():
    return load("titanic")


@pytest.fixture(scope="module")
def synthetic():
    return load("synthetic", n_test=4000, attributes=2, levels=3)


@pytest.mark.parametrize("severity", [0.0, *SHIFTS["group-share"].severities, 1.0])
@pytest.mark.parametrize("group", ["female", "male"])
def test_group_share_has_exact_counts(titanic, severity, group):
    rows = titanic.rows("test")
    got = shift_rows(f"group-share:{group}", titanic, "test", severity, seed=3, protect="sex")
    codes = titanic.attribute("sex").codes
    code = titanic.attribute("sex").levels.index(group)
    before, after = int((codes[rows] == code).sum()), int((codes[got] == code).sum())
    assert after == round(before + severity * (len(rows) - before))
    assert len(got) == len(rows)
    # nobody of a group is taken two times more often than another of it
    for level in (0, 1):
        members = rows[torch.as_tensor(codes[rows] == level)]
        times = torch.bincount(got, minlength=len(titanic))[members]
        assert times.max() - times.min() <= 1


def test_the_smallest_group_is_meant_unless_one_is_named(titanic):
    named = shift_rows("group-share:female", titanic, "test", 0.5, seed=1, protect=["sex"])
    assert torch.equal(named, shift_rows("group-share", titanic, "test", 0.5, seed=1, protect=["sex"]))


def test_intersections_are_groups(synthetic):
    name = synthetic.groups(["a0", "a1"]).names[4]
    got = shift_rows(f"group-share:{name}", synthetic, "test", 1.0, seed=1, protect=["a0", "a1"])
    assert set(synthetic.groups(["a0", "a1"]).ids[got].tolist()) == {4}


def test_rows_of_unknown_group_stay_where_they_are(titanic):
    sex = titanic.attribute("sex")
    codes = np.where(np.arange(len(titanic)) % 4 == 0, -1, sex.codes)
    task = replace(titanic, attributes=(Attribute("sex", sex.levels, codes),))
    rows = task.rows("test")
    got = shift_rows("group-share:female", task, "test", 0.7, seed=1)
    unknown = rows[torch.as_tensor(codes[rows] == -1)]
    assert torch.equal(got[torch.as_tensor(codes[got] == -1)], unknown)
    known, before = int((codes[rows] >= 0).sum()), int((codes[rows] == 0).sum())
    assert int((codes[got] == 0).sum()) == round(before + 0.7 * (known - before))


def test_a_group_without_rows_cannot_grow(titanic):
    men = titanic.rows("test")[torch.as_tensor(titanic.attribute("sex").codes[titanic.rows("test")] == 1)]
    task = titanic.with_split(test=men)
    with pytest.raises(InputError, match="'female' has no row in this part"):
        shift_rows("group-share:female", task, "test", 0.5, seed=0, protect="sex")
    assert torch.equal(shift_rows("group-share:male", task, "test", 0.5, seed=0, protect="sex"), men)


def test_systematic_drawing_takes_each_its_number_or_the_next():
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(500, generator=generator, dtype=torch.float64) ** 4
    weights /= weights.sum()
    total = torch.zeros(500)
    for seed in range(200):
        got = systematic(weights, 300, Counters.of(seed, "rows", torch.arange(500)))
        times = torch.bincount(got, minlength=500)
        assert (times >= (weights * 300 - 1e-9).floor()).all()
        assert (times <= (weights * 300 + 1e-9).ceil()).all()
        total += times
    # over many seeds the shuffled orders give every row its expected number
    wanted = weights * 300
    part = wanted % 1
    assert (((total / 200 - wanted).abs() - 1e-6) <= 5.5 * (part * (1 - part) / 200).sqrt()).all()


def test_covariate_resampling_moves_a_normal_feature_by_its_severity(synthetic):
    """E[z exp(sz)] / E[exp(sz)] = s for a standard normal z."""
    z = torch.randn(4000, generator=torch.Generator().manual_seed(1))
    x = synthetic.x.clone()
    x[synthetic.rows("test"), 3] = z * 5 + 2
    task = replace(synthetic, x=x)
    for severity in (0.25, 0.5, 1.0):
        got = shift_rows(f"covariate-resampling:{task.columns[3]}", task, "test", severity, seed=0)
        moved = ((x[got, 3] - 2) / 5).mean()
        assert abs(float(moved) - severity) < 5 * np.sqrt(np.exp(severity**2) / 4000)


def test_the_covariate_is_numpys_first_component(synthetic, titanic):
    for task in (synthetic, titanic):
        rows = task.rows("test")
        x = task.x[rows].double().numpy()
        scores = np.linalg.svd(x - x.mean(0), full_matrices=False)
        wanted = scores[0][:, 0] * np.sqrt(len(rows))
        got = covariate(task, rows).numpy()
        assert min(np.abs(got - wanted).max(), np.abs(got + wanted).max()) < 1e-5
        loadings = (x - x.mean(0)).T @ got
        assert loadings[np.abs(loadings).argmax()] > 0  # the sign is settled
        assert abs(got.mean()) < 1e-9
        assert abs(got.std() - 1) < 1e-9


def test_the_covariate_of_images_is_mostly_their_light():
    task = load("ci-mnist")
    z = covariate(task, task.rows("test")).numpy()
    assert z.std() == pytest.approx(1)
    got = shift_rows("covariate-resampling", task, "test", 1.0, seed=0)
    place = {int(row): i for i, row in enumerate(task.rows("test"))}
    assert z[[place[int(row)] for row in got]].mean() > 0.5


def test_a_column_of_one_value_is_told(titanic):
    task = replace(titanic, x=titanic.x.clone().fill_(1.0))
    with pytest.raises(InputError, match="every input of the task 'titanic' is the same"):
        shift_rows("covariate-resampling", task, "test", 1.0, seed=0)
    with pytest.raises(InputError, match="the column 'age'"):
        shift_rows("covariate-resampling:age", task, "test", 1.0, seed=0)
