"""The knobs of CI-MNIST: how the images of one part of the split shall look, and those of the test part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.data.encode import check_choice
from evenhand.errors import InputError

Pair = tuple[float, float]
EVENLY: Pair = (0.5, 0.5)
MOST_G1 = 22  # column g1 + digit, at most 22 + 9, is the last of the 32
MOST_GW = 10  # lines are drawn from row 10 on
TEST_GREENS = ("g1_20", "same", "absent", "parity-independent")

UNUSED: dict[str, dict[str, object]] = {  # knobs that mean nothing in a variant, with their defaults
    "A": {"pos_ratio": EVENLY},
    "B": {"e_o_ratio": EVENLY, "g1": 22, "g2": True, "gw": 5},
}


@dataclass(frozen=True)
class Look:
    """What decides the looks of a part. Pairs are shares among the even and among the odd digits.

    `clr_ratio` have a blue background (the others red), `e_o_ratio` have many lines (variant A), `pos_ratio`
    have the box on the left (variant B). `g1` columns hold the first green mark (0: no mark), `g2` sets the
    second, `gw` is the height of both. Where `green_tells` is off, the marks know nothing of the digit.
    """

    variant: str = "A"
    clr_ratio: Pair = EVENLY
    e_o_ratio: Pair = EVENLY
    pos_ratio: Pair = EVENLY
    g1: int = 22
    g2: bool = True
    gw: int = 5
    shades: str = "per-pixel"
    green_tells: bool = True

    def check(self) -> Look:
        """The look itself, if the spec allows it."""
        check_choice("variant", self.variant, ("A", "B"))
        check_choice("shades", self.shades, ("per-pixel", "per-image"))
        for name, default in UNUSED[self.variant].items():
            if getattr(self, name) != default:
                raise InputError(f"variant {self.variant} has no use for the knob {name}; leave it out")
        for name in ("clr_ratio", "e_o_ratio", "pos_ratio"):
            if not all(0.0 <= share <= 1.0 for share in getattr(self, name)):
                raise InputError(f"the knob {name}={getattr(self, name)} must hold two shares from 0 to 1")
        if self.g1 % 2 or not 0 <= self.g1 <= MOST_G1:
            raise InputError(f"the knob g1={self.g1} must be even, 2 to {MOST_G1}, or 0 for no first mark")
        if not 1 <= self.gw <= MOST_GW:
            raise InputError(f"the knob gw={self.gw} must be a number of pixels from 1 to {MOST_GW}")
        return self


def look_at_test(look: Look, test_green: str = "g1_20") -> Look:
    """The look of the test images: colour, lines and box balanced, the green marks as `test_green` says.

    "g1_20": 20 columns whatever g1 is in training; "same": as in training; "absent": no marks;
    "parity-independent": columns and second marks drawn without regard to the digit. A mark that training
    does not have is in no test image either.

    >>> look_at_test(Look(clr_ratio=(0.01, 0.99), g1=2)).g1
    20
    """
    check_choice("test_green", test_green, TEST_GREENS)
    balanced = replace(look, clr_ratio=EVENLY, e_o_ratio=EVENLY, pos_ratio=EVENLY)
    if test_green == "g1_20":
        return replace(balanced, g1=20 if look.g1 else 0)
    if test_green == "absent":
        return replace(balanced, g1=0, g2=False)
    return replace(balanced, green_tells=test_green == "same")


def as_pair(name: str, value: Sequence[float] | str | float) -> Pair:
    """A pair of shares as users write it: (0.1, 0.9), "0.1,0.9", or one number for both.

    >>> as_pair("clr_ratio", "0.1, 0.9"), as_pair("clr_ratio", 0.01)
    ((0.1, 0.9), (0.01, 0.01))
    """
    texts = value.split(",") if isinstance(value, str) else value
    try:
        shares = [float(share) for share in (texts if isinstance(texts, Sequence) else [texts])]
        even, odd = shares * 2 if len(shares) == 1 else shares
    except (TypeError, ValueError):
        raise InputError(
            f"the knob {name}={value!r} must be two shares, of the even and the odd digits, such as 0.1,0.9"
        ) from None
    return even, odd
