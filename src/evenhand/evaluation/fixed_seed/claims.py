"""What the runs and the benchmark say to S0's claims 12 to 15, as columns of the claims file.

The rules are in `layout.RULES`, written before any run. A claim for which nothing was given stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.evaluation.fixed_seed.benchmark import (
    DOES_NOT,
    HOLDS,
    UNTOLD,
    equality_verdict,
    exceptions_verdict,
    on_gpu,
    overhead_verdict,
    pairs_of,
)
from evenhand.evaluation.fixed_seed.layout import CONTROL, FEWEST, IDENTICAL, OVERHEADS
from evenhand.evaluation.replay.rows import Row

Json = Mapping[str, Any]
DATA = "cifar10s"
STUDY = "fixed-seed-cifar10s"
PROGRAM = "python -m evenhand.evaluation.fixed_seed"
BENCHMARK = "python benchmarks/deterministic_mode.py"


def answers(body: Json) -> dict[str, dict[str, str]]:
    """Columns by claim, from the dictionary that `together` makes."""
    found = {"S0.12": _varies(body), "S0.13": _equal(body)}
    if body["benchmark"]:
        bench = body["benchmark"]
        found |= {"S0.14": _overhead(bench), "S0.15": _exceptions(bench)}
    return {name: columns for name, columns in found.items() if columns}


def on_gpu_alike(body: Json, kind: str = IDENTICAL) -> list[tuple[Json, Json]]:
    """Sets of runs of this kind that were made on a GPU, each with its study."""
    return [
        (study, one) for study in body["studies"] for one in study["sets"]
        if of_kind(one, kind) and all(device.startswith("cuda") for device in study["devices"])
    ]  # fmt: skip


def of_kind(one: Json, kind: str) -> list[str]:
    """The techniques of a set whose runs are of this kind, all made by one device and library.

    A study may train some in deterministic mode and others not; runs of two machines differ for that reason.
    """
    kinds, machines = one.get("kinds") or {}, one.get("machines") or {}  # older files have neither
    return [
        name for name in one["techniques"]
        if kinds.get(name, one["kind"]) == kind and len(machines.get(name, ())) <= 1
    ]  # fmt: skip


def asked(one: Json) -> list[str]:
    """The techniques of a set that S0.12 is about: those of the S family, trained on CIFAR-10S."""
    known = of_kind(one, IDENTICAL)
    return [name for name in known if name.startswith("S-") and one["data"][name] == DATA]


def moving(one: Json) -> list[Row]:
    """The rows of these techniques whose runs differ, by any of the seven metrics."""
    return [row for row in one["variance"] if row["technique"] in asked(one) and (row["max_diff"] or 0) > 0]


def varies_verdict(moved: int, of: int) -> str:
    """By how many of the techniques move; see the rule of S0.12.

    >>> varies_verdict(9, 10), varies_verdict(0, 10), varies_verdict(5, 10), varies_verdict(1, 1)
    ('holds', 'does not', 'cannot tell', 'cannot tell')
    """
    if of < FEWEST:
        return UNTOLD
    return HOLDS if moved >= max(1, of - 1) else DOES_NOT if not moved else UNTOLD


def _varies(body: Json) -> dict[str, str]:
    sets = [(study, one) for study, one in on_gpu_alike(body) if asked(one)]
    if not sets:
        return {}
    rows = [row for _, one in sets for row in moving(one)]
    moved = sum(len({row["technique"] for row in moving(one)}) for _, one in sets)
    of = sum(len(asked(one)) for _, one in sets)
    runs = sum(row["runs"] for _, one in sets for row in _once(one) if row["technique"] in asked(one))
    study = sets[0][0]
    return {
        "verdict": varies_verdict(moved, of), **_widest(rows, moved, of), "runs": str(runs),
        "study": study["name"], "command": f"evenhand study run {study['name']}",
        "note": f"On {', '.join(study['devices'])}, torch {', '.join(study['torch'])}, "
                f"{', '.join(study['precision'])}. Metrics as S0's program computes them. "
                "The published runs are of 2021.",
    }  # fmt: skip


def _widest(rows: Sequence[Row], moved: int, of: int) -> dict[str, str]:
    told = f"{moved} of {of} techniques vary"
    if not rows:
        return {"effect": f"{told}; every MaxDiff is 0", "interval": "count"}
    widest = max(rows, key=lambda row: row["max_diff"])
    return {
        "effect": f"{told}; widest MaxDiff {widest['max_diff']:.4f} "
                  f"({widest['technique']}, {widest['metric']})",
        "interval": f"{widest['min']:.4f} to {widest['max']:.4f}, the range over {widest['runs']} runs",
    }  # fmt: skip


def _once(one: Json) -> list[Row]:
    """Techniques whose networks are not also counted under another name."""
    seen: set[str] = set()
    kept = []
    for row in one["varying"]:
        if not seen & set(row["shares"]):
            kept.append(row)
        seen.add(row["technique"])
    return kept


def _equal(body: Json) -> dict[str, str]:
    bench = body["benchmark"]
    inside, outside = (pairs_of(bench, mode) + alike(body, kind)
                       for mode, kind in ((True, CONTROL), (False, IDENTICAL)))  # fmt: skip
    if not inside and not bench:
        return {}
    differ = [row["name"] for row in (bench or {}).get("modes", ()) if row.get("equal") is False]
    told = f"Modes of the benchmark in which two trainings differ: {'; '.join(differ) or 'none'}."
    runs = 2 * sum(row.get("equal") is not None for row in (bench or {}).get("modes", ()))
    runs += sum(row["runs"] for kind in (CONTROL, IDENTICAL) for _, one in on_gpu_alike(body, kind)
                for row in _once(one) if row["technique"] in of_kind(one, kind))  # fmt: skip
    own = _own(bench, told) if bench else {"study": STUDY, "command": PROGRAM, "note": ""}
    return {
        "verdict": equality_verdict(inside, outside),
        "effect": f"equal to the bit: {sum(inside)} of {len(inside)} in deterministic mode, "
                  f"{sum(outside)} of {len(outside)} outside of it",
        "interval": "count", "runs": str(runs), **own,
    }  # fmt: skip


def alike(body: Json, kind: str) -> list[bool]:
    """For each technique with runs of this kind on a GPU: whether all of its networks are equal."""
    return [
        row["weights"] == 1
        for _, one in on_gpu_alike(body, kind)
        for row in _once(one)
        if row["weights"] is not None and row["technique"] in of_kind(one, kind)
    ]


def _overhead(bench: Json) -> dict[str, str]:
    rows = {row["net"]: row for row in bench["overhead"]}
    known = [(net, rows[net]) for net in OVERHEADS if net in rows]
    said = ", ".join(f"{net} {100 * OVERHEADS[net]:.1f} %" for net in OVERHEADS)
    return {
        "verdict": overhead_verdict(bench),
        "effect": "; ".join(f"{net} {100 * row['overhead']:.1f} %" for net, row in known) or "none",
        "interval": "; ".join(f"{100 * row['low']:.1f} to {100 * row['high']:.1f} %" for _, row in known)
                    or "none",
        "runs": str(2 * len(known)), **_own(bench, f"Printed: {said}. Medians of rounds in turns."),
    }  # fmt: skip


def _exceptions(bench: Json) -> dict[str, str]:
    tried = [row for row in bench["exceptions"] if row["raises"] is not None]
    raising = [row["operation"] for row in tried if row["raises"]]
    return {
        "verdict": exceptions_verdict(bench),
        "effect": f"{len(raising)} of {len(tried)} operations raise", "interval": "count", "runs": "0",
        **_own(bench, f"They are: {'; '.join(raising) or 'none'}. In 2021 there were 25."),
    }  # fmt: skip


def _own(bench: Json, note: str) -> dict[str, str]:
    machine = bench["machine"]
    where = f"{machine['name']}, torch {machine['torch']}"
    told = "" if on_gpu(bench) else " Measured on a CPU, which decides nothing."
    return {"study": STUDY, "command": BENCHMARK, "note": f"{note} {where}.{told}"}
