"""What the study found, in sentences; every number in them is read from the dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.evaluation.titanic_fairness.layout import (
    BY_PREDICTION,
    COLUMNS,
    DOES_NOT,
    GROUPS,
    HOLDS,
    KNOWN,
    MODELS,
    NEAR,
    NEW,
    NORMALISED,
    PAPER,
    UNTOLD,
)
from evenhand.report.numbers import number
from evenhand.report.paper_warning import NOT_JUDGED, UNJUDGED

Json = Mapping[str, Any]
VERDICTS = {HOLDS: "holds", DOES_NOT: "does not hold", UNTOLD: "cannot be told"}


def state(body: Json) -> str:
    """What was run."""
    rows = body["rows"]
    return (
        f"Run with evenhand {body['evenhand']}: {len(body['models'])} models on {body['repeats']} random "
        f"splits, {rows['train']:,} rows to train on and {rows['test']:,} to test on."
    )


def findings(body: Json) -> list[str]:
    """What the page begins with: the claim and how near the paper ours are; of a small form, no judgement."""
    if body.get("small"):
        return [verdict(body)]
    return [verdict(body, "on this page"), nearness(body), normalised(body)]


def verdict(body: Json, where: str = "above") -> str:
    """Claim S2.9, and which columns show more than chance; `where` the rule stands."""
    if body["verdict"] == NOT_JUDGED:
        return f"**Claim S2.9 is not judged.** {UNJUDGED}"
    told = []
    for model, keys in body["shown"].items():
        silent = [COLUMNS[key] for key in COLUMNS if key not in keys]
        told.append(f"{MODELS[model]}: {'all eight do' if not silent else f'not {listed(silent)}'}")
    return (
        f"**Claim S2.9 {VERDICTS[body['verdict']]}** by the rule {where}. Which columns show more than "
        f"shuffled sexes do: {'; '.join(told)}."
    )


def nearness(body: Json) -> str:
    """Which of the known columns are near the paper's, and what the others are."""
    far, n = body["far"], len(body["models"]) * len(KNOWN)
    if not far:
        return f"All {n} means are within {NEAR} of the paper's."
    named = [
        f"{COLUMNS[one['column']]} of {MODELS[one['model']]} ({number(one['value'])}, the paper's "
        f"{number(one['paper'])})"
        for one in far
    ]
    return f"{n - len(far)} of {n} means are within {NEAR} of the paper's; not {listed(named)}."


def other_reading(body: Json) -> str:
    """How near the paper FPED and FNED are with errors counted among predictions; found after the runs."""
    pairs = [
        (row["columns"][other]["value"], row["columns"][key]["paper"])
        for row in body["models"]
        for key, other in BY_PREDICTION.items()
    ]
    near = [abs(ours - theirs) for ours, theirs in pairs if ours is not None]
    close = sum(distance <= NEAR for distance in near)
    return (
        "The other reading of FPED and FNED takes wrong ones among those predicted so, FP / (FP + TP) and "
        "FN / (FN + TN), for the two rates; that of DIMS and DIAMR takes predicted classes as scores. We "
        "looked for the first after the runs, because the formula's FPED and FNED are so far from the "
        f"paper's while DIMS and DIAMR are not: {close} of {len(pairs)} means of it are within {NEAR} of the "
        f"paper's, the farthest {number(max(near))} away. Men and women survived so unequally that these "
        "shares differ much even where the rates of the formula do not. This is how the paper's two columns "
        "may have come about; its program is not at hand."
    )


def normalised(body: Json) -> str:
    """That the paper's values are normalised, and how far ours are from them."""
    pairs = [
        (row["columns"][NORMALISED[key]]["value"], PAPER[row["model"]][key])
        for row in body["models"]
        for key in NEW
        if key.startswith("sde")
    ]
    larger = sum(ours > theirs for ours, theirs in pairs if ours is not None)
    part, times = _parted(body), [times for row in PAPER.values() for times in _over_squares(row)]
    return (
        "Of two classes CEV is SDE squared over two in every run, so that within a run the two say the same; "
        "a mean of squares is more than the square of a mean, so that the means over runs need not: in "
        f"{part} of {len(pairs)} cases one of the two shows more than shuffled sexes do and the other does "
        "not. After division by a random predictor's, CEV is SDE squared; the paper's means are "
        f"{min(times):.2f} to {max(times):.2f} times that, as means over runs may be. The normalised SDE is "
        f"larger than the paper's in {larger} of {len(pairs)} cases."
    )


def _parted(body: Json) -> int:
    """In how many cases one of CEV and SDE of a group shows something, and the other does not."""
    return sum(
        (f"cev.{group}" in keys) != (f"sde.{group}" in keys)
        for keys in body["shown"].values() for group in GROUPS
    )  # fmt: skip


def _over_squares(row: Mapping[str, float]) -> list[float]:
    """How many times the square of SDE the CEV of each group is."""
    return [row[f"cev.{group}"] / row[f"sde.{group}"] ** 2 for group in GROUPS]


def chance(body: Json) -> str:
    """How to read the table of shuffled sexes."""
    return (
        f"Sexes shuffled among the test rows {body['shuffles']:,} times; numbers without their sign. p is "
        "after Holm's correction over the eight columns of a model."
    )


def p_words(p: float | None) -> str:
    """A p-value as text.

    >>> p_words(0.2), p_words(0.0004), p_words(None)
    ('0.200', '<0.001', '–')
    """
    return number(p)


def listed(names: Sequence[str]) -> str:
    """Names in a row.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)
