"""Realistic dictionaries of audits and comparisons, computed here from drawn predictions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

METHOD = {
    "confidence": 0.95,
    "replicates": 1000,
    "resampling": "stratified",
    "seed": 0,
    "min_count": 10,
    "convention": "strict",
    "scores": None,
    "versions": {"evenhand": "0.1.0", "python": "3.11.9", "numpy": "2.1.0"},
    "files": [{"name": "predictions.csv", "bytes": 40213, "sha256": "ab" * 32}],
    "created": "2025-01-01T12:00:00+00:00",
}


def divided(a: float, b: float) -> float | None:
    return float(a) / float(b) if b else None


def wilson(k: float, n: float) -> list[float | None]:
    if not n:
        return [None, None]
    z, p = 1.96, k / n
    middle, half = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return [float((middle - half) / (1 + z * z / n)), float((middle + half) / (1 + z * z / n))]


def one_vs_rest(y: np.ndarray, p: np.ndarray, c: int) -> dict[str, tuple[float, float]]:
    t, s = y == c, p == c
    tp, fp, fn, tn = (float(np.sum(a)) for a in (t & s, ~t & s, t & ~s, ~t & ~s))
    return {
        "selection": (tp + fp, len(y)),
        "tpr": (tp, tp + fn),
        "fpr": (fp, fp + tn),
        "tnr": (tn, fp + tn),
        "fnr": (fn, tp + fn),
        "ppv": (tp, tp + fp),
        "npv": (tn, tn + fn),
        "for": (fn, tn + fn),
    }


def group(
    name: str, y: np.ndarray, p: np.ndarray, total: int, classes: int, levels: dict[str, str]
) -> dict[str, Any]:
    each = [one_vs_rest(y, p, c) for c in range(classes)]
    rates, intervals = {}, {}
    for key in each[1]:
        if classes == 2:
            rates[key], intervals[key] = divided(*each[1][key]), wilson(*each[1][key])
        else:
            known = [k / n for k, n in (one[key] for one in each) if n]
            rates[key] = float(np.mean(known)) if known else None
            intervals[key] = wilson(sum(one[key][0] for one in each), sum(one[key][1] for one in each))
    right = float(np.sum(y == p))
    rates["accuracy"], intervals["accuracy"] = divided(right, len(y)), wilson(right, len(y))
    per_class = {"tpr": [divided(*one["tpr"]) for one in each]} if classes > 2 else {}
    return {
        "name": name,
        "levels": levels,
        "n": len(y),
        "share": len(y) / total,
        "small": len(y) < 10,
        "excluded": len(y) < 10,
        "rates": rates,
        "intervals": intervals,
        "per_class": per_class,
        "confusion": None,
    }


def metrics_of(groups: Sequence[dict[str, Any]], rng: np.random.Generator, runs: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {}
    kept = [g for g in groups if not g["excluded"]]
    for key in ("selection", "tpr", "fpr", "ppv", "accuracy", "npv"):
        known = sorted((g["rates"][key], g["name"], g["n"]) for g in kept if g["rates"][key] is not None)
        missing = [f"{g['name']}: no cases" for g in groups if g["rates"][key] is None]
        everyone = [g["rates"][key] for g in groups if g["rates"][key] is not None]
        error = 1 / np.sqrt(min([n for *_, n in known], default=1))
        for comparison in ("gap", "ratio", "worst", "spread"):
            value: float | None = None
            by = [known[-1][1], known[0][1]] if known else None
            if known:
                high, low = known[-1][0], known[0][0]
                value = {
                    "gap": high - low,
                    "ratio": low / high if high else None,
                    "worst": low,
                    "spread": float(np.std([x for x, *_ in known])),
                }[comparison]
                by = [known[0][1]] if comparison == "worst" else by
            entry: dict[str, Any] = {
                "value": value,
                "low": None if value is None else max(0.0, value - error),
                "high": None if value is None else min(1.0, value + error),
                "per_class": None,
                "decided_by": by,
                "decided_in": None,
                "undefined": missing,
                "bounds": None,
                "with_small": None,
                "chance": None,
                "chance_p": None,
                "runs": None,
            }
            if comparison == "gap" and value is not None:
                entry["chance"], entry["chance_p"] = float(1.6 * error), 0.001 if value > 1.6 * error else 0.4
                entry["bounds"] = [max(0.0, value - 0.02), min(1.0, value + 0.03)]
                entry["with_small"] = max(everyone) - min(everyone)
            if comparison == "gap" and kept[0]["per_class"].get(key):
                entry["per_class"] = [class_gap(kept, key, c) for c in range(len(kept[0]["per_class"][key]))]
            if runs and value is not None:
                entry["runs"] = run_summary(rng.normal(value, 0.02, runs))
            found[f"{key}.{comparison}"] = entry
    return found


def class_gap(groups: Sequence[dict[str, Any]], key: str, c: int) -> float | None:
    known = [g["per_class"][key][c] for g in groups if g["per_class"][key][c] is not None]
    return max(known) - min(known) if known else None


def run_summary(values: np.ndarray) -> dict[str, Any]:
    return {
        "n": len(values),
        "mean": float(values.mean()),
        "std": float(values.std(ddof=1)),
        "min": float(values.min()),
        "max": float(values.max()),
        "maxdiff": float(np.ptp(values)),
        "share": 0.4,
        "values": [float(x) for x in values],
    }


def audit(
    names: dict[str, Sequence[str]],
    *,
    n: int = 900,
    classes: int = 2,
    seed: int = 0,
    unknown: int = 0,
    tiny: bool = False,
    runs: int = 0,
    class_names: Sequence[str] | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    codes = {a: rng.integers(len(levels), size=n) for a, levels in names.items()}
    y = rng.integers(classes, size=n)
    bias = sum(codes[a] / max(1, len(levels)) for a, levels in names.items()) / len(names)
    p = np.where(rng.random(n) < 0.9 - 0.45 * bias, y, rng.integers(classes, size=n))
    attributes = list(names)
    keys: list[tuple[int, ...]] = [()]
    for a in attributes:
        keys = [(*k, i) for k in keys for i in range(len(names[a]))]
    inside = {k: np.all([codes[a] == k[i] for i, a in enumerate(attributes)], axis=0) for k in keys}
    if tiny:  # the last group keeps four rows, none with a positive label
        last = np.flatnonzero(inside[keys[-1]])
        keep = np.zeros(n, dtype=bool)
        keep[[i for i in last if y[i] == 0][:4]] = True
        inside[keys[-1]] = keep
    groups = [
        group(
            " · ".join(names[a][k[i]] for i, a in enumerate(attributes)),
            y[m],
            p[m],
            n,
            classes,
            {a: names[a][k[i]] for i, a in enumerate(attributes)},
        )
        for k, m in inside.items()
    ]
    alone = {
        a: [
            group(level, y[codes[a] == i], p[codes[a] == i], n, classes, {a: level})
            for i, level in enumerate(names[a])
        ]
        for a in attributes
    }
    return {
        "evenhand": "0.1.0",
        "kind": "audit",
        "task": "binary" if classes == 2 else "multiclass",
        "name": title,
        "n": n,
        "weighted": False,
        "unknown": unknown,
        "missing": 3 if unknown else 0,
        "classes": list(class_names or [str(c) for c in range(classes)]),
        "positive": "1" if classes == 2 else None,
        "grouping": attributes,
        "groups": groups,
        "overall": group("all rows", y, p, n, classes, {}),
        "metrics": metrics_of(groups, rng, runs),
        "attributes": {a: {"groups": gs, "metrics": metrics_of(gs, rng)} for a, gs in alone.items()}
        if len(names) > 1
        else {},
        "runs": {"n": runs, "names": [f"seed {i}" for i in range(runs)]} if runs else None,
        "warnings": ["1 group has fewer than 10 rows and was left out of the comparisons."] if tiny else [],
        "method": METHOD,
    }


def binary() -> dict[str, Any]:
    """Two by three groups, one of them tiny and without positive labels; unknown rows."""
    return audit(
        {"sex": ["female", "male"], "class": ["first", "second", "third"]},
        unknown=38,
        tiny=True,
        title="Survival on the ship",
    )


def multiclass() -> dict[str, Any]:
    digits = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    return audit(
        {"colour": ["red", "green", "blue"]}, n=4000, classes=10, class_names=digits, title="Coloured digits"
    )


def several_runs() -> dict[str, Any]:
    return audit({"age": ["under 30", "30 to 60", "over 60"]}, n=2000, runs=8, title="Eight seeds")


def huge() -> dict[str, Any]:
    """Two hundred groups and a hundred classes."""
    return audit(
        {"region": [f"region number {i}" for i in range(200)]}, n=20000, classes=100, title="Many groups"
    )


def comparison(models: int = 5, classes: int = 10, n: int = 3000) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    names = [
        "full network",
        "pruned",
        "pruned + KD",
        "quantised",
        "distilled",
        *(f"model {i}" for i in range(5, models)),
    ][:models]
    y, g = rng.integers(classes, size=n), rng.integers(3, size=n)
    error = [0.08 + 0.03 * i + 0.05 * rng.random(classes) * (i + 1) for i in range(models)]
    wrong = [np.where(rng.random(n) < e[y], rng.integers(classes, size=n), y) for e in error]
    table = [[errors(y, p, c) for c in range(classes)] for p in wrong]
    every = {
        key: [[pair(table[i], table[j])[key] for j in range(models)] for i in range(models)]
        for key in ("cev", "sde")
    }
    accuracy = [float(np.mean(p == y)) for p in wrong]
    scores = {key: {names[j]: around(every[key][0][j]) for j in range(1, models)} for key in every}
    return {
        "evenhand": "0.1.0",
        "kind": "comparison",
        "n": n,
        "classes": [f"class {c}" for c in range(classes)],
        "models": names,
        "base": names[0],
        "accuracy": dict(zip(names, accuracy, strict=True)),
        "disagreement": {names[j]: float(np.mean(wrong[j] != wrong[0])) for j in range(1, models)},
        **scores,
        **{f"{key}_norm": {m: around(v["value"] / 90) for m, v in scores[key].items()} for key in scores},
        "matrices": {
            **every,
            **{f"{key}_norm": [[x / 90 for x in row] for row in every[key]] for key in every},
            "accuracy_change": [[b - a for b in accuracy] for a in accuracy],
        },
        "per_class": {names[j]: class_changes(table[0], table[j], y) for j in range(1, models)},
        "groups": {
            m: [group_change(f"group {k}", y[g == k], p[g == k], t, classes) for k in range(3)]
            for m, p, t in zip(names, wrong, table, strict=True)
        },
        "differences": {names[j]: differences(rng, 0.02 * j) for j in range(1, models)},
        "cie": {
            names[j]: {"count": 10 * j, "share": 10 * j / n, "rows": list(range(10 * j))}
            for j in range(1, models)
        },
        "warnings": [],
        "method": METHOD,
    }


def errors(y: np.ndarray, p: np.ndarray, c: int) -> tuple[float, float]:
    counts = one_vs_rest(y, p, c)
    return divided(*counts["fpr"]) or 0.0, divided(*counts["fnr"]) or 0.0


def relative(base: tuple[float, float], other: tuple[float, float]) -> tuple[float | None, float | None]:
    fpr, fnr = ((b - a) / a if a else None for a, b in zip(base, other, strict=True))
    return fpr, fnr


def pair(base: list[tuple[float, float]], other: list[tuple[float, float]]) -> dict[str, float]:
    moves = [relative(a, b) for a, b in zip(base, other, strict=True)]
    points = np.array([move for move in moves if None not in move], dtype=float).reshape(-1, 2)
    if not len(points):
        return {"cev": 0.0, "sde": 0.0}
    return {"cev": float(points.var(axis=0).sum()), "sde": float(np.abs(points[:, 1] - points[:, 0]).mean())}


def around(value: float) -> dict[str, Any]:
    return {"value": value, "low": 0.8 * value, "high": 1.3 * value, "skipped": 0}


def class_changes(
    base: list[tuple[float, float]], other: list[tuple[float, float]], y: np.ndarray
) -> list[dict[str, Any]]:
    rows = []
    for c, (a, b) in enumerate(zip(base, other, strict=True)):
        fpr, fnr = relative(a, b)
        rows.append(
            {
                "class": f"class {c}",
                "n": int(np.sum(y == c)),
                "base_fpr": a[0],
                "fpr": b[0],
                "base_fnr": a[1],
                "fnr": b[1],
                "fpr_change": fpr,
                "fnr_change": fnr,
            }
        )
    return rows


def group_change(
    name: str, y: np.ndarray, p: np.ndarray, base: list[tuple[float, float]], classes: int
) -> dict[str, Any]:
    own = [errors(y, p, c) for c in range(classes)]
    both = pair(base, own)
    moves = [relative(a, b) for a, b in zip(base, own, strict=True)]
    fpr, fnr = ([m[i] for m in moves if m[i] is not None] for i in (0, 1))
    return {
        "name": name,
        "n": len(y),
        "accuracy": float(np.mean(y == p)),
        **both,
        "cev_norm": both["cev"] / 90,
        "sde_norm": both["sde"] / 90,
        "fpr_change": float(np.mean(fpr)),
        "fnr_change": float(np.mean(fnr)),
    }


def differences(rng: np.random.Generator, shift: float) -> dict[str, Any]:
    found = {}
    for key in (
        "selection.gap",
        "tpr.gap",
        "fpr.gap",
        "ppv.gap",
        "accuracy.gap",
        "tpr.ratio",
        "accuracy.worst",
        "npv.gap",
    ):
        base, move = 0.2 + 0.1 * rng.random(), shift * rng.normal(1, 0.8)
        found[key] = {
            "base": base,
            "value": base + move,
            "difference": move,
            "low": move - 0.03,
            "high": move + 0.03,
            "p": float(np.clip(0.5 - 8 * abs(move), 0.001, 1)),
            "runs": None,
        }
    found["auc.gap"] = {
        "base": None,
        "value": None,
        "difference": None,
        "low": None,
        "high": None,
        "p": None,
        "runs": None,
    }
    return found


def tradeoff(seeds: int = 6) -> dict[str, Any]:
    """Four methods of a made-up task, some with a smaller gap than the first, at little cost or much."""
    rng = np.random.default_rng(5)
    places = {
        "erm": (0.85, 0.10, 0.07),
        "w-erm": (0.80, 0.03, 0.10),
        "gdro": (0.81, 0.04, 0.09),
        "gap": (0.84, 0.05, 0.03),
    }
    drawn = {name: rng.normal(place, 0.003, (seeds, 3)).T for name, place in places.items()}
    methods = []
    for name, (accuracy, tpr, fpr) in drawn.items():
        metrics = {"tpr.gap": estimated(tpr), "fpr.gap": estimated(fpr)}
        found = {"acc": estimated(accuracy), **metrics}
        base = dict(zip(("acc", "tpr.gap", "fpr.gap"), drawn["erm"], strict=True))
        moved = {key: moved_from(base[key], value["values"]) for key, value in found.items()}
        methods.append(
            {
                "name": name,
                "method": {"key": name, "fields": {"lam": 1.0, "target": "odds"} if name == "gap" else {}},
                "net": {"name": "s4-mlp", "options": {}},
                "recipe": {
                    "epochs": 20,
                    "rate": 0.001,
                    "betas": [0.9, 0.999],
                    "compile": None,
                    "deterministic": False,
                },
                "seeds": list(range(seeds)),
                "seconds": 12.3,
                "device": "x86_64",
                "accuracy": found["acc"],
                "metrics": metrics,
                "against_base": None if name == "erm" else moved,
            }
        )
    card = {
        "title": "Adult",
        "about": "People.",
        "origin": "UCI",
        "licence": "CC BY 4.0",
        "citation": "1996",
        "target": "income",
    }
    card |= {"files": {"adult.csv.gz": "ab" * 32}, "knobs": {"seed": 0, "without": ""}}
    return {
        "evenhand": "0.1.0", "kind": "tradeoff", "name": "adult by sex", "n": 18842, "unknown": 0,
        "part": "test", "classes": ["<=50K", ">50K"], "grouping": ["sex"],
        "groups": [{"name": "Female", "n": 6276}, {"name": "Male", "n": 12566}],
        "task": {"name": "adult", "rows": {"train": 27000, "test": 18842}, "card": card},
        "base": "erm", "metrics": ["tpr.gap", "fpr.gap"],
        "frontiers": {"tpr.gap": ["erm", "gap", "gdro", "w-erm"], "fpr.gap": ["erm", "gap"]},
        "methods": methods, "warnings": [], "method": METHOD,
    }  # fmt: skip


def estimated(values: np.ndarray) -> dict[str, Any]:
    low, high = float(values.min()), float(values.max())
    numbers = {
        "n": len(values),
        "mean": float(values.mean()),
        "std": float(values.std()),
        "min": low,
        "max": high,
    }
    return {
        "values": values.tolist(),
        **numbers,
        "low": low,
        "high": high,
        "run_low": low - 0.01,
        "run_high": high + 0.01,
    }


def moved_from(base: np.ndarray, values: Sequence[float]) -> dict[str, Any]:
    apart = float(np.mean(values) - base.mean())
    tested = {"p": 0.002, "p_adjusted": 0.02, "effect": 3.1, "band": "huge", "paired": True}
    return {"difference": apart, "low": apart - 0.005, "high": apart + 0.005, **tested}
