"""Delta ER: distances between groups, and what has none."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.mmd import KERNELS, mmd2
from evenhand.metrics.robustness import delta_er, sigmas_of


def rows(n: int = 90, groups: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(0)
    g = torch.randint(-1, groups, (n,), generator=source)
    return torch.rand(n, generator=source, dtype=torch.float64) * 5 * (g + 2), g


def test_two_groups(assert_close):
    curvatures, g = rows(groups=2)
    found = delta_er(curvatures, g, 2)
    expected = mmd2(curvatures[g == 0], curvatures[g == 1]).item()
    assert found.value == found.maximum == found.mean
    assert_close(found.value, expected, 1e-12)
    assert_close(found.pairs, [[0, expected], [expected, 0]], 1e-12)
    assert found.sizes.tolist() == [(g == 0).sum(), (g == 1).sum()]
    assert found.unknown == (g == -1).sum() > 0
    assert_close(found.means, [curvatures[g == k].mean() for k in (0, 1)], 1e-12)
    assert_close(found.medians, [np.median(curvatures[g == k]) for k in (0, 1)], 1e-12)
    assert found.decided_by == (0, 1)
    assert found.reasons == {}


@pytest.mark.parametrize("kernels", ["narrow", "wide", (0.5, 3.0)])
def test_every_pair_of_more_groups(kernels, assert_close):
    curvatures, g = rows(200, 4)
    found = delta_er(curvatures, g, 4, kernels)
    sigmas = KERNELS[kernels] if isinstance(kernels, str) else kernels
    for i in range(4):
        for j in range(4):
            expected = 0.0 if i == j else mmd2(curvatures[g == i], curvatures[g == j], sigmas).item()
            assert_close(found.pairs[i, j], expected, 1e-12)
    above = found.pairs[np.triu_indices(4, 1)]
    assert found.value == found.maximum == above.max()
    assert_close(found.mean, above.mean(), 1e-15)
    assert found.pairs[found.decided_by] == found.maximum


def test_many_groups_are_taken_in_pieces(assert_close):
    curvatures, g = rows(400, 30)  # 435 pairs
    found = delta_er(curvatures, g, 30)
    assert_close(found.pairs[28, 29], mmd2(curvatures[g == 28], curvatures[g == 29]), 1e-12)
    assert not np.isnan(found.pairs).any()


def test_small_and_empty_groups_have_no_distance_and_a_reason():
    curvatures, g = rows(groups=2)
    curvatures, g = torch.cat([curvatures, torch.tensor([4.0])]), torch.cat([g, torch.tensor([3])])
    found = delta_er(curvatures, g, 4)
    assert found.value == delta_er(curvatures, g.clamp(max=1) * (g < 2) - (g > 1).long(), 2).value
    assert np.isnan(found.pairs[2]).all()
    assert np.isnan(found.pairs[:, 3]).all()
    assert found.reasons[2] == "a distance needs 2 rows of a group, and it has 0"
    assert found.reasons[3].endswith("it has 1")
    assert found.decided_by == (0, 1)
    assert math.isnan(found.means[2])


def test_nothing_to_compare_is_undefined_and_not_zero():
    found = delta_er(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0, 0, 1]), 2)
    assert math.isnan(found.value)
    assert math.isnan(found.mean)
    assert found.decided_by is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_group_that_went_astray_spoils_no_other(bad):
    curvatures, g = rows()
    clean = delta_er(curvatures, g, 3)
    curvatures[(g == 2).nonzero()[0]] = bad
    found = delta_er(curvatures, g, 3)
    assert found.pairs[0, 1] == pytest.approx(clean.pairs[0, 1], abs=1e-12)
    assert np.isnan(found.pairs[2]).all()
    assert f"1 of {(g == 2).sum()} rows is no finite number" in found.reasons[2]


def test_equal_curvatures_have_no_distance():
    found = delta_er(torch.full((10,), 3.0), torch.arange(10) % 2, 2)
    assert found.value == 0.0
    assert found.decided_by == (0, 1)


def test_kernels_by_name_or_sigmas():
    assert sigmas_of("default") == (1, 2, 4, 8, 16)
    assert sigmas_of([1, 5]) == (1.0, 5.0)
    with pytest.raises(InputError, match="only narrow, default, wide; did you mean 'narrow'"):
        sigmas_of("narow")
    for wrong in ((), (0.0, 1.0), (math.nan,)):
        with pytest.raises(InputError, match="positive numbers"):
            sigmas_of(wrong)
    with pytest.raises(InputError, match="one a row"):
        delta_er(torch.ones(3), torch.zeros(4), 2)


def test_the_row_of_the_catalogue():
    row = CATALOGUE["delta_er"]
    assert (row.needs, row.low, row.high, row.ideal, row.better) == ("model", 0.0, 10.0, 0.0, "lower")
    assert "delta_er" not in COUNT_METRICS
