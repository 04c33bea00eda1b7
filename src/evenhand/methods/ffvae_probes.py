"""Probes of a trained code: is an attribute in its own b, and nowhere else?

A probe is a small network that learns an attribute from a part of the code, on rows of one part of the task,
and is judged on another. A good FFVAE has it accurate on b_j, and no better than the most frequent level on z
and on the b of the other attributes. The discriminator sees z drawn from its posterior, the classifier the
posterior's means: where the two differ, means tell what was only drowned in noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.methods.ffvae import FFVAE
from evenhand.methods.ffvae_terms import Posterior, sampled
from evenhand.methods.nets import Nets
from evenhand.nets.head import Head

if TYPE_CHECKING:
    from evenhand.train.evaluate import Predictor

STEPS = 200
RATE = 0.02
PIECE = 1024  # rows that are encoded at a time


class CodeProbes(NamedTuple):
    """How well an attribute is told from parts of the code: accuracies on rows that no probe was trained on.

    on_z: the posterior means, which the classifier reads; on_drawn_z: z drawn from the posterior, which the
    discriminator reads. majority: the share of the most frequent level among those rows, what a probe without
    a code reaches.
    """

    attribute: str
    on_b: float
    on_z: float
    on_drawn_z: float
    on_others: float
    majority: float


def probe(
    codes: Tensor, target: Tensor, held_codes: Tensor, held_target: Tensor, *, hidden: int = 32, seed: int = 0
) -> float:
    """The accuracy on held-out rows of a perceptron (logistic regression where `hidden` is 0) for a target.

    Rows of target -1 are left out. Training is full-batch Adam, the codes having mean 0 and deviation 1.

    >>> codes = torch.linspace(-1, 1, 40)[:, None]
    >>> probe(codes, (codes[:, 0] > 0).long(), codes, (codes[:, 0] > 0).long(), hidden=0)
    1.0
    """
    codes, target = codes[target >= 0].float(), target[target >= 0]
    held_codes, held_target = held_codes[held_target >= 0].float(), held_target[held_target >= 0]
    if not len(target) or not len(held_target):
        raise InputError("a probe needs rows of known level to learn from, and others to be judged on")
    if not codes.shape[1]:
        return _majority(held_target)
    mean, deviation = codes.mean(0), codes.std(0, unbiased=False).clamp(min=1e-6)
    levels = int(max(target.max(), held_target.max())) + 1
    net = _trained((codes - mean) / deviation, target, levels, hidden, seed)
    with torch.no_grad():
        guess = net((held_codes - mean) / deviation).argmax(1)
    return float((guess == held_target).float().mean())


def _trained(codes: Tensor, target: Tensor, levels: int, hidden: int, seed: int) -> Head:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = Head(codes.shape[1], levels, (hidden,) if hidden else ())
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE, weight_decay=1e-4)
    for _ in range(STEPS):
        optimiser.zero_grad()
        functional.cross_entropy(net(codes), target).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return net


def audit_code(
    predictor: Predictor,
    task: Task,
    protect: Sequence[str],
    *,
    run: int = 0,
    learn: str = "train",
    judge: str = "test",
    most: int = 4096,
    hidden: int = 32,
) -> list[CodeProbes]:
    """The probes of every protected attribute for one run of a trained stack (`Trainer.predictor`).

    Probes learn from rows of the part `learn` and are judged on those of `judge`, at most `most` of each.
    With a single attribute there are no others, and `on_others` is the majority.
    """
    method = predictor.method
    if not isinstance(method, FFVAE):
        raise InputError(f"the code of '{method.key}' has no sensitive part; the audit is for 'ffvae'")
    rows = [task.rows(part)[:most] for part in (learn, judge)]
    codes = [codes_of(predictor, task, each, run) for each in rows]
    layout, found = method.layout(predictor.sizes), []
    for place, name in enumerate(protect):
        levels = torch.as_tensor(task.attribute(name).codes).to(torch.int64)
        low, high = layout.blocks[place]
        targets = [levels[each] for each in rows]
        own = [code.b[:, low:high] for code in codes]
        others = [torch.cat([code.b[:, :low], code.b[:, high:]], dim=1) for code in codes]
        means, drawn = [code.mean for code in codes], [_drawn(code) for code in codes]
        read = {"on_b": own, "on_z": means, "on_drawn_z": drawn, "on_others": others}
        results = {key: probe(a, targets[0], b, targets[1], hidden=hidden) for key, (a, b) in read.items()}
        found.append(CodeProbes(name, majority=_majority(targets[1]), **results))
    return found


def _drawn(code: Posterior) -> Tensor:
    source = torch.Generator().manual_seed(0)
    noise = torch.randn(code.mean.shape, generator=source, dtype=code.mean.dtype)
    return sampled(code, noise)[:, : code.mean.shape[1]]


def _majority(target: Tensor) -> float:
    return float(torch.bincount(target[target >= 0]).max() / (target >= 0).sum())


@torch.no_grad()
def codes_of(predictor: Predictor, task: Task, rows: Tensor, run: int = 0) -> Posterior:
    """What the encoder of a run says of rows of a task, on the CPU."""
    stack, method = predictor.stack, predictor.method
    assert isinstance(method, FFVAE)
    own = {
        name: {key: value[run] if stack.stacked else value for key, value in values.items()}
        for name, values in stack.parameters.items()
    }
    nets = Nets(stack.networks(own), predictor.sizes, phase="classify")
    pieces = []
    for start in range(0, len(rows), PIECE):
        some = rows[start : start + PIECE]
        x = task.x[some] if isinstance(task.x, Tensor) else task.x.take(some)
        pieces.append(method.encode(nets, task.scaling(x.to(stack.device)).to(stack.dtype)))
    return Posterior(*(torch.cat(parts).cpu() for parts in zip(*pieces, strict=True)))
