"""Compression studies with planted predictions: a store whose runs err as a test wants them to."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from evenhand.study.tasks import load_task

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "study" / "fake_store.py")))
DATA, KNOBS = "mnist-under", {"limit": 200}
METHODS = ("base", "pruning", "kd", "at", "pkt", "sp", "fsp", "at-kd", "pkt-kd", "sp-kd", "fsp-kd")
RARE = 2  # the digit that keeps a tenth


class Predicted(fake.FakeStore):
    """A store that kept labels, as one-hot scores."""

    def __init__(self, study, rows, labels, folder="."):
        super().__init__(study, rows, {})
        self.labels, self.folder = labels, Path(folder)

    def history(self, run):
        return {}

    def predictions(self, run):
        found = self.labels.get(run)
        return {} if found is None else {"test": np.eye(10, dtype=np.float32)[found]}


def truth():
    task = load_task(DATA, KNOBS)
    return np.asarray(task.y[task.rows("test")])


def erring(y, rates, seed, others=None, stream=0):
    """Labels that err with the class's rate: hard rows first, so that runs of one seed err alike."""
    hard = np.random.default_rng(seed).random(len(y))  # the same rows are hard for all methods of a seed
    hard = 0.7 * hard + 0.3 * np.random.default_rng((seed, 1 + stream)).random(len(y))
    threshold = np.array([np.quantile(hard[y == k], rates[k]) for k in range(10)])
    wrong = hard < threshold[y]
    turn = np.random.default_rng((99, seed)).integers(1, 10, len(y))
    return np.where(wrong, (y + turn) % 10, y)


def planted(damage=None, methods=METHODS, levels=(0.45, 0.8), seeds=5, study=None, without=()):
    """`damage(method, level)` is the error rate added to the rare class; the base errs in 5 % of each."""
    y = truth()
    damage = damage or (lambda method, level: level * (0.2 + 0.03 * METHODS[::-1].index(method)))
    rows, labels = [], {}
    for number, method in enumerate(methods):
        for level in (None,) if method == "base" else levels:
            for seed in range(seeds):
                run = f"{len(rows):04d}"
                rates = np.full(10, 0.05) if level is None else np.full(10, 0.06)
                if level is not None:
                    rates[RARE] += damage(method, level)
                key = "erm" if method == "base" else f"prune+{'erm' if method == 'pruning' else method}"
                spec = {
                    "data": DATA, "knobs": KNOBS, "method": key, "protect": ["ink_in_class"],
                    "fields": {} if level is None else {"share": level},
                    "groupings": [["ink_in_class"], ["kept"]],
                }  # fmt: skip
                setting = {} if level is None else {"share": level}
                rows.append(fake.row_of(run, "digits", "ink_in_class", method, setting, seed, len(rows),
                                        spec=spec, net="mlp"))  # fmt: skip
                if run not in without:
                    labels[run] = erring(y, rates, seed, stream=number)
    declared = {"name": "compression-mnist", "title": "A made-up study", "smoke": {},
                "methods": [{"key": "x", "name": name} for name in methods], **(study or {})}  # fmt: skip
    return Predicted(declared, rows, labels)
