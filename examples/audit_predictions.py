"""Audit one model's predictions: who is treated how, how sure that is, and what nobody can know.

python examples/audit_predictions.py                      # prints
python examples/audit_predictions.py --html report.html   # and writes the report
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

import evenhand
from evenhand.data import packaged


def main() -> None:
    """Audit the packaged predictions of a network that never saw the passenger's sex."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--html", type=Path, help="where to write the report")
    options = parser.parse_args()
    table = pl.read_csv(packaged("titanic_predictions.csv.gz"))

    # Two attributes: their combinations are the groups, and each attribute is audited by itself as well.
    # Passengers without a known age group are counted as unknown, not dropped.
    audit = evenhand.audit(
        table["survived"],
        table["mlp_prediction"],
        groups={"sex": table["sex"], "age_group": table["age_group"]},
        scores=table["mlp_score"],
        min_count=20,
    )

    print(f"{audit.n} rows, {audit.unknown} of unknown group\n")
    print(f"{'group':32} {'rows':>5} {'selected':>9} {'TPR':>6} {'FPR':>6} {'AUC':>6}")
    for group in audit.groups:
        rates = [group.rates[key] for key in ("tpr", "fpr", "auc")]
        numbers = " ".join(f"{rate:6.3f}" for rate in rates)
        print(
            f"{group.name:32} {group.n:5} {group.rates['selection']:9.3f} {numbers}{'  small' * group.small}"
        )

    print()
    for key in ("selection.gap", "tpr.gap", "odds.max", "auc.gap"):
        found = audit.metrics[key]
        line = f"{key:14} {found.value:.3f}  interval {found.low:.3f} to {found.high:.3f}"
        if found.bounds is not None:  # what it could be, whatever the unknown rows are
            line += f"  bounds {found.bounds[0]:.3f} to {found.bounds[1]:.3f}"
        print(f"{line}  decided by {' and '.join(found.decided_by or ())}")

    by_sex = audit.attributes["sex"].metrics["tpr.gap"]
    print(
        f"\nby sex alone, tpr.gap is {by_sex.value:.3f}; shuffled groups reach {by_sex.chance:.3f} in 1 of 20"
    )
    for warning in audit.warnings:
        print(f"- {warning}")
    if options.html is not None:
        options.html.write_text(audit.to_html(), encoding="utf-8")
        print(f"the report is in {options.html}")


if __name__ == "__main__":
    main()
