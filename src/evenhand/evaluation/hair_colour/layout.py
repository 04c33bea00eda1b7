"""S2's Table 4 and the numbers in the rules of `hair-colour`, written before its runs.

Citation: Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks (S2), Table 4 and
Figure 4. The rules in sentences: docs/studies/hair-colour.md.
"""

from __future__ import annotations

NAME = "hair-colour"
PART = "test"
DRAWS = 2000  # random subgroups of each test set
ALPHA = 0.05
METRICS = ("cev", "sde")
NORMALISED = {"cev": "cev_norm", "sde": "sde_norm"}
CHANGES = {"fpr_change": "change of FPR", "fnr_change": "change of FNR"}
PAPER_ALL = 0.9212
_HEADS = ("accuracy", "cev_norm", "sde_norm", "fpr_change", "fnr_change")  # changes in percent
_ROWS = {
    ("Attractive", "yes"): (0.9222, 0.0015, 0.0331, -31.0809, 80.4380),
    ("Male", "yes"): (0.9225, 0.1413, 0.2205, 12.8440, 77.8003),
    ("Pale_Skin", "yes"): (0.9224, 0.0035, 0.0465, -43.8572, -33.9335),
    ("Young", "yes"): (0.9215, 0.0002, 0.0082, -27.6765, 150.5065),
    ("Attractive", "no"): (0.9208, 0.0034, 0.0493, 45.6423, 6.8297),
    ("Male", "no"): (0.9207, 0.0053, 0.0562, 1.2762, 47.2981),
    ("Pale_Skin", "no"): (0.9207, 0.0000, 0.0021, 1.9565, 1.4648),
    ("Young", "no"): (0.9213, 0.0035, 0.0313, 146.3057, 0.2381),
}
PAPER = {group: dict(zip(_HEADS, row, strict=True)) for group, row in _ROWS.items()}
HOLDS, DOES_NOT, UNTOLD = "holds", "does not", "cannot tell"


def subgroup_name(attribute: str, level: str) -> str:
    """What a table calls a subgroup.

    >>> subgroup_name("Pale_Skin", "no"), subgroup_name("Male", "yes")
    ('not Pale_Skin', 'Male')
    """
    return f"not {attribute}" if level == "no" else attribute
