"""Two correlated normal variables, each cut at a threshold: the phi of the halves, and back again.

With latent correlation rho and thresholds h, k (an event is a variable above its threshold),

    P(both) = p q + 1 / (2 pi) * integral from 0 to asin(rho) of
              exp(-(h^2 + k^2 - 2 h k sin t) / (2 cos^2 t)) dt,    p = P(X > h), q = P(Y > k)

(Plackett 1954, "A reduction formula for normal multivariate integrals", with r = sin t), computed by the
rule of Gauss and Legendre for all pairs at once. For h = k = 0 it is phi = 2 / pi * asin(rho) (Sheppard
1899). The rho that gives a phi is Pearson's tetrachoric correlation (1900).
"""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
MOST = 0.9999  # beyond it 48 nodes do not do; no pair of CelebA's attributes needs more than 0.982
HALVINGS = 54  # of an interval of length 2: to the last bits of a float


def thresholds(rates: FloatArray) -> FloatArray:
    """Above which a normal variable is with probability `rates`.

    >>> thresholds(np.array([0.5, 0.158655])).round(4).tolist()
    [0.0, 1.0]
    """
    from scipy.special import ndtri

    found: FloatArray = 0.0 - ndtri(rates)
    return found


def phi_of_latent(rho: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """The phi `[...]` of two events of probabilities p and q, cut from normals of correlation rho.

    >>> half = np.array([0.5])
    >>> round(float(phi_of_latent(half, half, half)[0]), 12)  # 2 / pi * asin(1 / 2)
    0.333333333333
    """
    h, k = thresholds(p)[..., None], thresholds(q)[..., None]
    end = np.arcsin(rho)[..., None]
    angle = end * (NODES + 1) / 2
    heights = np.exp(-(h * h + k * k - 2 * h * k * np.sin(angle)) / (2 * np.cos(angle) ** 2))
    above: FloatArray = (heights @ WEIGHTS) * end[..., 0] / (4 * np.pi)
    return above / _spread(p, q)


def phi_slope(rho: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """The derivative of phi by rho: the density of the two normals at the thresholds, on the scale of phi."""
    h, k, rest = thresholds(p), thresholds(q), 1 - rho * rho
    density = np.exp(-(h * h + k * k - 2 * h * k * rho) / (2 * rest)) / (2 * np.pi * np.sqrt(rest))
    slope: FloatArray = density / _spread(p, q)
    return slope


def latent_of_phi(phi: FloatArray, p: FloatArray, q: FloatArray) -> FloatArray:
    """The latent correlation that gives a phi (phi grows with rho: by halving); at most 0.9999 either way.

    >>> round(float(latent_of_phi(np.array([1 / 3]), np.array([0.5]), np.array([0.5]))[0]), 9)
    0.5
    """
    low = np.full(np.shape(phi), -MOST)
    high = -low
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = phi_of_latent(middle, p, q) < phi
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    found: FloatArray = (low + high) / 2
    return found


def _spread(p: FloatArray, q: FloatArray) -> FloatArray:
    return np.sqrt(p * (1 - p) * q * (1 - q))
