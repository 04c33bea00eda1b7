import polars as pl

import evenhand


def test_one_row_a_metric_with_its_numbers():
    audit = evenhand.audit([1, 1, 0, 0], [1, 0, 0, 1], groups=["a", "b", "a", None], replicates=20)
    frame = audit.to_polars()
    assert frame["metric"].to_list() == list(audit.metrics)
    row = frame.row(by_predicate=pl.col("metric") == "tpr.gap", named=True)
    metric = audit.metrics["tpr.gap"]
    assert (row["value"], row["low"], row["high"]) == (metric.value, metric.low, metric.high)
    assert row["decided_by"] == list(metric.decided_by)
    assert (row["bound_low"], row["bound_high"]) == metric.bounds
    assert row["runs_mean"] is None


def test_undefined_is_null_and_runs_are_there():
    audit = evenhand.audit(
        [1, 1, 1, 0], [[1, 0, 1, 0], [1, 1, 1, 0]], groups=["a", "a", "b", "b"], replicates=0
    )
    frame = audit.to_polars()
    assert frame.filter(pl.col("metric") == "fpr.gap")["value"].to_list() == [None]
    assert frame.filter(pl.col("metric") == "accuracy.gap")["runs_maxdiff"].to_list() == [0.5]
    assert frame.schema["value"] == pl.Float64
