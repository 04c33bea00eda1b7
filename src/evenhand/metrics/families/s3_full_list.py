"""The full metric list of S3's official code: 61 values, corrected; `legacy` brings back the printed ones."""

from __future__ import annotations

from evenhand.metrics import parity
from evenhand.metrics.compare import Computed
from evenhand.metrics.metric import INFINITY, Direction, Metric, row
from evenhand.metrics.rates import RATES

CITATION = (
    "Friedler et al. 2019, A comparative study of fairness-enhancing interventions, FAT* (S3's full list)"
)

VARIANTS = (
    ("privileged", "privileged group", parity.privileged),
    ("unprivileged", "other groups pooled", parity.unprivileged),
    ("mean", "mean over groups", parity.mean_of_groups),
    ("ratio", "others / privileged", parity.ratio_to_privileged),
    ("ratio_mean", "mean ratio to privileged", parity.mean_ratio),
    ("diff", "1 - |privileged - others|", parity.closeness),
    ("diff_mean", "mean of 1 - |privileged - other|", parity.mean_closeness),
)


def _entry(
    key: str,
    name: str,
    formula: str,
    function: parity.ViewFunction,
    *rates: str,
    better: Direction = "nearer",
    ideal: float = 1.0,
    low: float = 0.0,
    high: float = 1.0,
) -> Metric:
    return row(
        f"s3.{key}",
        name,
        formula,
        Computed(function, rates),
        CITATION,
        "S3 full list",
        better=better,
        ideal=ideal,
        low=low,
        high=high,
    )


def _variants(name: str, rate: str) -> list[Metric]:
    """The seven values that the list has for each base rate."""
    entries = []
    for suffix, label, make in VARIANTS:
        ratio = suffix.startswith("ratio")
        better: Direction = "nearer" if ratio else "higher"
        if suffix in ("privileged", "unprivileged", "mean"):
            better = RATES[rate].better
        entries.append(
            _entry(
                f"{name}.{suffix}",
                f"{name.replace('_', ' ')}: {label}",
                label,
                make(rate),
                rate,
                better=better,
                ideal=0.0 if better == "lower" else 1.0,
                high=INFINITY if ratio else 1.0,
            )
        )
    return entries


def friedler_rows() -> list[Metric]:
    """All 61 rows, keyed `s3.*`."""
    rows = [
        _entry("accuracy", "accuracy", "all rows", parity.pooled("accuracy"), better="higher"),
        _entry("tpr", "true positive rate", "all rows", parity.pooled("tpr"), better="higher"),
        _entry("tnr", "true negative rate", "all rows", parity.pooled("tnr"), better="higher"),
        _entry(
            "bcr",
            "balanced classification rate",
            "(TPR + TNR) / 2, all rows",
            lambda view: (parity.pooled("tpr")(view) + parity.pooled("tnr")(view)) / 2,
            better="higher",
        ),
        _entry("mcc", "Matthews correlation", "all rows", parity.pooled("mcc"), better="higher", low=-1.0),
        _entry(
            "di_binary",
            "disparate impact, others pooled",
            "PR_others / PR_privileged",
            parity.ratio_to_privileged("selection"),
            "selection",
            high=INFINITY,
        ),
        _entry(
            "di_avg_all",
            "disparate impact, mean over others",
            "mean_v PR_v / PR_privileged",
            parity.mean_ratio("selection"),
            "selection",
            high=INFINITY,
        ),
        _entry(
            "cv",
            "Calders-Verwer score",
            "1 - |PR_privileged - PR_others|",
            parity.closeness("selection"),
            "selection",
            better="higher",
        ),
    ]
    for name, rate in parity.BASES.items():
        rows += _variants(name, rate)
    for name, rate, counted in (("fn", "fnr", "tn"), ("fp", "fpr", "fp")):
        rows.append(
            _entry(
                f"eqopp_{name}_diff",
                f"difference of {rate.upper()}",
                f"|{rate}_p - {rate}_up|",
                parity.odds_difference(rate, counted),
                rate,
                better="lower",
                ideal=0.0,
            )
        )
        rows.append(
            _entry(
                f"eqopp_{name}_ratio",
                f"ratio of {rate.upper()}",
                f"{rate}_up / {rate}_p",
                parity.odds_ratio(rate, counted),
                rate,
                high=INFINITY,
            )
        )
    return rows


ROWS = friedler_rows()
