"""CUMA: the matching term against its definition, who it trains, what is dropped, and S4's baselines."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
import torch
from torch import nn
from torch.nn import functional

import evenhand
from evenhand.errors import InputError
from evenhand.methods import ERM, AdvDebias, Batch, LaftrDP, Nets, Problem
from evenhand.methods.cuma import Cuma
from evenhand.methods.curvature_gap import outputs_gap
from evenhand.methods.curvature_terms import curvature_gap, discrepancy
from evenhand.methods.terms import mask_of, row_losses
from evenhand.metrics.curvature import one_shot
from evenhand.metrics.mmd import KERNELS, masked_mmd2
from evenhand.nets import NetSpec
from evenhand.nets.wrap import as_net
from evenhand.records import Sizes
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.step import Step
from evenhand.train.trainer import Trainer

SIGMAS = KERNELS["default"]


def drawn(n: int, groups: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    source = torch.Generator().manual_seed(seed)
    values = 3 * torch.rand(n, dtype=torch.float64, generator=source)
    return values.requires_grad_(), torch.randint(-1, groups, (n,), generator=source)


@pytest.mark.parametrize("sigmas", [*KERNELS.values(), (1.0, 3.0, 5.0)], ids=[*KERNELS, "not doubling"])
def test_two_groups_are_the_masked_mmd_and_its_gradient_is_that_of_autograd(sigmas) -> None:
    values, g = drawn(31, 2)
    mask = mask_of(g, 2, torch.float64)
    ours, plain = discrepancy(values, mask, sigmas), masked_mmd2(values, mask[:, 0], mask[:, 1], sigmas)
    assert abs(ours.item() - plain.item()) < 1e-13
    slopes = [torch.autograd.grad(loss, values)[0] for loss in (ours, plain)]
    assert (slopes[0] - slopes[1]).abs().max() < 1e-13
    assert slopes[0].abs().max() > 1e-4
    assert (slopes[0][g < 0] == 0).all()  # a row of unknown group has no say


def test_more_groups_are_the_mean_over_the_pairs_that_have_two_rows_each() -> None:
    values, g = drawn(40, 5)
    g[g == 3] = -1
    g[0], g[1:][g[1:] == 4] = 4, 2  # group 3 has no row and group 4 has one
    mask = mask_of(g, 5, torch.float64)
    pairs = [masked_mmd2(values, mask[:, a], mask[:, b], SIGMAS) for a, b in combinations(range(3), 2)]
    mean, ours = torch.stack(pairs).mean(), discrepancy(values, mask, SIGMAS)
    assert abs(ours.item() - mean.item()) < 1e-13
    slopes = [torch.autograd.grad(loss, values)[0] for loss in (ours, mean)]
    assert (slopes[0] - slopes[1]).abs().max() < 1e-13


@pytest.mark.parametrize("g", [[0, 0, 0, 1], [0, 0, 0, 0], [-1, -1, -1, -1]])
def test_a_group_of_one_row_is_not_compared(g) -> None:
    values = torch.tensor([0.0, 1.0, 2.0, 9.0], requires_grad=True)
    gap = discrepancy(values, mask_of(torch.tensor(g), 2), SIGMAS)
    assert gap.item() == 0
    assert (torch.autograd.grad(gap, values)[0] == 0).all()


GOLDEN_KERNELS = {
    "sigmas_.25_.5_1_2_4": "narrow", "sigmas_1_2_4_8_16": "default", "sigmas_4_8_16_32_64": "wide",
}  # fmt: skip


@pytest.mark.parametrize("name", ["mmd2_21", "mmd2_22", "mmd2_identical", "mmd2_far_apart"])
def test_golden_discrepancies(name, golden) -> None:
    (case,) = [case for case in golden("12_cuma_closed_forms")["cases"] if case["name"] == name]
    u, v = (torch.tensor(case["inputs"][key], dtype=torch.float64) for key in ("u", "v"))
    mask = mask_of(torch.tensor([0] * len(u) + [1] * len(v)), 2, torch.float64)
    for key, kernels in GOLDEN_KERNELS.items():
        found = discrepancy(torch.cat([u, v]), mask, KERNELS[kernels]).item()
        assert found == pytest.approx(case["expected"][key], abs=case["tolerance"])


@pytest.mark.parametrize("name", ["curvature_relu2logit_11", "curvature_relu2logit_12"])
def test_golden_gap_of_curvatures(name, golden) -> None:
    (case,) = [case for case in golden("12_cuma_closed_forms")["cases"] if case["name"] == name]
    x, w1, b1, w2, b2 = (
        torch.tensor(case["inputs"][key], dtype=torch.float64) for key in ("x", "w1", "b1", "w2", "b2")
    )
    y = torch.tensor(case["inputs"]["y"])
    g = (torch.arange(len(y)) >= len(y) // 2).long()
    found = curvature_gap(lambda x: row_losses(torch.relu(x @ w1.T + b1) @ w2.T + b2, y), x, g, 2)
    expected = case["expected"]["mmd2_of_one_shot_h1_between_first_half_and_second_half"]
    assert found.item() == pytest.approx(expected, abs=case["tolerance"])


def setup(groups: int = 2, classes: int = 2, rows: int = 24, **fields: object):
    """A method with the networks of S4, small, in float64, and a batch whose last row has no known group."""
    torch.manual_seed(0)
    method = Cuma(**fields)  # type: ignore[arg-type]
    x = torch.randn(rows, 5, dtype=torch.float64)
    y, g = torch.randint(0, classes, (rows,)), torch.arange(rows) % groups
    g[-1] = -1
    problem = Problem.from_labels(y, g, n_classes=classes, n_groups=groups, inputs=(5,))
    model = NetSpec("mlp", blocks=((7, 6), (4,)), dropout=0.25).build((5,), classes).double()
    with torch.no_grad():  # as steep as after some training
        for weight in model.parameters():
            weight.mul_(2.5)
    adversary = method.extra(problem, model.n_features)["adversary"].double()
    masks = {
        name: {key: (torch.rand(rows, *spec.shape) > spec.p).double() / (1 - spec.p)
               for key, spec in module.noise().items()}
        for name, module in (("model", model), ("adversary", adversary))
    }  # fmt: skip
    nets = Nets({"model": model, "adversary": adversary}, problem.sizes, noise=masks)
    return method, nets, Batch(x, y, g), model, adversary


def gap_of(method: Cuma, nets: Nets, batch: Batch) -> torch.Tensor:
    """L_cm itself: what the loss has more at gamma = 1 than at gamma = 0."""
    return sum(
        sign * replace(method, gamma=gamma).loss(nets, batch, {}).losses["model"]
        for sign, gamma in ((1, 1.0), (-1, 0.0))
    )


@pytest.mark.parametrize(("groups", "classes"), [(2, 2), (2, 3), (3, 2)])
def test_the_matching_term_trains_encoder_and_classifier_and_never_the_adversary(groups, classes) -> None:
    method, nets, batch, model, adversary = setup(groups, classes)
    assert gap_of(method, nets, batch).item() > 1e-3
    gap = gap_of(method, nets, batch)
    slopes = torch.autograd.grad(gap, [layer.weight for layer in model.layers], retain_graph=True)
    assert all(slope.abs().max() > 1e-4 for slope in slopes)
    others = torch.autograd.grad(gap, list(adversary.parameters()), allow_unused=True)
    assert all(slope is None or slope.abs().max() < 1e-15 for slope in others)


def test_its_gradient_is_that_of_differences() -> None:
    method, nets, batch, model, _ = setup()
    weight = model.layers[1].weight
    slope = torch.autograd.grad(gap_of(method, nets, batch), weight)[0]
    for place in ((0, 0), (3, 2), (5, 6)):
        values = []
        for step in (1e-6, -1e-6):
            with torch.no_grad():
                weight[place] += step
                values.append(gap_of(method, nets, batch).item())
                weight[place] -= step
        assert (values[0] - values[1]) / 2e-6 == pytest.approx(slope[place].item(), rel=1e-4, abs=1e-9)


def test_it_is_the_discrepancy_of_curvatures_without_dropout() -> None:
    method, nets, batch, model, _ = setup(h=0.5, kernels="narrow")

    def losses(x: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(model(x)[0], batch.y, reduction="none")

    curvatures = one_shot(losses, batch.x, 0.5)
    mask = mask_of(batch.g, 2, torch.float64)
    expected = masked_mmd2(curvatures, mask[:, 0], mask[:, 1], KERNELS["narrow"])
    assert gap_of(method, nets, batch).item() == pytest.approx(expected.item(), abs=1e-13)
    twice = Batch(*(torch.cat([part, part]) for part in batch[:3]))  # curvatures do not shrink with the batch
    loss_twice = lambda x: functional.cross_entropy(model(x)[0], twice.y, reduction="none")  # noqa: E731
    again = curvature_gap(loss_twice, twice.x, twice.g, 2, h=0.5, kernels="narrow")
    assert again.item() == pytest.approx(expected.item(), abs=1e-13)


def test_the_reversal_gives_the_adversary_1_and_the_model_minus_alpha() -> None:
    method, nets, batch, model, adversary = setup(gamma=0.0)
    weights = [model.layers[0].weight, adversary.body.layers[0].weight]
    found = {}
    for alpha in (0.0, 1.0, 3.0):
        loss = replace(method, alpha=alpha).loss(nets, batch, {}).losses["model"]
        found[alpha] = torch.autograd.grad(loss, weights)
    at_0, at_1, at_3 = found[0.0], found[1.0], found[3.0]
    assert torch.allclose(at_3[0] - at_0[0], 3 * (at_1[0] - at_0[0]))
    features = nets["model"](batch.x)[1]
    known = batch.g >= 0
    spotting = functional.cross_entropy(nets["adversary"](features)[known], batch.g[known])
    own = torch.autograd.grad(spotting, weights)
    assert torch.allclose(at_0[0] - at_1[0], own[0])
    assert all(torch.allclose(slopes[1], own[1]) for slopes in found.values())


def test_unknown_groups_serve_the_task_only() -> None:
    method, nets, batch, _, _ = setup()
    elsewhere = batch._replace(x=torch.cat([batch.x[:-1], 9 * batch.x[-1:]]))
    assert gap_of(method, nets, batch).item() == pytest.approx(
        gap_of(method, nets, elsewhere).item(), abs=1e-13
    )
    nobody = batch._replace(g=torch.full_like(batch.g, -1))
    loss = method.loss(nets, nobody, {}).losses["model"]
    assert torch.equal(loss, row_losses(nets["model"](batch.x)[0], batch.y).mean())


class WithStatistics(nn.Module):
    """Batch statistics and random numbers of its own: what the passes for the curvature must leave alone."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(5, 6), nn.BatchNorm1d(6)
        self.dropout, self.last = nn.Dropout(0.5), nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = torch.relu(self.norm(self.first(x)))
        return self.last(self.dropout(h)), h


