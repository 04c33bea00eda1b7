"""Metrics that counts alone cannot give: they need scores, the model, a second one, or several runs."""

from __future__ import annotations

from evenhand.metrics.families import s1, s2, s4
from evenhand.metrics.metric import INFINITY, Direction, Metric, Needs, RateName

S1, S2 = s1.CITATION, s2.CITATION

TOP_K = RateName(
    "topk", "top-k accuracy", "share of rows whose label is among the k highest scores", "higher"
)


def _needing(
    key: str,
    name: str,
    formula: str,
    citation: str,
    family: str,
    needs: Needs,
    *,
    ideal: float = 0.0,
    low: float = 0.0,
    high: float = INFINITY,
    better: Direction = "lower",
) -> Metric:
    return Metric(key, name, formula, family, ideal, low, high, better, citation, needs)


ROWS = [
    _needing(
        "map",
        "mean average precision",
        "mean over labels of AP",
        S1,
        "S1",
        "scores",
        ideal=1.0,
        high=1.0,
        better="higher",
    ),
    _needing(
        "map_u",
        "reweighted mean average precision",
        "AP with positives weighted P / (G P_g), negatives 1; mean over labels",
        S1,
        "S1",
        "scores",
        ideal=1.0,
        high=1.0,
        better="higher",
    ),
    _needing(
        "dims",
        "difference in mean score",
        "mean score of the second group - of the first",
        S2,
        "S2",
        "scores",
        low=-1.0,
        high=1.0,
        better="nearer",
    ),
    _needing(
        "diamr",
        "difference in mean residual",
        "mean(score - y) of the second group - of the first",
        S2,
        "S2",
        "scores",
        low=-2.0,
        high=2.0,
        better="nearer",
    ),
    _needing(
        "cev",
        "combined error variance",
        "Var_i(dFPR_i) + Var_i(dFNR_i), d = (alternative - base) / base",
        S2,
        "S2",
        "two models",
    ),
    _needing("sde", "symmetric distance error", "mean_i |dFNR_i - dFPR_i|", S2, "S2", "two models"),
    _needing(
        "cev_norm",
        "combined error variance, normalised",
        "cev / cev of a uniform random predictor",
        S2,
        "S2",
        "two models",
    ),
    _needing(
        "sde_norm",
        "symmetric distance error, normalised",
        "sde / sde of a uniform random predictor",
        S2,
        "S2",
        "two models",
    ),
    _needing(
        "cie",
        "compression-identified exemplars",
        "rows whose modal label differs between two populations of models",
        "Hooker et al. 2019, What Do Compressed Deep Neural Networks Forget? (S2)",
        "S2",
        "several runs",
    ),
    _needing(
        "delta_er",
        "Delta ER",
        "MMD^2 between the groups' curvatures of the loss, five Gaussian kernels summed; largest over pairs",
        s4.CITATION,
        "S4",
        "model",
        high=10.0,
    ),
]
