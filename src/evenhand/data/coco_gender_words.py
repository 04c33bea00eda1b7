"""Whom a photograph of COCO shows, by the words of its captions.

Zhao et al. ("Men Also Like Shopping", EMNLP 2017) read the gender of the people on an image off its five
captions. The rule as it is stated here, which is ours where their text leaves a choice:

- a caption mentions a man or a woman if one of the words below is in it, in small or capital letters. A word
  ends at anything that is no letter, digit, underscore or hyphen: "man's" is the word man; "woman",
  "snowman", "fireman" and "man-made" are not.
- an image is `man` if any of its captions mentions a man and none a woman, `woman` the other way round.
- an image whose captions mention both, or neither, has no gender (-1).

Pronouns are in neither list, for they may mean somebody who is not on the image.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from evenhand.arrays import IntArray
from evenhand.groups import UNKNOWN

# for each list the words for a man, and the words for a woman
WORDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "narrow": (("man", "men"), ("woman", "women")),
    "wide": (
        (
            *("man", "men", "male", "males", "boy", "boys", "guy", "guys", "gentleman", "gentlemen"),
            *("father", "fathers", "dad", "husband", "brother", "brothers", "son", "sons", "grandfather"),
        ),
        (
            *("woman", "women", "female", "females", "girl", "girls", "gal", "gals", "lady", "ladies"),
            *("mother", "mothers", "mom", "wife", "sister", "sisters", "daughter", "daughters"),
            "grandmother",
        ),
    ),
}


class Mentions(NamedTuple):
    """For each image, whether some caption of it mentions a man, and whether some mentions a woman."""

    man: IntArray
    woman: IntArray

    def codes(self) -> IntArray:
        """0 where only a man is mentioned, 1 where only a woman is, -1 where both or neither are."""
        alone = np.where(self.man > self.woman, 0, 1)
        return np.where(self.man == self.woman, UNKNOWN, alone).astype(np.int64)


def mentions(places: Sequence[int], captions: Sequence[str], n_images: int, words: str) -> Mentions:
    """What the captions mention: caption k is about the image in place `places[k]`.

    >>> texts = ["A Man on a horse", "a man's hat", "two women", "a snowman", "a man-made hill, a woman"]
    >>> mentions([0, 0, 0, 1, 2], texts, 3, "narrow").codes().tolist()
    [-1, -1, 1]
    """
    found = [np.zeros(n_images, dtype=np.int64) for _ in range(2)]
    for marked, listed in zip(found, WORDS[words], strict=True):
        says = pattern(listed).search
        marked[[place for place, text in zip(places, captions, strict=True) if says(text)]] = 1
    return Mentions(*found)


def pattern(listed: Sequence[str]) -> re.Pattern[str]:
    """What finds one of the words in a text, standing alone.

    >>> bool(pattern(["man"]).search("The MAN.")), bool(pattern(["man"]).search("a man-made woman"))
    (True, False)
    """
    return re.compile(rf"(?<![\w-])(?:{'|'.join(listed)})(?![\w-])", re.IGNORECASE)
