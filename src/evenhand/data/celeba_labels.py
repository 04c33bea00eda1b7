"""Which of CelebA's attributes are predicted: one, a list of them, or a list that a paper has made known.

S1 predicts `Blond_Hair` alone, and all attributes that are not protected. Wang et al. ("Towards Fairness in
Visual Recognition", CVPR 2020) protect Male, train on the other 39, and evaluate on the 34 of them that both
men and women have: the other five are hardly ever seen on one of the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from evenhand.data.faces_names import ATTRIBUTES
from evenhand.errors import InputError

ALL = "all"
RARE_IN_A_GENDER = ("5_o_Clock_Shadow", "Goatee", "Mustache", "Sideburns", "Wearing_Necktie")
WANG_39 = tuple(name for name in ATTRIBUTES if name != "Male")
WANG_34 = tuple(name for name in WANG_39 if name not in RARE_IN_A_GENDER)
NAMED = {"wang-39": WANG_39, "wang-34": WANG_34}


def names_of(given: str | Sequence[str]) -> tuple[str, ...]:
    """Names as a tuple: a sequence of them, or a text in which they are parted by commas.

    >>> names_of("Male, Young"), names_of(["Male"]), names_of("")
    (('Male', 'Young'), ('Male',), ())
    """
    if not isinstance(given, (str, Sequence)):
        raise InputError(f"names of attributes are needed, as in 'Male' or ['Male', 'Young'], not {given!r}")
    parts = given.split(",") if isinstance(given, str) else list(given)
    return tuple(str(part).strip() for part in parts if str(part).strip())


def is_one_name(target: str | Sequence[str]) -> bool:
    """Whether a target is one attribute, whose values are two classes; lists have a label for each name.

    >>> is_one_name("Smiling"), is_one_name(["Smiling"]), is_one_name("all"), is_one_name("Male,Young")
    (True, False, False, False)
    """
    return isinstance(target, str) and "," not in target and target not in (ALL, *NAMED)


def told_labels(target: str | Sequence[str], predicted: Sequence[str]) -> str:
    """What a card says is predicted.

    >>> told_labels("Smiling", ["Smiling"]), told_labels(["Smiling"], ["Smiling"])
    ('Smiling (no, yes)', '1 label a face')
    """
    several = f"{len(predicted)} label{'s' if len(predicted) > 1 else ''} a face"
    return f"{target} (no, yes)" if is_one_name(target) else several


def chosen_labels(
    target: str | Sequence[str], protect: str | Sequence[str], names: Sequence[str]
) -> tuple[str, ...]:
    """The names that are predicted, in the order of `names`, without those that are protected.

    >>> chosen_labels("all", ["Male"], ["Bald", "Male", "Young"])
    ('Bald', 'Young')
    """
    known, kept_out = tuple(names), names_of(protect)
    given = known if target == ALL else NAMED.get(target) if isinstance(target, str) else None
    wanted = names_of(target) if given is None else given
    for name in (*wanted, *kept_out):
        place_of(name, known)
    twice = next((name for name in wanted if wanted.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the knob target names {twice!r} twice; name it once")
    left = tuple(name for name in known if name in wanted and name not in kept_out)
    if not left:
        raise InputError(f"target={target!r} without protect={list(kept_out)} leaves no attribute to predict")
    return left


def place_of(name: str, known: Sequence[str]) -> int:
    """Where a name is among CelebA's; one that is not there is told with the nearest."""
    if name not in known:
        near = get_close_matches(name, known, n=2, cutoff=0.4)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        raise InputError(f"CelebA has no attribute {name!r}{hint} It has: {', '.join(known)}")
    return list(known).index(name)