def test_batch_statistics_are_those_of_the_task_s_own_pass() -> None:
    method, _, batch, _, _ = setup()
    torch.manual_seed(1)
    model = as_net(WithStatistics().double(), n_features=6)
    adversary = method.extra(Problem.from_labels([0, 1], g=[0, 1]), 6)["adversary"].double()
    nets = Nets({"model": model, "adversary": adversary}, Problem.from_labels(batch.y, batch.g).sizes)
    before = model.module.norm.running_mean.clone()
    loss = method.loss(nets, batch, {}).losses["model"]
    assert torch.isfinite(loss)
    seen = model.module.first(batch.x).mean(0)
    assert torch.allclose(model.module.norm.running_mean, 0.9 * before + 0.1 * seen)
    assert model.module.norm.num_batches_tracked.item() == 1
    assert all(part.training for part in model.modules())
    still = nets.measured()["model"]
    assert torch.equal(still(batch.x)[0], still(batch.x)[0])


def small_task():
    return evenhand.load("synthetic", n_train=160, n_validation=20, n_test=20, attributes=1, seed=2)


def trained(compiled: bool, monkeypatch) -> dict[str, torch.Tensor]:
    if compiled:
        real = torch.compile
        monkeypatch.setattr(torch, "compile", lambda f, **o: real(f, backend="aot_eager", **o))
    runs = [Run(Cuma(gamma=2.0 * seed, h=0.5 + seed), seed) for seed in range(3)]
    recipe = Recipe(epochs=1, batch_size=32, precision="float64", rate=0.01, compile=compiled)
    net = NetSpec("mlp", blocks=((9, 6), (4,)), dropout=0.25)
    return Trainer(runs, [small_task()], net, recipe, protect=["a0"]).fit().stack.parameters["model"]


