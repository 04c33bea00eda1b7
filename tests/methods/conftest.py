"""Tools for tests of methods: networks from numbers, and stacked runs held against single ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from evenhand.methods.base import Method
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.records import Batch, Out, Sizes, State

N_INPUTS = 4


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Tensors are tiny here: on a busy machine threads that wait for each other take twenty times as long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def tools() -> SimpleNamespace:
    """The functions below, for test modules, which cannot import this one."""
    return SimpleNamespace(
        linear=linear_nets,
        logits=logit_nets,
        double=in_double,
        batch=batch_of,
        problem=some_problem,
        assert_stacks=assert_stacks,
    )


def linear_nets(weight: Tensor, bias: Tensor, sizes: Sizes) -> Nets:
    """A linear model with these parameters; its features are its inputs."""
    return Nets({"model": lambda x: (x @ weight.T + bias, x)}, sizes)


def logit_nets(sizes: Sizes) -> Nets:
    """A model whose inputs are its logits."""
    return Nets({"model": lambda x: (x, x)}, sizes)


def in_double(state: State) -> dict[str, Tensor]:
    """A state whose floats are float64."""
    return {name: value.double() if value.is_floating_point() else value for name, value in state.items()}


def batch_of(problem: Problem, rows: Tensor, seed: int) -> Batch:
    """Some rows of a problem, with inputs drawn at random in float64."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(len(rows), N_INPUTS, dtype=torch.float64, generator=generator)
    return Batch(x, problem.y[rows], problem.g[rows], problem.a[rows], rows)


def some_problem(n_classes: int = 2, n_rows: int = 60, seed: int = 0, *, labels: int = 0) -> Problem:
    """Two attributes of two and three levels, some of them unknown; `labels` of them make it multi-label."""
    generator = torch.Generator().manual_seed(seed)
    a = torch.stack([torch.randint(-1, n, (n_rows,), generator=generator) for n in (2, 3)], dim=1)
    g = torch.where((a < 0).any(1), -1, a[:, 0] * 3 + a[:, 1])
    shape = (n_rows, labels) if labels else (n_rows,)
    y = torch.randint(0, 2 if labels else n_classes, shape, generator=generator)
    return Problem.from_labels(y, g, a, n_classes=labels or n_classes, n_groups=6)


def assert_stacks(method: Method, problem: Problem, values: Mapping[str, Sequence[float]]) -> None:
    """Three runs with their own parameters, batches and hyper-parameters: stacked they equal three alone.

    Three steps in a row, so that state is carried; in the second every run lacks a group, in the third all
    groups are unknown. Losses, gradients and states differ by 1e-12 at most; inputs are left as they were.
    """
    generator = torch.Generator().manual_seed(1)
    outputs = method.outputs(problem)
    weight = torch.randn(3, outputs, N_INPUTS, dtype=torch.float64, generator=generator).requires_grad_()
    bias = torch.randn(3, outputs, dtype=torch.float64, generator=generator).requires_grad_()
    hyper = {name: torch.tensor(list(value), dtype=torch.float64) for name, value in values.items()}
    single = [in_double(method.init(problem)) for _ in range(3)]
    stacked = {name: torch.stack([state[name] for state in single]) for name in single[0]}

    def loss(weight: Tensor, bias: Tensor, batch: Batch, state: State, hyper: Mapping[str, Tensor]) -> Out:
        return replace(method, **hyper).loss(linear_nets(weight, bias, problem.sizes), batch, state)

    for step in range(3):
        batches = [_lacking(batch_of(problem, _rows(problem, run), 9 * step + run), step) for run in range(3)]
        before = [tuple(part.clone() for part in batch[:4]) for batch in batches]
        plain = [replace(method, **{name: value[run] for name, value in values.items()}) for run in range(3)]
        alone = [
            plain[run].loss(linear_nets(weight[run], bias[run], problem.sizes), batches[run], single[run])
            for run in range(3)
        ]
        inputs = Batch(*(torch.stack(part) for part in zip(*(batch[:5] for batch in batches), strict=True)))
        together = torch.func.vmap(loss, randomness="error")(weight, bias, inputs, stacked, hyper)
        ours = torch.stack([out.losses["model"] for out in alone])
        _assert_near(together.losses["model"], ours)
        found = torch.autograd.grad(together.losses["model"].sum(), (weight, bias), allow_unused=True)
        expected = torch.autograd.grad(ours.sum(), (weight, bias), allow_unused=True)
        for one, other in zip(found, expected, strict=True):
            _assert_near(one, other)
        for old, batch in zip(before, batches, strict=True):
            assert all(torch.equal(one, other) for one, other in zip(old, batch[:4], strict=True))
        single, stacked = [dict(out.state) for out in alone], dict(together.state)
        for name, value in stacked.items():
            _assert_near(value, torch.stack([state[name] for state in single]))
            assert not value.requires_grad


def _rows(problem: Problem, run: int) -> Tensor:
    return torch.randperm(len(problem), generator=torch.Generator().manual_seed(run))[:24]


def _lacking(batch: Batch, step: int) -> Batch:
    """The batch as it is, without its groups 0 to 2, or with no known group at all."""
    gone = (
        (batch.g >= 0) & (batch.g < 3) if step == 1 else torch.full_like(batch.g, step == 2, dtype=torch.bool)
    )
    return batch._replace(g=batch.g.masked_fill(gone, -1), a=batch.a.masked_fill(gone[:, None], -1))


def _assert_near(found: Tensor, expected: Tensor) -> None:
    assert torch.isfinite(found).all()
    assert found.dtype == expected.dtype
    assert found.dtype in (torch.float64, torch.int64)
    assert (found - expected).abs().max() <= 1e-12
