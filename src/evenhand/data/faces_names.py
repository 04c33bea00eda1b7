"""The names of the forty facts about a face, in CelebA's official order, and the four lists of S1.

The names are CelebA's (Liu, Luo, Wang and Tang 2015, "Deep Learning Face Attributes in the Wild"). The lists
are those of S1 ("many tasks, many attributes"), in the order in which they are printed: a grouping takes the
first i of a list, and 7 + 7 + 6 + 7 of them make 27 structures. They are not sorted by balance.
"""

from __future__ import annotations

ATTRIBUTES: tuple[str, ...] = (
    "5_o_Clock_Shadow",
    "Arched_Eyebrows",
    "Attractive",
    "Bags_Under_Eyes",
    "Bald",
    "Bangs",
    "Big_Lips",
    "Big_Nose",
    "Black_Hair",
    "Blond_Hair",
    "Blurry",
    "Brown_Hair",
    "Bushy_Eyebrows",
    "Chubby",
    "Double_Chin",
    "Eyeglasses",
    "Goatee",
    "Gray_Hair",
    "Heavy_Makeup",
    "High_Cheekbones",
    "Male",
    "Mouth_Slightly_Open",
    "Mustache",
    "Narrow_Eyes",
    "No_Beard",
    "Oval_Face",
    "Pale_Skin",
    "Pointy_Nose",
    "Receding_Hairline",
    "Rosy_Cheeks",
    "Sideburns",
    "Smiling",
    "Straight_Hair",
    "Wavy_Hair",
    "Wearing_Earrings",
    "Wearing_Hat",
    "Wearing_Lipstick",
    "Wearing_Necklace",
    "Wearing_Necktie",
    "Young",
)

BALANCED: tuple[str, ...] = (
    "Wearing_Lipstick",
    "High_Cheekbones",
    "Heavy_Makeup",
    "Male",
    "Attractive",
    "Smiling",
    "Mouth_Slightly_Open",
)
IMBALANCED: tuple[str, ...] = (
    "Wearing_Hat",
    "Double_Chin",
    "Blurry",
    "Gray_Hair",
    "Bald",
    "Sideburns",
    "Mustache",
)
INCONSISTENT: tuple[str, ...] = (
    "Wavy_Hair",
    "Oval_Face",
    "Big_Nose",
    "Pale_Skin",
    "Big_Lips",
    "Straight_Hair",
)
PROTECTED: tuple[str, ...] = (
    "Pale_Skin",
    "Male",
    "Narrow_Eyes",
    "Big_Nose",
    "Young",
    "Straight_Hair",
    "Attractive",
)
LISTS: dict[str, tuple[str, ...]] = {
    "balanced": BALANCED,
    "imbalanced": IMBALANCED,
    "inconsistent": INCONSISTENT,
    "protected": PROTECTED,
}
