"""What the study says to S4's claims, as columns of the claims file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.ci_mnist import answers as columns_of
from evenhand.evaluation.equalized_robustness.layout import NAME

OWN = {"study": NAME, "command": f"evenhand study run {NAME}"}


def answers(body: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Columns by claim, for every claim of which some part could be measured."""
    return {name: row | OWN for name, row in columns_of(body).items()}
