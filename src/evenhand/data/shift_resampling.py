"""Another population from the same rows: more of some, fewer of others, as many in all.

Rows are drawn systematically: in an order shuffled by the seed, a row of weight w among n rows is taken
floor(n w) or ceil(n w) times. So equal weights take every row once (severity 0 is the part itself), and what
a shift does to a metric is not blurred by more chance than it needs (Kitagawa 1996, stratified resampling of
particle filters, has the scheme).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as functional
from torch import Tensor

from evenhand.data.registry import _unknown
from evenhand.data.shift_counters import Counters
from evenhand.data.task import Task
from evenhand.errors import InputError

BLOCK = 1024  # images looked at in one go
COARSE = 8  # pixels a side at which the principal component of images is looked for


def by_covariate(
    task: Task,
    rows: Tensor,
    severity: float,
    draws: Counters,
    chosen: str,
    protect: Sequence[str] | str | None,
) -> Tensor:
    """Weights exp(s z): z is a column, or the first principal component, standardised over these rows."""
    weights = (severity * covariate(task, rows, chosen)).softmax(0)
    return rows[systematic(weights, len(rows), draws)]


def covariate(task: Task, rows: Tensor, chosen: str = "") -> Tensor:
    """A number for each row, of mean 0 and deviation 1: the named column, or the first principal component.

    The component's sign is such that its entry of greatest size is positive. Images are looked at in a coarse
    form, 8 pixels a side at most.
    """
    if chosen and chosen not in task.columns:
        raise InputError(
            _unknown(f"the task '{task.name}' has no column", chosen, task.columns, "Its columns")
        )
    x = _features(task, rows)
    x = x - x.mean(0)
    if chosen:
        values = x[:, task.columns.index(chosen)]
    else:
        direction = torch.linalg.eigh(x.T @ x)[1][:, -1]
        values = x @ (direction * direction[direction.abs().argmax()].sign())
    deviation = values.square().mean().sqrt()
    if not deviation > 1e-9:
        what = f"the column '{chosen}'" if chosen else "every input"
        raise InputError(f"{what} of the task '{task.name}' is the same in all these rows: nothing to shift")
    return values / deviation


def by_group(
    task: Task,
    rows: Tensor,
    severity: float,
    draws: Counters,
    chosen: str,
    protect: Sequence[str] | str | None,
) -> Tensor:
    """A group of share q among the rows whose group is known has the share q + s (1 - q); others stay."""
    groups = task.groups(protect)
    ids = torch.as_tensor(groups.ids)[rows]
    sizes = torch.bincount(ids[ids >= 0], minlength=groups.n_groups)
    group = _group(task, groups.names, sizes, chosen)
    inside, outside = (ids == group), (ids >= 0) & (ids != group)
    known = int(sizes.sum())
    wanted = round(int(sizes[group]) + severity * (known - int(sizes[group])))
    weights = torch.zeros(len(rows), dtype=torch.float64)
    places = [(ids < 0).nonzero()[:, 0]]
    for members, count in ((inside, wanted), (outside, known - wanted)):
        weights = members.to(torch.float64)
        if count:
            places.append(systematic(weights / weights.sum(), count, draws))
    return rows[torch.cat(places).sort().values]


def systematic(weights: Tensor, count: int, draws: Counters) -> Tensor:
    """Places `[count]` drawn with weights `[N]` that add up to 1, each floor or ceil of count · weight times.

    >>> systematic(torch.tensor([0.5, 0.25, 0.25]).double(), 4, Counters.of(0, "", torch.arange(3))).tolist()
    [0, 0, 1, 2]
    """
    order = draws.bits(1)[:, 0].argsort(stable=True)
    ends = weights[order].cumsum(0) * count
    # half a step: equal weights then hit the middle of every row, whatever the last bits of the sums are
    marks = torch.arange(count, dtype=torch.float64) + 0.5
    places = torch.searchsorted(ends, marks).clamp_(max=len(weights) - 1)
    return order[places].sort().values


def _group(task: Task, names: tuple[str, ...], sizes: Tensor, chosen: str) -> int:
    if not chosen:
        if not int(sizes.sum()):
            raise InputError(f"no row of this part of the task '{task.name}' has a known group")
        return int(sizes.masked_fill(sizes == 0, int(sizes.max()) + 1).argmin())
    if chosen not in names:
        raise InputError(_unknown(f"the task '{task.name}' has no group", chosen, names, "Its groups"))
    if not int(sizes[names.index(chosen)]):
        raise InputError(f"the group '{chosen}' has no row in this part: its share cannot grow")
    return names.index(chosen)


def _features(task: Task, rows: Tensor) -> Tensor:
    """Scaled inputs `[n, d]`, float64; images in a coarse form."""
    if len(task.input_shape) != 3:
        x = task.x[rows] if isinstance(task.x, Tensor) else task.x.take(rows)
        return task.scaling(x).flatten(1).to(torch.float64)
    blocks = []
    for block in torch.split(rows, BLOCK):
        images = task.scaling(task.x[block] if isinstance(task.x, Tensor) else task.x.take(block))
        size = min(COARSE, images.shape[-2]), min(COARSE, images.shape[-1])
        blocks.append(functional.adaptive_avg_pool2d(images, size).flatten(1))
    return torch.cat(blocks).to(torch.float64)
