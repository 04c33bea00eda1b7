"""A Gaussian copula over binary attributes: thresholds give the shares, a latent matrix the phi of each pair.

    fact_i = [z_i > t_i],    z ~ N(0, R),    t_i = Phi^-1(1 - p_i)

Each pair alone has a latent correlation that gives its phi exactly (`evenhand.data.tetrachoric`). Put
together they are no correlation matrix: CelebA's has six negative eigenvalues, down to -2.06, because
attributes that exclude each other (the colours of hair; a hat and every colour) do so more than normal
variables can. With these eigenvalues clipped, phi is wrong by 0.0116 on average and 0.124 at most. So the
nearest matrix is looked for where it counts, among the phi: with R = (1 - d) U U' + d I, unit rows of U,

    minimise  sum over pairs (phi(R_ij) - phi_ij)^2

from the clipped matrix, by L-BFGS; random starts end in the same matrix. It is wrong by 0.0075 on average and
by 0.067 at most (black and blond hair), and is a packaged file that `tools/make_faces_copula.py` writes.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.data.cache import packaged
from evenhand.data.faces_statistics import Statistics
from evenhand.data.tetrachoric import latent_of_phi, phi_of_latent, phi_slope

FILE = "faces_copula.json"
LEAST = 1e-3  # eigenvalue of the latent matrix: it stays positive definite when it is rounded
DIGITS = 5


@cache
def latent_matrix() -> FloatArray:
    """The packaged latent correlation matrix `[40, 40]`, positive definite.

    >>> found = latent_matrix()
    >>> found.shape, bool(np.linalg.eigvalsh(found)[0] > 0)
    ((40, 40), True)
    """
    rows = json.loads(packaged(FILE).read_text(encoding="utf-8"))["below_the_diagonal"]
    found = np.eye(len(rows) + 1)
    for number, row in enumerate(rows, start=1):
        found[number, :number] = found[:number, number] = row
    found.flags.writeable = False
    return found


def weakened(latent: FloatArray, correlation: float) -> FloatArray:
    """The matrix at a strength: `c R + (1 - c) I`, from independent variables (0) to R itself (1).

    >>> weakened(np.array([[1.0, 0.6], [0.6, 1.0]]), 0.5).tolist()
    [[1.0, 0.3], [0.3, 1.0]]
    """
    return correlation * latent + (1.0 - correlation) * np.eye(len(latent))


def phi_matrix(latent: FloatArray, rates: FloatArray) -> FloatArray:
    """The phi of every pair of attributes that a latent matrix gives, exactly."""
    first, second = np.triu_indices(len(rates), 1)
    found = np.eye(len(rates))
    found[first, second] = phi_of_latent(latent[first, second], rates[first], rates[second])
    found[second, first] = found[first, second]
    return found


def clipped_matrix(statistics: Statistics) -> tuple[FloatArray, FloatArray]:
    """The tetrachoric matrix pair by pair, and unit rows `U` of it with its eigenvalues clipped."""
    first, second = np.triu_indices(len(statistics.names), 1)
    pairs = np.eye(len(statistics.names))
    rates = statistics.rates
    pairs[first, second] = latent_of_phi(statistics.phi[first, second], rates[first], rates[second])
    pairs[second, first] = pairs[first, second]
    values, vectors = np.linalg.eigh(pairs)
    return pairs, _unit_rows(vectors * np.sqrt(np.maximum(values, LEAST)))


def fitted_matrix(statistics: Statistics) -> FloatArray:
    """The positive definite latent matrix whose phi are nearest to the published ones, rounded."""
    from scipy.optimize import minimize

    size = len(statistics.names)
    first, second = np.triu_indices(size, 1)
    p, q, wanted = statistics.rates[first], statistics.rates[second], statistics.phi[first, second]

    def loss(flat: FloatArray) -> tuple[float, FloatArray]:
        rows = flat.reshape(size, size)
        unit = _unit_rows(rows)
        rho = (1 - LEAST) * (unit @ unit.T)[first, second]
        error = phi_of_latent(rho, p, q) - wanted
        slopes = np.zeros((size, size))
        slopes[first, second] = 2 * error * phi_slope(rho, p, q) * (1 - LEAST)
        along = (slopes + slopes.T) @ unit
        tangent = along - (along * unit).sum(axis=1, keepdims=True) * unit
        gradient = tangent / np.linalg.norm(rows, axis=1, keepdims=True)
        return float(error @ error), gradient.ravel()

    start = clipped_matrix(statistics)[1].ravel()
    limits = {"maxiter": 3000, "maxfun": 4000, "ftol": 1e-14, "gtol": 1e-9}
    unit = _unit_rows(
        minimize(loss, start, jac=True, method="L-BFGS-B", options=limits).x.reshape(size, size)
    )
    found: FloatArray = ((1 - LEAST) * unit @ unit.T).round(DIGITS)
    np.fill_diagonal(found, 1.0)
    return found


def _unit_rows(rows: FloatArray) -> FloatArray:
    found: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found
