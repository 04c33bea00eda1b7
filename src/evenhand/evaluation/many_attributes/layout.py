"""How S1 lays out its studies: tasks, structures of groups, metrics, methods; and how near is near.

A structure is a choice of crossed attributes; its grouping is named by collection and number of attributes
("balanced 3"). All of this, and what is asked in the modules beside it, was fixed before its study was run.
"""

from __future__ import annotations

import re

SINGLE, MULTI = "single-label", "multi-label"
PART = "test"

PERFORMANCE, AMPLIFICATION, EPSILON = "performance", "amplification", "epsilon"
SLOTS = (PERFORMANCE, AMPLIFICATION, EPSILON)
# binary tasks: of the positive class, whose size the printed tables have; of more classes or labels: the mean
KEYS = {AMPLIFICATION: "ba_signed.positive", EPSILON: "eps"}
CELLS, GROUPS, PRECISION = "acc_u.label_attr", "acc_u", "map_u"
MOST_CLASSES = 20  # with more classes nearly all cells of label x group are empty: groups alone (ImageNet)
WORST = "min_acc.label_attr"
NAMES = {
    CELLS: "reweighted accuracy", GROUPS: "reweighted accuracy", PRECISION: "reweighted mAP",
    KEYS[AMPLIFICATION]: "bias amplification", KEYS[EPSILON]: "intersectional bias",
    WORST: "worst-cell accuracy",
}  # fmt: skip
BETTER = {PERFORMANCE: "higher", AMPLIFICATION: "lower", EPSILON: "lower", WORST: "higher"}
# less than that is called a tie, little or close: about the deviation over seeds that S1 prints in Table 4
MARGIN = {PERFORMANCE: 0.01, AMPLIFICATION: 0.01, EPSILON: 0.1, WORST: 0.05}

PLAIN = {
    "erm": "U-ERM", "w-erm": "W-ERM", "w-sqrt-erm": "W-SqrtERM", "gdro": "WA-GDRO", "ind": "Ind",
    "jtt": "UWA-JTT", "sd": "U-SD", "irm": "IRM", "irm-uniform": "Uniform IRM", "a-cens": "A-Cens",
    "disc": "Disc",
}  # fmt: skip
# decomposed by attribute (AD) or distilled (KD), and what each is a variant of
VARIANTS = {
    "w-erm-ad": "w-erm", "ind-ad": "ind", "ind-kd": "ind", "ind-ad-kd": "ind", "gdro-ad": "gdro",
    "w-sqrt-erm-kd": "w-sqrt-erm", "a-cens-ad": "a-cens", "irm-ad": "irm", "disc-ad": "disc",
}  # fmt: skip
SHOWN_VARIANTS = ("w-erm-ad", "ind-ad", "ind-kd", "ind-ad-kd")  # in Figure 10
PRETRAINED = "pre+"  # before the key of a method that is first trained on all rows without groups
BEFORE = "pre-trained "  # before the name of such a method

COLLECTION_FIGURES = {"inconsistent": 6, "protected": 7, "balanced": 8, "imbalanced": 9}
NOISY, SENSITIVE = "inconsistent", "protected"
SWAPPED = "swap"  # in the name of a task whose target and protected attribute changed places
CLEAN = ", clean"  # after the name of a task: the same with right group labels
NO_COLLECTION = "all"


def collection_of(grouping: str) -> str:
    """The collection that a grouping's name begins with; one for all where no number follows.

    >>> collection_of("balanced 3"), collection_of("Imbalanced-7"), collection_of("race x gender")
    ('balanced', 'imbalanced', 'all')
    """
    found = re.fullmatch(r"(.*[^\W_])[\W_]+\d+|(.*[^\W\d_])\d+", grouping.strip())
    return (found[1] or found[2]).lower() if found else NO_COLLECTION


def plain_key(key: str) -> str:
    """The key of a method without the word that it is trained before.

    >>> plain_key("pre+ind-ad"), plain_key("ind-ad")
    ('ind-ad', 'ind-ad')
    """
    return key.removeprefix(PRETRAINED)


def printed_name(key: str) -> str:
    """What S1 calls a method; its key where S1 has no name for it.

    >>> printed_name("gdro"), printed_name("ind-ad-kd"), printed_name("pre+w-erm"), printed_name("gap")
    ('WA-GDRO', 'Ind + AD + KD', 'pre-trained W-ERM', 'gap')
    """
    own = plain_key(key)
    base = VARIANTS.get(own, own)
    added = [part.upper() for part in own.removeprefix(base).split("-") if part] if own in VARIANTS else []
    told = " + ".join([PLAIN.get(base, base), *added])
    return f"{BEFORE}{told}" if key.startswith(PRETRAINED) else told
