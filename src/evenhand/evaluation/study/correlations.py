"""Do the metrics agree? Spearman's rank correlation of every pair over all finished runs of a problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.evaluation.study.setup import Setup
from evenhand.statistics.correlation import correlation_matrix


def spearman_matrices(setup: Setup) -> list[dict[str, Any]]:
    """A matrix for each problem, over all settings and seeds that have finished."""
    return [_of_problem(setup, problem) for problem in range(len(setup.frame.layout.problems))]


def _of_problem(setup: Setup, problem: int) -> dict[str, Any]:
    layout = setup.frame.layout
    rows = np.concatenate([layout.candidates[place].rows for place in layout.of(problem)])
    columns = [setup.frame.values(setup.report.part, key)[rows] for key in setup.keys]
    found = correlation_matrix(np.stack(columns, axis=1), setup.keys, confidence=setup.report.confidence)
    return {"problem": layout.problems[problem].id, **found.to_dict()}
