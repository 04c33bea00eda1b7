"""Compare a large model with a small one on the same passengers: what moved, for whom, and is it noise?

python examples/compare_models.py                           # prints
python examples/compare_models.py --html comparison.html    # and writes the report
"""

from __future__ import annotations

import argparse
from pathlib import Path

import polars as pl

import evenhand
from evenhand.data import packaged

MODELS = ("boosting", "small", "mlp")


def main() -> None:
    """Gradient boosting is the base; a shallow tree and a network are the alternatives."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--html", type=Path, help="where to write the report")
    options = parser.parse_args()
    table = pl.read_csv(packaged("titanic_predictions.csv.gz"))
    predictions = {name: table[f"{name}_prediction"] for name in MODELS}

    found = evenhand.compare(table["survived"], predictions, groups={"sex": table["sex"]}, base="boosting")

    for name in MODELS[1:]:
        print(
            f"{name}: accuracy {found.accuracy[name]:.3f} (base {found.accuracy[found.base]:.3f}), another "
            f"prediction than the base for {found.disagreement[name]:.1%} of the passengers"
        )
        # how unevenly the error rates of the classes moved; of two classes CEV = SDE^2 / 2
        print(f"  CEV {float(found.cev[name]):.3f}, SDE {float(found.sde[name]):.3f}")
        # paired: both models answered for the same passengers, so the interval is of the difference itself
        for key in ("selection.gap", "tpr.gap", "fpr.gap", "acc"):
            moved = found.differences[name][key]
            print(
                f"  {key:14} {moved.base:.3f} -> {moved.value:.3f}, difference {moved.difference:+.3f} "
                f"({moved.low:+.3f} to {moved.high:+.3f})"
            )
    if options.html is not None:
        options.html.write_text(found.to_html(), encoding="utf-8")
        print(f"the report is in {options.html}")


if __name__ == "__main__":
    main()
