"""A copy of a module in which every weight is a parameter of its own, as compression wants it.

Weight norm, spectral norm and torch's own pruning make a weight of other tensors whenever it is read: what is
put into it is gone with the next call. A copy has the weight as it is, and predicts the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

from torch import Tensor, nn
from torch.nn.parameter import is_lazy
from torch.nn.utils import prune, remove_spectral_norm, remove_weight_norm
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm

from evenhand.errors import InputError
from evenhand.nets.borrowed import borrowed

# the hooks that make a weight before each call, and what turns it into a parameter again
_MAKERS: dict[type, tuple[str, Callable[[Any, str], Any]]] = {
    WeightNorm: ("name", remove_weight_norm),
    SpectralNorm: ("name", remove_spectral_norm),
    prune.BasePruningMethod: ("_tensor_name", prune.remove),
}


def plain_copy(module: nn.Module) -> nn.Module:
    """A copy whose weights are ordinary parameters; modes of training and evaluation are those of the module.

    >>> from torch.nn.utils.parametrizations import weight_norm
    >>> layer = weight_norm(nn.Linear(3, 2))
    >>> [name for name, _ in plain_copy(layer).named_parameters()]
    ['bias', 'weight']
    """
    if any(is_lazy(value) for value in (*module.parameters(), *module.buffers())):
        raise InputError(
            f"some layers of the network {type(module).__name__} have no weights yet; call it once first"
        )
    copy = _copied(module)
    if name := borrowed(copy, module):
        raise InputError(
            f"the network {type(module).__name__} holds a function in {name!r} that has hold of the network "
            "itself; a copy would call this one too, whatever is done to the copy; make it a method of the "
            "class, or a module around this one whose forward calls it; if it is a hook, remove it first"
        )
    with in_evaluation(copy):  # spectral norm moves its estimate whenever it is read in training
        for part in list(copy.modules()):
            _unparametrize(part)
            for name, fold in _hooked(part):
                fold(part, name)
    return copy


def made_weights(module: nn.Module) -> list[str]:
    """The tensors that are made of others when they are read, by name.

    >>> made_weights(nn.Sequential(nn.Linear(3, 2), prune.l1_unstructured(nn.Linear(2, 2), "weight", 1)))
    ['1.weight']
    """
    found = []
    for prefix, part in module.named_modules():
        names = [*getattr(part, "parametrizations", ()), *(name for name, _ in _hooked(part))]
        found += [f"{prefix}.{name}".lstrip(".") for name in names]
    return found


def refuse_made_weights(module: nn.Module) -> None:
    """Where masks are put into the module itself: its weights must be parameters."""
    if made := made_weights(module):
        raise InputError(
            f"{made[0]!r} is made of other tensors whenever it is read (weight norm, spectral norm or "
            "pruning by torch), so that zeros would not stay; remove that first, or use evenhand.compress"
        )


@contextmanager
def in_evaluation(module: nn.Module) -> Iterator[None]:
    """The module in evaluation, and each part afterwards in the mode that it had."""
    modes = {part: part.training for part in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for part, training in modes.items():
            part.training = training


def _copied(module: nn.Module) -> nn.Module:
    """A deep copy, also where a part still holds what its last call computed."""
    held = [value for part in module.modules() for value in vars(part).values() if isinstance(value, Tensor)]
    try:
        return deepcopy(module, {id(value): value.detach().clone() for value in held if not value.is_leaf})
    except (RuntimeError, TypeError) as error:
        raise InputError(
            f"the network {type(module).__name__} cannot be copied ({str(error).splitlines()[0]}); "
            "compress works on a copy: take out what it holds beside its layers"
        ) from error


def _unparametrize(part: nn.Module) -> None:
    """What torch's remove_parametrizations does, which would change the class that a copy shares."""
    made: Any = getattr(part, "parametrizations", {})
    found = {name: (getattr(part, name).detach().clone(), list(made[name].parameters())) for name in made}
    if found:
        del part.parametrizations
        part.__class__ = type(part).__bases__[0]
    for name, (value, sources) in found.items():
        if sources:
            trained = any(source.requires_grad for source in sources)
            part.register_parameter(name, nn.Parameter(value, requires_grad=trained))
        else:
            part.register_buffer(name, value)


def _hooked(part: nn.Module) -> list[tuple[str, Callable[[Any, str], Any]]]:
    """The tensors of a part that hooks make, each with what makes it a parameter again."""
    return [
        (getattr(hook, attribute), fold)
        for hook in part._forward_pre_hooks.values()
        for kind, (attribute, fold) in _MAKERS.items()
        if isinstance(hook, kind)
    ]
