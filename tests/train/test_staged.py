"""Two stages: a head on a frozen backbone, then everything at another rate; keys, stacks, refusals."""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields

import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.methods import ERM, METHODS, PosNegERM, Problem, method_of, with_pretraining, with_stages
from evenhand.methods.registry import is_known, kind_of
from evenhand.methods.staged import Staging
from evenhand.nets import NetSpec
from evenhand.nets.registry import NETS
from evenhand.nets.wrap import as_net
from evenhand.records import NoiseSpec, Phase
from evenhand.train.heads import head_parameters
from evenhand.train.own_net import OwnNet

NET = NetSpec("mlp", widths=(16, 12))


# -- what moves, and how fast --------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.05, 1.0, 0.0])
def test_two_steps_of_plain_descent_by_hand(kit, share) -> None:
    """One batch an epoch, so one step a stage: rate * gradient for the head, then rate * share for all."""
    task, rate = kit.task(), 0.5
    method = with_stages(ERM(), 1, share)
    facts = {"optimizer": "sgd", "momentum": 0.0, "rate": rate, "batch_size": 96, "epochs": 1}
    made = kit.trainer(task, [7], method, net=NET, precision="float64", **facts)
    model = copy.deepcopy(made.stack.templates["model"])
    x, y = task.x[task.rows("train")].double(), task.y[task.rows("train")]
    head = {"layers.2.weight", "layers.2.bias"}
    for moving, own in ((head, rate), (set(dict(model.named_parameters())), rate * share)):
        leaves = {name: leaf for name, leaf in model.named_parameters() if name in moving}
        loss = nn.functional.cross_entropy(model(x)[0], y)
        gradients = torch.autograd.grad(loss, list(leaves.values()))
        with torch.no_grad():
            for leaf, gradient in zip(leaves.values(), gradients, strict=True):
                leaf -= own * gradient
    found = made.fit().stack.parameters["model"]
    for name, leaf in model.named_parameters():
        torch.testing.assert_close(found[name], leaf, atol=1e-12, rtol=0)


@dataclass(frozen=True)
class OnlyHead(kind_of("staged+erm-posneg")):  # type: ignore[misc]
    """The first stage alone, to see where it leaves off."""

    def phases(self) -> tuple[Phase, ...]:
        return super().phases()[:1]


@pytest.mark.parametrize("seeds", [[3], [3, 4]], ids=["single", "stacked"])
@pytest.mark.parametrize("net", [NET, NetSpec("convnet", widths=(8, 8))], ids=["mlp", "convnet"])
def test_a_frozen_backbone_is_the_same_to_the_bit(kit, seeds, net) -> None:
    """With weight decay, which would shrink whatever the optimiser reaches."""
    task = kit.task() if net is NET else kit.images()
    options = {"net": net, "weight_decay": 0.1, "epochs": 2, "stacked": len(seeds) > 1}
    begun = kit.numbers(kit.trainer(task, seeds, OnlyHead(), **options))
    ended = kit.numbers(kit.trainer(task, seeds, OnlyHead(), **options).fit())
    all_ended = kit.numbers(kit.trainer(task, seeds, with_stages(PosNegERM()), **options).fit())
    heads = {f"model.{name}" for name in head_parameters(net.build(task.input_shape, 2))}
    assert len(heads) == 2
    for name in (name for name in begun if name.startswith("model.")):
        assert torch.equal(begun[name], ended[name]) == (name not in heads), name
        assert not torch.equal(ended[name], all_ended[name]), name


def test_batch_statistics_go_on_and_parameters_do_not(kit) -> None:
    net = NetSpec("resnet32x4")
    made = kit.trainer(kit.images(n=12), [0], OnlyHead(), net=net, epochs=1, batch_size=4)
    begun = kit.numbers(made)
    ended = kit.numbers(made.fit())
    assert not torch.equal(begun["buffer model.norm.running_mean"], ended["buffer model.norm.running_mean"])
    moved = [
        name for name in begun if name.startswith("model.") and not torch.equal(begun[name], ended[name])
    ]
    assert moved == ["model.last.weight", "model.last.bias"]


