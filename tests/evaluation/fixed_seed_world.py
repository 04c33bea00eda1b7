"""Studies in S0's shape with counts that a test writes down: techniques, groups and classes, run by run."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "study" / "fake_store.py")))
CLASSES = ("bird", "cat", "dog")
# how much the groups differ, how far runs move, how often a class is told right
WORLD = {
    "S-Base": (0.30, 0.02, 0.70), "S-UC": (0.42, 0.03, 0.62), "S-DD1": (0.30, 0.02, 0.70),
    "S-DD2": (0.16, 0.02, 0.74), "S-DI1": (0.24, 0.02, 0.72), "S-DI2": (0.02, 0.005, 0.80),
}  # fmt: skip
SHARED = {"S-DD2": "S-DD1", "S-DI2": "S-DI1"}  # read the same networks
GPU = "cuda (NVIDIA H200)"
RECIPE = {"precision": "float32", "epochs": 8, "deterministic": False}


def counts(gap, noise, right, rng, n=300):
    """`[2, 3, 3]`: the second group is told right less often, by `gap`; runs differ by `noise`."""
    table = np.zeros((2, 3, 3), dtype=int)
    for group in range(2):
        for truth in range(3):
            share = np.clip(
                right + (0.5 - group) * gap * (1, -1, 0.5)[truth] + rng.normal(0, noise), 0.05, 0.95
            )
            hit = round(share * n)
            table[group, truth, truth] = hit
            table[group, truth, (truth + 1) % 3] = n - hit
    return table


def study(name="fixed-seed-tiny", world=None, runs=16, vary=("kernels", "reduction"), device=GPU,
          repeat=True, seed=0, still=(), task="noise", data="cifar10s", recipe=None, smoke=True):  # fmt: skip
    """A finished study; techniques in `still` have the same counts in every run."""
    rng = np.random.default_rng(seed)
    rows, tables = [], {}
    for technique, (gap, noise, right) in (world or WORLD).items():
        first = counts(gap, noise, right, rng)
        for run in range(runs):
            spec = {"protect": ["sex"], "groupings": [["sex"]], "data": data, "knobs": {}, "net": "resnet",
                    "net_options": {}, "recipe": {**RECIPE, **(recipe or {})}}  # fmt: skip
            spec |= {"repeat": run, "vary": list(vary)} if repeat else {}
            weights = f"{SHARED.get(technique, technique)} {0 if technique in still else run}"
            rows.append(
                fake.row_of(f"{len(rows):05d}", task, "sex", technique, {}, 0 if repeat else run, len(rows),
                            spec=spec, weights=weights, device=device)
            )  # fmt: skip
            tables[rows[-1]["id"]] = first if technique in still else counts(gap, noise, right, rng)
    whole = {"name": name, "title": f"A made-up {name}", **({"smoke": {}} if smoke else {"smoke": None})}
    return fake.FakeStore(whole, rows, {"test": tables}, groups=("gray", "colour"), classes=CLASSES)


BENCH = {
    "machine": {"device": "cuda", "name": "NVIDIA H200", "torch": "2.11"},
    "overhead": [
        {"net": net, "batch": 32, "size": 224, "plain": 0.02, "deterministic": 0.023, "overhead": x,
         "low": x - 0.02, "high": x + 0.02, "rounds": 12, "printed": printed}
        for net, x, printed in (("cifar-resnet18", 0.18, 0.178), ("resnet101", 0.15, 0.208),
                                ("densenet121", 0.2, 0.141))
    ],
    "exceptions": [
        {"operation": "bincount with weights", "raises": True, "why": "_bincount_cuda"},
        {"operation": "index_add", "raises": False, "why": ""},
        {"operation": "no such", "raises": None, "why": "cannot"},
    ],
    "modes": [
        {"name": "float32", "deterministic": False, "equal": False, "steps": 60, "images": 6000.0},
        {"name": "bfloat16", "deterministic": False, "equal": True, "steps": 60, "images": 9000.0},
        {"name": "float32, deterministic", "deterministic": True, "equal": True, "steps": 60,
         "images": 5000.0},
    ],
}  # fmt: skip
