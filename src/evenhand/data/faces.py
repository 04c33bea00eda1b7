"""Faces: drawn ones, with CelebA's forty attributes as facts that are really visible; nobody is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from evenhand.data import faces_copula, faces_statistics
from evenhand.data.cache import CHECKSUMS
from evenhand.data.card import DataCard
from evenhand.data.celeba_labels import chosen_labels, is_one_name, told_labels
from evenhand.data.ci_mnist_pictures import painted_at_once
from evenhand.data.encode import check_choice
from evenhand.data.faces_checks import check_knobs
from evenhand.data.faces_draw import DRAWING
from evenhand.data.faces_names import ATTRIBUTES
from evenhand.data.faces_pictures import DEVICES, FacePictures
from evenhand.data.faces_world import World
from evenhand.data.rebalancing import composed
from evenhand.data.scarce import check_labelled, hide_groups
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

LEVELS = ("no", "yes")
# the device changes no fact; the others are told where they are used, so that older runs keep their identity
UNTOLD = ("device", "ratio", "mixing", "by")
FILES = (faces_statistics.FILE, faces_copula.FILE)
NOTES = (
    "Nobody is shown: every face is drawn from a list of facts and a seed. A face called Attractive, Chubby "
    "or Male has the marks that we draw for that word, and says nothing about people.",
    "Shares and correlations are CelebA's published ones, counted over all of its 202,599 images; what its "
    "annotators thought of celebrities is in them. Three-way and higher dependence is that of a normal "
    "distribution, not CelebA's.",
    "Attributes that exclude each other do so less than in CelebA, because normal variables cannot: the phi "
    "of two attributes is 0.008 from the published one on average, and 0.067 at most (black and blond hair).",
)


@painted_at_once
def faces(
    target: str | Sequence[str] = "Blond_Hair",
    *,
    protect: str | Sequence[str] = (),
    n: int = 20_000,
    validation: float = 0.1,
    test: float = 0.2,
    size: int = 32,
    seed: int = 0,
    correlation: float = 1.0,
    shares: Mapping[str, float] | None = None,
    noise: float | Mapping[str, float] = 0.0,
    clean_test: bool = False,
    difficulty: float = 0.0,
    nuisance: float = 1.0,
    labelled: float = 1.0,
    ratio: float | None = None,
    mixing: float | None = None,
    by: str = "",
    device: str = "auto",
) -> Task:
    """Predict some of forty facts from a drawn face; all forty can be protected ("no" is 0, "yes" 1).

    `target`: the name of one attribute (two classes), a list of names or "all" (a label for each name,
    without the names in `protect`). `n` faces of `size` x `size` pixels (32 to 128), of which the shares
    `validation` and `test` are held out. A face depends on the seed and on its number within its part alone:
    a larger `n` gives the same faces and more.

    Who is drawn: facts come from a Gaussian copula with CelebA's published shares and correlations.
    `correlation` weakens it, from 1 (as published) to 0 (independent facts); `shares` ({"Male": 0.5})
    replaces the share of "yes" of the attributes it names. Thresholds move, latent correlations stay.

    What is written down: `noise` is the probability that a label differs from what is drawn, a number for
    the six attributes that S1 calls inconsistent (Wavy_Hair, Oval_Face, Big_Nose, Pale_Skin, Big_Lips,
    Straight_Hair) or {name: probability}; in every part, as annotators err, unless `clean_test` keeps the
    test rows true. `labelled` is the share of training rows whose attributes are known; the others are -1.

    Who is trained on: `ratio` leaves out training faces until no label (or class) has more than `ratio` times
    as many of one group as of another; `mixing` keeps the share min(1, 2 (1 - mixing)) of those whose group
    has the label's code and the share min(1, 2 mixing) of the others (0: group = label, 0.5: all, 1: group !=
    label). Groups are those of the attribute `by`, Male unless it is named. See `evenhand.data.rebalancing`.

    How it is drawn: `difficulty` from 0 to 1 makes marks fainter, `nuisance` from 0 to 2 varies what no
    attribute tells (pose, light, background). `device` is where pixels are computed: "auto" takes a GPU where
    there is one, whose rounding may differ from a processor's in single pixels by a step of brightness.

    >>> task = faces.sketch("Smiling", n=200)
    >>> task.input_shape, task.y.shape, {part: len(rows) for part, rows in task.split.items()}
    ((3, 32, 32), torch.Size([200]), {'train': 140, 'validation': 20, 'test': 40})
    >>> faces.sketch("all", protect=["Male", "Young"], n=200).y.shape
    torch.Size([200, 38])
    """
    knobs = {name: value for name, value in locals().items() if name not in UNTOLD}
    predicted = chosen_labels(target, protect, ATTRIBUTES)
    if shares is not None and not isinstance(shares, Mapping):
        raise InputError(f"the knob shares={shares!r} must name attributes, as in {{'Male': 0.5}}")
    world = World(n, validation, test, seed, correlation, dict(shares or {}), noise, clean_test).check()
    check_knobs(size=size, seed=seed, difficulty=difficulty, nuisance=nuisance)
    check_labelled(labelled)
    check_choice("device", device, DEVICES)  # whether it is there is asked when something is painted
    facts = world.facts()
    told = world.recorded(facts).to(torch.int64)
    task = Task(
        name="faces",
        x=FacePictures(facts, world.ids(), size, seed, difficulty, nuisance, device, _population(world)),
        y=_labels(told, predicted, is_one_name(target)),
        attributes=_attributes(told, predicted),
        split=_split(world.sizes()),
        card=_card(target, predicted, knobs),
        classes=LEVELS if is_one_name(target) else predicted,
        scaling=Scaling(127.5, 127.5),
    )
    task = composed(task, by, "Male", ratio=ratio, mixing=mixing, seed=seed)
    return hide_groups(task, labelled, seed)


def _population(world: World) -> tuple[object, ...]:
    """What decides the facts, as something that can be looked up."""
    shares = tuple(sorted(world.shares.items()))
    return (world.n, world.validation, world.test, world.seed, world.correlation, shares)


def _labels(told: Tensor, predicted: Sequence[str], one: bool) -> Tensor:
    y = told[:, [ATTRIBUTES.index(name) for name in predicted]]
    return y[:, 0].contiguous() if one else y


def _attributes(told: Tensor, predicted: Sequence[str]) -> tuple[Attribute, ...]:
    """All forty; what is predicted comes last."""
    codes = np.ascontiguousarray(told.numpy().T)
    order = sorted(ATTRIBUTES, key=lambda name: name in predicted)
    return tuple(Attribute(name, LEVELS, codes[ATTRIBUTES.index(name)].copy()) for name in order)


def _split(sizes: Mapping[str, int]) -> dict[str, Tensor]:
    pieces = torch.split(torch.arange(sum(sizes.values())), list(sizes.values()))
    return dict(zip(sizes, pieces, strict=True))


def _card(target: str | Sequence[str], predicted: Sequence[str], knobs: Mapping[str, object]) -> DataCard:
    """Where it comes from: the look of a face is code of this package, its facts are of two of its files."""
    return DataCard(
        title="Faces, drawn",
        about="Drawn faces with forty attributes that have CelebA's shares and correlations.",
        origin="drawn by evenhand from its seed; shares and correlations: aggregate numbers of CelebA",
        licence="none needed: no image and no row of CelebA is in it",
        citation=(
            "S1: Scaling Bias Mitigation with Multiple Fairness Tasks and Multiple Protected Attributes. "
            "Statistics of: Liu, Luo, Wang, Tang. Deep Learning Face Attributes in the Wild. ICCV 2015."
        ),
        target=told_labels(target, predicted),
        notes=NOTES,
        files={**{name: CHECKSUMS[name] for name in FILES}, "a drawn sample": DRAWING},
        knobs=knobs,
    )
