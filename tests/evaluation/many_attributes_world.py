"""Studies of S1's shape with planted numbers: a frame whose metrics are written down instead of counted."""

import runpy
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from evenhand.study.frame import Frame

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "study" / "fake_store.py")))
SIZES = {"balanced": 7, "imbalanced": 7, "inconsistent": 6, "protected": 7}
KEYS = {
    "performance": {"single": "acc_u.label_attr", "multi": "map_u"},
    "amplification": dict.fromkeys(("single", "multi"), "ba_signed.positive"),
    "epsilon": dict.fromkeys(("single", "multi"), "eps"),
    "worst": dict.fromkeys(("single", "multi"), "min_acc.label_attr"),
}
SWEEP = ("erm", "w-erm", "gdro", "ind", "jtt", "sd", "irm", "a-cens", "w-erm-ad", "ind-ad", "ind-kd")
# performance, bias amplification and intersectional bias, less those of ERM
SCARCE = {
    "erm": (0.0, 0.0, 0.0), "jtt": (0.0, 0.0, 0.0), "pre+gdro": (0.0, 0.0, 0.0),
    "pre+w-erm": (0.02, -0.005, 0.0), "pre+ind": (0.02, -0.005, 0.0), "w-erm": (-0.3, 0.0, 0.0),
    "ind": (-0.3, 0.0, 0.0), "pre+ind-kd": (0.02, -0.03, 0.0), "pre+ind-ad": (0.0, -0.02, 0.0),
    "pre+w-erm-ad": (0.02, -0.02, 0.0), "pre+ind-ad-kd": (0.02, -0.06, 0.0),
}  # fmt: skip
REPLICATED = {
    "erm": (0.0, 0.0, 0.0), "w-erm": (0.10, -0.05, -0.5), "gdro": (0.10, -0.05, -0.5),
    "sd": (0.05, -0.01, -0.1), "jtt": (0.10, -0.01, -0.1), "ind": (0.10, -0.05, -0.5),
    "disc": (0.0, 0.0, 0.0), "a-cens": (-0.02, 0.01, 0.1),
}  # fmt: skip
DEFAULTS = {
    "weighting": 0.05, "depends": 0.0, "gdro_single": -0.004, "gdro_crossed": 0.02, "gdro_one": -0.008,
    "gdro_multi": -0.05, "ind_multi": 0.0, "ind_amp": 0.02, "ind_single": -0.04, "sd": 0.006, "sd_bias": 0.0,
    "jtt": -0.01, "irm": -0.05, "zigzag": 0.05, "grows": 0.3, "noisy": 0.03, "variant": -0.04,
    "explained": 1.0, "noise": 0.001,
}  # fmt: skip


class Planted(Frame):
    """A frame that answers with planted numbers."""

    def __init__(self, store, values, multi):
        super().__init__(store)
        self._planted, self._multi = values, multi

    def values(self, part, key, by=None):
        return self._planted.get(key, np.full(self.n, np.nan))

    def looks(self, part, by=None):
        kinds = {bool(kind) for kind in self._multi}
        every = np.flatnonzero(self.done)
        return [
            SimpleNamespace(rows=every[self._multi[every] == kind], classes=("no", "yes"),
                            counts=SimpleNamespace(multilabel=kind)) for kind in kinds
        ]  # fmt: skip


def plant(name, problems, methods, number, seeds=3, claims=(), leave_out=None, nets=("mlp",)):
    """A finished study: `problems` are (task, grouping, attributes), `number(...)` gives the four metrics."""
    rows, found = [], []
    for net, (task, grouping, protect) in product(nets, problems):
        for method in methods:
            if leave_out and leave_out(task, grouping, method):
                continue
            for seed in range(seeds):
                spec = {"protect": list(protect), "groupings": [list(protect)], "method": method}
                run = fake.row_of(
                    f"{len(rows):05d}", task, grouping, method, {}, seed, len(rows), spec=spec, net=net
                )
                rows.append(run)
                found.append(number(task, grouping, len(protect), method, seed))
    study = {"name": name, "title": f"A made-up {name}", "claims": list(claims)}
    values = np.array(found)
    multi = np.array(["multi" in row["task"] for row in rows])
    columns = {}
    for place, keys in enumerate(KEYS.values()):
        for kind, key in keys.items():
            wanted = multi == (kind == "multi")
            columns[key] = np.where(wanted, values[:, place], columns.get(key, np.nan))
    return Planted(fake.FakeStore(study, rows, {}), columns, multi)


def sweep(name="many-attributes-faces", tasks=("single", "multi"), methods=SWEEP, claims=("S1.1",), seeds=3,
          sizes=SIZES, leave_out=None, **changes):  # fmt: skip
    """A study in which (nearly) all claims of S1 hold; `changes` turn single effects."""
    world = {**DEFAULTS, **changes}
    rng = np.random.default_rng(0)
    problems = [
        (task, f"{collection} {k}", [f"{collection}{i}" for i in range(k)])
        for task in tasks for collection, most in sizes.items() for k in range(1, most + 1)
    ]  # fmt: skip
    hard = {(task, grouping): rng.uniform() for task, grouping, _ in problems}

    def number(task, grouping, k, method, seed):
        own = effects(world, task, grouping, k, method)
        turn = world["zigzag"] * (k % 2)
        level = 0.1 * hard[task, grouping] * (world["explained"] if method != "erm" else 1.0)
        jump = rng.normal(0, world["noise"], 4) * (1, 1, 10, 1)
        base = (0.75 - level + turn, 0.02 + level + 0.5 * turn, 0.5 + world["grows"] * k, 0.5)
        return np.array(base) + np.array([*own, 0.0]) + jump

    def absent(task, grouping, method):
        if method == "sd" and task != "single":
            return True
        return leave_out is not None and leave_out(task, grouping, method)

    return plant(name, problems, methods, number, seeds, claims, absent)


