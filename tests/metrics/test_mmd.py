"""MMD^2 against the golden numbers, a naive double loop, and what theory says of it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.func import vmap

from evenhand.metrics import kernel_waves, mmd
from evenhand.metrics.kernel_waves import drawn_together, forms_by_waves, summed_kernel, waves_needed
from evenhand.metrics.mmd import KERNELS, forms_by_pairs, masked_mmd2, mmd2, permutation_p

GOLDEN = ["mmd2_21", "mmd2_22", "mmd2_identical", "mmd2_far_apart", "mmd2_single_points"]
SETS = {"sigmas_1_2_4_8_16": "default", "sigmas_.25_.5_1_2_4": "narrow", "sigmas_4_8_16_32_64": "wide"}


def naive(a, b, sigmas) -> float:
    """The definition, pair by pair."""

    def mean(u, v) -> float:
        pairs = [math.exp(-((p - q) ** 2) / (2 * s * s)) for p in u for q in v for s in sigmas]
        return sum(pairs) / (len(u) * len(v))

    return mean(a, a) - 2 * mean(a, b) + mean(b, b)


def samples(n: int, m: int, seed: int = 0, scale: float = 3.0) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(seed)
    a, b = (torch.randn(k, generator=source, dtype=torch.float64).square() * scale for k in (n, m))
    return a, b


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("key", SETS)
def test_golden(name, key, golden, assert_close):
    case = next(case for case in golden("12_cuma_closed_forms")["cases"] if case["name"] == name)
    u, v = (torch.tensor(case["inputs"][side], dtype=torch.float64) for side in "uv")
    expected, sigmas = case["expected"][key], KERNELS[SETS[key]]
    assert_close(mmd2(u, v, sigmas), expected, 1e-9)
    both, ones = torch.cat([u, v]), torch.cat([torch.ones_like(u), torch.zeros_like(v)])
    if min(len(u), len(v)) > 1:
        assert_close(masked_mmd2(both, ones, 1 - ones, sigmas), expected, 1e-9)
    weights = (ones / len(u) - (1 - ones) / len(v))[:, None]
    assert_close(forms_by_waves(both, weights, sigmas), [expected], 1e-9)
    assert_close(forms_by_pairs(both, weights, sigmas), [expected], 1e-9)


@pytest.mark.parametrize("sigmas", [*KERNELS.values(), (1.0, 3.0), (2.0,)])
def test_the_definition(sigmas, assert_close):
    a, b = samples(9, 14)
    assert_close(mmd2(a, b, sigmas), naive(a.tolist(), b.tolist(), sigmas), 1e-12)
    assert_close(mmd2(b, a, sigmas), mmd2(a, b, sigmas), 1e-14)
    assert mmd2(a, a.flip(0), sigmas) < 1e-14
    assert 0 <= mmd2(a, b, sigmas) <= 2 * len(sigmas)


def test_five_kernels_end_at_ten():
    far = mmd2(torch.zeros(5), torch.full((7,), 1e8))
    assert far.item() == pytest.approx(10.0, abs=1e-12)


def test_squarings_are_the_exponentials_they_stand_for(assert_close):
    distances = torch.linspace(-90, 90, 1001, dtype=torch.float64)
    for sigmas in KERNELS.values():
        each = sum(torch.exp(-(distances**2) / (2 * s**2)) for s in sigmas)
        assert_close(summed_kernel(distances, sigmas), each, 1e-12)
        assert_close(summed_kernel(distances, tuple(reversed(sigmas))), each, 1e-12)


# -- ways to the same number ---------------------------------------------------------------------------------
@pytest.mark.parametrize("sigmas", [*KERNELS.values(), (0.3, 5.0)])
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 40.0])
def test_waves_are_pairs(sigmas, scale, assert_close):
    values, weights = samples(300, 0, scale=scale)[0], samples(300, 0, seed=1)[0].view(300, 1) - 1
    weights = torch.cat([weights, weights.square()], dim=1) / 300
    assert_close(forms_by_waves(values, weights, sigmas), forms_by_pairs(values, weights, sigmas), 1e-11)


def test_pieces_are_the_whole(monkeypatch, assert_close):
    values, weights = samples(101, 0)[0], samples(303, 0, seed=1)[0].view(101, 3)
    ways = [forms_by_pairs, forms_by_waves]
    whole = [way(values, weights, KERNELS["default"]) for way in ways]
    stacked = torch.stack([values, values * 2])
    runs = [way(stacked, weights, KERNELS["default"]) for way in ways]
    monkeypatch.setitem(mmd.PAIRS_AT_ONCE, "cpu", 7)
    monkeypatch.setitem(kernel_waves.NUMBERS_AT_ONCE, "cpu", 1)
    for way, found, both in zip(ways, whole, runs, strict=True):
        assert_close(way(values, weights, KERNELS["default"]), found, 1e-9)
        assert_close(way(stacked, weights, KERNELS["default"]), both, 1e-9)
        assert_close(both[0], found, 1e-9)


def test_no_table_of_all_pairs_is_ever_held(monkeypatch):
    largest = 0

    def watched(distances, sigmas):
        nonlocal largest
        largest = max(largest, distances.numel())
        return summed_kernel(distances, sigmas)

    monkeypatch.setattr(mmd, "summed_kernel", watched)
    values = torch.arange(3000, dtype=torch.float64) * 500  # so far apart that waves would be many
    mmd2(values[::2], values[1::2])
    assert 0 < largest <= mmd.PAIRS_AT_ONCE["cpu"]


def test_far_points_cost_little_and_count_fully(assert_close):
    a, b = samples(400, 500)
    a[3], a[4], b[7] = 1e7, 1e7 + 1, 3e5
    both = torch.cat([a, b])
    weights = torch.cat([torch.full((400, 1), 1 / 400), torch.full((500, 1), -1 / 500)]).double()
    assert waves_needed(both, KERNELS["default"]) < 1000
    expected = forms_by_pairs(both, weights, KERNELS["default"])
    assert_close(forms_by_waves(both, weights, KERNELS["default"]), expected, 1e-9)
    near = drawn_together(both, KERNELS["default"])
    assert (near.sort().indices == both.sort().indices).all()
    assert near.max() < 1000


@pytest.mark.parametrize("far", [1e12, 1e17, 1e19, 1e300])
def test_points_beyond_all_digits_stay_apart(far, assert_close):
    """Cutting a gap of 1e19 down to 144 would leave 0, and two samples that share nothing would be one."""
    a, b = samples(400, 500)
    a, b = a / 100, torch.full_like(b, far)
    expected = summed_kernel(a[:, None] - a, KERNELS["default"]).mean() + 5  # of b all points are one
    assert_close(mmd2(a, b), expected, 1e-9)


def test_what_is_no_number_stays_none():
    for bad in (math.nan, math.inf):
        assert mmd2(torch.tensor([bad, 1.0]), torch.tensor([1.0, 2.0])).isnan()
        assert math.isnan(permutation_p(torch.tensor([bad, 1.0]), torch.tensor([1.0, 2.0])))
    assert mmd2(torch.empty(0), torch.ones(3)).isnan()
    assert math.isnan(permutation_p(torch.empty(0), torch.ones(3)))
    assert mmd2(torch.ones(1), torch.ones(3), unbiased=True).isnan()
    assert mmd2(torch.ones(1), torch.ones(3)) < 1e-30


def test_stacks_of_samples(assert_close):
    a, b = samples(40, 60)
    found = mmd2(a.view(2, 20), b.view(2, 30))
    assert_close(found, [mmd2(a[:20], b[:30]).item(), mmd2(a[20:], b[30:]).item()], 1e-12)


def test_float32_samples_lose_nothing_but_their_own_digits(assert_close):
    a, b = samples(200, 300)
    assert_close(mmd2(a.float(), b.float()), mmd2(a, b), 1e-6)
    assert mmd2(a.float(), b.float()).dtype == torch.float64


# -- the other forms -----------------------------------------------------------------------------------------
def test_the_unbiased_form_by_hand(assert_close):
    a, b = samples(6, 9)
    kernel = summed_kernel(torch.cat([a, b])[:, None] - torch.cat([a, b]), KERNELS["default"])
    kernel.fill_diagonal_(0)
    own = kernel[:6, :6].sum() / 30 + kernel[6:, 6:].sum() / 72
    assert_close(mmd2(a, b, unbiased=True), own - 2 * kernel[:6, 6:].mean(), 1e-12)


def test_under_the_null_the_unbiased_form_is_zero_on_average_and_the_other_is_not():
    draws = [samples(12, 15, seed=seed) for seed in range(400)]
    unbiased = np.array([mmd2(a, b, unbiased=True).item() for a, b in draws])
    biased = np.array([mmd2(a, b).item() for a, b in draws])
    error = unbiased.std() / len(draws) ** 0.5
    assert abs(unbiased.mean()) < 3.5 * error
    assert (unbiased < 0).any()
    assert biased.mean() > 20 * error


def test_masked_form_ignores_other_rows_and_small_groups(assert_close):
    a, b = samples(5, 6)
    values = torch.cat([a, b, torch.tensor([77.0, 1e9])]).requires_grad_()
    first = torch.tensor([1.0] * 5 + [0.0] * 8, dtype=torch.float64)
    second = torch.tensor([0.0] * 5 + [1.0] * 6 + [0.0] * 2, dtype=torch.float64)
    found = masked_mmd2(values, first, second)
    assert_close(found.detach(), mmd2(a, b), 1e-12)
    found.backward()
    assert (values.grad[:11] != 0).all()
    assert (values.grad[11:] == 0).all()
    for alone in (torch.zeros_like(first), first * (torch.arange(13) == 0)):
        values.grad = None
        nothing = masked_mmd2(values, alone, second)
        nothing.backward()
        assert nothing == 0
        assert (values.grad == 0).all()


def test_masked_form_under_vmap_and_its_gradient(assert_close):
    values = samples(24, 0)[0].view(3, 8)
    first = torch.tensor(
        [[1, 1, 1, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 0, 0]]
    ).double()
    second = (1 - first) * torch.tensor([1, 1, 1, 1, 1, 1, 0, 1.0])
    together = vmap(masked_mmd2)(values, first, second)
    alone = [masked_mmd2(*three).item() for three in zip(values, first, second, strict=True)]
    assert_close(together, alone, 1e-14)
    assert alone[1] == 0
    assert torch.autograd.gradcheck(lambda v: vmap(masked_mmd2)(v, first, second), values.requires_grad_())


# -- permutations --------------------------------------------------------------------------------------------
def test_permutation_p_counts_as_a_loop_over_all_deals_would():
    a, b = torch.tensor([0.1, 0.2, 0.9]).double(), torch.tensor([1.1, 4.0, 3.0, 2.2]).double()
    both, observed = torch.cat([a, b]), mmd2(a, b).item()
    deals = [set(chosen) for chosen in itertools.combinations(range(7), 3)]
    far = 0
    for chosen in deals:
        mask = torch.tensor([place in chosen for place in range(7)])
        far += mmd2(both[mask], both[~mask]).item() >= observed - 1e-12
    share, times = far / len(deals), 4999
    assert permutation_p(a, b, times=times) == pytest.approx(
        share, abs=4 * (share * (1 - share) / times) ** 0.5
    )


def test_permutation_p_is_uniform_under_the_null():
    found = np.array(
        [permutation_p(*samples(25, 30, seed=seed), times=199, seed=seed) for seed in range(200)]
    )
    ordered, expected = np.sort(found), (np.arange(200) + 0.5) / 200
    assert np.abs(ordered - expected).max() < 1.63 / 200**0.5  # Kolmogorov-Smirnov at 1 %
    assert found.min() >= 1 / 200


def test_permutation_p_of_samples_that_differ_and_its_seed():
    a, b = samples(60, 60)
    assert permutation_p(a, b + 3, times=199) == 1 / 200
    assert permutation_p(a, b, times=199, seed=3) == permutation_p(a, b, times=199, seed=3)
    assert permutation_p(torch.ones(5), torch.ones(4), times=99) == 1.0
