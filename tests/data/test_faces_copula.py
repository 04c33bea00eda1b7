"""The copula of `faces`: closed forms, scipy's bivariate normal, and CelebA's published shares and phi."""

import json

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from evenhand.data.cache import FOLDER
from evenhand.data.faces_copula import (
    FILE,
    clipped_matrix,
    fitted_matrix,
    latent_matrix,
    phi_matrix,
    weakened,
)
from evenhand.data.faces_facts import BLOCK, draw_facts, with_mistakes
from evenhand.data.faces_names import ATTRIBUTES, LISTS
from evenhand.data.faces_statistics import celeba_statistics
from evenhand.data.tetrachoric import latent_of_phi, phi_of_latent, phi_slope, thresholds

PAIRS = np.triu_indices(40, 1)
PUBLISHED = celeba_statistics()


def errors(phi):
    return np.abs(phi - PUBLISHED.phi)[PAIRS]


def phi_of(facts):
    return np.corrcoef(facts.numpy().astype(float).T)


@pytest.fixture(scope="module")
def many():
    return draw_facts(torch.arange(200_000), 0, PUBLISHED.rates, latent_matrix())


# ------------------------------------------------------------------------------------------ the statistics


def test_the_statistics_are_of_the_forty_names_in_the_official_order():
    assert PUBLISHED.names == ATTRIBUTES
    assert PUBLISHED.n == 202_599
    assert np.allclose(np.diag(PUBLISHED.phi), 1)
    assert np.array_equal(PUBLISHED.phi, PUBLISHED.phi.T)
    raw = json.loads((FOLDER / "celeba_statistics.json").read_text())
    assert np.allclose(np.array(raw["positive_count"]["all"]) / PUBLISHED.n, PUBLISHED.rates, atol=1e-6)
    male = ATTRIBUTES.index("Male")  # two published tables of one file agree: P(j | Male) and phi with Male
    given = raw["positive_rate_given_male"]
    p, q = PUBLISHED.rates[male], PUBLISHED.rates
    gap = np.array(given["male_1"]) - np.array(given["male_0"])
    assert np.allclose(gap * np.sqrt(p * (1 - p) / (q * (1 - q))), PUBLISHED.phi[male], atol=2e-4)


def test_the_lists_of_s1_are_attributes():
    assert [len(names) for names in LISTS.values()] == [7, 7, 6, 7]
    assert all(name in ATTRIBUTES for names in LISTS.values() for name in names)


# ------------------------------------------------------------------------------------- two normal variables


def test_for_thresholds_of_zero_phi_is_two_over_pi_times_the_arcsine():
    rho = np.linspace(-0.99, 0.99, 21)
    half = np.full(21, 0.5)
    assert np.allclose(phi_of_latent(rho, half, half), 2 / np.pi * np.arcsin(rho), atol=1e-12)


def test_uncorrelated_variables_give_independent_events():
    p, q = np.array([0.02, 0.3, 0.9]), np.array([0.5, 0.04, 0.97])
    assert phi_of_latent(np.zeros(3), p, q).tolist() == [0, 0, 0]
    assert np.allclose(latent_of_phi(np.zeros(3), p, q), 0, atol=1e-14)


@pytest.mark.parametrize(("p", "q", "rho"), [(0.3, 0.6, 0.7), (0.022, 0.83, -0.8), (0.04, 0.05, 0.97)])
def test_the_integral_is_that_of_scipy(p, q, rho):
    h, k = thresholds(np.array([p, q]))
    both = multivariate_normal(cov=[[1, rho], [rho, 1]]).cdf([-h, -k])  # P(X > h, Y > k), turned around
    expected = (both - p * q) / np.sqrt(p * (1 - p) * q * (1 - q))
    assert phi_of_latent(np.array([rho]), np.array([p]), np.array([q]))[0] == pytest.approx(
        expected, abs=1e-6
    )


def test_the_tetrachoric_correlation_gives_back_the_phi():
    first, second = PAIRS
    p, q = PUBLISHED.rates[first], PUBLISHED.rates[second]
    rho = latent_of_phi(PUBLISHED.phi[PAIRS], p, q)
    assert np.abs(phi_of_latent(rho, p, q) - PUBLISHED.phi[PAIRS]).max() < 1e-12
    assert np.abs(rho).max() < 0.99


