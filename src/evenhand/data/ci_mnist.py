"""CI-MNIST: even or odd digits on a coloured background, every correlation set by a knob.

The benchmark of S3 ("Benchmarking Bias Mitigation Algorithms in Representation Learning through Fairness
Metrics"): digits with lines and green marks (variant A, S3's own), or with a grey box (variant B, the later
version that is called CI-MNIST).
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.ci_mnist_draw import NO_COLUMN, Drawn, draw
from evenhand.data.ci_mnist_look import UNUSED, Look, Pair, as_pair, look_at_test
from evenhand.data.ci_mnist_pictures import Picture, Pictures, painted_at_once
from evenhand.data.encode import check_choice
from evenhand.data.mnist import CITATION as MNIST_CITATION
from evenhand.data.mnist import LICENCE, ORIGIN, TITLES
from evenhand.data.mnist_files import Digits, read_digits
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import UNKNOWN, Attribute

SENSITIVE = {"A": ("colour", "lines"), "B": ("colour", "box")}
LEVELS = {
    "colour": ("red", "blue"),
    "lines": ("few", "many"),
    "box": ("left", "right"),
    "digit": tuple(str(digit) for digit in range(10)),
    "green_side": ("left", "right"),
}
PART_IDS = {"train": 0, "validation": 1, "test": 2, "validation_balanced": 3}  # of the generators' seeds
CITATION = (
    "S3: Benchmarking Bias Mitigation Algorithms in Representation Learning through Fairness Metrics (2021). "
    f"Digits: {MNIST_CITATION}"
)
NOTES = (
    "Nobody is described here: the colour is painted by us, in exact counts that the knobs set.",
    "Pixels are the original's 0..255 numbers rounded to bytes; networks are given them in [-1, 1].",
    "S3 calls red privileged and blue unprivileged. About 49 % of MNIST's test digits are even.",
)


@painted_at_once
def ci_mnist(
    variant: str = "A",
    *,
    clr_ratio: Pair | str | float = (0.5, 0.5),
    e_o_ratio: Pair | str | float = (0.5, 0.5),
    pos_ratio: Pair | str | float = (0.5, 0.5),
    g1: int = 22,
    g2: bool = True,
    gw: int = 5,
    shades: str = "per-pixel",
    test_green: str = "g1_20",
    sensitive: str = "colour",
    part: str = "packaged",
    seed: int = 123,
    limit: int = 0,
    progress: Progress | None = None,
) -> Task:
    """The task: is the digit even; the background is red (s = 0, privileged in S3) or blue (s = 1).

    Ratios are shares among the even and the odd digits: blue background, many lines (A), box on the left (B).
    Parts: "train" and "validation" with these ratios, "validation_balanced" (the same digits painted again)
    and "test" with colour, lines and box balanced and the green marks of `test_green`. `sensitive` ("colour",
    "lines" in A, "box" in B) is the first of the attributes. `part` is the MNIST it is made of: "packaged"
    (12,000 training images) or "full" (50,000, S3's); of each part at most the first `limit` images are used
    (0: all). One seed gives one data set, whatever a run's own seed.

    >>> task = ci_mnist(clr_ratio=(0.1, 0.1))
    >>> task.input_shape, [attribute.name for attribute in task.attributes]
    ((3, 32, 32), ['colour', 'lines', 'digit', 'green_side'])
    """
    look = Look(
        variant,
        as_pair("clr_ratio", clr_ratio),
        as_pair("e_o_ratio", e_o_ratio),
        as_pair("pos_ratio", pos_ratio),
        g1,
        g2,
        gw,
        shades,
    ).check()
    check_choice("sensitive", sensitive, SENSITIVE[variant])
    at_test = look_at_test(look, test_green)
    digits = read_digits(part, progress)
    if limit < 0:
        raise InputError(f"the knob limit={limit} must be a number of images, or 0 for all")
    looks = {"train": look, "validation": look, "validation_balanced": at_test, "test": at_test}
    made = [_part(digits, name, looks[name], seed, limit) for name in looks]
    codes = {name: np.concatenate([part_codes[name] for _, part_codes in made]) for name in made[0][1]}
    knobs = {"test_green": test_green, "sensitive": sensitive, "part": part, "seed": seed}
    knobs |= {"limit": limit} if limit else {}
    return Task(
        name="ci-mnist",
        x=Pictures([picture for picture, _ in made]),
        y=torch.from_numpy((codes["digit"] % 2 == 0).astype(np.int64)),
        attributes=tuple(Attribute(name, LEVELS[name], codes[name]) for name in _order(look, sensitive)),
        split=_split([len(picture.images) for picture, _ in made], list(looks)),
        card=_card(look, digits, knobs),
        classes=("odd", "even"),
        scaling=Scaling(127.5, 127.5),
    )


def _part(
    digits: Digits, name: str, look: Look, seed: int, limit: int
) -> tuple[Picture, dict[str, IntArray]]:
    """The images of one part and the codes of their attributes; its seed is its own."""
    images, labels = digits.parts()["validation" if name == "validation_balanced" else name]
    images, labels = images[: limit or None], labels[: limit or None]
    own = (seed, PART_IDS[name])
    drawn = draw(labels, look, np.random.default_rng(own))
    return Picture(images, drawn, look, own), attribute_codes(drawn, look)


def attribute_codes(drawn: Drawn, look: Look) -> dict[str, IntArray]:
    """The levels as they were drawn: never read back from the pixels, which green marks may have changed."""
    side = np.where(drawn.column_1 == NO_COLUMN, UNKNOWN, drawn.column_1 >= look.g1 // 2)
    found = {
        "colour": drawn.blue,
        "lines": drawn.many,
        "box": ~drawn.left,
        "digit": drawn.digit,
        "green_side": side,
    }
    return {name: np.asarray(codes, dtype=np.int64) for name, codes in found.items()}


def _order(look: Look, sensitive: str) -> list[str]:
    """The attributes that this task has, the sensitive one first."""
    green = ["green_side"] if look.variant == "A" and look.g1 else []
    names = [*SENSITIVE[look.variant], "digit", *green]
    return sorted(names, key=lambda name: name != sensitive)


def _split(sizes: list[int], names: list[str]) -> dict[str, Tensor]:
    return dict(zip(names, torch.split(torch.arange(sum(sizes)), sizes), strict=True))


def _card(look: Look, digits: Digits, knobs: dict[str, object]) -> DataCard:
    part = str(knobs["part"])
    hidden = {*UNUSED[look.variant], "green_tells", *(["test_green"] if look.variant == "B" else [])}
    knobs = {name: value for name, value in {**asdict(look), **knobs}.items() if name not in hidden}
    return DataCard(
        title=f"CI-MNIST, variant {look.variant}, of {TITLES[part]}",
        about="Handwritten digits on a red or blue background, 32 x 32 pixels, painted from MNIST.",
        origin=f"painted by evenhand; the digits: {ORIGIN[part]}",
        licence=LICENCE,
        citation=CITATION,
        target="whether the digit is even (called eligible in S3)",
        notes=(*NOTES, *_green_notes(look)),
        files=digits.files,
        knobs=knobs,
    )


def _green_notes(look: Look) -> tuple[str, ...]:
    """What the green marks that there are give away."""
    marks = {"the parity (side of the first)": look.g1, "the digit (column of the second)": look.g2}
    told = [words for words, on in marks.items() if on]
    if look.variant == "B" or not told:
        return ()
    return (
        f"The green marks of a training image tell {' and '.join(told)}: a network can read the label off "
        "them. `test_green` says what they tell at test.",
    )
