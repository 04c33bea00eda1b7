"""A gate for continuous integration: fail the build when a condition holds, or when an audit got worse.

The command line does the same with `--fail-if` and `--against`; this is how to do it inside a test suite.

    python examples/gate_in_ci.py      # exits with 1: the gate of this example is meant to fail
"""

from __future__ import annotations

import sys

import polars as pl

import evenhand
from evenhand.data import packaged
from evenhand.evaluation.gate import check, parse
from evenhand.evaluation.regression import against

# `.high` is the upper end of the interval: a gap above the limit must be *ruled out*, so that a small test
# set cannot pass for want of rows. Somebody chose these limits; write down who, and why.
CONDITIONS = ["selection.gap.high > 0.5", "tpr.gap.high > 0.2", "accuracy.worst.low < 0.5"]
METRICS = ["selection", "tpr", "fpr", "accuracy"]


def audit_of(table: pl.DataFrame, model: str) -> evenhand.Audit:
    """The audit of one model by sex."""
    predictions = table[f"{model}_prediction"]
    return evenhand.audit(table["survived"], predictions, {"sex": table["sex"]}, metrics=METRICS, name=model)


def main() -> int:
    """Check the conditions, then the change since the model before."""
    table = pl.read_csv(packaged("titanic_predictions.csv.gz"))
    before, now = (audit_of(table, model).to_dict() for model in ("logistic", "mlp"))

    checks = check([parse(text) for text in CONDITIONS], now)
    for done in checks:
        value = "undefined" if done.value is None else f"{done.value:.3f}"
        print(f"{'FAIL' if done.failed else 'pass'}  {done.condition:26} it is {value}")

    # a regression is a move to the worse that the interval of the new audit does not explain
    changes = against(before, now)
    for change in changes:
        print(
            f"{'FAIL' if change.regressed else 'pass'}  {change.key:18} {change.old:.3f} -> {change.new:.3f}"
        )
    return int(any(done.failed for done in checks) or any(change.regressed for change in changes))


if __name__ == "__main__":
    sys.exit(main())
