"""IRM, spectral decoupling, JTT and the methods with heads: every variant, stacked against one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from evenhand.methods.base import float_fields
from evenhand.methods.discriminative import DomainDiscriminative
from evenhand.methods.independent import DomainIndependent
from evenhand.methods.irm import IRM
from evenhand.methods.jtt import JTT
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.spectral_decoupling import SpectralDecoupling
from evenhand.records import Batch

RUNS, ROWS, BATCH, INPUTS = 3, 40, 9, 4


def problem_of(kind):
    """Rows of five groups, one of them empty, some unknown; two attributes."""
    source = torch.Generator().manual_seed(0)
    a = torch.stack(
        [torch.randint(-1, 2, (ROWS,), generator=source), torch.randint(0, 2, (ROWS,), generator=source)], 1
    )
    g = torch.where((a < 0).any(1), -1, a[:, 0] * 2 + a[:, 1])
    shape, classes = ((ROWS, 3), 2) if kind == "labels" else ((ROWS,), {"two": 2, "three": 3}[kind])
    return Problem.from_labels(torch.randint(0, classes, shape, generator=source), g, a, n_groups=5)


ANY = ("two", "three", "labels")
ONE = ("two", "three")
VARIANTS = [
    (IRM(), ANY),
    (IRM(form="squared"), ANY),
    (IRM(by="label-group"), ONE),
    (IRM(anneal_steps=1), ("two",)),
    (SpectralDecoupling(), ANY),
    (SpectralDecoupling(form="simple", balance=True), ONE),
    (SpectralDecoupling(form="simple", ratio_0=2.0), ("two", "labels")),
    (JTT(), ANY),
    (JTT(copies=True, normalise=False), ANY),
    *((DomainIndependent(rule), ANY) for rule in ("sum-logit", "sum-prob", "conditional")),
    *((DomainIndependent(rule, decompose=True), ANY) for rule in ("sum-logit", "conditional")),
    (DomainIndependent("max"), ("labels",)),
    (DomainDiscriminative(), ANY),
    *((DomainDiscriminative(rule), ONE) for rule in ("max-prob-shift", "sum-prob-shift")),
]
CASES = [(method, kind) for method, kinds in VARIANTS for kind in kinds]


def runs_of(method, problem):
    """Parameters, batches, states and float fields of three runs, each with its own, in one stack."""
    source = torch.Generator().manual_seed(1)
    rows = torch.stack([torch.randperm(ROWS, generator=source)[:BATCH] for _ in range(RUNS)])
    x = torch.randn(RUNS, BATCH, INPUTS, dtype=torch.float64, generator=source)
    batch = Batch(x, problem.y[rows], problem.g[rows], problem.a[rows], rows)
    outputs = method.outputs(problem)
    weight = torch.randn(RUNS, INPUTS, outputs, dtype=torch.float64, generator=source, requires_grad=True)
    scores = torch.rand(RUNS, ROWS, problem.sizes.n_classes, dtype=torch.float64, generator=source)
    values = {
        name: getattr(method, name) * torch.tensor([0.5, 1.0, 2.0]).double() for name in float_fields(method)
    }
    return weight, batch, values, scores


def stacked_and_single(function, weight, batch, values, scores):
    """The results of a function over runs, by vmap and one by one."""
    together = torch.func.vmap(function)(weight, batch, values, scores)
    alone = []
    for run in range(RUNS):
        own = Batch(*(part[run] for part in batch[:5]))
        of_fields = {name: value[run] for name, value in values.items()}
        alone.append(function(weight[run], own, of_fields, scores[run]))
    return together, [torch.stack(parts) for parts in zip(*alone, strict=True)]


@pytest.mark.parametrize(("method", "kind"), CASES, ids=lambda part: repr(part).replace("'", ""))
def test_three_runs_at_once_are_three_runs(method, kind):
    problem = problem_of(kind)
    method.check(problem)
    weight, batch, values, scores = runs_of(method, problem)
    copies = [part.clone() for part in batch if isinstance(part, torch.Tensor)]
    first = method.phases()[0].name

    def losses_and_scores(weight, batch, values, scores):
        run = replace(method, **values)
        nets = Nets({"model": lambda x: (x @ weight, None)}, problem.sizes)
        state = run.after(first, problem, scores, run.init(problem))
        one = run.loss(nets, batch, state)
        two = run.loss(nets, batch, one.state)
        return one.losses["model"] + two.losses["model"], run.predict(nets, batch, one.state)

    together, alone = stacked_and_single(losses_and_scores, weight, batch, values, scores)
    for ours, single in zip(together, alone, strict=True):
        torch.testing.assert_close(ours, single, atol=1e-12, rtol=0)
    gradients = [torch.autograd.grad(part[0].sum(), weight)[0] for part in (together, alone)]
    torch.testing.assert_close(*gradients, atol=1e-12, rtol=0)
    assert torch.isfinite(gradients[0]).all()
    assert gradients[0].abs().amax((1, 2)).min() > 0
    assert all(torch.equal(*pair) for pair in zip(copies, batch[:5], strict=True))
    shown = together[1].detach()
    assert shown.shape == (RUNS, BATCH, problem.sizes.n_classes)
    assert ((shown >= 0) & (shown <= 1)).all()
    if kind != "labels":
        torch.testing.assert_close(shown.sum(-1), torch.ones(RUNS, BATCH, dtype=torch.float64))
