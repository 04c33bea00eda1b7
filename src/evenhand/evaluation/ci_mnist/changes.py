"""What turning a knob changes in each model, and two checks of our own on small groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.evaluation.ci_mnist.evidence import Evidence
from evenhand.evaluation.ci_mnist.judging import ABOVE, BELOW, Part, contrast, judged
from evenhand.evaluation.ci_mnist.layout import FAMILIES, MODELS, SETTINGS, UNPRIVILEGED, setting_of
from evenhand.evaluation.ci_mnist.numbers import Series


def change_rows(e: Evidence) -> list[dict[str, Any]]:
    """For each setting and model: accuracy and fairness after less before, each with its 95 % interval."""
    found = []
    for setting in SETTINGS:
        before, after = ([setting.rows[place].task] for place in setting.pair)
        for model in MODELS:
            row: dict[str, Any] = {"setting": setting.name, "model": model}
            for what, of in (("accuracy", e.accuracy), ("fairness", e.fairness)):
                part = judged([contrast(what, BELOW, of([model], after), of([model], before))])[0]
                row[what] = part.to_dict()
            found.append(row)
    return found


def checks(e: Evidence) -> list[Part]:
    """With 25 blue images a class: how far the MLP's accuracy on blue falls, and what methods win back."""
    last = [setting_of("minority").rows[-1].task]

    def of(models: Sequence[str], tasks: list[str]) -> Series:
        return e.numbers.series(models, tasks, [UNPRIVILEGED])

    base = of(FAMILIES["MLP"], last)
    fall = contrast(
        "up-acc of the MLP at (0.001, 0.001) less at (0.5, 0.5)", BELOW,
        base, of(FAMILIES["MLP"], ["balanced"]),
    )  # fmt: skip
    back = [
        contrast(f"up-acc of {name} less the MLP at (0.001, 0.001)", ABOVE, of(models, last), base)
        for name, models in FAMILIES.items()
        if name != "MLP"
    ]
    return [part for part in (*judged([fall]), *judged(back)) if part.replicates]
