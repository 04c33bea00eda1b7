"""Gradient reversal on a feature map: who gets which gradient, its adversary against torch's, two stages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

import evenhand
from evenhand.data.card import DataCard
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.methods import ERM, ConvReversal, with_stages
from evenhand.methods.map_adversary import MapAdversary
from evenhand.methods.nets import Nets
from evenhand.methods.posneg import posneg_weights
from evenhand.methods.problem import Problem
from evenhand.nets import NetSpec
from evenhand.records import Batch, Phase
from evenhand.train.building import networks_of, width_at
from evenhand.train.precision import in_bfloat16
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

CONVNET = NetSpec("convnet", widths=(4, 8))
SHAPE = (3, 8, 8)


def images(labels: int = 0) -> Task:
    """48 images of random bytes, a third of the groups the rarer one; some groups are unknown."""
    source = torch.Generator().manual_seed(0)
    x = torch.randint(0, 256, (48, *SHAPE), generator=source, dtype=torch.uint8)
    shape = (48, labels) if labels else (48,)
    y = (torch.rand(shape, generator=source) < 0.3).to(torch.int64)
    codes = np.where(np.arange(48) % 12 == 5, -1, (np.arange(48) % 3 == 0).astype(int))
    split = dict(zip(("train", "validation", "test"), torch.arange(48).chunk(3), strict=True))
    card = DataCard("noise", "random bytes", "made here", "none")
    names = ("no", "yes") if not labels else tuple("abcdef"[:labels])
    side = Attribute("side", ("left", "right"), codes)
    return Task("noise", x, y, (side,), split, card, names, Scaling(127.5, 127.5))


def trained(method: Any, seeds: list[int], net: NetSpec = CONVNET, **options: Any) -> Trainer:
    methods = method if isinstance(method, list) else [method] * len(seeds)
    runs = [Run(one, seed) for one, seed in zip(methods, seeds, strict=True)]
    task = options.pop("task", None) or images()
    recipe = Recipe(**{"epochs": 2, "batch_size": 8, "rate": 0.01, "precision": "float64", **options})
    return Trainer(runs, [task], net, recipe, protect=["side"], stacked=len(seeds) > 1)


# -- gradients -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [0, 3], ids=["classes", "labels"])
@pytest.mark.parametrize("lam", [0.0, 1.0, 2.5])
def test_the_backbone_gets_minus_lam_and_the_adversary_one(lam, labels) -> None:
    task = images(labels)
    problem, method = Problem.of(task, ["side"]), ConvReversal(lam=lam, tap="conv1", width=6)
    torch.manual_seed(1)
    networks = {name: net.double() for name, net in networks_of(CONVNET, method, problem).items()}
    x = task.scaling(task.x[:16].double())
    batch = Batch(x, problem.y, problem.g)
    state = {"posneg": posneg_weights(problem).double()}
    loss = method.loss(Nets(networks, problem.sizes), batch, state).losses["model"]
    logits, (features,) = networks["model"](x, taps=("conv1",))
    known, weights = batch.g >= 0, state["posneg"]
    if labels:
        own = functional.binary_cross_entropy_with_logits(logits, batch.y.double(), weight=weights)
    else:
        own = functional.cross_entropy(logits, batch.y, weight=weights)
    guess = networks["adversary"](features)
    spotted = functional.cross_entropy(guess[known], batch.g[known])
    torch.testing.assert_close(loss, own + spotted)
    factors = {"convolutions.0": -lam, "norms.0": -lam, "convolutions.1": 0.0, "norms.1": 0.0, "last": 0.0}
    for name, leaf in networks["model"].named_parameters():
        factor = factors[name.rpartition(".")[0]]
        assert_gradient(loss, leaf, own, spotted, factor)
    for leaf in networks["adversary"].parameters():
        assert_gradient(loss, leaf, own, spotted, 1.0)


def assert_gradient(loss: Tensor, leaf: Tensor, task: Tensor, other: Tensor, factor: float) -> None:
    """The gradient of the task's loss, and that of the adversary's times a factor."""

    def of(value: Tensor) -> Tensor:
        (found,) = torch.autograd.grad(value, leaf, retain_graph=True, allow_unused=True)
        return torch.zeros_like(leaf) if found is None else found

    torch.testing.assert_close(of(loss), of(task) + factor * of(other), atol=1e-12, rtol=1e-9)


def test_weights_of_classes_can_be_left_out() -> None:
    method = ConvReversal(posneg=False, width=4)
    problem = Problem.from_labels([0, 0, 1, 0], g=[0, 1, 1, 0])
    adversary = method.extra(problem, 3)["adversary"]
    h = torch.randn(4, 3)
    nets = Nets({"model": lambda x: (x, h), "adversary": adversary}, problem.sizes)
    z = torch.randn(4, 2)
    out = method.loss(nets, Batch(z, problem.y, problem.g), method.init(problem))
    expected = functional.cross_entropy(z, problem.y) + out.logs["adversary"]
    torch.testing.assert_close(out.losses["model"], expected)


# -- the adversary -------------------------------------------------------------------------------------------


def test_the_adversary_is_torchs_own_layers_with_batch_normalisation() -> None:
    """Values and gradients of the published architecture, in training, with the same numbers in it."""
    torch.manual_seed(0)
    ours = MapAdversary(12, 2).double()
    hidden = [(nn.Linear(n, 300), nn.BatchNorm1d(300), nn.LeakyReLU()) for n in (12, 300, 300)]
    theirs = nn.Sequential(*(layer for three in hidden for layer in three), nn.Linear(300, 2)).double()
    pairs = [pair for (linear, norm, _), mine, own in zip(hidden, ours.layers, ours.norms, strict=True)
             for pair in ((linear, mine), (norm, own))]  # fmt: skip
    for one, other in (*pairs, (theirs[-1], ours.last)):
        assert {key: value.shape for key, value in one.named_parameters()} == {
            key: value.shape for key, value in other.named_parameters()
        }
        one.load_state_dict(other.state_dict(), strict=False)
    z = torch.randn(7, 3, 2, 2, dtype=torch.float64, requires_grad=True)
    found, expected = ours(z), theirs(z.flatten(1))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(
        torch.autograd.grad(found[:, 0].sum(), z), torch.autograd.grad(expected[:, 0].sum(), z)
    )


def test_its_statistics_are_not_taken_in_few_bits() -> None:
    adversary, z = MapAdversary(8, 2, width=16), 100 + torch.randn(32, 8)
    exact, rough = adversary(z), in_bfloat16(adversary)(z)
    assert torch.isfinite(rough).all()
    assert adversary.norms[0](z[:, :1].expand(-1, 16).to(torch.bfloat16)).dtype == torch.float32
    assert exact.dtype == rough.dtype == torch.float32


def test_a_point_of_the_network_by_name() -> None:
    """Named by the method or by the network's own option, it is the same training to the bit."""
    method = ConvReversal(width=6)
    by_split = trained(method, [3], NetSpec("convnet", widths=(4, 8), split="conv1")).fit()
    by_tap = trained(replace(method, tap="conv1"), [3]).fit()
    for network, values in by_split.stack.parameters.items():
        for name, value in values.items():
            assert torch.equal(value, by_tap.stack.parameters[network][name])
    assert by_tap.stack.parameters["adversary"]["layers.0.weight"].shape == (6, 4 * 4 * 4)
    with pytest.raises(InputError, match="no split point 'conv9'"):
        trained(replace(method, tap="conv9"), [3])


