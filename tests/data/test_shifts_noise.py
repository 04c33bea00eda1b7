"""The noises against their closed forms, at five standard errors: moments, probabilities, independence."""

import math

import numpy as np
import pytest
import scipy.stats
import torch

from evenhand.data.shift_counters import Counters
from evenhand.data.shift_noise import LEVELS, _poisson, shot_noise
from evenhand.data.shifts import shift_inputs
from evenhand.data.task import Scaling

N, D = 2000, 101


def noise(key: str, severity: float, x: torch.Tensor, seed: int = 0) -> np.ndarray:
    got = shift_inputs(key, x, severity, seed=seed, rows=torch.arange(len(x)), scaling=Scaling())
    return (got - x).double().numpy()


def image(grey: float) -> torch.Tensor:
    return torch.full((200, 3, 18, 19), grey)


@pytest.mark.parametrize(("key", "kurtosis", "sixth", "eighth"), [
    ("gaussian", 3.0, 15.0, 105.0), ("uniform", 9 / 5, 27 / 7, 9.0)
])  # fmt: skip
@pytest.mark.parametrize("severity", [0.03, 0.5])
def test_moments(key, kurtosis, sixth, eighth, severity):
    z = noise(key, severity, torch.zeros(N, D)) / severity
    n = z.size
    assert abs(z.mean()) < 5 / math.sqrt(n)
    assert abs((z**2).mean() - 1) < 5 * math.sqrt((kurtosis - 1) / n)
    assert abs((z**3).mean()) < 5 * math.sqrt(sixth / n)
    assert abs((z**4).mean() - kurtosis) < 5 * math.sqrt((eighth - kurtosis**2) / n)


@pytest.mark.parametrize(("key", "law"), [
    ("gaussian", scipy.stats.norm()), ("uniform", scipy.stats.uniform(-math.sqrt(3), 2 * math.sqrt(3)))
])  # fmt: skip
def test_the_whole_distribution(key, law):
    z = noise(key, 1.0, torch.zeros(N, D), seed=7).ravel()
    assert scipy.stats.kstest(z, law.cdf).pvalue > 1e-5
    if key == "uniform":
        assert np.abs(z).max() <= math.sqrt(3)


def test_rows_and_places_and_seeds_are_not_correlated():
    z = noise("gaussian", 1.0, torch.zeros(N, D))
    other = noise("gaussian", 1.0, torch.zeros(N, D), seed=1)
    room = 5 / math.sqrt(z.size)
    for a, b in ((z[1:], z[:-1]), (z[:, 1:], z[:, :-1]), (z[:, 2:], z[:, :-2]), (z, other)):
        assert abs((a * b).mean()) < room
    # no two rows alike: the greatest of two million correlations is where chance would have it
    rows = z / np.linalg.norm(z, axis=1, keepdims=True)
    assert np.abs(rows @ rows.T - np.eye(N)).max() < 7 / math.sqrt(D)


def test_noise_of_a_place_does_not_depend_on_how_many_places_there_are():
    few, many = (Counters.of(3, "noise", torch.arange(4)).normal(n) for n in (5, 50))
    assert torch.equal(few, many[:, :5])


def test_ids_beyond_32_bits_are_rows_of_their_own():
    ids = torch.tensor([5, 5 + (1 << 32), 5 + (1 << 33), -1])
    assert len(set(Counters.of(0, "noise", ids).keys.tolist())) == 4
    assert torch.equal(
        Counters.of(0, "noise", ids[:1].to(torch.int32)).keys, Counters.of(0, "noise", ids[:1]).keys
    )


def test_two_million_rows_have_two_million_keys():
    keys = Counters.of(11, "noise", torch.arange(2_000_000)).keys
    assert len(keys.unique()) == len(keys)


