"""Which parameters of a network are its head: those that a new task needs anew, on a backbone that stays."""

from __future__ import annotations

from torch import nn

from evenhand.errors import InputError


def head_parameters(network: nn.Module) -> frozenset[str]:
    """The names of the head's parameters: what the network calls its `head_parts`, else its last layer.

    The last layer is the last module that has parameters of its own, in the order of registration: the `fc`
    or `classifier` of torchvision's networks, and what makes the outputs in those here. A module with another
    order says so by an attribute `head_parts`, a tuple of names.

    >>> from evenhand.nets import NetSpec
    >>> sorted(head_parameters(NetSpec("mlp", widths=(8,)).build((4,), 2)))
    ['layers.1.bias', 'layers.1.weight']
    """
    named = [name for name, _ in network.named_parameters()]
    if not named:
        raise InputError("a network without parameters has no head to train")
    parts = tuple(getattr(network, "head_parts", ())) or (named[-1].rpartition(".")[0],)
    found = frozenset(name for name in named if any(_inside(name, part) for part in parts))
    if not found:
        raise InputError(f"the network calls {', '.join(parts)} its head, and has no such parameters")
    return found


def _inside(name: str, part: str) -> bool:
    """Whether a parameter belongs to a part; the part "" is the network itself."""
    return not part or name == part or name.startswith(f"{part}.")