def test_a_compiled_stack_is_the_stack(monkeypatch) -> None:
    plain = trained(False, monkeypatch)
    asked: list[bool] = []
    real = Step._loss
    monkeypatch.setattr(Step, "_loss", lambda self, turn: (asked.append(self._compiled), real(self, turn))[1])
    found = trained(True, monkeypatch)
    assert asked
    assert all(asked)
    assert all((plain[name] - found[name]).abs().max() < 1e-10 for name in plain)


def test_what_cannot_be_served_is_refused() -> None:
    with pytest.raises(InputError, match="'cuma' compares groups"):
        Cuma().check(Problem.from_labels([0, 1], g=[0, 0]))
    with pytest.raises(InputError, match="'h' of 'cuma' must be a number of at least"):
        Cuma(h=0.0).check(Problem.from_labels([0, 1], g=[0, 1]))
    with pytest.raises(InputError, match="did you mean 'narrow'"):
        Cuma(kernels="narow").check(Problem.from_labels([0, 1], g=[0, 1]))


def shapes(module: nn.Module) -> list[tuple[int, ...]]:
    return [tuple(weight.shape) for weight in module.parameters() if weight.ndim == 2]


def test_s4_s_networks_and_baselines_can_be_had() -> None:
    problem = Problem.from_labels([0, 1], g=[0, 1])
    net = NetSpec("s4-mlp").build((100,), 2)
    assert (shapes(net), net.n_features, net.split) == (
        [(100, 100), (64, 100), (32, 64), (2, 32)],
        64,
        "layer2",
    )
    assert sorted(net.noise()) == ["dropout1", "dropout3"]  # between the layers of a block only
    ours = Cuma().extra(problem, 64)["adversary"]
    assert shapes(ours) == [(32, 64), (2, 32)]
    assert {name: spec.p for name, spec in ours.noise().items()} == {"dropout1": 0.25}
    output = AdvDebias(alpha=1.0, head="parity", form="reversal", width=32)
    assert shapes(output.extra(problem, 64)["adversary"]) == [(32, 2), (2, 32)]
    assert output.phases()[0].turns == (("model", "adversary"),)
    laftr = LaftrDP(gamma=1.0, n_adv=2, width=32, depth=1, bend="relu")
    assert laftr.phases()[0].turns == (("model",), ("adversary",), ("adversary",))
    assert shapes(laftr.extra(problem, 64)["adversary"]) == [(32, 65), (1, 32)]
    assert ERM().players() == {"model": ("model",)}


