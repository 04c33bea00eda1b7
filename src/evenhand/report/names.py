"""The words for rates and groups: long names, short column heads, reasons why a rate is undefined."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenhand.report.numbers import defined

# key: (name in a sentence, column head, why it can be undefined in a group that has rows)
RATES: dict[str, tuple[str, str, str]] = {
    "selection": ("selection rate", "Selection", "no rows to count"),
    "tpr": ("true positive rate", "TPR", "no row has the positive label"),
    "fpr": ("false positive rate", "FPR", "no row has the negative label"),
    "tnr": ("true negative rate", "TNR", "no row has the negative label"),
    "fnr": ("false negative rate", "FNR", "no row has the positive label"),
    "ppv": ("positive predictive value", "PPV", "no row is predicted positive"),
    "npv": ("negative predictive value", "NPV", "no row is predicted negative"),
    "for": ("false omission rate", "FOR", "no row is predicted negative"),
    "accuracy": ("accuracy", "Accuracy", "no rows to count"),
    "balanced_accuracy": ("balanced accuracy", "Bal. acc.", "one of the labels does not occur"),
    "f1": ("F1 score", "F1", "no row is labelled or predicted positive"),
    "mcc": ("Matthews correlation", "MCC", "only one label or one prediction occurs"),
    "auc": ("area under the ROC curve", "AUC", "both labels must occur"),
    "ap": ("average precision", "AP", "no row has the positive label"),
    "brier": ("Brier score", "Brier", "no scores"),
    "ece": ("expected calibration error", "ECE", "no scores"),
    "log_loss": ("log loss", "Log loss", "no scores"),
    "topk": ("top-k accuracy", "Top-k", "no scores"),
    "mean_score": ("mean score", "Mean score", "no scores"),
}
# The rates that a reader meets first, in this order.
MAIN = ("selection", "tpr", "fpr", "ppv", "accuracy")


def rate_name(key: str) -> str:
    """The name of a rate in a sentence.

    >>> rate_name("tpr"), rate_name("my_rate")
    ('true positive rate', 'my rate')
    """
    return RATES[key][0] if key in RATES else key.replace("_", " ")


def rate_head(key: str) -> str:
    """The name of a rate over a narrow column.

    >>> rate_head("balanced_accuracy")
    'Bal. acc.'
    """
    return RATES[key][1] if key in RATES else key.replace("_", " ")


def why_undefined(key: str, group: Mapping[str, Any]) -> str:
    """Why this group has no such rate.

    >>> why_undefined("tpr", {"n": 4}), why_undefined("tpr", {"n": 0})
    ('undefined: no row has the positive label', 'undefined: no rows in this group')
    """
    if not group.get("n"):
        return "undefined: no rows in this group"
    return f"undefined: {RATES[key][2]}" if key in RATES else "undefined: nothing to divide by"


def rates_present(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Rate keys that occur, known ones first and in their usual order.

    >>> rates_present([{"rates": {"zzz": 1, "fpr": 0.1, "tpr": None}}])
    ['tpr', 'fpr', 'zzz']
    """
    found = {key for group in groups for key in group.get("rates", {})}
    return [key for key in RATES if key in found] + sorted(found - RATES.keys())


def main_rates(audit: Mapping[str, Any]) -> list[str]:
    """The main rates that at least one group has.

    Over exclusive classes the mean selection rate is one over their number in every group, and tells nothing.

    >>> main_rates({"task": "binary", "groups": [{"rates": {"mcc": 0.1, "tpr": 0.5, "fpr": None}}]})
    ['tpr']
    """
    keys = MAIN[1:] if audit.get("task") == "multiclass" else MAIN
    return [key for key in keys if any(defined(group["rates"].get(key)) for group in audit["groups"])]


def listed(names: Iterable[str], limit: int = 3) -> str:
    """Names in a sentence, with the rest counted.

    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    everyone = [isolated(name) for name in names]
    shown = everyone[:limit] if len(everyone) > limit + 1 else everyone
    if len(shown) < len(everyone):
        return f"{', '.join(shown)} and {len(everyone) - len(shown)} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def isolated(name: str) -> str:
    """A name that keeps its own writing direction inside an English sentence.

    Without the isolating marks, a right-to-left group name would pull the digits beside it to its other side.

    >>> isolated("female"), isolated("أنثى") == "\\u2068أنثى\\u2069"
    ('female', True)
    """
    if any(unicodedata.bidirectional(letter) in {"R", "AL", "AN"} for letter in name):
        return f"\u2068{name}\u2069"
    return name
