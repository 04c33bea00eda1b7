"""A run in a stack ends where it ends alone: to the bit in float32 on the CPU, and to 1e-10 in float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from evenhand.data.card import DataCard
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.methods.base import Method, Sampling
from evenhand.methods.gap import GapPenalty
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.jtt import JTT
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses
from evenhand.nets import NetSpec
from evenhand.records import NoiseSpec, Out
from evenhand.train.runs import Run, common_method
from evenhand.train.stack import Stack, in_lines, seeded

SMALL = NetSpec("mlp", widths=(16,))
SEEDS = [0, 1, 2, 3, 11, 2**40, -5, 2**64 - 1]


@pytest.fixture(params=[1, pytest.param(2, marks=pytest.mark.slow)], ids=["one thread", "two threads"])
def threads(request, one_thread):
    torch.set_num_threads(request.param)


def wide_task(inputs, rows=200):
    """Random rows with as many inputs as a small colour image."""
    source = torch.Generator().manual_seed(0)
    x = torch.randn(rows, inputs, generator=source)
    y = (x[:, :8].sum(1) > 0).to(torch.int64)
    side = Attribute("side", ("a", "b"), (torch.arange(rows) % 2).numpy())
    split = {"train": torch.arange(160), "validation": torch.arange(160, rows)}
    return Task("wide", x, y, (side,), split, DataCard("", "", "", ""), ("no", "yes"))


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize(
    ("inputs", "net", "recipe"),
    [
        (2352, NetSpec("mlp", widths=(64, 64)), {"batch_size": 32, "epochs": 6}),
        (102, NetSpec("mlp", blocks=((100, 64), (32,))), {"batch_size": 32, "epochs": 6}),
        (102, NetSpec("s4-mlp"), {"batch_size": 32, "epochs": 6}),  # with dropout
        (30, NetSpec("mlp", widths=(17, 13)), {"batch_size": 31, "epochs": 2, "schedule": "cosine"}),
        (30, SMALL, {"optimizer": "sgd", "weight_decay": 0.1, "momentum": 0.5}),
        (30, SMALL, {"optimizer": "adamw", "weight_decay": 0.1}),
        (30, SMALL, {"optimizer": "adadelta", "rate": 1.0}),
        (30, SMALL, {"clip": 0.1}),
    ],
)  # fmt: skip
def test_equal_to_the_bit_in_single_precision(kit, inputs, net, recipe):
    task = wide_task(inputs)

    def make(places):
        return kit.trainer(task, [SEEDS[place] for place in places], net=net, **recipe).fit()

    together = make(range(8))
    history = [make([run]) for run in range(8)]
    for run, alone in enumerate(history):
        assert not alone.stack.stacked
        kit.assert_same(kit.numbers(together, run), kit.numbers(alone))
        for one, other in zip(together.history, alone.history, strict=True):
            assert one["loss"][run] == other["loss"][0]
            assert one["train"][run] == other["train"][0]
    parameters = [
        tuple(alone.stack.parameters["model"]["layers.0.weight"][0, :3].tolist()) for alone in history
    ]
    assert len(set(parameters)) == 8  # eight different runs, that is


@pytest.mark.parametrize(
    "method", [GroupDRO(), GapPenalty(lam=2.0), JTT(identify_epochs=2)], ids=lambda m: m.key
)
@pytest.mark.parametrize(
    "net", [NetSpec("mlp", widths=(8, 8), dropout=0.3), NetSpec("s4-mlp")], ids=["mlp", "s4"]
)
def test_equal_in_double_precision(kit, method, net):
    kit.assert_each_alone(
        lambda places: kit.trainer(kit.task(), places, method, net=net, precision="float64").fit(), 4, 1e-10
    )


def test_a_convolutional_network_in_double_precision(kit):
    net = NetSpec("convnet", widths=(4, 8), dropout=0.2)
    make = lambda places: kit.trainer(  # noqa: E731
        kit.images(), places, net=net, precision="float64", augment="crop-flip", batch_size=8, optimizer="sgd"
    ).fit()
    kit.assert_each_alone(make, 3, 1e-10)


def test_a_stack_of_one_is_the_single_run(kit):
    one, other = (kit.trainer(kit.task(), [4], stacked=stacked).fit() for stacked in (True, False))
    kit.assert_same(kit.numbers(one), kit.numbers(other))


def test_runs_with_their_own_hyper_parameters(kit):
    methods = [GroupDRO(eta=eta, adjustment=c) for eta, c in ((0.01, 0.0), (0.5, 1.0), (2, 3))]  # 2: no float
    rates, decays, clips = (0.01, 0.03, 0.001), (0.0, 0.1, 0.01), (0.0, 0.05, 1.0)

    def make(places):
        given = {"rate": rates, "weight_decay": decays, "clip": clips}
        several = {name: tuple(values[place] for place in places) for name, values in given.items()}
        chosen = [methods[place] for place in places]
        return kit.trainer(kit.task(), places, chosen, precision="float64", **several).fit()

    kit.assert_each_alone(make, 3, 1e-10)
    assert (make([0]).state["q"] - make([1]).state["q"]).abs().max() > 0.01


def test_several_tasks_in_one_stack(kit):
    tasks = [kit.task(seed=seed) for seed in range(3)]
    together = kit.trainer(tasks, [5, 6, 7, 8], JTT(), tasks=[0, 1, 2, 0], watch=("tpr.gap",)).fit()
    for run, (seed, place) in enumerate(zip([5, 6, 7, 8], [0, 1, 2, 0], strict=True)):
        alone = kit.trainer(tasks[place], [seed], JTT(), watch=("tpr.gap",)).fit()
        kit.assert_same(kit.numbers(together, run), kit.numbers(alone), 1e-6)
        for one, other in zip(together.history[1:], alone.history[1:], strict=True):
            assert one["tpr.gap"][run] == pytest.approx(other["tpr.gap"][0], nan_ok=True)
    assert not torch.equal(
        kit.numbers(together, 0)["state weights"], kit.numbers(together, 1)["state weights"]
    )


def test_tasks_of_another_shape_are_refused(kit):
    with pytest.raises(InputError, match="must have the same shapes, groups and numbers of rows"):
        kit.trainer([kit.task(), kit.task(n_train=97)], [0, 1], tasks=[0, 1])


class Recorder(Method):
    """ERM that remembers the rows and the noise it was shown, as state."""

    def init(self, problem: Problem) -> Any:
        return {"rows": torch.zeros(len(problem)), "step": torch.zeros(()), "noise": torch.zeros(4)}

    def noise(self, problem: Problem) -> dict[str, NoiseSpec]:
        return {"z": NoiseSpec("normal", (4,)), "order": NoiseSpec("permutation"), "u": NoiseSpec("uniform")}

    def loss(self, nets: Any, batch: Any, state: Mapping[str, Tensor]) -> Out:
        logits, _ = nets["model"](batch.x)
        shuffled = batch.y[batch.noise["order"]]
        loss = (row_losses(logits, batch.y) * batch.noise["u"]).mean() + row_losses(logits, shuffled).mean()
        seen = (torch.arange(len(state["rows"])) == batch.index[:, None]).to(state["rows"].dtype).sum(0)
        after = {
            "rows": state["rows"] + seen,
            "step": state["step"] + 1,
            "noise": state["noise"] + batch.noise["z"].sum(0),
        }
        return Out({"model": loss + 0.01 * (logits * batch.noise["z"][:, :2]).mean()}, after)


@dataclass(frozen=True)
class Recording(Recorder):
    key = "recording"


def test_noise_and_rows_reach_the_loss_and_are_the_runs_own(kit):
    make = lambda places: kit.trainer(kit.task(), [SEEDS[p] for p in places], Recording()).fit()  # noqa: E731
    kit.assert_each_alone(make, 3, 1e-6)
    trainer = make([0, 1])
    assert trainer.state["rows"].tolist() == [[3.0] * 96] * 2  # three epochs, each row once
    assert trainer.state["step"].tolist() == [18.0, 18.0]
    assert trainer.state["noise"].abs().min() > 1e-3
    assert not torch.equal(trainer.state["noise"][0], trainer.state["noise"][1])


def test_shared_batches_are_the_same_for_all_whoever_is_beside_whom(kit):
    @dataclass(frozen=True)
    class FirstRows(Recorder):
        """Rows that were seen, with weights that say when."""

        def noise(self, problem):
            return {}

        def loss(self, nets, batch, state):
            logits, _ = nets["model"](batch.x)
            seen = (torch.arange(len(state["rows"])) == batch.index[:, None]).float().sum(0)
            after = {"rows": state["rows"] + seen * 2 ** state["step"], "step": state["step"] + 1}
            return Out({"model": row_losses(logits, batch.y).mean()}, {**state, **after})

    net = NetSpec("mlp", widths=(8,), dropout=0.5)
    options = {"epochs": 1, "net": net}
    own = kit.trainer(kit.task(), [0, 1, 2], FirstRows(), **options).fit()
    assert not torch.equal(own.state["rows"][0], own.state["rows"][1])
    shared = kit.trainer(kit.task(), [0, 1, 2], FirstRows(), share_batches=True, **options).fit()
    assert torch.equal(shared.state["rows"], shared.state["rows"][:1].expand(3, -1))
    others = kit.trainer(kit.task(), [9, 2], FirstRows(), share_batches=True, **options).fit()
    alone = kit.trainer(kit.task(), [2], FirstRows(), share_batches=True, **options).fit()
    kit.assert_same(kit.numbers(shared, 2), kit.numbers(others, 1), 1e-6)
    kit.assert_same(kit.numbers(shared, 2), kit.numbers(alone), 1e-6)


def test_shared_batches_of_several_tasks_are_refused(kit):
    with pytest.raises(InputError, match="runs on different tasks have no batches to share"):
        kit.trainer([kit.task(), kit.task(seed=1)], [0, 1], tasks=[0, 1], share_batches=True)


def test_a_method_that_chooses_rows_is_heard(kit):
    @dataclass(frozen=True)
    class Few(Recorder):
        def sampling(self, problem, seed, phase):
            return Sampling(rows=torch.arange(32).repeat(2))

    trainer = kit.trainer(kit.task(), [0, 1], Few(), epochs=1).fit()
    assert trainer.state["rows"][:, :32].unique().tolist() == [2.0]
    assert trainer.state["rows"][:, 32:].sum() == 0


def test_seeds_of_weights_order_and_noise_can_be_told_apart(kit):
    from evenhand.train.trainer import Trainer

    def end(**seeds):
        net = NetSpec("mlp", widths=(8,), dropout=0.5)
        base = kit.trainer(kit.task(), [0])
        return kit.numbers(Trainer([Run(base.method, 0, **seeds)], [kit.task()], net, base.recipe).fit())

    plain = end()
    kit.assert_same(plain, end(weight_seed=0, order_seed=0, noise_seed=0))
    for name in ("weight_seed", "order_seed", "noise_seed"):
        other = end(**{name: 1})
        assert not torch.equal(plain["model.layers.0.weight"], other["model.layers.0.weight"]), name


def test_blocks_hold_whole_lines_and_parameters_are_views_of_them():
    builds = [lambda: {"model": torch.nn.Linear(3, 5)}] * 2
    stack = Stack(builds, [0, 1], torch.device("cpu"))
    assert stack.blocks["model"]["weight"].shape == (2, 16)
    with torch.no_grad():
        stack.blocks["model"]["weight"][1, :15] = 7.0
    assert stack.parameters["model"]["weight"][1].unique().tolist() == [7.0]
    with seeded(1):
        expected = torch.nn.Linear(3, 5).bias
    assert torch.equal(stack.parameters["model"]["bias"][1], expected)
    assert in_lines(torch.ones(2, 32)).shape == (2, 32)


def test_building_leaves_the_callers_generator_alone(kit):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    kit.trainer(kit.task(), [0, 1]).fit()
    assert torch.equal(torch.rand(3), expected)


def test_frozen_parameters_stay_as_they_are(kit):
    class Half(torch.nn.Module):
        stackable = True

        def __init__(self):
            super().__init__()
            self.net = NetSpec("mlp", widths=(8,)).build((6,), 2)
            self.net.layers[0].weight.requires_grad_(False)

        def forward(self, x, **options):
            return self.net(x, **options)

    class Source:
        def build(self, shape, outputs):
            return Half()

    for seeds in ([0], [0, 1]):
        trainer = kit.trainer(kit.task(), seeds, net=Source())
        before = kit.numbers(trainer)
        after = kit.numbers(trainer.fit())
        moved = {name: not torch.equal(value, after[name]) for name, value in before.items()}
        assert moved.pop("model.net.layers.0.weight") is False
        assert all(moved.values())


def test_what_cannot_be_stacked_is_refused(kit):
    @dataclass(frozen=True)
    class Lonely(Recorder):
        key = "lonely"
        needs = type(Recorder.needs)(stackable=False)

    with pytest.raises(InputError, match="'lonely' cannot be stacked; train its runs one at a time"):
        kit.trainer(kit.task(), [0, 1], Lonely())
    with pytest.raises(InputError, match=r"'model' cannot be stacked \(it keeps batch statistics\)"):
        kit.trainer(kit.images(), [0, 1], net=NetSpec("cifar-resnet18"))
    with pytest.raises(InputError, match="2 runs are trained side by side only if they are stacked"):
        kit.trainer(kit.task(), [0, 1], stacked=False)
    with pytest.raises(InputError, match="there is no run to train"):
        kit.trainer(kit.task(), [])


def test_runs_of_a_stack_have_one_method_that_differs_in_numbers_alone():
    assert common_method([Run(GroupDRO(eta=0.1)), Run(GroupDRO(eta=2))])[1] == ("eta", "adjustment")
    with pytest.raises(InputError, match="must have one method"):
        common_method([Run(GroupDRO()), Run(JTT())])
    with pytest.raises(InputError, match="must agree in 'by'"):
        common_method([Run(GroupDRO()), Run(GroupDRO(by="group"))])