@pytest.mark.parametrize("options", [{"blocks": ((7, 6), (4,))}, {"widths": (9, 8)}, {"widths": ()}], ids=str)
@pytest.mark.parametrize("groups", [2, 3])
def test_the_shorter_way_of_relu_perceptrons_is_the_double_backward_pass(options, groups) -> None:
    _, _, batch, _, _ = setup(groups)
    net = NetSpec("mlp", dropout=0.25, **options).build((5,), 2).double()
    with torch.no_grad():
        for weight in net.parameters():
            weight.mul_(2.5)
    before = batch.x.clone()
    nets = Nets({"model": net}, Sizes((5,), 2, groups))
    assert nets.layers("model") is not None
    short = outputs_gap(nets, batch, h=0.7, kernels="narrow")
    long = curvature_gap(
        lambda x: row_losses(net(x)[0], batch.y), batch.x, batch.g, groups, h=0.7, kernels="narrow"
    )
    assert long.item() > 1e-4
    assert short.item() == pytest.approx(long.item(), abs=1e-13)
    ours = torch.autograd.grad(short, list(net.parameters()))
    theirs = torch.autograd.grad(long, list(net.parameters()), allow_unused=True)
    for one, other in zip(ours, theirs, strict=True):
        assert (one - (0 if other is None else other)).abs().max() < 1e-12
    assert torch.equal(batch.x, before)