def effects(world, task, grouping, k, method):
    """What a method adds to ERM's three numbers."""
    single, noisy = task == "single", grouping.startswith("inconsistent")
    gain = world["weighting"] - (world["noisy"] if noisy else 0.0)
    if world["depends"] and hash_of(grouping) % 2:
        gain -= world["depends"]
    w = np.array((gain, -0.03, -0.3))
    crossed = world["gdro_crossed"] if k > 1 else 0.0
    amp = crossed if single or k > 1 else world["gdro_one"]
    bias, varied = world["sd_bias"], min(world["ind_single"], world["ind_multi"]) + world["variant"]
    ind_variant = added(w, varied, 0.0 if single else world["ind_amp"])
    return {
        "erm": np.zeros(3), "w-erm": w,
        "gdro": added(w, world["gdro_single"] if single else world["gdro_multi"], amp, 10 * crossed),
        "ind": added(w, world["ind_single"]) if single else added(w, world["ind_multi"], world["ind_amp"]),
        "jtt": np.array((world["jtt"], -world["jtt"], -10 * world["jtt"])),
        "sd": np.array((w[0] + world["sd"], -bias, -10 * bias)),
        "irm": np.array((world["irm"], 0.01, 0.0)), "a-cens": np.array((world["irm"], 0.01, 0.0)),
        "w-erm-ad": added(w, world["variant"]), "ind-ad": ind_variant, "ind-kd": ind_variant,
        "gdro-ad": added(w, world["gdro_single"] + world["variant"]),
    }[method]  # fmt: skip


def added(to, performance, amplification=0.0, epsilon=0.0):
    return to + np.array((performance, amplification, epsilon))


def hash_of(grouping):
    return sum(map(ord, grouping))


def scarce(
    name="scarce-labels", claims=("S1.17", "S1.18", "S1.19", "S1.20", "S1.21"), noise=0.001, **changes
):
    """Tables 2, 3 and 7: three structures, with and without pre-training."""
    look, rng = {**SCARCE, **changes}, np.random.default_rng(1)
    problems = [("single", f"protected {k}", ["a"] * k) for k in (3, 5, 7)]

    def number(task, grouping, k, method, seed):
        jump = rng.normal(0, noise, 4) * (1, 1, 10, 1)
        return np.array((0.5 - 0.01 * k, 0.08, 2.0, 0.3)) + np.array([*look[method], 0.0]) + jump

    return plant(name, problems, look, number, 5, claims)


def noisy(lost, noise=0.001):
    """The same tasks with wrong and with right group labels, which cost W-ERM and Group DRO so much."""
    rng = np.random.default_rng(3)
    tasks = ("single", "single, clean", "multi", "multi, clean")
    problems = [(task, f"inconsistent {k}", ["a"] * k) for task in tasks for k in range(1, 7)]

    def number(task, grouping, k, method, seed):
        gain = 0.0 if method == "erm" else 0.05 - (0.0 if task.endswith("clean") else lost)
        return np.array((0.8 - 0.02 * k + gain, 0.0, 1.0, 0.5)) + rng.normal(0, noise, 4)

    return plant("label-noise", problems, ("erm", "w-erm", "gdro"), number, 3, ("S1.12",))


def replications(noise=0.001, swapped=(0.0, 0.0, 0.0), worst=0.0, nets=("mlp",), **changes):
    """Tables 4, 5 and 6 in one study, and Table 5 with target and protected attribute swapped."""
    look, rng = {**REPLICATED, **changes}, np.random.default_rng(2)
    own = {"table 4": ("erm", "w-erm", "gdro", "sd"), "table 5": ("erm", "w-erm", "gdro", "jtt"),
           "table 5 swapped": ("erm", "jtt"),
           "table 6 multi": ("erm", "w-erm", "gdro", "ind", "disc", "a-cens")}  # fmt: skip
    multi_gdro = (-0.2, 0.02, 0.2)

    def number(task, grouping, k, method, seed):
        moved = look[method]
        if task.endswith("multi") and method == "gdro":
            moved = multi_gdro
        if task.endswith("swapped") and method == "jtt":
            moved = swapped
        lost = worst if method == "jtt" else 0.0
        jump = rng.normal(0, noise, 4) * (1, 1, 10, 1)
        return np.array((0.8, 0.0, 1.2, 0.6)) + np.array([*moved, -lost]) + jump

    problems = [(task, "male", ["Male"]) for task in own]
    claims = ("S1.13", "S1.14", "S1.15", "S1.16")
    return plant("replications-faces", problems, look, number, 10, claims,
                 lambda task, grouping, method: method not in own[task], nets)  # fmt: skip
