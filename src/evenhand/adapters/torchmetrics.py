"""The counts as a torchmetrics metric: kept on the device, added over batches, and summed over processes.

The state is one table of whole numbers, so merging is exact, and group ids are fixed when the metric is made:
a batch (or a process) that lacks a group leaves that group's cells alone and cannot shift the others. Needs
`pip install 'evenhand[torchmetrics]'`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

try:
    from torchmetrics import Metric
except ImportError as error:
    raise ImportError(
        "evenhand.adapters.torchmetrics needs torchmetrics: pip install 'evenhand[torchmetrics]'"
    ) from error

from evenhand.api import audit_counts
from evenhand.evaluation.audit import Audit
from evenhand.evaluation.options import chosen_metrics
from evenhand.metrics.catalogue import COUNT_METRICS
from evenhand.metrics.counts import Counts

DEFAULT = ("selection.gap", "tpr.gap", "fpr.gap", "accuracy.worst")


class GroupCounts(Metric):
    """Rows counted by group, truth and prediction; `compute()` is a dictionary of catalogue metrics.

    `update(preds, target, groups)`: `target [N]` and `groups [N]` are whole numbers, group -1 is unknown.
    `preds [N]` are classes, or the probabilities of class 1 (predicted where above `threshold`);
    `preds [N, C]` are scores or logits, of which the largest counts (the first on ties). `metrics` are keys
    of the catalogue. Undefined values are NaN. Further arguments go to `torchmetrics.Metric`.

    >>> metric = GroupCounts(n_groups=3)
    >>> metric.update(torch.tensor([0.9, 0.2]), torch.tensor([1, 0]), torch.tensor([0, 2]))
    >>> metric.update(torch.tensor([0.4, 0.8]), torch.tensor([1, 1]), torch.tensor([0, 2]))
    >>> {key: round(float(value), 2) for key, value in metric.compute().items()}
    {'selection.gap': 0.0, 'tpr.gap': 0.5, 'fpr.gap': nan, 'accuracy.worst': 0.5}
    >>> metric.counts.table.sum(axis=(1, 2)).tolist()
    [2, 0, 2]
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False

    cells: Tensor
    threshold: Tensor

    def __init__(
        self,
        n_groups: int,
        n_classes: int = 2,
        metrics: Sequence[str] = DEFAULT,
        threshold: float = 0.5,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if n_groups < 1 or n_classes < 2:
            raise ValueError(f"at least 1 group and 2 classes are needed, not {n_groups} and {n_classes}")
        self.metric_keys = tuple(chosen_metrics(metrics, COUNT_METRICS))
        self.cut = float(threshold)
        empty = torch.zeros(n_groups + 1, n_classes, n_classes, dtype=torch.int64)
        self.add_state("cells", empty, dist_reduce_fx="sum")
        # metrics of equal state share it inside a MetricCollection: the threshold must be part of the state
        self.add_state("threshold", torch.tensor(self.cut), dist_reduce_fx="max")

    def update(self, preds: Tensor, target: Tensor, groups: Tensor) -> None:
        """Count one batch, on the device of `preds`."""
        for name, values in (("target", target), ("groups", groups)):
            if values.is_floating_point():
                raise ValueError(f"{name} must hold whole numbers, not {values.dtype}")
        n_groups, n_classes = self.cells.shape[0] - 1, self.cells.shape[1]
        batch = Counts.from_predictions(
            target.to(preds.device), self._classes(preds), groups.to(preds.device), n_classes, n_groups
        )
        self.cells += torch.from_numpy(batch.cells).to(self.cells.device)

    def _classes(self, preds: Tensor) -> Tensor:
        if preds.ndim == 2 and preds.is_floating_point():
            self._check_scores(preds)
            return preds.argmax(dim=1)
        if preds.ndim != 1:
            raise ValueError(f"preds must be [rows], or scores [rows, classes], not {tuple(preds.shape)}")
        if not preds.is_floating_point():
            return preds
        if self.cells.shape[1] > 2:
            raise ValueError("scores of more than two classes must be [rows, classes]")
        if not bool(((preds >= 0) & (preds <= 1)).all()):
            raise ValueError("scores [rows] must be probabilities in [0, 1]: apply a sigmoid to logits")
        return (preds > self.cut).long()

    def _check_scores(self, preds: Tensor) -> None:
        if preds.shape[1] != self.cells.shape[1]:
            raise ValueError(f"{preds.shape[1]} columns of scores for {self.cells.shape[1]} classes")
        if bool(preds.isnan().any()):
            raise ValueError("a score is not a number")

    def compute(self) -> dict[str, Tensor]:
        """The chosen metrics, in the order in which they were asked for."""
        found = audit_counts(self.counts, metrics=self.metric_keys, replicates=0).metrics
        values = {key: float(found[key].value) for key in self.metric_keys}
        return {key: torch.tensor(value, device=self.cells.device) for key, value in values.items()}

    @property
    def counts(self) -> Counts:
        """What this process has counted."""
        return Counts(self.cells.cpu().numpy().copy())

    def audit(
        self,
        group_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        attribute: str = "group",
        **options: Any,
    ) -> Audit:
        """The whole audit, with intervals, of the rows of all processes; `options` as for `evenhand.audit`.

        Where there are several processes, all of them must call it, as with `compute`.
        """
        with self.sync_context(
            dist_sync_fn=self.dist_sync_fn, should_sync=self._to_sync, should_unsync=self._should_unsync
        ):
            return audit_counts(self.counts, group_names, class_names, attribute, **options)
