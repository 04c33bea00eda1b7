"""Rates per group and the parity and odds gaps: ours beside fairlearn, torchmetrics and aequitas.

Each candidate starts from its own kind of ready input (arrays, tensors, a data frame with text groups) and
ends with the same numbers, which are compared before anything is timed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from benchmarks.codes import Codes, made_up
from benchmarks.measure import take_turns
from benchmarks.rows import Row
from evenhand.metrics import rates
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import View

RATES = ("selection", "tpr", "fpr", "accuracy")
TARGETS = {"fairlearn": 1000.0, "torchmetrics": 30.0, "aequitas": 15.0}

Answer = dict[str, np.ndarray]  # the four rates per group, and the gaps "dp" and "odds"


def run(small: bool = False) -> list[Row]:
    codes = made_up(20_000 if small else 1_000_000, 16, 2)
    peers = {name: make(codes) for name, make in PEERS.items() if find_spec(name) is not None}
    candidates = {"ours": ours(codes), **peers}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = candidates["ours"]()
        for name in peers:
            _agree(name, candidates[name](), expected)
        times = take_turns(candidates | {"bincount": bincount(codes)}, rounds=3 if small else 30)
    detail = {name: taken.to_dict() for name, taken in times.items()}
    found = [
        Row(
            "counts_vs_peers",
            f"times faster than {name}",
            times[name].least / times["ours"].best,
            "x",
            ">=",
            None if small else TARGETS[name],
            detail,
        )
        for name in peers
    ]
    one = Row(
        "counts_vs_peers",
        "times the time of one numpy.bincount",
        times["ours"].best / times["bincount"].best,
        "x",
    )
    return [*found, one]


def ours(codes: Codes) -> Callable[[], Answer]:
    def answer() -> Answer:
        counts = Counts.from_predictions(codes.y, codes.p, codes.g, codes.n_classes, codes.n_groups)
        view = View(counts.margins())
        found = {key: rates.RATES[key](counts) for key in RATES}
        gaps = {"dp": CATALOGUE["selection.gap"](view), "odds": CATALOGUE["odds.max"](view)}
        return found | gaps

    return answer


def bincount(codes: Codes) -> Callable[[], object]:
    """The least there is to do: one count of a joint code that somebody else worked out."""
    code = (codes.g * 2 + codes.y) * 2 + codes.p
    return lambda: np.bincount(code, minlength=4 * codes.n_groups)


def fairlearn(codes: Codes) -> Callable[[], Answer]:
    from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
    from sklearn.metrics import accuracy_score

    metrics = {
        "selection": selection_rate,
        "tpr": true_positive_rate,
        "fpr": false_positive_rate,
        "accuracy": accuracy_score,
    }

    def answer() -> Answer:
        # the gaps by .difference() of the same frame: its own gap functions would build two frames more
        frame = MetricFrame(metrics=metrics, y_true=codes.y, y_pred=codes.p, sensitive_features=codes.g)
        gap = frame.difference()
        found = {key: frame.by_group[key].to_numpy() for key in RATES}
        return found | {"dp": gap["selection"], "odds": max(gap["tpr"], gap["fpr"])}

    return answer


def torchmetrics(codes: Codes) -> Callable[[], Answer]:
    import torch
    from torchmetrics.classification import BinaryGroupStatRates

    p, y, g = (torch.from_numpy(values) for values in (codes.p, codes.y, codes.g))

    def answer() -> Answer:
        # BinaryFairness would add a second pass for two ratios; the shares of all four cells are enough
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # faster here than two, and far faster where another program is running
        metric = BinaryGroupStatRates(num_groups=codes.n_groups)
        metric.update(p, y, g)
        shares = metric.compute()
        torch.set_num_threads(threads)
        cells = torch.stack([shares[f"group_{group}"] for group in range(codes.n_groups)], dim=1)
        return _of_cells(*cells.double().numpy())

    return answer


def aequitas(codes: Codes) -> Callable[[], Answer]:
    import pandas as pd
    from aequitas.group import Group

    names = np.array([f"{group:02d}" for group in range(codes.n_groups)], dtype=object)
    frame = pd.DataFrame({"score": codes.p, "label_value": codes.y, "group": names[codes.g]})

    def answer() -> Answer:
        table = Group().get_crosstabs(frame, attr_cols=["group"])[0].sort_values("attribute_value")
        return _of_cells(*(table[cell].to_numpy(dtype=np.float64) for cell in ("tp", "fp", "tn", "fn")))

    return answer


def _of_cells(tp: np.ndarray, fp: np.ndarray, tn: np.ndarray, fn: np.ndarray) -> Answer:
    n = tp + fp + tn + fn
    found = {
        "selection": (tp + fp) / n,
        "tpr": tp / (tp + fn),
        "fpr": fp / (fp + tn),
        "accuracy": (tp + tn) / n,
    }
    gap = {key: np.ptp(values) for key, values in found.items()}
    return found | {"dp": gap["selection"], "odds": np.maximum(gap["tpr"], gap["fpr"])}


def _agree(name: str, found: Answer, expected: Answer) -> None:
    for key, values in expected.items():
        if not np.allclose(found[key], values, rtol=0, atol=1e-6):  # torchmetrics counts in 32-bit floats
            raise AssertionError(f"{name} gives another {key}: {found[key]}, not {values}")


PEERS = {"fairlearn": fairlearn, "torchmetrics": torchmetrics, "aequitas": aequitas}
