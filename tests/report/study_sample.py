"""Dictionaries of studies as the analysis makes them, computed here from drawn runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

METRICS = ("tpr.gap", "fpr.gap", "selection.gap", "odds.max")
KEYS = ("acc", *METRICS)
ENTRIES = [
    {
        "key": "tpr.gap",
        "name": "true positive rate: gap",
        "better": "lower",
        "ideal": 0.0,
        "formula": "max − min of TPR",
    },
    {
        "key": "fpr.gap",
        "name": "false positive rate: gap",
        "better": "lower",
        "ideal": 0.0,
        "formula": "max − min of FPR",
    },
    {
        "key": "selection.gap",
        "name": "selection rate: gap",
        "better": "lower",
        "ideal": 0.0,
        "formula": "max − min",
    },
    {
        "key": "odds.max",
        "name": "equalized odds",
        "better": "lower",
        "ideal": 0.0,
        "formula": "max(gap TPR, gap FPR)",
    },
]
# method: (field, how far it moves accuracy, how far it moves gaps, how much it adds to the noise)
METHODS = {
    "erm": ("", 0.0, 0.0, 1.0),
    "gap": ("lam", -0.012, -0.8, 1.0),
    "w-erm": ("", -0.02, -0.35, 1.2),
    "gdro": ("eta", -0.03, -0.5, 2.5),
    "laftr": ("gamma", -0.004, -0.02, 1.4),
}
PROBLEMS = (
    ("adult", "sex", ("Female", "Male")),
    ("synthetic", "a × b", ("a=0, b=0", "a=0, b=1", "a=1, b=0", "a=1, b=1")),
)


def study(
    problems: int = 2, settings: int = 3, seeds: int = 8, methods: int = 5, oracle: bool = False
) -> dict[str, Any]:
    """A finished study with one failed run."""
    rng = np.random.default_rng(7)
    made = [problem(rng, place, settings, seeds, methods) for place in range(problems)]
    adjust(made)
    runs = sum(len(one["points"]) for one in made)
    names = [entry["method"] for entry in made[0]["methods"]] if made else []
    part = "test" if oracle else "validation"
    return {
        "kind": "study",
        "evenhand": "0.3.0",
        "name": "sample",
        "title": "Five methods, two tasks",
        "about": "Which of five methods moves the gaps, and at what cost?",
        "created": "2025-01-01T12:00:00+00:00",
        "state": {
            "planned": runs + 1,
            "done": runs,
            "failed": 1,
            "waiting": 0,
            "finished": True,
            "failures": [
                {
                    "reason": "the loss became NaN",
                    "runs": 1,
                    "examples": [{"method": "gdro", "setting": {"eta": 10.0}, "seed": 3, "task": "adult"}],
                }
            ],
        },
        "spec": {
            "name": "sample",
            "seeds": list(range(seeds)),
            "recipe": {"epochs": 20, "batch": 128},
            "methods": [{"key": name} for name in names],
        },
        "budget": {
            "equal": False,
            "words": "erm and w-erm have nothing to search; the others have 3 settings each.",
            "seconds": 812.4,
            "methods": [
                {
                    "method": name,
                    "settings": settings if METHODS[name.split("#")[0]][0] else 1,
                    "seeds": seeds,
                    "runs": seeds * settings * problems,
                    "how": "grid" if METHODS[name.split("#")[0]][0] else "fixed",
                    "seconds": 80.0 + 40 * place,
                }
                for place, name in enumerate(names)
            ],
        },
        "metrics": ENTRIES,
        "accuracy": "acc",
        "base": "erm",
        "confidence": 0.95,
        "part": "test",
        "selection": {
            "rule": "best-mean",
            "metric": "acc",
            "part": part,
            "oracle": oracle,
            "words": f"The setting with the best mean accuracy over seeds on the {part} part.",
        },
        "tests": {
            "test": "mann-whitney",
            "correction": "holm",
            "words": "Mann-Whitney U over seeds, Holm over all comparisons.",
        },
        "problems": made,
        "ranks": {key: ranks(made, key) for key in KEYS} if made else {},
        "leaders": leaders(made, names),
        "variance": variance(made),
        "cost": cost(made),
        "spearman": [spearman(one) for one in made],
        "settings": [
            {
                "problem": one["id"],
                "method": entry["method"],
                "setting": entry["setting"],
                "chosen_by": "best-mean acc on validation",
                "value": entry["numbers"]["acc"]["mean"],
                "runners_up": settings - 1,
            }
            for one in made
            for entry in one["methods"]
        ],
        "environment": {
            "versions": {"evenhand": "0.3.0", "python": "3.12.1", "torch": "2.11.0"},
            "devices": ["cpu"],
            "hosts": 1,
        },
        "notes": ["Every run of one task saw the same split."],
    }


def empty() -> dict[str, Any]:
    """A study of which no run has finished."""
    body = study(problems=0)
    body["state"] = {
        "planned": 120,
        "done": 0,
        "failed": 0,
        "waiting": 120,
        "finished": False,
        "failures": [],
    }
    return body


def unfinished() -> dict[str, Any]:
    """A study that stopped half way: one method has two runs, too few to tell anything."""
    body = study()
    body["state"] |= {"planned": 240, "waiting": 240 - body["state"]["done"] - 1, "finished": False}
    entry = next(m for m in body["problems"][0]["methods"] if m["method"] == "laftr")
    entry["seeds"], entry["n"] = entry["seeds"][:2], 2
    for found in entry["numbers"].values():
        found["values"] = found["values"][:2]
    for found in entry["against"].values():
        found |= {
            "p": None,
            "p_adjusted": None,
            "low": None,
            "high": None,
            "verdict": "not enough runs to tell",
        }
    return body


def problem(rng: np.random.Generator, place: int, settings: int, seeds: int, count: int) -> dict[str, Any]:
    task, grouping, groups = PROBLEMS[place % 2]
    task = task if place < 2 else f"{task}-{place}"
    names = [name if i < 5 else f"{name}#{i}" for i in range(count) for name in [list(METHODS)[i % 5]]]
    points, entries = [], []
    for name in names:
        field, accuracy, shrink, noise = METHODS[name.split("#")[0]]
        for step in range(settings if field else 1):
            strength = (step + 1) / settings if field else 1.0
            setting = {field: round(0.1 * 100 ** (step / max(1, settings - 1)), 4)} if field else {}
            values = drawn(rng, seeds, accuracy * strength, shrink * strength, noise, place)
            chosen = step == min(1, settings - 1) if field else True
            points += [
                {
                    "id": f"{place}-{name}-{step}-{seed}",
                    "method": name,
                    "setting": words(setting),
                    "seed": seed,
                    "selected": chosen,
                    "values": {key: round(float(values[key][seed]), 5) for key in KEYS},
                }
                for seed in range(seeds)
            ]
            if chosen:
                entries.append(method(rng, name, setting, values, shrink * strength, groups))
    base = next(entry for entry in entries if entry["method"] == "erm")
    for entry in entries:
        entry["against"] = None if entry is base else {key: against(entry, base, key) for key in KEYS}
        entry["levelling"] = None if entry is base else levelling(entry, base, groups)
    entries.sort(key=lambda entry: -entry["numbers"]["acc"]["mean"])
    return {
        "id": f"{task}/{grouping}/mlp",
        "task": task,
        "grouping": grouping,
        "net": "mlp",
        "n": 15060,
        "groups": [{"name": name, "n": 4000 + 300 * i} for i, name in enumerate(groups)],
        "classes": ["<=50K", ">50K"] if place % 2 == 0 else ["c0", "c1", "c2"],
        "methods": entries,
        "points": points,
        "frontier": {key: pareto_names(entries, key) for key in METRICS},
        "pareto": {key: pareto(points, key) for key in METRICS},
    }


def drawn(
    rng: np.random.Generator, seeds: int, accuracy: float, shrink: float, noise: float, place: int
) -> dict[str, np.ndarray]:
    level = {"tpr.gap": 0.16, "fpr.gap": 0.08, "selection.gap": 0.18}
    values = {"acc": 0.85 - 0.04 * place % 0.2 + accuracy + rng.normal(0, 0.0025 * noise, seeds)}
    for key, start in level.items():
        values[key] = np.abs(start * (1 + shrink) + rng.normal(0, 0.012 * noise, seeds))
    return values | {"odds.max": np.maximum(values["tpr.gap"], values["fpr.gap"])}


def words(setting: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value:g}" for key, value in setting.items())


def method(
    rng: np.random.Generator,
    name: str,
    setting: dict[str, Any],
    values: dict[str, np.ndarray],
    shrink: float,
    groups: tuple[str, ...],
) -> dict[str, Any]:
    seeds = len(values["acc"])
    gap = 0.16 * (1 + shrink)
    middle = {"acc": 0.85, "tpr": 0.6, "fpr": 0.1, "selection": 0.25}
    spread = np.linspace(-0.5, 0.5, len(groups))
    rates = {
        rate: [float(x) for x in np.clip(centre + gap * spread * 0.7, 0, 1)]
        for rate, centre in middle.items()
    }
    return {
        "method": name,
        "setting": setting,
        "label": f"{name} ({words(setting)})" if setting else name,
        "seeds": list(range(seeds)),
        "n": seeds,
        "failed": 1 if name == "gdro" else 0,
        "numbers": {key: number(values[key]) for key in KEYS},
        "rates": rates,
        "per_class": {
            "tpr.gap": [round(float(x), 4) for x in np.abs(rng.normal(0.1, 0.03, 3))],
            "fpr.gap": None,
        },
        "seconds": {"mean": 3.2 + 0.4 * len(name), "total": seeds * (3.2 + 0.4 * len(name))},
        "peak_memory": 300_000_000,
    }


def number(values: np.ndarray) -> dict[str, Any]:
    n, mean = len(values), float(values.mean())
    std = float(values.std(ddof=1)) if n > 1 else None
    half = float(stats.t.ppf(0.975, n - 1)) * std / np.sqrt(n) if std is not None else None
    row = 0.006
    return {
        "values": [float(x) for x in values],
        "mean": mean,
        "std": std,
        "min": float(values.min()),
        "max": float(values.max()),
        "maxdiff": float(np.ptp(values)),
        "low": None if half is None else mean - half,
        "high": None if half is None else mean + half,
        "row_std": row,
        "run_share": None if std is None else max(0.0, 1 - row**2 / max(std**2, row**2)),
    }


def against(entry: dict[str, Any], base: dict[str, Any], key: str) -> dict[str, Any]:
    one, other = (np.array(which["numbers"][key]["values"]) for which in (entry, base))
    moved = one - other
    enough = len(moved) > 2
    half = (
        float(stats.t.ppf(0.975, len(moved) - 1)) * float(moved.std(ddof=1)) / np.sqrt(len(moved))
        if enough
        else 0.0
    )
    p = float(stats.mannwhitneyu(one, other).pvalue) if enough else None
    d = float((other.mean() - one.mean()) / max(np.sqrt((one.var() + other.var()) / 2), 1e-9))
    return {
        "difference": float(moved.mean()),
        "low": float(moved.mean() - half),
        "high": float(moved.mean() + half),
        "p": p,
        "p_adjusted": p,
        "effect": d,
        "band": "huge" if abs(d) > 2 else "large",
        "paired": True,
        "verdict": "",
    }


def adjust(problems: list[dict[str, Any]]) -> None:
    """Holm over all comparisons of the study, and the verdicts that follow."""
    every = [found for one in problems for m in one["methods"] for found in (m["against"] or {}).values()]
    known = sorted((found for found in every if found["p"] is not None), key=lambda found: found["p"])
    reached = 0.0
    for place, found in enumerate(known):
        reached = max(reached, min(1.0, found["p"] * (len(known) - place)))
        found["p_adjusted"] = reached
    for found in every:
        if found["p"] is None:
            found["verdict"] = "not enough runs to tell"
        elif found["p_adjusted"] < 0.05:
            found["verdict"] = "lower" if found["difference"] < 0 else "higher"
        else:
            found["verdict"] = "no difference shown"


def levelling(entry: dict[str, Any], base: dict[str, Any], groups: tuple[str, ...]) -> dict[str, Any]:
    before, after = base["rates"]["tpr"], entry["rates"]["tpr"]
    worst, best = int(np.argmin(before)), int(np.argmax(before))
    low, high = after[worst] - before[worst], after[best] - before[best]
    verdict = "worst gained" if low > 0.01 else "no change shown"
    if entry["method"] == "gdro":
        low, verdict = -0.02, "both lost"
    return {
        "rate": "tpr",
        "worst": groups[worst],
        "worst_change": low,
        "best": groups[best],
        "best_change": high,
        "verdict": verdict,
        "words": f"{groups[worst]} moved by {low:+.3f}, {groups[best]} by {high:+.3f}.",
    }


def beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[0] >= other[0] and one[1] <= other[1] and one != other


def pareto_names(entries: list[dict[str, Any]], key: str) -> list[str]:
    places = {m["method"]: (m["numbers"]["acc"]["mean"], m["numbers"][key]["mean"]) for m in entries}
    return [name for name, at in places.items() if not any(beats(other, at) for other in places.values())]


def pareto(points: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for point in points:
        found.setdefault((point["method"], point["setting"]), []).append(point["values"])
    places = {
        name: (float(np.mean([v["acc"] for v in runs])), float(np.mean([v[key] for v in runs])))
        for name, runs in found.items()
    }
    best = sorted(places.items(), key=lambda item: (-item[1][0], item[1][1]))
    kept, lowest = [], np.inf
    for (name, setting), (x, y) in best:
        if y < lowest:
            kept.append({"method": name, "setting": setting, "x": x, "y": y})
            lowest = y
    return kept


def ranks(problems: list[dict[str, Any]], key: str) -> dict[str, Any]:
    names = sorted(m["method"] for m in problems[0]["methods"])
    sign = -1 if key == "acc" else 1
    table = np.array(
        [
            [
                sign * next(m for m in one["methods"] if m["method"] == name)["numbers"][key]["mean"]
                for name in names
            ]
            for one in problems
        ]
    )
    mean = np.array([stats.rankdata(row) for row in table]).mean(axis=0)
    order = np.argsort(mean, kind="stable")
    cd = 2.728 * np.sqrt(len(names) * (len(names) + 1) / (6 * len(problems))) * 0.4
    cliques = [[names[i] for i in order[:3]], [names[i] for i in order[2:]]]
    return {
        "methods": [names[i] for i in order],
        "mean_ranks": [float(mean[i]) for i in order],
        "problems": len(problems),
        "friedman": {"statistic": 6.4, "p": 0.171},
        "critical_difference": float(cd) if len(problems) > 1 else None,
        "cliques": cliques,
        "words": f"Over {len(problems)} problems ranks do not tell methods apart (Friedman p = 0.171).",
    }


def leaders(problems: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    rows = []
    for place, name in enumerate(names):
        found = {}
        for key in KEYS:
            means = [
                m["numbers"][key]["mean"] for one in problems for m in one["methods"] if m["method"] == name
            ]
            found[key] = {
                "mean": float(np.mean(means)),
                "low": float(np.min(means)),
                "high": float(np.max(means)),
                "mean_rank": 1.0 + place,
                "wins": 2 - place % 3,
                "losses": place % 3,
                "ties": 0,
                "verdict": "no difference shown",
            }
        rows.append({"method": name, "numbers": found})
    return rows


def variance(problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "problem": one["id"],
            "method": m["method"],
            "metric": key,
            "mean": m["numbers"][key]["mean"],
            "min": m["numbers"][key]["min"],
            "max": m["numbers"][key]["max"],
            "seed_std": m["numbers"][key]["std"],
            "row_std": m["numbers"][key]["row_std"],
            "maxdiff": m["numbers"][key]["maxdiff"],
            "share": m["numbers"][key]["run_share"],
        }
        for one in problems
        for m in one["methods"]
        for key in KEYS
    ]


def cost(problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for one in problems:
        for m in one["methods"]:
            if m["against"] is None:
                continue
            moved = m["against"]["acc"]
            sign = {"lower": "-", "higher": "+"}.get(moved["verdict"], "NS")
            reduced = [key for key in METRICS if m["against"][key]["verdict"] == "lower"]
            noisy = m["method"].split("#")[0] == "gdro"
            rows.append(
                {
                    "problem": one["id"],
                    "method": m["method"],
                    "accuracy": sign,
                    "accuracy_p": moved["p"],
                    "variance": "+" if noisy else "NS",
                    "variance_p": 0.01 if noisy else 0.4,
                    "reduces": reduced,
                    "cross": not reduced,
                }
            )
    return rows


def spearman(one: dict[str, Any]) -> dict[str, Any]:
    table = np.array([[point["values"][key] for key in KEYS] for point in one["points"]])
    matrix = np.atleast_2d(stats.spearmanr(table).statistic)
    n = [[len(table)] * len(KEYS)] * len(KEYS)
    return {"problem": one["id"], "metrics": list(KEYS), "matrix": matrix.tolist(), "n": n}
