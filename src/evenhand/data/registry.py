"""The data sets by name: one line each. Listing them needs neither torch nor the data."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from evenhand.errors import InputError
from evenhand.kinds import checked_kind

if TYPE_CHECKING:
    from evenhand.data.cache import Progress
    from evenhand.data.task import Task

PACKAGED = "in the package"
ELSEWHERE = "EVENHAND_DATA or the official source"
MADE = "made from its seed"
BY_HAND = "EVENHAND_DATA, put there by hand"
AWAY = (ELSEWHERE, BY_HAND)  # files that the package does not have


@dataclass(frozen=True)
class Dataset:
    """What can be said of a data set before it is loaded; `protect` is what a study protects unless told.

    >>> DATASETS["ci-mnist"].home
    'evenhand.data.ci_mnist:ci_mnist'
    """

    name: str
    summary: str
    kind: Literal["table", "image"]
    origin: str
    protect: tuple[str, ...] = ()

    @property
    def home(self) -> str:
        """Where its loader is, as "module:function": both are called like the data set."""
        function = self.name.replace("-", "_")
        return f"evenhand.data.{function}:{function}"

    def loader(self) -> Callable[..., Task]:
        """The function that makes the task; its keyword arguments are the knobs."""
        module, function = self.home.split(":")
        found: Callable[..., Task] = getattr(import_module(module), function)
        return found

    def knobs(self) -> dict[str, object]:
        """The knobs with their defaults; how a download is shown is none of them."""
        parameters = inspect.signature(self.loader()).parameters
        return {name: given.default for name, given in parameters.items() if name != PROGRESS}


PROGRESS = "progress"
_LINES = (
    Dataset("adult", "income over 50,000 dollars, US census of 1994", "table", PACKAGED, ("sex",)),
    Dataset("communities-crime", "violent crime in US communities", "table", ELSEWHERE, ("racepctblack",)),
    Dataset("titanic", "who survived the Titanic", "table", PACKAGED, ("sex",)),
    Dataset("synthetic", "bias of chosen strength, right answer known", "table", MADE, ("a0",)),
    Dataset("mnist", "handwritten digits", "image", PACKAGED, ("ink_in_class",)),
    Dataset("mnist-under", "digits, three of them rare", "image", PACKAGED, ("kept",)),
    Dataset("mnist-numbers", "two digits as one of a hundred numbers", "image", PACKAGED, ("ink_in_class",)),
    Dataset("mnist10s", "digits, gray or in colour by class", "image", PACKAGED, ("domain",)),
    Dataset("ci-mnist", "even or odd digits on coloured ground", "image", PACKAGED, ("colour",)),
    Dataset("faces", "drawn faces with CelebA's forty attributes", "image", MADE, ("Male",)),
    Dataset("hair-colour", "hair colour of drawn faces or of CelebA", "image", MADE, ("Male",)),
    Dataset("fairface", "faces with age, gender and race", "image", ELSEWHERE, ("race",)),
    Dataset("celeba", "celebrities' faces with forty attributes", "image", BY_HAND, ("Male",)),
    Dataset("celeba-mixed", "CelebA, label and group mixed by a factor", "image", BY_HAND, ("Male",)),
    Dataset("utkface", "faces with age, gender and race in their names", "image", BY_HAND, ("race",)),
    Dataset("imagenet-people", "people by ImageNet's synset", "image", BY_HAND, ("gender", "skin", "age")),
    Dataset("coco-gender", "objects beside a man or a woman", "image", BY_HAND, ("gender",)),
    Dataset("imsitu-gender", "what a man or a woman does", "image", BY_HAND, ("gender",)),
    Dataset("cifar10", "ten kinds of things", "image", ELSEWHERE, ("brightness_in_class",)),
    Dataset("cifar10s", "CIFAR-10, gray or in colour by class", "image", ELSEWHERE, ("domain",)),
    Dataset("cifar10-under", "ten kinds of things, three rare", "image", ELSEWHERE, ("kept",)),
    Dataset("cifar100-under", "a hundred kinds of things, fifteen rare", "image", ELSEWHERE, ("kept",)),
)
DATASETS: dict[str, Dataset] = {line.name: line for line in _LINES}


def load(name: str, *, progress: Progress | None = None, **knobs: object) -> Task:
    """The task of that name, made with these knobs; a wrong name or knob is told with the nearest right ones.

    What is not on this machine is downloaded; `progress` is called while it arrives.

    >>> len(load("titanic", seed=1))
    1309
    >>> load("titanic", sead=1)
    Traceback (most recent call last):
    evenhand.errors.InputError: the data set 'titanic' has no knob 'sead'; did you mean 'seed'? Its knobs:
    seed, test, validation
    """
    return _made(find_dataset(name), find_dataset(name).loader(), progress, knobs)


def load_sketch(name: str, **knobs: object) -> Task:
    """The same task for those who look at labels, attributes and parts alone.

    Inputs that take long to be made are then made when they are asked for, each time anew.

    >>> task = load_sketch("ci-mnist", limit=10)
    >>> task.input_shape, len(task), bool((task.y == load("ci-mnist", limit=10).y).all())
    ((3, 32, 32), 40, True)
    """
    dataset = find_dataset(name)
    loader = dataset.loader()
    return _made(dataset, getattr(loader, "sketch", loader), None, knobs)


def _made(
    dataset: Dataset, loader: Callable[..., Task], progress: Progress | None, knobs: dict[str, object]
) -> Task:
    """The task of a loader, after every knob was looked at."""
    known = dataset.knobs()
    for knob in knobs:
        if knob not in known:
            raise InputError(_unknown(f"the data set '{dataset.name}' has no knob", knob, known, "Its knobs"))
    declared = inspect.signature(loader).parameters
    knobs = {
        knob: checked_kind(
            f"the knob {knob}", given, declared[knob].annotation, 0 if knob == "seed" else None
        )
        for knob, given in knobs.items()
    }
    if PROGRESS in declared:
        knobs = {**knobs, PROGRESS: progress}
    return loader(**knobs).check()


def find_dataset(name: str) -> Dataset:
    """The entry of that name; `InputError` with the nearest names where there is none."""
    if name not in DATASETS:
        raise InputError(_unknown("there is no data set", name, DATASETS, "There are"))
    return DATASETS[name]


def _unknown(what: str, name: str, known: Iterable[str], heading: str) -> str:
    names = list(known)
    near = get_close_matches(name.lower().replace("_", "-"), names, n=3, cutoff=0.5)
    near = near or get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(repr(match) for match in near)}?" if near else "."
    return f"{what} {name!r}{hint} {heading}: {', '.join(names) or 'none'}"
