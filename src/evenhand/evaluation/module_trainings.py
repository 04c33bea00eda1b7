"""The modules that are asked, by name: one, or several trainings of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.arrays import IntArray
from evenhand.errors import InputError
from evenhand.evaluation.module_outputs import class_codes

if TYPE_CHECKING:
    from torch import Tensor, nn


@dataclass(frozen=True)
class Training:
    """One module, what it is called in messages, and what it has said so far: one number a row."""

    called: str
    module: nn.Module
    said: list[Tensor] = field(default_factory=list)

    def codes(self, n_classes: int | None) -> IntArray:
        """The class codes of all rows, once they are there."""
        import torch

        with named(self.called):
            return class_codes(torch.cat(self.said), n_classes)


@dataclass(frozen=True)
class Model:
    """The trainings of one name; `several` says whether a sequence was given, which may hold one alone."""

    trainings: tuple[Training, ...]
    several: bool

    def predictions(self, n_classes: int | None) -> IntArray:
        """`[N]`, or `[R, N]` of several."""
        told = [one.codes(n_classes) for one in self.trainings]
        return np.stack(told) if self.several else told[0]


def models_of(modules: Mapping[str, Any]) -> dict[str, Model]:
    """The models by name; what cannot be asked is named before any is.

    >>> import torch
    >>> found = models_of({"whole": torch.nn.Identity(), "small": [torch.nn.ReLU(), torch.nn.Identity()]})
    >>> [one.called for model in found.values() for one in model.trainings]
    ["module 'whole'", "module 'small', training 1", "module 'small', training 2"]
    """
    return {name: _model(f"module {name!r}", given) for name, given in modules.items()}


@contextmanager
def named(called: str) -> Iterator[None]:
    """What is wrong with a module begins with its name."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{called}: {error}") from error


def _model(called: str, given: Any) -> Model:
    from torch import nn

    several = isinstance(given, nn.ModuleList | list | tuple)
    modules: Sequence[Any] = list(given) if several else [given]
    if not modules:
        raise InputError(f"{called}: there is no training in an empty {type(given).__name__}")
    names = [f"{called}, training {place}" for place in range(1, len(modules) + 1)] if several else [called]
    for name, module in zip(names, modules, strict=True):
        with named(name):
            check_module(module)
    _check_distinct(called, modules)
    return Model(tuple(map(Training, names, modules)), several)


def check_module(module: object) -> None:
    """Refuse what is no module, and one without values."""
    from torch import nn

    if not isinstance(module, nn.Module):
        raise InputError(f"a torch module is asked for predictions, not {type(module).__name__}")
    if any(value.is_meta for value in (*module.parameters(), *module.buffers())):
        raise InputError(
            f"a module ({type(module).__name__}) is on the device 'meta', where weights have no values; give "
            "it its weights first: module.to_empty(device='cpu'), then load_state_dict"
        )


def _check_distinct(called: str, modules: Sequence[Any]) -> None:
    """Refuse one module in the place of several: what is loaded into it last would be every training."""
    first: dict[int, int] = {}
    for place, module in enumerate(modules, 1):
        if (before := first.setdefault(id(module), place)) != place:
            raise InputError(
                f"{called}: trainings {before} and {place} are one and the same module; give a module of its "
                "own for each, such as copy.deepcopy(module) before the next weights are loaded into it"
            )


def same_twice(models: Mapping[str, Model]) -> list[str]:
    """A warning for each name whose module another has: what is done to it in place is done to both.

    >>> import torch
    >>> one = torch.nn.Identity()
    >>> same_twice(models_of({"whole": one, "pruned": one}))[0].split(":")[0]
    "'whole' and 'pruned' are one and the same module"
    """
    first: dict[int, str] = {}
    told = []
    for name, model in models.items():
        before = {first.setdefault(id(one.module), name) for one in model.trainings} - {name}
        told += [
            f"{other!r} and {name!r} are one and the same module: if it was changed in place, so were both; "
            "keep a copy first, as evenhand.compress and copy.deepcopy do"
            for other in sorted(before)
        ]
    return told
