"""The fairness metrics of S4."""

from __future__ import annotations

from evenhand.metrics.compare import Combined, gap
from evenhand.metrics.metric import row

CITATION = "Equalized Robustness: Towards Sustainable Fairness under Distributional Shifts (S4)"
ROWS = [
    row("delta_dp", "Delta DP", "|P(yhat=1 | A=0) - P(yhat=1 | A=1)|", gap("selection"), CITATION, "S4"),
    row(
        "delta_eo",
        "Delta EO",
        "sum over y of |err(0, y) - err(1, y)|",
        Combined((gap("fpr"), gap("fnr")), "sum"),
        CITATION,
        "S4",
        high=2.0,
    ),
    row("delta_eopp", "Delta EOpp", "|err(0, y=0) - err(1, y=0)|", gap("fpr"), CITATION, "S4"),
]