def test_runs_of_a_stack_may_differ_in_the_rate_of_the_second_stage(kit) -> None:
    shares = (0.05, 0.5, 2.0)

    def make(runs):
        methods = [with_stages(ERM(), 1, shares[run]) for run in runs]
        return kit.trainer(kit.task(), runs, methods, net=NET, precision="float64", weight_decay=0.01).fit()

    kit.assert_each_alone(make, 3, within=1e-12)


def test_shares_multiply_rates_that_differ_already(kit) -> None:
    own = {"net": NET, "precision": "float64", "epochs": 2}
    both = kit.trainer(kit.task(), [0, 1], with_stages(ERM(), 1, 0.5), rate=(0.01, 0.03), **own).fit()
    one = kit.trainer(kit.task(), [1], with_stages(ERM(), 1, 0.5), rate=0.03, **own).fit()
    kit.assert_same(kit.numbers(both, 1), kit.numbers(one), within=1e-12)


def test_what_was_frozen_before_stays_so(kit) -> None:
    module = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
    module[0].weight.requires_grad_(False)
    made = kit.trainer(kit.task(), [0], with_stages(ERM(), 1), net=OwnNet(module), epochs=1).fit()
    found = made.stack.parameters["model"]
    assert torch.equal(found["module.0.weight"], module[0].weight)
    assert not torch.equal(found["module.2.weight"], module[2].weight)
    assert [name for name, leaf in found.items() if not leaf.requires_grad] == ["module.0.weight"]


# -- heads ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NETS)
def test_the_head_of_every_network_is_what_makes_its_outputs(name, request) -> None:
    kind = NETS[name]
    if kind.home.startswith("torchvision"):
        request.getfixturevalue("torchvision")
    shape = (3, 32, 32) if "image" in kind.inputs else (6,)
    net = NetSpec(name).build(shape, 5)
    head = head_parameters(net)
    assert sorted(dict(net.named_parameters())[part].shape[0] for part in head) == [5, 5]


def test_a_network_may_name_its_head() -> None:
    class Odd(nn.Module):
        """Outputs are registered first."""

        def __init__(self) -> None:
            super().__init__()
            self.outputs, self.body = nn.Linear(3, 2), nn.Linear(4, 3)

    odd = Odd()
    assert head_parameters(odd) == {"body.weight", "body.bias"}
    odd.head_parts = ("outputs",)
    assert head_parameters(odd) == {"outputs.weight", "outputs.bias"}
    assert head_parameters(as_net(odd)) == {"module.outputs.weight", "module.outputs.bias"}
    odd.head_parts = ("out",)
    with pytest.raises(InputError, match="calls out its head"):
        head_parameters(odd)
    with pytest.raises(InputError, match="without parameters"):
        head_parameters(nn.ReLU())


def test_the_wide_head_of_wang_is_new_as_a_whole(torchvision) -> None:
    names = head_parameters(NetSpec("resnet18", head="wang").build((3, 32, 32), 2))
    assert names == {"hidden.weight", "hidden.bias", "last.weight", "last.bias"}


# -- beside other methods ------------------------------------------------------------------------------------

TAUGHT = {key for key in METHODS if "teacher" in METHODS[key]().players()}  # the teacher comes first
REFUSED = {"jtt", "ffvae", "nifr", "grl-conv"} | TAUGHT


@pytest.mark.parametrize("key", sorted(set(METHODS) - REFUSED))
def test_a_stack_is_its_runs(kit, key) -> None:
    method = with_stages(METHODS[key](), 1, 0.5)
    assert isinstance(method, METHODS[key])
    assert method == kind_of(f"staged+{key}")(**{f.name: getattr(method, f.name) for f in fields(method)})
    task = kit.task(attributes=2)

    def make(seeds, stacked):
        options = {"net": NET, "precision": "float64", "epochs": 1, "batch_size": 48, "stacked": stacked}
        return kit.trainer(task, seeds, method, **options).fit()

    stack, single = make([4, 9], True), make([9], False)
    assert [entry["phase"] for entry in stack.history] == ["head", *(p.name for p in METHODS[key]().phases())]
    together, alone = (
        {name: value.double() for name, value in found.items()}  # a state may hold marks
        for found in (kit.numbers(stack, 1), kit.numbers(single))
    )
    kit.assert_same(together, alone, within=1e-10)


