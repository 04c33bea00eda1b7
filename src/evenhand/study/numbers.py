"""Numbers of a trained model beside its counts: how curved its loss is for each group, and how unequally.

`delta_er` is equalized robustness: the distance (MMD^2) between the groups' curvatures of the loss around the
test rows, with the usual kernels, narrower or wider ones; of more than two groups, the two farthest apart.
`curvature` is the mean curvature of each group. They are taken by the groups that a run protects; the
curvatures are those of a whole stack of runs at once.

Citation: Equalized Robustness: Towards Sustainable Fairness under Distributional Shifts (S4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from evenhand.groups import Groups
from evenhand.metrics.robustness import delta_er
from evenhand.study.number_names import CURVATURE, KERNELS_OF, MEAN, NUMBERS_PART
from evenhand.study.scoring import groups_of, part_of
from evenhand.train.curvatures import curvatures_of
from evenhand.train.trainer import Trainer


def numbers_of(asked: Sequence[str], trainer: Trainer) -> list[dict[str, float]]:
    """What is asked for, of every run of a trained stack; NaN where the groups leave it undefined."""
    part = part_of(trainer, NUMBERS_PART)
    curvatures = curvatures_of(trainer.predictor, part, trainer.state, trainer.batches.tasks)
    groups = [
        groups_of(task, protect, np.asarray(task.rows(NUMBERS_PART)))
        for task, protect in zip(trainer.tasks, trainer.protects, strict=True)
    ]
    own = zip(curvatures, (groups[run.task] for run in trainer.runs), strict=True)
    return [_numbers(asked, each, seen) for each, seen in own]


def _numbers(asked: Sequence[str], curvatures: Tensor, groups: Groups) -> dict[str, float]:
    """The numbers of one run from the curvatures `[N]` of its rows."""
    ids = torch.as_tensor(groups.ids, device=curvatures.device)
    found: dict[str, float] = {}
    for name in asked:
        if name == CURVATURE:
            found |= {f"{MEAN}{group}": _mean(curvatures[ids == g]) for g, group in enumerate(groups.names)}
        else:
            found[name] = delta_er(curvatures, ids, groups.n_groups, KERNELS_OF[name]).value
    return found


def _mean(values: Tensor) -> float:
    return float(values.to(torch.float64).mean()) if len(values) else math.nan