def test_the_slope_is_the_derivative():
    p, q, rho, step = np.array([0.1]), np.array([0.7]), np.array([0.4]), 1e-5
    numeric = (phi_of_latent(rho + step, p, q) - phi_of_latent(rho - step, p, q)) / (2 * step)
    assert np.allclose(phi_slope(rho, p, q), numeric, rtol=1e-8)


# ---------------------------------------------------------------------------------------- the latent matrix


def test_the_packaged_matrix_is_what_the_fit_gives():
    assert np.abs(fitted_matrix(PUBLISHED) - latent_matrix()).max() < 5e-5
    raw = json.loads((FOLDER / FILE).read_text())
    assert tuple(raw["attributes"]) == ATTRIBUTES


def test_it_is_a_correlation_matrix_and_nearer_than_clipping():
    latent = latent_matrix()
    assert np.array_equal(latent, latent.T)
    assert (np.diag(latent) == 1).all()
    assert np.linalg.eigvalsh(latent)[0] > 5e-4
    pairs, unit = clipped_matrix(PUBLISHED)
    assert (np.linalg.eigvalsh(pairs) < 0).sum() == 6  # pair by pair it is none
    clipped = errors(phi_matrix(unit @ unit.T, PUBLISHED.rates))
    fitted = errors(phi_matrix(latent, PUBLISHED.rates))
    assert (fitted**2).sum() < 0.6 * (clipped**2).sum()
    assert fitted.mean() < 0.008 < clipped.mean() < 0.012
    assert fitted.max() < 0.07 < clipped.max()


def test_a_weaker_matrix_has_weaker_phi():
    sizes = [
        np.abs(phi_matrix(weakened(latent_matrix(), c), PUBLISHED.rates)[PAIRS]).sum() for c in (0, 0.5, 1)
    ]
    assert sizes[0] == 0
    assert 0.4 < sizes[1] / sizes[2] < 0.5


# ------------------------------------------------------------------------------------------------ the facts


def test_shares_and_phi_of_200_000_faces_are_the_published_ones(many):
    assert np.abs(many.double().mean(0).numpy() - PUBLISHED.rates).max() < 0.005
    found = errors(phi_of(many))
    assert found.mean() < 0.01  # the goal is 0.03
    assert found.max() < 0.08


def test_sampled_phi_are_those_that_the_copula_says(many):
    assert np.abs(phi_of(many) - phi_matrix(latent_matrix(), PUBLISHED.rates)).mean() < 0.0025


def test_without_correlation_facts_are_independent():
    facts = draw_facts(torch.arange(100_000), 1, PUBLISHED.rates, weakened(latent_matrix(), 0.0))
    z = phi_of(facts)[PAIRS] * np.sqrt(len(facts))  # standard normal if they are
    assert np.abs(z).max() < 5
    assert 0.85 < (z**2).mean() < 1.15


def test_a_face_depends_on_its_number_and_the_seed_alone(many):
    some = torch.tensor([199_999, 5, BLOCK, BLOCK - 1])
    assert torch.equal(draw_facts(some, 0, PUBLISHED.rates, latent_matrix()), many[some])
    other = draw_facts(torch.arange(1000), 1, PUBLISHED.rates, latent_matrix())
    assert (other != many[:1000]).float().mean() > 0.1


def test_mistakes_have_their_rate_and_grow_with_it(many):
    ids = torch.arange(len(many))
    chances = np.zeros(40)
    chances[[3, 20]] = 0.1, 0.3
    wrong = with_mistakes(many, ids, 0, chances) != many
    share = wrong.double().mean(0).numpy()
    assert share[[3, 20]] == pytest.approx([0.1, 0.3], abs=0.004)
    assert share.sum() == pytest.approx(share[[3, 20]].sum())
    assert abs(np.corrcoef(wrong[:, 20], many[:, 20])[0, 1]) < 0.01  # whatever the fact is
    assert (wrong <= (with_mistakes(many, ids, 0, 2 * chances) != many)).all()