def test_widths_are_those_that_the_networks_say_and_statistics_stay() -> None:
    for split in ("f0", "f1", "f3", "f4"):
        net = NetSpec("resnet32x4", split=split).build((3, 16, 16), 2)
        before = {name: value.clone() for name, value in net.named_buffers()}
        assert width_at(net, split, (3, 16, 16)) == width_at(net, "", (3, 16, 16)) == net.n_features
        assert all(torch.equal(value, before[name]) for name, value in net.named_buffers())
        assert net.training
    with torch.device("meta"):  # counted, not filled
        assert width_at(CONVNET.build(SHAPE, 2), "conv1", SHAPE) == 64


# -- stages and batches --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OnlyHead(ConvReversal):
    """The first stage alone."""

    def phases(self) -> tuple[Phase, ...]:
        return super().phases()[:1]


@pytest.mark.parametrize("seeds", [[0], [0, 1]], ids=["single", "stacked"])
def test_first_the_heads_on_a_frozen_backbone_then_everything(seeds) -> None:
    fields: dict[str, Any] = {"width": 8, "head_epochs": 2, "tap": "conv2"}
    start = trained(OnlyHead(**fields), seeds, weight_decay=0.1).stack.parameters
    first = trained(OnlyHead(**fields), seeds, weight_decay=0.1).fit().stack.parameters
    end = trained(ConvReversal(**fields), seeds, weight_decay=0.1).fit()
    for name, value in start["model"].items():
        assert torch.equal(value, first["model"][name]) != name.startswith("last."), name
    assert all(not torch.equal(value, first["adversary"][name]) for name, value in start["adversary"].items())
    for network, values in end.stack.parameters.items():
        assert all(not torch.equal(value, first[network][name]) for name, value in values.items())
    assert [entry["phase"] for entry in end.history] == ["head"] * 2 + ["train"] * 2
    assert all(leaf.requires_grad for values in end.stack.parameters.values() for leaf in values.values())


