"""The data sets reference, written from the loaders and cards: it cannot fall behind them.

    python -m evenhand.data.reference > docs/datasets.md

What is in the package, or made from a seed, is loaded and looked at. Of the others the page says what can be
said without their files, so that it is the same on every machine.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import torch

from evenhand.data import (
    celeba,
    celeba_mixed,
    cifar10,
    cifar10s,
    cifar100_under,
    coco_gender,
    communities_crime,
    fairface,
    imagenet_people,
    imsitu_gender,
    under_sampled,
    utkface,
)
from evenhand.data.card import DataCard
from evenhand.data.cifar10_files import Pictures
from evenhand.data.registry import AWAY, DATASETS, Dataset
from evenhand.data.task import Task

INTRODUCTION = """# Data sets

<!-- Written by `python -m evenhand.data.reference`; change the loaders, not this page. -->

A data set is loaded by name, with its knobs: `evenhand.load("adult", validation=0.1)`. On the command line
`evenhand data adult --set validation=0.1` shows it and verifies its files (`--pictures sheet.png` puts the
first training pictures on one sheet), `evenhand train adult --data-set validation=0.1 ...` trains on it. The
result is a `Task`, usable without the trainer: `x`, `y`, `attributes` (-1 is unknown), `split`, `card`. Your
own data: [see the guide](training.md#your-own-data).

*In the package*: nothing is downloaded. *EVENHAND_DATA or the official source*: files are looked for in the
folders that the environment variable `EVENHAND_DATA` names (several as in `PATH`), then in the cache
(`EVENHAND_CACHE`), and else downloaded where their publisher has an address for them, with progress, and
going on where a download broke off. A file with the wrong checksum is refused, and a file that cannot be
had is named, with where to put it. A smaller or recompressed form is read when you name it and never in
place of another. *Put there by hand*: its terms do not let a program fetch it.

Knobs that choose other rows to train on (`ratio`, `mixing`): [other rows of the same task](rows.md).

Groups have the names that the data gives them. *Protected by default* is what `protect=` (`--protect`) is
unless you name attributes; several make their intersections.
"""

MOST_LEVELS = 12  # names of levels or classes that are listed one by one


def page() -> str:
    """The whole page, as Markdown."""
    return "\n".join([INTRODUCTION, _overview(), *(_section(dataset) for dataset in DATASETS.values())])


def card_of(dataset: Dataset) -> tuple[DataCard, Task | None]:
    """The card of a data set, and the task where it can be had without a file from elsewhere.

    >>> card, task = card_of(DATASETS["fairface"])
    >>> card.licence, task
    ('CC BY 4.0', None)
    """
    if dataset.origin in AWAY:
        return _CARDS[dataset.name](), None
    loader = dataset.loader()
    task: Task = getattr(loader, "sketch", loader)()  # nothing here looks at a pixel
    return task.card, task


def _pictures() -> Pictures:
    nothing = torch.empty(0)
    return Pictures(nothing, nothing, 0, "official", {})


_CARDS: Mapping[str, Callable[[], DataCard]] = {
    "communities-crime": lambda: communities_crime._card({}, {}),
    "fairface": lambda: fairface._card("gender", "official", {}, {}),
    "celeba": lambda: celeba._card("Attractive", ("Attractive",), "random", {}, {}),
    "celeba-mixed": lambda: celeba_mixed._card("Smiling", "random", {}, {}),
    "utkface": lambda: utkface._card("gender", ("Male", "Female"), {}, {}),
    "imagenet-people": lambda: imagenet_people._card("annotated", {}, {}),
    "coco-gender": lambda: coco_gender._card(79, False, {}, {}),
    "imsitu-gender": lambda: imsitu_gender._card(None, False, False, {}, {}),
    "cifar10": lambda: cifar10.card("CIFAR-10", _pictures(), (), {}),
    "cifar10s": lambda: replace(cifar10.card("CIFAR-10S", _pictures(), (), {}), citation=cifar10s.PAPER),
    "cifar10-under": lambda: under_sampled._card(cifar10.card("CIFAR-10", _pictures(), (), {}), (), {}),
    "cifar100-under": lambda: cifar100_under._card((), {}, {}),
}


def _overview() -> str:
    head = ("name", "what", "inputs", "protected by default", "where it is")
    rows = [
        (f"`{d.name}`", d.summary, d.kind, ", ".join(f"`{name}`" for name in d.protect), d.origin)
        for d in DATASETS.values()
    ]
    return _table(head, rows)


def _section(dataset: Dataset) -> str:
    """What one data set is: for whom, whence, how prepared, and with which knobs."""
    card, task = card_of(dataset)
    knobs = [(f"`{name}`", f"`{value!r}`") for name, value in dataset.knobs().items()]
    facts = {"Target": card.target, "From": card.origin, "Licence": card.licence, "Cite": card.citation}
    facts |= {} if task is None else _facts(task)
    facts |= _forms(dataset)
    told = [f"- **{name}**: {value}" for name, value in facts.items() if value not in ("", "none")]
    told += [f"- **Note**: {note}" for note in card.notes]
    about = inspect.cleandoc(dataset.loader().__doc__ or "").split(">>>")[0].strip()
    parts = [f"## `{dataset.name}`", card.about, about, "\n".join(told), _table(("knob", "default"), knobs)]
    return "\n\n".join(parts)


def _forms(dataset: Dataset) -> dict[str, str]:
    """The forms in which the files of a data set come, where there are several."""
    forms: Mapping[str, str] = getattr(sys.modules[dataset.loader().__module__], "FORMS", {})
    return {"Forms": "; ".join(f"`{name}`, {what}" for name, what in forms.items())} if forms else {}


def _facts(task: Task) -> dict[str, str]:
    """What a loaded task holds with its default knobs, as far as no random draw decides it."""
    shape = " x ".join(str(size) for size in task.input_shape)
    parts = ", ".join(f"{len(rows):,} {part.replace('_', ' ')}" for part, rows in task.split.items())
    return {
        "Inputs": f"{shape} numbers a row",
        "Rows": parts,
        "Classes": _listed(task.classes),
        "Attributes": _attributes(task),
    }


def _attributes(task: Task) -> str:
    """Each with its levels; where very many have the same levels, these are said once."""
    kinds = {attribute.levels for attribute in task.attributes}
    if len(kinds) == 1 < MOST_LEVELS < len(task.attributes):
        names = ", ".join(f"`{attribute.name}`" for attribute in task.attributes)
        return f"{len(task.attributes)}, each {_listed(kinds.pop())}: {names}"
    return "; ".join(f"`{a.name}` ({_listed(a.levels)})" for a in task.attributes)


def _listed(names: Sequence[str]) -> str:
    """Names one by one where they are few.

    >>> _listed(["a", "b"]), _listed([str(n) for n in range(40)])
    ('`a`, `b`', '40 levels')
    """
    return ", ".join(f"`{name}`" for name in names) if len(names) <= MOST_LEVELS else f"{len(names)} levels"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


if __name__ == "__main__":
    sys.stdout.write(page())