def test_other_networks_and_tasks_go_the_long_way() -> None:
    for options in ({"activation": "tanh"}, {"activation": "leaky_relu"}):
        net = NetSpec("mlp", **options).build((5,), 2)
        assert Nets({"model": net}, Sizes((5,), 2, 2)).layers("model") is None
    bent = NetSpec("mlp", widths=(6,), legacy_activation=True).build((5,), 2).double()  # outputs too
    three = NetSpec("mlp", widths=(6,)).build((5,), 3).double()
    for net, classes in ((bent, 2), (three, 3)):
        _, _, batch, _, _ = setup(classes=classes)
        nets = Nets({"model": net}, Sizes((5,), classes, 2))
        expected = curvature_gap(lambda x: row_losses(net(x)[0], batch.y), batch.x, batch.g, 2)  # noqa: B023
        assert outputs_gap(nets, batch).item() == pytest.approx(expected.item(), abs=1e-13)


@pytest.mark.parametrize("activation", ["relu", "leaky_relu"], ids=["the short way", "the long way"])
@pytest.mark.parametrize("y", [0, 1])
def test_rows_that_are_sure_and_right_have_the_curvature_of_float64(activation, y) -> None:
    """A margin of 21, where 1 - p rounds to 0 in float32: the step must be taken for either class."""
    net = NetSpec("mlp", widths=(), activation=activation).build((2,), 2)
    with torch.no_grad():
        net.layers[0].weight.copy_(torch.tensor([[0.0, 0.0], [12.0, 9.0]]))
        net.layers[0].bias.zero_()
    x = (2 * y - 1) * torch.tensor([[1.0, 1.0], [1.0, 1.0], [5.0, 5.0], [5.0, 5.0]])
    batch = Batch(x, torch.full((4,), y), torch.tensor([0, 0, 1, 1]))
    found = outputs_gap(Nets({"model": net}, Sizes((2,), 2, 2)), batch, h=1.4)
    net, batch = net.double(), batch._replace(x=x.double())
    exact = outputs_gap(Nets({"model": net}, Sizes((2,), 2, 2)), batch, h=1.4)
    assert exact.item() > 0.5
    assert found.item() == pytest.approx(exact.item(), rel=1e-4)


@pytest.mark.parametrize("seeds", [[0], [0, 1]], ids=["single", "stacked"])
def test_fewer_bits_in_training_do_not_blur_the_curvatures(seeds) -> None:
    """A difference of gradients in bfloat16 would be wrong by a third here; predictions have all bits too."""
    gaps = []
    for precision in ("float32", "bfloat16"):
        recipe = Recipe(epochs=1, batch_size=160, precision=precision)
        runs = [Run(Cuma(), seed) for seed in seeds]
        trainer = Trainer(runs, [small_task()], NetSpec("s4-mlp"), recipe, protect=["a0"]).fit()
        gaps.append(trainer.history[0]["method.curvature_gap"])
    assert gaps[1] == pytest.approx(gaps[0], rel=1e-3)
