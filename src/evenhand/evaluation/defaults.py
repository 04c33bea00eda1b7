"""The network and the recipe that a task is trained with unless others are named: one line each.

They are those of the studies: S4 for tables (spec of Equalized Robustness), S3 for CI-MNIST, S0 for CIFAR.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.nets.registry import NetSpec
from evenhand.train.recipe import Recipe

if TYPE_CHECKING:
    from evenhand.data.task import Task

HELD_OUT = 0.1  # share of the training rows kept for validation, where a data set would keep none

_S4 = {"epochs": 50, "batch_size": 256, "rate": 1e-3, "weight_decay": 1e-5, "schedule": "cosine"}
_S3 = {"epochs": 150, "batch_size": 64, "rate": 1e-3, "clip": 5.0, "patience": 5, "keep": "best"}
_S0 = {
    "epochs": 200, "batch_size": 128, "optimizer": "sgd", "rate": 0.1, "weight_decay": 5e-4,
    "schedule": "step", "milestones": (0.25, 0.5, 0.75), "augment": "crop-flip",
}  # fmt: skip
_IMAGES = {"epochs": 20, "batch_size": 128, "rate": 1e-3, "schedule": "cosine"}

BY_KIND: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "table": ("s4-mlp", _S4),
    "image": ("convnet", _IMAGES),
}
BY_TASK: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "communities-crime": ("s4-mlp", {**_S4, "batch_size": 64}),
    "titanic": ("s4-mlp", {**_S4, "batch_size": 64}),
    "ci-mnist": ("s3-mlp", _S3),
    "cifar10": ("cifar-resnet18", _S0),
    "cifar10s": ("cifar-resnet18", _S0),
    "cifar100-under": ("cifar-resnet18", _S0),
    "fairface": ("convnet", {**_IMAGES, "augment": "flip"}),
}


def net_for(task: Task, name: str | None = None, **options: Any) -> NetSpec:
    """The network that is named, or the one a task has by default, with these options.

    >>> from evenhand.data.registry import load
    >>> net_for(load("titanic"), dropout=0.0)
    NetSpec(name='s4-mlp', options=(('dropout', 0.0),))
    """
    return NetSpec(name or _line(task)[0], options)


def recipe_for(task: Task, **values: Any) -> Recipe:
    """The recipe of a task, with these values in place of the default ones.

    >>> from evenhand.data.registry import load
    >>> recipe_for(load("titanic"), epochs=3).weight_decay
    1e-05
    """
    return Recipe.of(**{**_line(task)[1], **values})


def watched_for(task: Task, protect: tuple[str, ...]) -> str | None:
    """The gap that is shown while training: none where no group or no validation rows would show it."""
    return "tpr.gap" if protect and "validation" in task.split else None


def _line(task: Task) -> tuple[str, Mapping[str, Any]]:
    kind = "image" if len(task.input_shape) == 3 else "table"
    return BY_TASK.get(task.name, BY_KIND[kind])
