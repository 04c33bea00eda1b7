"""Counting on a CUDA device: the same table as on the CPU, and how long it takes beside one torch.bincount.

Run by hand on a machine with a GPU: `PYTHONPATH=src python benchmarks/count_on_gpu.py --rows 100000000`.
Needs numpy and torch only.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
import torch

from evenhand.metrics.counts import Counts


def seconds(function: Callable[[], object], repeats: int = 7) -> float:
    """Median wall time with the device idle before and after."""
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def check(groups: int, classes: int, device: str) -> None:
    """CUDA, CPU torch and numpy give one table; unknown groups, weights, runs and labels included."""
    rng = np.random.default_rng(0)
    rows = 200_003
    g, y = rng.integers(-1, groups, rows), rng.integers(0, classes, rows)
    p, w = rng.integers(0, classes, (3, rows)), rng.integers(1, 9, rows) / 4
    for guess, weights in ((p[0], None), (p, None), (p[1], w)):
        expected = Counts.from_predictions(y, guess, g, classes, groups, weights)
        on_device = [torch.as_tensor(a, device=device) for a in (y, guess, g)]
        assert Counts.from_predictions(*on_device, classes, groups, weights) == expected
    labels, guesses = rng.integers(0, 2, (2, rows, 5))
    tensors = [torch.as_tensor(a, device=device) for a in (labels, guesses, g)]
    assert Counts.from_predictions(*tensors, n_groups=groups) == Counts.from_predictions(
        labels, guesses, g, n_groups=groups
    )
    for wrong in (groups, -2):
        refused = False
        try:
            Counts.from_predictions(
                tensors[0][:1, 0], tensors[1][:1, 0], torch.tensor([wrong], device=device), 2, groups
            )
        except ValueError as error:
            refused = str(wrong) in str(error)
        if not refused:
            raise AssertionError(f"group {wrong} was not refused")


def main() -> None:
    """Check, then time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    check(16, 2, "cuda")
    check(196, 10, "cuda")
    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": rows, "cases": []}
    for groups, classes in ((16, 2), (196, 10)):
        g, y, p = (torch.randint(0, high, (rows,), device="cuda") for high in (groups, classes, classes))
        code = (g * classes + y) * classes + p
        ours = seconds(lambda: Counts.from_predictions(y, p, g, classes, groups))  # noqa: B023  (called at once)
        ready = seconds(lambda: torch.bincount(code, minlength=groups * classes**2))  # noqa: B023
        found["cases"].append(
            {
                "groups": groups,
                "classes": classes,
                "ours_ms": ours * 1e3,
                "bincount_ms": ready * 1e3,
                "ratio": ours / ready,
            }
        )
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
