"""The catalogue: its keys are the promised ones, and the ideal of a row is its best value."""

from __future__ import annotations

import math

import pytest

from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.rates import RATES
from evenhand.metrics.view import View

PROMISED = {
    "S0": ("dp", "di", "spsf", "fpsf", "eofp", "eotp", "ba"),
    "S1": (
        "acc",
        "acc_u",
        "acc_u.label_attr",
        "min_acc",
        "min_acc.label_attr",
        "map",
        "map_u",
        "ba_signed",
        "eps",
        "eps.positive",
    ),
    "S2": ("cev", "sde", "cev_norm", "sde_norm", "fped", "fned", "dims", "diamr"),
    "S3": ("dp_score", "eqopp0", "eqopp1", "eqodd", "acc_p", "acc_up", "acc_mean"),
    "S4": ("delta_dp", "delta_eo", "delta_eopp"),
    "rates": (
        "odds.max",
        "odds.mean",
        *(
            f"{rate}.{how}"
            for rate in RATES
            for how in ("gap", "ratio", "worst", "best", "spread", "to_overall")
        ),
    ),
    "scores": tuple(
        f"{rate}.{how}"
        for rate in ("auc", "ap", "brier", "ece", "log_loss", "mean_score")
        for how in ("gap", "ratio", "worst", "best", "spread", "to_overall")
    ),
}


@pytest.mark.parametrize("family", PROMISED)
def test_every_promised_key_has_a_row_in_its_family(family):
    for key in PROMISED[family]:
        assert CATALOGUE[key].family == family


def test_keys_are_the_rows_own():
    assert all(key == row.key for key, row in CATALOGUE.items())


def test_the_rates_are_the_promised_ones():
    assert list(RATES) == [
        "selection",
        "tpr",
        "fpr",
        "tnr",
        "fnr",
        "ppv",
        "npv",
        "for",
        "accuracy",
        "balanced_accuracy",
        "f1",
        "mcc",
    ]


def test_only_count_metrics_can_be_worked_out_from_counts():
    view = View(Counts.from_table([[[1, 1], [1, 1]]]).margins())
    for key, row in CATALOGUE.items():
        assert (key in COUNT_METRICS) == (row.needs == "counts")
        if row.statistic is None:
            with pytest.raises(ValueError, match=f"metric '{key}' needs {row.needs}, not counts alone"):
                row(view)


def test_metrics_with_a_privileged_group_say_so():
    assert CATALOGUE["acc_p"].needs_privileged
    assert CATALOGUE["s3.tpr.ratio"].needs_privileged
    assert not CATALOGUE["tpr.gap"].needs_privileged


@pytest.mark.parametrize("key", sorted(CATALOGUE))
def test_the_ideal_is_the_end_of_the_range_that_is_better(key):
    row = CATALOGUE[key]
    if row.better == "higher":
        assert row.ideal == row.high or math.isinf(row.high)
    if row.better == "lower" and row.low >= 0:
        assert row.ideal == row.low


def test_rates_that_are_better_when_low_have_their_worst_group_at_the_top():
    assert [key for key, rate in RATES.items() if rate.better == "lower"] == ["fpr", "fnr", "for"]
    assert CATALOGUE["fpr.worst"].better == "lower"
    assert CATALOGUE["tpr.worst"].better == "higher"
    assert CATALOGUE["selection.worst"].better == "none"
    assert math.isnan(CATALOGUE["selection.worst"].ideal)
