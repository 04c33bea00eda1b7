"""What a selection is called, in words that a reader can judge it by."""

from __future__ import annotations

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.study.spec import SelectionSpec

ORACLE = "chosen on the test rows: an upper bound, not what a user would get"


def selection_words(spec: SelectionSpec) -> str:
    """How settings are chosen, and where; an oracle is called one.

    >>> selection_words(SelectionSpec(metric="tpr.gap"))
    'the setting with the lowest mean of true positive rate: gap over seeds, on the validation rows'
    """
    name = CATALOGUE[spec.metric].name
    best = {"higher": "highest", "lower": "lowest"}.get(CATALOGUE[spec.metric].better, "nearest to ideal")
    accuracy = CATALOGUE[spec.accuracy].name
    what = {
        "best-mean": f"the setting with the {best} mean of {name} over seeds",
        "best-per-metric": "for each metric its own best setting, so that the numbers of a row belong to "
        f"several models (rates of groups, levelling and costs are those of the one best in {name})",
        "accuracy-constraint": f"the setting with the {best} mean of {name} among those whose mean of "
        f"{accuracy} is within {spec.tolerance:g} of the best",
        "distance-to-optimum": f"the setting whose means of {accuracy} and {name} are nearest to both ideals",
        "pareto": f"all settings that none beats in {accuracy} and {name} (the row shows the one nearest to "
        "both ideals)",
    }[spec.rule]
    where = ORACLE if spec.part == "test" else f"on the {spec.part} rows"
    return f"{what}, {where}"


def short_words(spec: SelectionSpec) -> str:
    """The rule in a few words, for a table.

    >>> short_words(SelectionSpec(part="test"))
    'best-mean of acc on test (oracle)'
    """
    oracle = " (oracle)" if spec.part == "test" else ""
    return f"{spec.rule} of {spec.metric} on {spec.part}{oracle}"
