"""Synthetic tasks: attributes, group sizes, bias and noise of chosen strength; the right answer is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import torch

from evenhand.data.card import DataCard
from evenhand.data.encode import as_input
from evenhand.data.splits import as_split, check_share
from evenhand.data.synthetic_draw import draw_part
from evenhand.data.synthetic_world import World
from evenhand.data.task import PARTS, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

MOST_LEVELS = 1000
Shares = Sequence[float] | Sequence[Sequence[float]] | None


def synthetic(
    seed: int = 0,
    n_train: int = 6000,
    n_validation: int = 2000,
    n_test: int = 2000,
    attributes: int = 1,
    levels: int = 2,
    shares: Shares = None,
    correlation: float = 0.0,
    classes: int = 2,
    labels: int = 0,
    positive: float = 0.5,
    signal: float = 1.0,
    signal_gap: float = 0.0,
    turn: float = 0.0,
    leak: float = 2.0,
    label_shift: float = 0.0,
    label_flip: float = 0.0,
    spurious: float = 2.0,
    attribute_noise: float = 0.0,
    scarcity: float = 0.0,
    balanced_test: bool = False,
    d: int = 10,
) -> Task:
    """Draw a task from a known population (`evenhand.data.synthetic_world` has the formulas).

    Protected attributes: how many `attributes`, their number of `levels`, the `shares` of the levels (a list
    for all, or a list for each attribute; equal unless given), and the `correlation` of the normal variables
    that they are cut from. Target: two `classes`, more, or several binary `labels`; `positive` is the share
    of 1.

    How groups differ: base rates (`label_shift`), distance of the classes (`signal_gap` on `signal`), the
    direction in which they differ (`turn`, degrees), labels recorded one class lower (`label_flip`), and how
    well the inputs tell the group (`leak`). `spurious` shifts the base rates of the training and validation
    rows only: a model that learns the group instead of the class is wrong about the test.

    What is recorded: a share `attribute_noise` of the values of each attribute is another level, and a share
    `scarcity` of the rows has no attributes (-1). Neither holds for test rows, nor do flipped labels: a test
    is judged by the truth. Every part, and every kind of noise, is drawn by a generator of its own: another
    `scarcity` changes no input and no label.

    >>> task = synthetic(attributes=2, shares=[0.2, 0.8], correlation=0.5, n_test=0)
    >>> task.x.shape, [len(rows) for rows in task.split.values()], task.groups().names[0]
    (torch.Size([8000, 10]), [6000, 2000], 'a0=0 · a1=0')
    """
    knobs = dict(locals())
    world = _world(knobs)
    _check(world, knobs)
    sizes = dict(zip(PARTS, (n_train, n_validation, n_test), strict=True))
    drawn = [draw_part(world, part, rows, seed, attribute_noise, scarcity) for part, rows in sizes.items()]
    x, y, codes = (np.concatenate(values) for values in zip(*drawn, strict=True))
    ends = np.cumsum(list(sizes.values()))
    split = dict(zip(sizes, np.split(np.arange(ends[-1]), ends[:-1]), strict=True))
    return Task(
        "synthetic",
        as_input(x),
        torch.from_numpy(y),
        tuple(
            Attribute(f"a{j}", tuple(str(level) for level in range(len(part))), codes[:, j].copy())
            for j, part in enumerate(world.shares)
        ),
        as_split({part: rows for part, rows in split.items() if len(rows)}),
        _card(knobs),
        classes=tuple(f"label {i}" for i in range(labels))
        if labels
        else tuple(str(i) for i in range(classes)),
        columns=world.names,
    )


def world_of(task: object) -> World:
    """The population behind a synthetic task, from the knobs on its card."""
    if not isinstance(task, Task) or task.name != "synthetic":
        raise InputError("the right answer is known of tasks that 'synthetic' made, and of no other")
    return _world(task.card.knobs)


def _world(knobs: Mapping[str, Any]) -> World:
    chosen = {field.name: knobs[field.name] for field in fields(World)}
    return World(**{**chosen, "shares": _shares(knobs)})


def _shares(knobs: Mapping[str, Any]) -> tuple[tuple[float, ...], ...]:
    """The shares of the levels of each attribute, adding up to 1."""
    count, levels, given = knobs["attributes"], knobs["levels"], knobs["shares"]
    if count < 1 or levels < 2:
        raise InputError(f"attributes={count} must be at least 1, and levels={levels} at least 2")
    if count > knobs["d"] or levels > MOST_LEVELS:  # told before lists of that length are made
        raise InputError(
            f"attributes={count} must be at most d={knobs['d']}, and levels at most {MOST_LEVELS}"
        )
    wanted = f"shares={given!r} must be one list of shares, or one for each of {count} attributes"
    if given is not None and not isinstance(given, Sequence):
        raise InputError(wanted)
    rows = [1.0 / levels] * levels if given is None else list(given)
    rows = rows if rows and isinstance(rows[0], Sequence) else [rows] * count
    if len(rows) != count or any(not isinstance(row, Sequence) or len(row) < 2 for row in rows):
        raise InputError(wanted)
    for row in rows:
        if any(isinstance(share, str) for share in row) or min(row) <= 0 or abs(sum(row) - 1.0) > 1e-6:
            raise InputError(f"shares={list(row)} must be positive and add up to 1")
    return tuple(tuple(float(share) / sum(row) for share in row) for row in rows)


def _check(world: World, knobs: Mapping[str, Any]) -> None:
    for name in ("correlation", "label_flip", "attribute_noise", "scarcity"):
        check_share(name, knobs[name])
    for name in ("n_train", "n_validation", "n_test"):
        if knobs[name] < 0:
            raise InputError(f"the knob {name}={knobs[name]} must be a number of rows")
    if not 0.0 < world.positive < 1.0:
        raise InputError(f"the knob positive={world.positive} must be between 0 and 1")
    if world.signal <= 0 or abs(world.signal_gap) >= 2:
        raise InputError("signal must be positive and signal_gap between -2 and 2, so that classes differ")
    if world.labels < 0 or world.classes < 2 or (world.labels and world.classes != 2):
        raise InputError("choose two or more classes, or several labels of two classes each")
    needed = world.n_directions * (2 if world.turn else 1) + len(world.shares)
    if world.d < needed:
        raise InputError(f"the knob d={world.d} is too small: these knobs need at least {needed} inputs")


def _card(knobs: Mapping[str, object]) -> DataCard:
    return DataCard(
        title="Synthetic",
        about="Normal inputs around the means of class and group; attributes cut from correlated normals.",
        origin="drawn by evenhand.data.synthetic from its seed",
        licence="none needed",
        citation="none",
        target="the class that the inputs were drawn from",
        notes=(
            "Training and validation rows hold labels and attributes as recorded; test rows hold the truth.",
            "`evenhand.data.synthetic_truth.truth(task)` gives exact probabilities and the best rates.",
        ),
        knobs=knobs,
    )
