"""The distribution shifts by name: what each does, to what, and how strongly. Listing them needs no torch.

A shift acts at test time, on the inputs of each row (`acts_on="inputs"`: noise, blur, lost entries) or on
which rows there are (`acts_on="rows"`: the population is another). `severity` 0 is the data as it was, for
every shift; the five standard severities of each were chosen before any result, so that those of S4 are among
them (noise of deviation 0.03 and 0.06 on tables, impulses at 0.03; its 0.08 on images lies between two).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from evenhand.data.registry import _unknown
from evenhand.errors import InputError

TABLE, IMAGE = "table", "image"
BOTH = (TABLE, IMAGE)


@dataclass(frozen=True)
class Shift:
    """What can be said of a shift before it is applied; `most` is the greatest severity that has a meaning.

    `chooses` says what may follow the key after a colon, as in "group-share:Female"; a shift that is not
    `random` is the same for every seed.

    >>> SHIFTS["gaussian"].severities
    (0.03, 0.06, 0.12, 0.25, 0.5)
    """

    key: str
    title: str
    acts_on: Literal["inputs", "rows"]
    fits: tuple[str, ...]
    severities: tuple[float, ...]
    unit: str
    words: str
    most: float = math.inf
    chooses: str = ""
    random: bool = True


_LINES = (
    Shift("gaussian", "Gaussian noise", "inputs", BOTH, (0.03, 0.06, 0.12, 0.25, 0.5),
          "deviation of the noise", "x + N(0, s²) on every entry"),
    Shift("uniform", "Uniform noise", "inputs", BOTH, (0.03, 0.06, 0.12, 0.25, 0.5),
          "deviation of the noise", "x + U(-√3 s, √3 s) on every entry"),
    Shift("feature-dropout", "Lost entries", "inputs", (TABLE,), (0.05, 0.1, 0.2, 0.4, 0.6),
          "probability of an entry", "each entry becomes 0, the mean of a z-scored column", 1.0),
    Shift("impulse", "Impulse noise", "inputs", BOTH, (0.01, 0.03, 0.06, 0.12, 0.25),
          "probability of an entry",
          "each entry becomes black or white (in tables: -3 or 3 deviations), by equal chance", 1.0),
    Shift("shot-noise", "Shot noise", "inputs", (IMAGE,), (0.06, 0.12, 0.2, 0.35, 0.6),
          "deviation of a white pixel", "Poisson(x / s²) s²: counted photons, 1/s² of them at white", 1.0),
    Shift("blur", "Gaussian blur", "inputs", (IMAGE,), (0.015, 0.025, 0.04, 0.06, 0.09),
          "deviation as a share of the shorter side", "convolved with a Gaussian; edge pixels go on outside",
          0.5, random=False),
    Shift("motion-blur", "Motion blur", "inputs", (IMAGE,), (0.06, 0.12, 0.2, 0.3, 0.4),
          "length of the way as a share of the shorter side",
          "mean along a straight way, in one of four directions for each image", 1.0),
    Shift("contrast", "Lower contrast", "inputs", (IMAGE,), (0.2, 0.4, 0.6, 0.75, 0.9),
          "share of the contrast lost", "m + (1 - s)(x - m), m the mean of the channel in the image", 1.0,
          random=False),
    Shift("brightness", "Brighter", "inputs", (IMAGE,), (0.1, 0.2, 0.3, 0.4, 0.5),
          "share of white added", "min(1, x + s)", 1.0, random=False),
    Shift("pixelate", "Coarse pixels", "inputs", (IMAGE,), (0.07, 0.1, 0.13, 0.2, 0.25),
          "side of a block as a share of the shorter side", "mean of each square block", 1.0,
          random=False),
    Shift("jpeg", "JPEG compression", "inputs", (IMAGE,), (0.2, 0.5, 0.75, 0.85, 0.93),
          "1 - quality/100", "8x8 cosine transforms rounded by the standard tables, colours halved", 0.99,
          random=False),
    Shift("occlusion", "Occlusion", "inputs", (IMAGE,), (0.02, 0.05, 0.1, 0.2, 0.3),
          "share of the area", "a grey square at a random place of each image", 1.0),
    Shift("covariate-resampling", "Other covariates", "rows", BOTH, (0.25, 0.5, 0.75, 1.0, 1.5),
          "deviations that a normal feature's mean moves by",
          "rows resampled with weights exp(s z), z a standardised feature or the first principal component",
          3.0, "a column of the table; unless named, the first principal component"),
    Shift("group-share", "Other group shares", "rows", BOTH, (0.1, 0.25, 0.5, 0.75, 0.9),
          "share of the way to 1", "rows resampled so that a group's share q becomes q + s (1 - q)",
          1.0, "a group of the protected attributes; unless named, the smallest"),
)  # fmt: skip
SHIFTS: dict[str, Shift] = {line.key: line for line in _LINES}


def find_shift(key: str) -> tuple[Shift, str]:
    """The shift of that key, and what was chosen after a colon ("" if nothing).

    >>> find_shift("group-share:Female")[1]
    'Female'
    >>> find_shift("jpg")
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no shift 'jpg'; did you mean 'jpeg'? There are: gaussian, uniform,
    feature-dropout, impulse, shot-noise, blur, motion-blur, contrast, brightness, pixelate, jpeg,
    occlusion, covariate-resampling, group-share
    """
    name, colon, chosen = str(key).partition(":")
    if name not in SHIFTS:
        raise InputError(_unknown("there is no shift", name, SHIFTS, "There are"))
    shift = SHIFTS[name]
    if colon and not shift.chooses:
        raise InputError(f"the shift '{name}' has nothing to choose: leave ':{chosen}' out")
    if colon and not chosen:
        raise InputError(f"'{key}' names nothing after the colon; there may be {shift.chooses}")
    return shift, chosen


def check_severity(shift: Shift, severity: float) -> float:
    """The severity as a float if the shift has a meaning for it; else `InputError`.

    >>> check_severity(SHIFTS["impulse"], 2)
    Traceback (most recent call last):
    evenhand.errors.InputError: the severity 2 of 'impulse' is above 1: it is the probability of an entry;
    standard severities: 0.01, 0.03, 0.06, 0.12, 0.25
    """
    number = isinstance(severity, int | float) and not isinstance(severity, bool) and math.isfinite(severity)
    if number and 0 <= severity <= shift.most:
        return float(severity)
    wrong = "is not a number of at least 0" if not number or severity < 0 else f"is above {shift.most:g}"
    standard = ", ".join(f"{value:g}" for value in shift.severities)
    raise InputError(
        f"the severity {severity!r} of '{shift.key}' {wrong}: it is the {shift.unit}; "
        f"standard severities: {standard}"
    )


def check_fits(shift: Shift, kind: str) -> None:
    """Raise `InputError` if the shift does not fit inputs of this kind, "table" or "image".

    >>> check_fits(SHIFTS["blur"], "table")
    Traceback (most recent call last):
    evenhand.errors.InputError: the shift 'blur' is for images and these inputs are a table; shifts for
    tables: gaussian, uniform, feature-dropout, impulse, covariate-resampling, group-share
    """
    if kind in shift.fits:
        return
    others = ", ".join(key for key, other in SHIFTS.items() if kind in other.fits)
    shown = {TABLE: "a table", IMAGE: "images"}[kind]
    raise InputError(
        f"the shift '{shift.key}' is for {' and '.join(f'{name}s' for name in shift.fits)} and these inputs "
        f"are {shown}; shifts for {kind}s: {others}"
    )