def test_stages_before_and_after_pretraining(kit) -> None:
    after, before = method_of("staged+pre+w-erm", pre_epochs=1), method_of("pre+staged+w-erm", pre_epochs=1)
    assert [phase.name for phase in after.phases()] == ["head", "pretrain", "train"]
    assert [phase.name for phase in before.phases()] == ["pretrain", "head", "train"]
    problem = Problem.from_labels([0, 1, 0, 1], g=[0, -1, 1, -1])
    assert after.sampling(problem, 0, "head").rows is None  # as in pre-training: every row
    assert before.sampling(problem, 0, "head").rows.tolist() == [0, 2]
    for method in (after, before):
        kit.trainer(kit.task(), [0, 1], method, net=NET, epochs=1).fit()


def test_noise_of_the_first_phase_is_there_in_the_heads_stage() -> None:
    @dataclass(frozen=True)
    class Noisy(ERM):
        """Noise in one phase only."""

        def noise(self, problem):
            return {
                "now": NoiseSpec("normal", phases=("train",)),
                "later": NoiseSpec("normal", phases=("b",)),
            }

    found = with_stages(Noisy()).noise(Problem.from_labels([0, 1]))
    assert [found[name].phases for name in ("now", "later")] == [("head", "train"), ("b",)]


def test_what_is_trained_in_its_place_is_in_stages_too() -> None:
    form = with_stages(METHODS["laftr-eqodd"](gamma=2.0), 3, 0.2).stacked_form()
    assert isinstance(form, Staging)
    assert (form.head_epochs, form.rate_share) == (3, 0.2)


def test_keys_by_rule_and_what_is_no_key() -> None:
    assert method_of("staged+erm-posneg", head_epochs=5, rate_share=1) == with_stages(PosNegERM(), 5, 1.0)
    assert kind_of("staged+erm+cm").key == "staged+erm+cm"
    assert [is_known(name) for name in ("staged+ind", "staged+nothing", "staged+")] == [True, False, False]
    with pytest.raises(InputError, match=r"no method 'w-ern'; did you mean 'w-erm'.*staged\+KEY"):
        method_of("staged+w-ern")
    for key in ("staged+staged+erm", "staged+grl-conv"):
        with pytest.raises(InputError, match="in stages already"):
            method_of(key)
    with pytest.raises(
        InputError, match=r"'staged\+erm' has no field 'rate_shar'; did you mean 'rate_share'"
    ):
        method_of("staged+erm", rate_shar=3)
    with pytest.raises(InputError, match="rate_share"):
        method_of("staged+erm", rate_share=-1).check(Problem.from_labels([0, 1]))
    with pytest.raises(InputError, match="put around a method"):
        with_stages("erm")


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("jtt", "its phase 'train' begins with a new model"),
        ("ffvae", "its model rests in the phase 'represent'"),
        ("ind-kd", "its model rests in the phase 'teach'"),
    ],
)
def test_methods_without_a_head_to_begin_with_are_refused(key, reason) -> None:
    problem = Problem.from_labels([0, 1, 0, 1], [0, 0, 1, 1], inputs=(6,))
    with pytest.raises(InputError, match=reason):
        method_of(f"staged+{key}").check(problem)


def test_the_length_of_each_stage_and_the_epoch_that_is_kept(kit) -> None:
    made = kit.trainer(kit.task(), [0], with_stages(ERM(), 2), net=NET, epochs=3, keep="best").fit()
    assert [entry["phase"] for entry in made.history] == ["head"] * 2 + ["train"] * 3
    assert ["loss" in entry for entry in made.history] == [False] * 2 + [True] * 3
    assert Phase() == Phase(heads=(), rate=1.0)  # phases that were there before are as they were
    longer = with_pretraining(with_stages(ERM()), 1)
    assert [phase.epochs for phase in longer.phases()] == [1, None, None]


def test_a_saved_fit_is_loaded_by_its_key(tmp_path) -> None:
    task = evenhand.load("synthetic", n_train=64, n_test=40, n_validation=20, seed=1)
    method = method_of("staged+erm-posneg", head_epochs=1)
    fitted = evenhand.fit("mlp", method, task, epochs=1, seeds=2)
    again = evenhand.Fitted.load(fitted.save(tmp_path / "fit"))
    x = task.x[task.rows("test")]
    assert (again.scores_of_runs(x) == fitted.scores_of_runs(x)).all()
    assert again.models[0].predictor.method == method