@pytest.mark.parametrize("p", [0.0, 1e-4, 0.2, 1.0])
def test_events_have_their_probability_and_are_nested(p):
    hit = Counters.of(0, "events", torch.arange(N)).below(p, D)
    assert abs(hit.double().mean() - p) <= 5 * math.sqrt(p * (1 - p) / hit.numel())
    assert not (hit & ~Counters.of(0, "events", torch.arange(N)).below(min(1.0, p + 0.1), D)).any()


@pytest.mark.parametrize("p", [0.05, 0.4, 1.0])
def test_feature_dropout(p):
    got = noise("feature-dropout", p, torch.full((N, D), 3.0)) + 3.0
    assert set(np.unique(got)) <= {0.0, 3.0}
    assert abs((got == 0).mean() - p) <= 5 * math.sqrt(p * (1 - p) / got.size)


@pytest.mark.parametrize("p", [0.03, 0.25, 1.0])
def test_impulses_are_black_and_white_in_equal_parts(p):
    got = noise("impulse", p, image(0.25)) + 0.25
    for value in (0.0, 1.0):
        assert abs((got == value).mean() - p / 2) < 5 * math.sqrt(p / 2 * (1 - p / 2) / got.size)
    assert ((got == 0) | (got == 1) | (got == 0.25)).all()


def test_impulses_of_tables_are_three_deviations_away():
    got = noise("impulse", 0.25, torch.full((N, D), 0.5)) + 0.5
    for value in (-3.0, 3.0):
        assert abs((got == value).mean() - 0.125) < 5 * math.sqrt(0.125 * 0.875 / got.size)
    assert ((got == -3) | (got == 3) | (got == 0.5)).all()


@pytest.mark.parametrize("severity", [0.06, 0.2, 0.6])
@pytest.mark.parametrize("level", [20, 102, 255])
def test_shot_noise_is_poisson(severity, level):
    x, mean = image(level / 255), level / 255 / severity**2
    draws = Counters.of(0, "shot-noise", torch.arange(len(x)))
    counts = (shot_noise(x, severity, draws) / severity**2).double().numpy()
    whole = np.rint(counts)
    assert np.abs(counts - whole).max() < 1e-3
    n = counts.size
    assert abs(whole.mean() - mean) <= 5 * math.sqrt(mean / n)
    assert abs(whole.var() - mean) <= 5 * math.sqrt((mean + 2 * mean**2) / n)
    k = np.arange(int(mean + 8 * math.sqrt(mean)) + 2)
    expected = n * scipy.stats.poisson.pmf(k, mean)
    common = expected > 10
    found = np.bincount(whole.astype(int).ravel(), minlength=len(k))[: len(k)]
    chi = ((found - expected)[common] ** 2 / expected[common]).sum()
    assert chi < common.sum() + 5 * math.sqrt(2 * common.sum())


def test_black_has_no_photons_and_white_is_cut():
    assert (noise("shot-noise", 0.3, image(0.0)) == 0).all()
    assert noise("shot-noise", 0.3, image(1.0)).max() == 0


def test_the_table_of_shot_noise_is_sorted_and_equals_scipys():
    table = _poisson(30.0).view(LEVELS, -1)
    assert (table.flatten().diff() >= 0).all()
    for level in (0, 1, 100, 255):
        wanted = level + scipy.stats.poisson.cdf(np.arange(table.shape[1]), level * 30 / 255)
        assert np.abs(table[level].numpy() - wanted).max() < 1e-9


def test_many_photons_have_the_deviation_of_few():
    for severity in (0.009, 0.011):  # one normal, one Poisson
        z = noise("shot-noise", severity, image(0.4)) / (severity * math.sqrt(0.4))
        assert abs(z.mean()) < 5 / math.sqrt(z.size) + 0.002 / severity  # 0.4 is a level of a byte
        assert abs(z.std() - 1) < 5 * math.sqrt(0.5 / z.size)


def test_noise_on_images_is_cut_at_black_and_white():
    got = noise("gaussian", 0.3, image(1.0)) + 1.0
    assert got.max() == 1.0
    share = (got < 1).mean()
    assert abs(share - 0.5) < 5 * math.sqrt(0.25 / got.size)