def test_an_adversary_that_only_watches_leaves_the_model_as_in_two_stages_of_erm() -> None:
    watched = ConvReversal(lam=0.0, posneg=False, balanced=False, head_epochs=1, rate_share=0.3, width=4)
    net = NetSpec("convnet", widths=(4, 8), dropout=0.3)
    one, other = trained(watched, [5], net).fit(), trained(with_stages(ERM(), 1, 0.3), [5], net).fit()
    for name, value in other.stack.parameters["model"].items():
        torch.testing.assert_close(one.stack.parameters["model"][name], value, atol=1e-14, rtol=0)


def test_a_batch_has_as_many_rows_of_each_group_and_none_unknown() -> None:
    made = trained(ConvReversal(width=4), [0, 1])
    for phase in ("head", "train"):
        sampler = made.batches.sampler(phase)
        groups = made.train.problems[0].g[sampler.rows(0, 0)]
        assert all(torch.bincount(row, minlength=2).tolist() == [4, 4] for row in groups)
    problem = made.train.problems[0]
    assert ConvReversal(balanced=False).sampling(problem, 0) == (None, None, None, 0)


@pytest.mark.parametrize("labels", [0, 3], ids=["classes", "labels"])
def test_a_stack_is_its_runs_on_images(labels) -> None:
    fields = [
        {"lam": 2.0, "rate_share": 0.5},
        {"lam": 0.5, "rate_share": 0.05},
        {"lam": 1.0, "rate_share": 1},
    ]
    methods = [ConvReversal(width=8, tap="conv2", head_epochs=1, **own) for own in fields]
    options = {"task": images(labels), "weight_decay": 1e-3}
    stack = trained(methods, [3, 4, 9], **options).fit().stack.parameters
    for place, seed in enumerate((3, 4, 9)):
        single = trained(methods[place], [seed], **options).fit().stack.parameters
        for network, values in single.items():
            for name, value in values.items():
                assert (stack[network][name][place] - value).abs().max() <= 1e-10, f"{network}.{name}"


def test_a_network_with_batch_statistics_is_trained_by_itself() -> None:
    net = NetSpec("resnet32x4")
    made = trained(ConvReversal(width=4, tap="f3", head_epochs=1), [0], net, epochs=1).fit()
    assert made.stack.parameters["adversary"]["layers.0.weight"].shape == (4, 256 * 2 * 2)
    assert all(torch.isfinite(value).all() for value in made.stack.parameters["model"].values())


def test_more_than_two_groups_and_what_cannot_be_served() -> None:
    problem = Problem.from_labels([0, 1, 1], g=[0, 1, 2])
    shapes = [tuple(p.shape) for p in ConvReversal().extra(problem, 64)["adversary"].parameters()]
    assert shapes[0] == (300, 64)
    assert shapes[-2] == (3, 300)
    with pytest.raises(InputError, match="'grl-conv' has an adversary on the network's features"):
        ConvReversal().extra(problem, 0)


def test_the_adversary_finds_out_less_where_the_backbone_works_against_it() -> None:
    """Its loss in the last epoch is larger in every run than that of one that only watches."""
    task = evenhand.load("synthetic", n_train=600, n_test=400, n_validation=100, seed=7)
    found = {}
    for lam in (0.0, 3.0):
        method = ConvReversal(lam=lam, width=32, head_epochs=1, rate_share=1.0)
        made = Trainer(
            [Run(method, seed) for seed in range(4)], [task], NetSpec("mlp", widths=(16,)),
            Recipe(epochs=12, batch_size=64, rate=0.01), protect=["a0"],
        ).fit()  # fmt: skip
        found[lam] = np.asarray(made.history[-1]["method.adversary"])
    assert (found[3.0] > found[0.0]).all(), found
