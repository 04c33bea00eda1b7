"""Equalized Robustness of trained models: is the loss of one group more curved than that of another?

Citation: Equalized Robustness: Towards Sustainable Fairness under Distributional Shifts (S4).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from evenhand.arrays import FloatArray
from evenhand.errors import InputError
from evenhand.evaluation.robustness_rows import curved_of
from evenhand.evaluation.values import plain
from evenhand.metrics.mmd import permutation_p
from evenhand.metrics.robustness import ER, delta_er, sigmas_of

FLAT = 2e-6  # what the guard under the root of the one-shot estimate leaves of a curvature of 0


@dataclass(frozen=True)
class EqualizedRobustness:
    """The result of `evenhand.equalized_robustness`: `.value`, `.values [R]`, `.pairs [G, G]`, `.curvatures`.

    A fraction, not percent: what the paper prints as 46.16 is 0.4616. `runs` has the distances of each run;
    `p` is how often groups dealt at random are as far apart (None unless permutations were asked for).
    """

    runs: tuple[ER, ...] = field(repr=False)
    groups: tuple[str, ...]
    protect: tuple[str, ...]
    curvatures: tuple[FloatArray, ...] = field(repr=False)  # of each run [N]
    settings: dict[str, Any]
    p: tuple[float, ...] | None = None

    @property
    def values(self) -> FloatArray:
        """Delta ER of each run: between two groups, or the largest between more."""
        return np.array([run.value for run in self.runs])

    @property
    def value(self) -> float:
        """Delta ER, the mean over runs; NaN if it is undefined in one of them."""
        return float(self.values.mean())

    @property
    def pairs(self) -> FloatArray:
        """Distances between groups `[G, G]`, the mean over runs."""
        found: FloatArray = np.mean([run.pairs for run in self.runs], axis=0)
        return found

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the number weaker than it looks: groups without a distance, rows of unknown group."""
        reasons = {self.groups[g]: reason for run in self.runs for g, reason in run.reasons.items()}
        found = [f"{name}: {reason}" for name, reason in reasons.items()]
        if len(self.groups) < 2:
            found.append(
                "a distance needs two groups, and there is one: protect an attribute with more levels"
            )
        flat = [
            name for name, own in zip(self.settings["runs"], self.curvatures, strict=True) if _is_flat(own)
        ]
        found += [f"{name}: its loss does not change with the inputs of any row" for name in flat]
        if unknown := max(run.unknown for run in self.runs):
            found.append(f"{unknown:,} rows are of unknown group and belong to no distance")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Plain values: NaN is None."""
        from evenhand import __version__

        body = {
            "evenhand": __version__, "kind": "equalized robustness", "protect": self.protect, **self.settings,
            "delta_er": self.value, "values": self.values.tolist(), "p": self.p,
            "mean_of_pairs": [run.mean for run in self.runs], "pairs": self.pairs.tolist(),
            "groups": [self._group(place) for place in range(len(self.groups))], "warnings": self.warnings,
        }  # fmt: skip
        clean: dict[str, Any] = plain(body)
        return clean

    def _group(self, place: int) -> dict[str, Any]:
        return {
            "name": self.groups[place],
            "n": int(self.runs[0].sizes[place]),
            "curvature_mean": float(np.mean([run.means[place] for run in self.runs])),
            "curvature_median": float(np.mean([run.medians[place] for run in self.runs])),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __rich__(self) -> Any:
        from evenhand.report.terminal_robustness import robustness_table

        return robustness_table(self.to_dict())

    def __repr__(self) -> str:
        runs = f", {len(self.runs)} runs" if len(self.runs) > 1 else ""
        return f"EqualizedRobustness({self.value:.4g}, by {' × '.join(self.protect)}{runs})"


def equalized_robustness(
    net: Any,
    task: Any = None,
    protect: Sequence[str] | str | None = None,
    part: str = "test",
    h: float = 1.0,
    how: str = "one-shot",
    kernels: str | Sequence[float] = "default",
    *,
    permutations: int = 0,
    seed: int = 0,
) -> EqualizedRobustness:
    """Delta ER: the MMD^2 between the curvatures of the loss around the rows of different groups.

    `net` is what `evenhand.fit` gave back (then `task` and `protect` are those of the fit unless given), or a
    module of your own that gives logits, with a task and its protected attributes. `how` is "one-shot" (steps
    of length `h`, the paper's estimate) or "power" (power iteration on the Hessian); `kernels` are "narrow",
    "default", "wide" or sigmas. With `permutations`, `.p` compares each run with groups dealt at random.
    Its level depends on all of these and on how long the model was trained: docs/robustness.md.

    >>> import evenhand
    >>> fitted = evenhand.fit("mlp", "erm", "titanic", seeds=2, epochs=2)
    >>> found = evenhand.equalized_robustness(fitted, protect="sex")
    >>> found.values.shape, bool(0 <= found.value <= 10), found.groups
    ((2,), True, ('female', 'male'))
    """
    sigmas = sigmas_of(kernels)
    if isinstance(permutations, bool) or not isinstance(permutations, int) or permutations < 0:
        raise InputError(f"permutations must be 0 or more, a whole number, not {permutations!r}")
    found = curved_of(net, task, protect, part, h, how)
    runs = tuple(
        delta_er(torch.from_numpy(c), torch.from_numpy(g), len(found.names), sigmas) for c, g in found.rows()
    )
    p = None
    if permutations:
        p = tuple(
            _chance(own, run, sigmas, permutations, seed) for own, run in zip(found.rows(), runs, strict=True)
        )
    settings = {
        "task": found.task, "part": part, "h": h, "how": how,
        "kernels": kernels if isinstance(kernels, str) else list(sigmas), "runs": found.runs,
    }  # fmt: skip
    return EqualizedRobustness(runs, found.names, found.protect, found.curvatures, settings, p)


def _is_flat(curvatures: FloatArray) -> bool:
    """Whether there is no curvature at all: a constant model, or predictions that stop gradients."""
    return bool((curvatures <= FLAT).all())


def _chance(
    rows: tuple[FloatArray, Any], run: ER, sigmas: tuple[float, ...], permutations: int, seed: int
) -> float:
    """The p of the two groups that are farthest apart; NaN where no distance is defined.

    Of more than two groups it is the p of a pair that was picked for its distance: too small.
    """
    if run.decided_by is None:
        return float("nan")
    curvatures, ids = rows
    first, second = (torch.from_numpy(curvatures[ids == group]) for group in run.decided_by)
    return permutation_p(first, second, sigmas, permutations, seed)
