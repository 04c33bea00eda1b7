"""What the benchmark of deterministic mode found, read from its file and checked; the numbers that decide."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.fixed_seed.layout import FACTOR, FEWEST_OPERATIONS, OVERHEADS

Json = Mapping[str, Any]
HOLDS, DOES_NOT, UNTOLD = "holds", "does not", "cannot tell"
# what is read of each part: of the machine itself, else of every row
PARTS = {
    "machine": {"device", "name", "torch"},
    "overhead": {"net", "batch", "size", "plain", "deterministic", "overhead", "low", "high", "rounds",
                 "printed"},
    "exceptions": {"operation", "raises", "why"},
    "modes": {"name", "deterministic", "steps"},
}  # fmt: skip


def read_benchmark(path: Path | str) -> dict[str, Any]:
    """The file that `benchmarks/deterministic_mode.py` writes; `InputError` for anything else."""
    try:
        body: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as results of deterministic_mode.py ({error})") from error
    if not isinstance(body, dict) or not set(PARTS) <= body.keys():
        raise InputError(f"{path} lacks {', '.join(PARTS)}: it is no file of deterministic_mode.py")
    for part, needed in PARTS.items():
        rows = [body[part]] if part == "machine" else body[part]
        if not isinstance(rows, list) or not all(
            isinstance(row, dict) and needed <= row.keys() for row in rows
        ):
            raise InputError(f"{path} is damaged: its {part} lacks {', '.join(sorted(needed))}")
    return body


def on_gpu(body: Json) -> bool:
    """Whether it was measured on a GPU; a CPU answers no claim of S0."""
    return bool(body["machine"].get("device") == "cuda")


def overhead_side(low: float, high: float, printed: float) -> str:
    """What an interval of an overhead says to a printed one.

    >>> [overhead_side(*ends, 0.2) for ends in ((0.1, 0.3), (-0.1, 0.3), (0.01, 0.05), (0.5, 0.6))]
    ['holds', 'cannot tell', 'does not', 'does not']
    """
    if high < printed / FACTOR or low > printed * FACTOR:
        return DOES_NOT
    return HOLDS if low > 0 else UNTOLD


def overhead_verdict(body: Json) -> str:
    """One word for all three networks: one "does not" decides, "holds" needs all."""
    rows = {row["net"]: row for row in body["overhead"]}
    if not on_gpu(body) or not OVERHEADS.keys() <= rows.keys():
        return UNTOLD
    sides = {overhead_side(rows[net]["low"], rows[net]["high"], said) for net, said in OVERHEADS.items()}
    return DOES_NOT if DOES_NOT in sides else HOLDS if sides == {HOLDS} else UNTOLD


def pairs_of(body: Json | None, deterministic: bool) -> list[bool]:
    """For each mode that was trained twice on a GPU, inside or outside deterministic mode: equal or not."""
    if not body or not on_gpu(body):
        return []
    return [
        bool(row["equal"]) for row in body["modes"]
        if row.get("equal") is not None and row["deterministic"] == deterministic
    ]  # fmt: skip


def equality_verdict(inside: Sequence[bool], outside: Sequence[bool]) -> str:
    """Whether deterministic mode makes identical trainings equal, where others are not.

    >>> equality_verdict([True], [True, False]), equality_verdict([True], [True])
    ('holds', 'cannot tell')
    """
    if not inside:
        return UNTOLD
    if not all(inside):
        return DOES_NOT
    return HOLDS if outside and not all(outside) else UNTOLD


def exceptions_verdict(body: Json) -> str:
    """Whether operations are left that have no deterministic form."""
    tried = [row for row in body["exceptions"] if row["raises"] is not None]
    if not on_gpu(body):
        return UNTOLD
    if any(row["raises"] for row in tried):
        return HOLDS
    return DOES_NOT if len(tried) >= FEWEST_OPERATIONS else UNTOLD
