"""The networks reference, written from the table that builds them: it cannot fall behind it.

    python -m evenhand.nets.reference > docs/nets.md

A network that torchvision builds is described without building it, so the page is the same where torchvision
is not installed.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby

from evenhand.nets.layers import ACTIVATIONS
from evenhand.nets.registry import NETS, NetKind, NetSpec
from evenhand.nets.resnet import NORMS
from evenhand.nets.torchvision_nets import HEADS

INTRODUCTION = """# Networks

<!-- Written by `python -m evenhand.nets.reference`; change the networks, not this page. -->

A network is named, `evenhand.fit("mlp", ...)` and `evenhand train adult --net mlp ...`, or described with
its options, `evenhand.NetSpec("mlp", widths=(100, 64))` and `--net mlp --net-set widths=100,64`. A module
of your own does as well: see [a network of your own](training.md#a-network-of-your-own).

Every network gives outputs and a representation, `forward(x) -> (logits, features)`; the option `split`
says where the representation is taken. *Stackable* networks keep nothing from batch to batch, so that many
of them are [trained at once](training.md#stacking); the column says what holds with the default options,
and `norm="group"` makes `cifar-resnet18` and `resnet32x4` stackable too. Dropout masks come from the run's
own random numbers.

Networks that belong to a method have no name here: the autoencoders of `ffvae` (`evenhand.nets.vae`) and the
flows of `nifr` (`evenhand.nets.flow`), which turn inputs into as many numbers and back:

```python
import torch
from evenhand.nets.flow import ImageFlow, nll_per_dimension

flow, x = ImageFlow((3, 32, 32), levels=2, blocks=2, width=16), torch.rand(4, 3, 32, 32)
z, log_det = flow(x)  # log p(x) = log N(z; 0, I) + log_det
assert z.shape == (4, 3072) and torch.allclose(flow(z, inverse=True), x, atol=1e-5)
loss = nll_per_dimension(z, log_det).mean()
```
"""

VALUES = {"activation": ACTIVATIONS, "norm": NORMS, "head": HEADS}  # of options that are names
SHAPES = {"table": (102,), "image": (3, 32, 32)}  # inputs that a network is built for to see its split points


def page() -> str:
    """The whole page, as Markdown."""
    alike = groupby(NETS.values(), key=lambda kind: kind.home)
    return "\n".join([INTRODUCTION, _overview(), *(_section(list(kinds)) for _, kinds in alike)])


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table.

    >>> print(table(["key"], [["a|b"]]), end="")
    | key |
    | --- |
    | a\\|b |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def described(thing: object) -> str:
    """The docstring of a class or function without its examples.

    >>> described(described)
    'The docstring of a class or function without its examples.'
    """
    return inspect.cleandoc(getattr(thing, "__doc__", None) or "").split(">>>")[0].strip()


def _overview() -> str:
    head = ("name", "reads", "stackable", "what it is", "source")
    rows = [
        (f"`{kind.name}`", " or ".join(kind.inputs), _yes(kind.stackable), kind.summary, kind.citation)
        for kind in NETS.values()
    ]
    return table(head, rows)


def _section(kinds: Sequence[NetKind]) -> str:
    """One builder, and the networks that it makes."""
    names = ", ".join(f"`{kind.name}`" for kind in kinds)
    values = {**VALUES, "split": split_points(kinds[0])}
    rows = [
        (f"`{name}`", f"`{default!r}`", ", ".join(f"`{value}`" for value in values.get(name, ())))
        for name, default in kinds[0].options().items()
    ]
    parts = [f"## {names}\n", f"{described(kinds[0].builder())}\n"]
    return "\n".join([*parts, table(("option", "default", "values"), rows)])


def split_points(kind: NetKind) -> tuple[str, ...]:
    """Where the representation of a network can be taken; known before it is built where all have the same.

    >>> split_points(NETS["s4-mlp"])
    ('layer0', 'layer1', 'layer2', 'layer3')
    """
    fixed: tuple[str, ...] = getattr(kind.builder(), "splits", ())
    return fixed or NetSpec(kind.name).build(SHAPES[kind.inputs[0]], 2).splits


def _yes(value: bool) -> str:
    return "yes" if value else "no"


if __name__ == "__main__":
    sys.stdout.write(page())
